#include "spool/retire.h"
