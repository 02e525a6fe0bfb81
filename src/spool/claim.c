#include "spool/claim.h"
