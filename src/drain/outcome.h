/* drain/outcome.h - every mapping to reason codes, and the words for people that go with them
 *
 * A message never holds agent bytes; where a person can mend it, its last line is the exact
 * command. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"
#include "policy/gates.h"
#include "run/result.h"
#include "wire/response.h"

typedef struct Outcome { /* owns its message; the Response it fills points into it */
        Reason reason;
        State state;
        int64_t retry_after_sec; /* < 0: null */
        Str message;
} Outcome;
#define OUTCOME_NULL ((Outcome){.retry_after_sec = -1})
void outcome_done(Outcome *o);

/* A refusal: detail is a fixed sentence or NULL for the reason's own. */
MUST_CHECK int outcome_refuse(const Config *c, Reason reason, const char *detail, Outcome *ret);
/* A gate's verdict that refuses; verb is the request's. */
MUST_CHECK int outcome_of_verdict(const Config *c, const char *verb, const Verdict *v,
                                  Outcome *ret);
/* A finished run. */
MUST_CHECK int outcome_of_result(const RunResult *r, const Grant *grant, Outcome *ret);
typedef enum ScopeSaid { SCOPE_SAID_NOTHING, SCOPE_SAID_GONE, SCOPE_SAID_ACTIVE } ScopeSaid;
typedef struct Interrupted {
        const char *request; /* its name */
        const char *unit;    /* NULL: it had no scope */
        ScopeSaid scope;     /* what the user manager says of unit */
        const char *probe;   /* the verb whose output comes first in the response, or NULL */
        bool probe_ok;
        bool log, log_shown; /* it is there; its end is in the output */
} Interrupted;
/* The run's end is not known: what is, and how the operator settles it. */
MUST_CHECK int outcome_interrupted(const Config *c, const Interrupted *what, Outcome *ret);
void outcome_fill(const Outcome *o, Response *r);
