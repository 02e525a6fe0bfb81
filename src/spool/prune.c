#include "spool/prune.h"
