/* installer/systemctl.h - the user manager, by its own client (installer only; the drain talks
 * sd-bus) */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

enum { SYSTEMCTL_E_ABSENT = 1, SYSTEMCTL_E_FAILED };

/* /usr/bin/systemctl or /bin/systemctl, whatever PATH says; the first where there is none. Static
 * memory. */
const char *systemctl_path(void);
/* Enables and starts the path and timer units; changed: daemon-reload before, and restarted, so
 * that new paths count. A path unit that has failed is reset. SYSTEMCTL_E_FAILED: why holds what
 * systemctl said. */
MUST_CHECK int systemctl_enable(const char *slug, bool changed, Str *why);
/* Disables and stops path and timer, then stops a drain that runs (TimeoutStopSec= bounds it). */
MUST_CHECK int systemctl_disable(const char *slug, Str *why);
/* After the units' files are gone. */
MUST_CHECK int systemctl_forget(const char *slug, Str *why);
/* Starts the drain's service and doesn't wait for it. */
MUST_CHECK int systemctl_wake(const char *slug, Str *why);
/* The project's transient scopes that the manager knows, running or not. */
MUST_CHECK int systemctl_scopes(const char *slug, Strv *ret, Str *why);
