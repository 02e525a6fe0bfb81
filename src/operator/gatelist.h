/* operator/gatelist.h - the gates' names in their order (policy/gates.h), for people */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

/* "hard-deny, verb, arg" of those before `gate`; all of them for NULL; "" when gate is none of
 * them. */
MUST_CHECK int gatelist_before(const char *gate, bool mutating, Str *out);
/* One sentence: what a gate looks at. NULL: no such gate. Static memory. */
const char *gatelist_about(const char *gate);
