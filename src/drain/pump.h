/* drain/pump.h - one pass over requests/: first come, first served within each lane */
#pragma once
#include "base/err.h"
#include "drain/drain.h"

/* `queued` for each waiting well-named request without a response. Needs no lock: it never covers a
 * newer state. */
MUST_CHECK int pump_acknowledge(Drain *d);
/* Takes what a lane is free for, turns away what exceeds QUEUE_DEPTH, acknowledges the rest; then
 * the heartbeat, when something moved. */
MUST_CHECK int pump_run(Drain *d);
