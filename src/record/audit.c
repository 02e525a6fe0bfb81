#include "record/audit.h"
