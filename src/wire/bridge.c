#include "wire/bridge.h"
