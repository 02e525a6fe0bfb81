#include "verb/table.h"
