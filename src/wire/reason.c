#include "wire/reason.h"
