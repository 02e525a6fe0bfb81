#include "verb/argv.h"
