#include "run/result.h"
