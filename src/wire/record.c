#include "wire/record.h"
