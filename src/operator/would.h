/* operator/would.h - refusals grouped by the setting that decided: what a policy would have to say
 * for them to run */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "wire/record.h"

typedef struct WouldGroup {
        char *setting; /* "MODE_rebuild=deny", "RATE_PER_VERB, RATE_TOTAL", ... */
        char *what;    /* "rebuild web" */
        uint64_t count;
        int64_t last_ms;
} WouldGroup;

typedef struct Would {
        WouldGroup *groups;
        size_t len;
        uint64_t left_out; /* counted by the drain, never written */
} Would;
#define WOULD_NULL ((Would){0})

void would_done(Would *w);
/* Takes note of a record that is a refusal or a sum of refusals; passes over every other one. */
MUST_CHECK int would_add(Would *w, const Record *r);
/* The most frequent first, the latest first among equals. */
void would_sort(Would *w);
/* The setting that decides on a reason code, for people; verb may be NULL. Owned by the caller. */
MUST_CHECK int would_setting(const char *reason, const char *verb, char **ret);
/* What an operator would type to look at or change that setting; "" where there is nothing to
 * change. Static memory: a spoolgate command without -s. */
const char *would_remedy(const char *reason);
MUST_CHECK int would_format(const Would *w, Str *out);
MUST_CHECK int would_record(const Would *w, Record *ret); /* "groups", "left_out" */
