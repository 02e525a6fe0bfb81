/* record/rate.h - persistent sliding windows, off the mount: STATE/rate/window, lines "MS KEY" */
#pragma once
#include <stdint.h>
#include "base/err.h"
#include "fs/pin.h"

typedef struct RateLimit {
        uint32_t count;
        int64_t window_ms;
} RateLimit;
enum { RATE_E_CORRUPT = 1 };
/* Counts one start of key ("restart.web") and gives 0 in *ret_retry_ms; or counts nothing and gives
 * the milliseconds until both the per-key and the total window have room. Stored (synced) before 0
 * is given. A stamp in the future (the clock went back) counts as now: it degrades to a denial,
 * never to a free pass. RATE_E_CORRUPT: the file doesn't parse; the caller refuses. now_ms is wall
 * time. */
MUST_CHECK int rate_take(int state_fd, const PinRule *rule, const char *key, RateLimit per_key,
                         RateLimit total, int64_t now_ms, int64_t *ret_retry_ms);
/* The same question without counting. */
MUST_CHECK int rate_peek(int state_fd, const PinRule *rule, const char *key, RateLimit per_key,
                         RateLimit total, int64_t now_ms, int64_t *ret_retry_ms,
                         uint32_t *ret_used_key, uint32_t *ret_used_total);
