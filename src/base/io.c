#include "base/io.h"
