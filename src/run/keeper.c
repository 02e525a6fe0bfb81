#include "run/keeper.h"
