#include "fs/publish.h"
