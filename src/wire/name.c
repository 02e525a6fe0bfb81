#include "wire/name.h"
