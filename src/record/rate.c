#include "record/rate.h"
