/* drain/remains.h - what is known of a run whose end is not: its scope, log and probe */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "drain/drain.h"
#include "drain/outcome.h"

typedef struct Remains {
        Str output;     /* for the response: valid UTF-8 of printable characters, at most
                           RESPONSE_OUTPUT_MAX; the probe's first, which the agent can't write */
        uint64_t bytes; /* all there was of it */
        bool truncated;
        Interrupted said; /* for outcome_interrupted; points into the job */
} Remains;
#define REMAINS_NULL ((Remains){0})
void remains_done(Remains *r);

enum { REMAINS_E_NONE = 1 };
/* The probe of j's verb becomes j's run, once: j is linked and taken on 0, and finish_job is called
 * again at its end. REMAINS_E_NONE: no probe, or it may not run or can't be recorded. The ledger
 * entry stays begun meanwhile: a drain that dies leaves all as it was. */
MUST_CHECK int remains_probe(Drain *d, Job **j);
/* What there is; looks at the user manager only where j has a unit. */
MUST_CHECK int remains_gather(Drain *d, const Job *j, Remains *ret);

/* Appends bytes as they may be shown, of them the end that fits in max; *ret_cut: not all. */
MUST_CHECK int remains_show(Str *s, const char *bytes, size_t len, size_t max, bool *ret_cut);
