/* drain/step.h - one request's state table
 *
 * requests/ processing/ begun ended result/keeper   meaning                      the next drain does
 * --------- ----------- ----- ----- -------------   ---------------------------  ------------------------------------
 *    x           -        -     -        -          waiting                      step_take
 *    -           x        -     -        -          claimed, nothing started     back in line (recover), every gate again
 *    x           x        -     -        -          planted beside a claim       quarantine the claimed one, take the other
 *    *           *        x     -     keeper lives  it runs in its scope         running; watch it; step_finish at its end
 *    *           *        x     -     result there  it ended, nobody was told    step_finish from the result
 *    *           *        x     -        neither    started or not: not known    uncertain: interrupted; never again
 *    *           *        x     x        *          ended, not tidied            ended wins: begun goes
 *    -           x        -     x        *          ended, answer not delivered  publish the stored answer, archive
 *    x           -        -     x        *          sent again                   replay the stored answer (other fingerprint: key-conflict)
 *    -           -        -     x      result there delivered or lost on the way publish the stored answer, forget the result
 *    -           -        -     -        *          a read-only run, no key      cancel a keeper that lives, forget
 *
 * Read-only requests without a key have no ledger entry: after a crash their file in processing/ goes back in line and they run again. */
#pragma once
#include "base/err.h"
#include "drain/drain.h"

typedef enum StepLane { STEP_NOW /* ping, refusals: needs no lane */, STEP_READ, STEP_MUTATING } StepLane;
/* By the name's verb alone, before anything is opened. */
StepLane step_lane(const Drain *d, const Name *name);

/* requests/ENTRY, which is no request name: quarantine. */
MUST_CHECK int step_hostile(Drain *d, const char *entry);
/* Claims and carries the request as far as it goes without waiting: refused, answered, or a keeper started. */
MUST_CHECK int step_take(Drain *d, const Name *name);
/* Refuses a waiting request unread (queue-full, host-error). */
MUST_CHECK int step_turn_away(Drain *d, const Name *name, Reason reason, int64_t retry_after_sec);
/* An operator's order, its body made: the same way without a claim. *j may be taken. */
MUST_CHECK int step_ordered(Drain *d, Job **j);
