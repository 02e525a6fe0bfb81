/* installer/child.h - run one program at install time, with a deadline; the drain never comes here
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

enum { CHILD_E_SPAWN = 1, CHILD_E_TIMEOUT };

/* argv[0] absolute, NULL-ended; the installer's own environment, cwd "/", stdin /dev/null, a
 * session of its own (no terminal to stop it). What it writes is read up to max bytes: stdout, and
 * stderr too when `both`; the rest is thrown away. *ret_status as of waitpid(2). After timeout_ms
 * its process group is killed: CHILD_E_TIMEOUT. */
MUST_CHECK int child_run(const char *const *argv, int64_t timeout_ms, size_t max, bool both,
                         Str *ret_output, int *ret_status);
