/* drain/integrity.h - the guard, fed with this project's bridge file and policy */
#pragma once
#include "base/err.h"
#include "drain/drain.h"
#include "drain/outcome.h"
#include "guard/guard.h"

/* The guard's verdict on the project as it is now; *ret is the caller's. Policy missing: both. */
MUST_CHECK int integrity_ask(const Config *c, Guard **ret);
Reason integrity_reason(GuardCode code); /* REASON_NONE or one of integrity-* */
/* Asks the guard for j; j->guard holds its verdict and the files as judged until the run's end.
 * diagnostics/integrity.json mirrors it. -errno: the host failed; refuse. */
MUST_CHECK int integrity_check(Drain *d, Job *j, Reason *ret_reason);
/* The words of a refusal: its files, and the command to paste. */
MUST_CHECK int integrity_outcome(const Config *c, const Guard *g, Outcome *ret);
/* After the run: were the guarded files touched in between? Then *o becomes failed:
 * integrity-modified, an audit line says so, and mutating verbs are paused until the operator
 * resumes. */
MUST_CHECK int integrity_recheck(Drain *d, Job *j, Outcome *o);
