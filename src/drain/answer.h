/* drain/answer.h - a request's end where nothing runs: refused, answered here and now, replayed, or
 * no request at all */
#pragma once
#include "base/err.h"
#include "drain/drain.h"
#include "drain/outcome.h"

/* Out of the line, into quarantine/ and the audit log; an entry that can't be moved at all is left
 * to the pace. */
MUST_CHECK int answer_quarantine(Drain *d, SpoolDir from, const char *entry, const char *why);
/* Audit line (counted), response, and the file out of processing/: to archive/ when it was
 * readable, else to quarantine/. */
MUST_CHECK int answer_refuse(Drain *d, const Job *j, const Outcome *o, const char *gate,
                             VerbCall call);
/* Host trouble at the last moment: nothing was started, and the request gets that answer. */
MUST_CHECK int answer_host_error(Drain *d, const Job *j, VerbCall call);
/* ping, cancel and permission_scope=plan. event: "answered" "planned" "cancelled". */
MUST_CHECK int answer_now(Drain *d, const Job *j, const char *event, const char *output);
/* Publishes a stored answer for j (replayed: it is another delivery than the first) and archives
 * its body. */
MUST_CHECK int answer_deliver(Drain *d, const Job *j, const LedgerEntry *e, bool replayed);
/* The body to archive/. */
MUST_CHECK int answer_retire(Drain *d, const Job *j);
