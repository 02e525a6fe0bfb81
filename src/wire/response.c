#include "wire/response.h"
