/* record/refusals.h - how many audit lines that nothing ran by were written, kept in
 * STATE/rate/refusals
 *
 * Two budgets: a window, so that a flood is summed up, and a leaky bucket of a day's lines (GCRA,
 * ITU-T I.371), so that no flood pushes the log's old files out in less than days. */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "fs/pin.h"

typedef struct RefusalsBudget {
        uint32_t count; /* in window_ms */
        int64_t window_ms;
        uint32_t day; /* > 0: so many at once, and so many in 24 hours in the long run */
} RefusalsBudget;

typedef struct Refusals { /* of one process, under the drain's lock */
        int fd;
        int64_t start_ms;
        uint64_t written, left_out;
        int64_t until_us; /* when the bucket will be empty */
} Refusals;
#define REFUSALS_NULL ((Refusals){.fd = -EBADF})

/* Makes what is absent. What doesn't parse counts as a window that ended. */
MUST_CHECK int refusals_open(int state_fd, const PinRule *rule, Refusals *ret);
void refusals_close(Refusals *c);
/* As audit_refusal. One pwrite(2), no sync: a power cut may forget a window, a restart doesn't. */
MUST_CHECK int refusals_count(Refusals *c, const RefusalsBudget *b, int64_t now_ms, bool *ret_write,
                              uint64_t *ret_summed);
/* As audit_look. */
MUST_CHECK int refusals_look(Refusals *c, uint32_t day, uint32_t lines, int64_t now_ms,
                             bool *ret_may);
/* How many of the day's lines are used up now, for the operator; makes nothing. */
MUST_CHECK int refusals_used(int state_fd, const PinRule *rule, uint32_t day, int64_t now_ms,
                             uint32_t *ret);
