/* drain/tell.h - what a drain lets others know: audit lines with their journal copies, responses,
 * diagnostics */
#pragma once
#include "base/err.h"
#include "drain/drain.h"
#include "drain/outcome.h"
#include "record/journal.h"
#include "wire/record.h"
#include "wire/response.h"

typedef struct TellEvent {
        const char *event;   /* "claimed" "start" "end" "refused" "replayed" "planned" ... */
        const char *request; /* raw bytes of the entry's name; escaped on the way */
        const char *verb, *arg;
        const char *gate;
        const char *detail;      /* fixed words */
        const char *argv;        /* start: plan_format */
        const char *key;         /* ledger key, or NULL */
        const char *fingerprint; /* a refusal: to approve it; a start: for resolve */
        const char *by;          /* the operator who ordered it; NULL: the agent */
        const char *unit;
        const char *sha256; /* claimed: of the request's bytes */
        bool has_state;
        State state;
        Reason reason;
        bool has_exit;
        int exit;
        int64_t duration_ms; /* < 0: left out */
        bool counted;        /* nothing runs by it: it falls under AUDIT_REFUSALS */
        bool sync;
} TellEvent;
#define TELL_EVENT_NULL ((TellEvent){.duration_ms = -1})

/* Appends the line, then sends the journal's copy. -errno: it isn't on record. */
MUST_CHECK int tell_audit(Drain *d, const TellEvent *e, JournalKind kind);
/* responses/NAME, and whoever ordered j gets a copy of a terminal one. An undeliverable response is
 * no error. */
MUST_CHECK int tell_response(Drain *d, const Job *j, Response *r, bool sync);
/* The same with r formatted already. */
MUST_CHECK int tell_line(Drain *d, const Job *j, const Response *r, const Str *line, bool sync);
/* diagnostics/NAME. */
MUST_CHECK int tell_diagnostic(Drain *d, const char *name, const Record *r);
/* diagnostics/: capabilities.json once, heartbeat.json when something moved. Best effort. */
MUST_CHECK int tell_capabilities(Drain *d);
MUST_CHECK int tell_heartbeat(Drain *d);
