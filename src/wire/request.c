#include "wire/request.h"
