/* drain/cancel.h - a waiting request leaves the line, a running one is stopped; both end failed:
 * cancelled */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "drain/drain.h"

/* By name, for the operator. */
MUST_CHECK int cancel_name(Drain *d, const char *name, const char *by, bool *ret_found);
/* The agent's own: its cancel request has the nonce of the request that it means; what an operator
 * ordered is not found. */
MUST_CHECK int cancel_nonce(Drain *d, const char *nonce, bool *ret_found);
