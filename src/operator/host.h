/* operator/host.h - one project with all that its drain would load, and what is asked of it often
 */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"
#include "guard/guard.h"
#include "wire/reason.h"

enum { HOST_E_NONE = 1, HOST_E_BROKEN };

/* As the drain loads it; a broken policy.conf, verbs.json or redact.conf is in the Config's
 * trouble. HOST_E_NONE: no such project; HOST_E_BROKEN: the bridge file, a directory or the
 * checkout doesn't hold. why says what, its last line the remedy. */
MUST_CHECK int host_load(const char *slug, Config *ret, Str *why);
#define HOST_CONFIG_NULL                                                                           \
        ((Config){.config_fd = -EBADF, .state_fd = -EBADF, .run_fd = -EBADF, .checkout_fd = -EBADF})

/* "MESSAGE: FILE WHY, ..." of at most a few files, unescaped. */
MUST_CHECK int host_guard_text(const Guard *g, Str *out);

typedef struct HostPause {
        bool paused;
        char *at, *by, *reason; /* NULL: not said */
} HostPause;
#define HOST_PAUSE_NULL ((HostPause){0})
void host_pause_done(HostPause *p);
/* STATE/paused: "at WHEN", "by WHO", "reason TEXT" lines. What is there and can't be read pauses
 * too, as in the drain. */
MUST_CHECK int host_pause(const Config *c, HostPause *ret);
MUST_CHECK int host_pause_parse(const char *text, HostPause *ret);

typedef struct HostRate {
        uint32_t used, limit, used_total, limit_total;
        int64_t retry_ms; /* 0: there is room */
        bool broken;      /* the file doesn't parse: every mutating verb is refused */
} HostRate;
/* The windows of "restart.web" or "up", counting nothing. The policy must hold. */
MUST_CHECK int host_rate(const Config *c, const char *verb, const char *arg, HostRate *ret);
