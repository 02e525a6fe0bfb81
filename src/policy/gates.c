#include "policy/gates.h"
