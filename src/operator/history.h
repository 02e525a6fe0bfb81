/* operator/history.h - the audit log as the commands want it: chosen records, one readable line
 * each */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "record/audit.h"
#include "wire/record.h"

enum { HISTORY_E_NONE = 1, HISTORY_E_BROKEN, HISTORY_E_FORMAT };

/* STATE, proven. HISTORY_E_NONE: why says why there is none. */
MUST_CHECK int history_open(const Layout *l, int *ret_state_fd, Str *why);

/* "90s" "30m" "2h" "3d" "2w" before now, a date YYYY-MM-DD, or RFC 3339 in UTC. HISTORY_E_FORMAT.
 */
MUST_CHECK int history_since(const char *text, int64_t now_ms, int64_t *ret_ms);

typedef struct HistoryFilter {
        int64_t since_ms; /* 0: from the beginning */
        const char *verb, *state,
                *request; /* NULL: any. request: the whole name, or a part of it */
} HistoryFilter;
bool history_matches(const HistoryFilter *f, const Record *r);
/* Of a record's "ts" (or a gap's "at"); 0 when there is none. */
int64_t history_time(const Record *r);

/* "2026-01-02 03:04:05Z  refused   restart web: denied: policy  REQUEST", newline at the end;
 * nothing escaped yet. */
MUST_CHECK int history_format(const Record *r, Str *out);

/* Every good record, oldest first; raw is the line as it stands, without its newline. What each
 * gives other than 0 ends the walk and is passed up. HISTORY_E_BROKEN: why names the first record
 * that doesn't fit; those before it were given. A break is looked at three times, so that a drain
 * which writes or rotates meanwhile is none; records are not given twice. */
typedef int (*HistoryEach)(void *userdata, const Record *r, const char *raw, size_t len,
                           const char *hash);
MUST_CHECK int history_read(int state_fd, HistoryEach each, void *userdata, Str *why,
                            uint64_t *ret_lines);
