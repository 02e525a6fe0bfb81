#include "record/ledger.h"
