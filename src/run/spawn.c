#include "run/spawn.h"
