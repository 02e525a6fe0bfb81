#include "spool/scan.h"
