/* drain/judge.h - the gates fed with this host's facts: ledger, rate windows, pause, policy */
#pragma once
#include "base/err.h"
#include "drain/drain.h"
#include "policy/gates.h"

/* Fills j's key, fingerprint, verb, arg, class, and where it is granted its grant; where a plan is
 * to be shown or run, its plan. */
MUST_CHECK int judge_request(Drain *d, Job *j, Verdict *ret);
/* Answers j from the ledger. */
MUST_CHECK int judge_replay(Drain *d, Job *j);
/* Puts into the configuration's record_trouble which entry of KEY can't be used and what mends it;
 * code is ledger_find's or ledger_load_begun's. */
MUST_CHECK int judge_blame(Drain *d, const char *key, int code);
/* STATE/paused is there. */
bool judge_paused(const Config *c);
