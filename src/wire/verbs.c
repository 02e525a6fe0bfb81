#include "wire/verbs.h"
