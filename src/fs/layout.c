#include "fs/layout.h"
