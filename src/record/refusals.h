/* record/refusals.h - how many refusals were written in this window, kept in STATE/rate/refusals */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "fs/pin.h"

typedef struct Refusals { /* of one process, under the drain's lock */
        int fd;
        int64_t start_ms;
        uint64_t written, left_out;
} Refusals;
#define REFUSALS_NULL ((Refusals){.fd = -EBADF})

/* Makes what is absent. What doesn't parse counts as a window that ended. */
MUST_CHECK int refusals_open(int state_fd, const PinRule *rule, Refusals *ret);
void refusals_close(Refusals *c);
/* As audit_refusal. One pwrite(2), no sync: a power cut may forget a window, a restart doesn't. */
MUST_CHECK int refusals_count(Refusals *c, uint32_t count, int64_t window_ms, int64_t now_ms,
                              bool *ret_write, uint64_t *ret_summed);
