#include "run/scope.h"
