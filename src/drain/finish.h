/* drain/finish.h - a run's end: result -> outcome -> audit -> ledger -> response -> archive */
#pragma once
#include "base/err.h"
#include "drain/drain.h"

/* The keeper of j is gone (or j is foreign and ended): outcome, records, response; then the
 * followers of its key. j is freed. */
MUST_CHECK int finish_job(Drain *d, Job *j);
