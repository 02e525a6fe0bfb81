#include "run/redact.h"
