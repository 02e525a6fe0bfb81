#include "fs/pin.h"
