/* operator/wake.h - somebody must look at the order: the drain by its unit, else run once by us */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"

typedef struct Wake { /* a drain that we started; it outlives us */
        pid_t pid;    /* 0: none */
} Wake;
#define WAKE_NULL ((Wake){0})

enum { WAKE_E_UNIT = 1, WAKE_E_PROGRAM };
/* Where the project's service is installed and a user manager is there: systemctl start
 * --no-block; elsewhere the pinned drain, in a session of its own, unless the one of *w still runs.
 * WAKE_E_*: why says what, the command to look on its last line. */
MUST_CHECK int wake_drain(const Config *c, Wake *w, Str *why);
/* Has the drain that we started ended? *ret_status as of waitpid(2). false when there is none. */
bool wake_ended(Wake *w, int *ret_status);
