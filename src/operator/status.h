/* operator/status.h - one project at one look: host-side truths, none of the spool's own word */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "operator/disk.h"
#include "operator/host.h"
#include "operator/paint.h"
#include "operator/unitstate.h"
#include "wire/reason.h"
#include "wire/record.h"

enum { STATUS_LAST = 5, STATUS_DAY_MS = 86400 * 1000 };

typedef struct StatusRun { /* begun, not ended */
        char *name, *verb, *arg;
        int64_t began_ms;
        bool alive; /* its keeper lives; else the next drain settles it */
} StatusRun;

typedef struct StatusRate {
        char *what; /* "restart web" */
        uint32_t used, limit;
        int64_t retry_ms;
} StatusRate;

typedef struct StatusLast {
        char *what; /* "restart web" */
        State state;
        char *reason; /* NULL: none */
        int64_t at_ms;
} StatusLast;

typedef struct Status {
        char *slug, *checkout, *stack, *launch;
        Str trouble; /* not loaded at all: the rest is empty */
        char *policy_trouble, *own_trouble;
        UnitStates units;
        bool has_units; /* a user manager answered */
        Str units_trouble;
        bool linger;
        size_t waiting, processing, reading; /* reading: read-only runs that live */
        bool draining;                       /* somebody holds the lock */
        bool spool_bad;                      /* requests/ can't be opened */
        StatusRun *runs;
        size_t runs_len;
        bool rate_broken;
        uint32_t rate_used, rate_limit, rate_window_sec;
        uint32_t audit_used, audit_day; /* AUDIT_DAY, and how much of it is used up */
        StatusRate *rates;              /* those used at all */
        size_t rates_len;
        StatusLast last[STATUS_LAST]; /* newest first */
        size_t last_len;
        uint64_t day[STATE_EXPIRED + 1]; /* terminal outcomes of the last 24 hours, by State */
        Str audit_trouble;
        GuardCode guard;
        Str guard_text;
        bool sealed, seal_bad;
        int64_t seal_ms;
        char *seal_by, *seal_commit;
        HostPause pause;
        Disk spool, state;
} Status;
#define STATUS_NULL ((Status){0})
void status_done(Status *s);

/* slug must be one of the layout's. A project that doesn't load gives 0 and its trouble. */
MUST_CHECK int status_gather(const char *slug, int64_t now_ms, Status *ret);
/* Is there something that an operator has to mend? */
bool status_bad(const Status *s);
MUST_CHECK int status_format(const Status *s, int64_t now_ms, Paint *p);
MUST_CHECK int status_record(const Status *s, Record **ret);
/* "3 s" "5 min" "2 h" "4 days" */
MUST_CHECK int status_age(int64_t ms, Str *out);
