#include "verb/stacks.h"
