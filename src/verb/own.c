#include "verb/own.h"
