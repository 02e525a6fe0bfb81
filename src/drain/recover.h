/* drain/recover.h - what an earlier drain left, settled by the table in drain/step.h, before
 * anything new is taken */
#pragma once
#include "base/err.h"
#include "drain/drain.h"

/* Under the lock, once per start. */
MUST_CHECK int recover_run(Drain *d);
/* Foreign keepers which have ended since: step_finish each. *ret_left: some still run. */
MUST_CHECK int recover_poll(Drain *d, bool *ret_left);
