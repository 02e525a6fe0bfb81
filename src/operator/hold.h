/* operator/hold.h - the drain's lock, for a command that rewrites what a drain reads */
#pragma once
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"

enum { HOLD_E_BUSY = 1 };
enum { HOLD_WAIT_MS = 5000 };
/* Waits up to HOLD_WAIT_MS for a drain that is at work. HOLD_E_BUSY: why says so, the command to
 * see it on its last line. The lock ends with the descriptor. */
MUST_CHECK int hold_lock(const Config *c, int *ret_fd, Str *why);
