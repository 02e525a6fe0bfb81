#include "record/journal.h"
