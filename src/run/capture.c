#include "run/capture.h"
