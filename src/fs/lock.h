/* fs/lock.h - flock(2) on a file in a host-only directory; a held lock means running
 *
 * An open-file-description lock goes with each flock, so that lock_held can look without taking. */
#pragma once
#include <stdbool.h>
#include "base/err.h"

enum { LOCK_E_BUSY = 1 };

/* Creates name (0600) below dirfd when absent, and takes LOCK_EX | LOCK_NB. The fd is O_CLOEXEC;
 * the lock ends with it. LOCK_E_BUSY: somebody holds it. */
MUST_CHECK int lock_take(int dirfd, const char *name, int *ret_fd);
/* true when somebody holds name's lock; false when nobody does or there is no such file. Takes
 * nothing. */
MUST_CHECK int lock_held(int dirfd, const char *name, bool *ret_held);
