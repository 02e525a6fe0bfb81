#include "fs/lock.h"
