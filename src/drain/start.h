/* drain/start.h - begin: on record first, then a keeper */
#pragma once
#include "base/err.h"
#include "drain/drain.h"

enum {
        START_E_RECORD = 1 /* it can't be put on record: nothing was started */,
        START_E_CONFIG /* redact.conf doesn't hold: nothing was started */
};
/* Audit line and ledger entry synced, `running` published, keeper started, job linked (*j taken on
 * 0). */
MUST_CHECK int start_run(Drain *d, Job **j);
/* Watches j's pidfd; its end calls finish_job. */
MUST_CHECK int start_watch(Drain *d, Job *j);
