#include "base/fd.h"
