#include "spool/quarantine.h"
