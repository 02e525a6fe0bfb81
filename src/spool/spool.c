#include "spool/spool.h"
