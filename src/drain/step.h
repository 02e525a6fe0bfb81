/* drain/step.h - one request's state table */
/* clang-format off */
/*
 * req. proc. begun ended keeper      it is                        the next drain
 * ---- ----- ----- ----- ----------- ---------------------------- ---------------------------------
 *  x    -     -     -     -          waiting                      step_take
 *  -    x     -     -     -          claimed, nothing started     back in line: every gate again
 *  -    x     -     -     -          the same, and answered       the answer stands; archive
 *  x    x     -     -     -          planted beside a claim       quarantine one, take the other
 *  *    *     x     -    lives       running in its scope         watch it; finish_job at its end
 *  *    *     x     -    left result ended, nobody was told       finish_job from the result
 *  *    *     x     -    neither     started or not: not known    uncertain: interrupted; no re-run
 *  *    *     x     x     *          ended, not tidied            ended wins: begun goes
 *  -    x     -     x     *          ended, not delivered         stored answer, archive
 *  x    -     -     x     *          sent again                   replay; other request: conflict
 *  -    -     -     x    left result delivered, or lost on its way stored answer; result goes
 *  -    -     -     -     *          a read-only run, no key      cancel what lives; forget
 *
 * req. proc.: the file in requests/, processing/; begun ended: ledger/; keeper: STATE/run.
 * The row "neither" first runs the verb's probe, where it has one (drain/remains): a read-only run
 * of which nothing is kept but its output in the answer. A crash meanwhile leaves the row as it
 * was.
 * Read-only requests without a key have no ledger entry: after a crash their file in processing/
 * goes back in line and they run again.
 * A begun entry whose end can't be recorded (no room) keeps its file in processing/: nothing else is
 * said of it.
 * Answered: a terminal response stands. The agent can write that file: it withdraws its own request
 * so, and starts nothing. A gate asked again (rate, paused) might say yes to what was refused.
 */
/* clang-format on */
#pragma once
#include "base/err.h"
#include "drain/drain.h"

typedef enum StepLane {
        STEP_NOW /* ping, refusals: needs no lane */,
        STEP_READ,
        STEP_MUTATING
} StepLane;
/* By the name's verb alone, before anything is opened. */
StepLane step_lane(const Drain *d, const Name *name);

/* requests/ENTRY, which is no request name: quarantine. */
MUST_CHECK int step_hostile(Drain *d, const char *entry);
/* Claims and carries the request as far as it goes without waiting: refused, answered, or a keeper
 * started. */
MUST_CHECK int step_take(Drain *d, const Name *name);
/* Refuses a waiting request unread (queue-full, host-error). */
MUST_CHECK int step_turn_away(Drain *d, const Name *name, Reason reason, int64_t retry_after_sec);
/* An operator's order, its body made: the same way without a claim. *j may be taken. */
MUST_CHECK int step_ordered(Drain *d, Job **j);
