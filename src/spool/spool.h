/* spool/spool.h - the spool's directories, pinned by descriptor until exit */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include "base/err.h"
#include "fs/pin.h"

typedef enum SpoolDir {
        SPOOL_TMP,
        SPOOL_REQUESTS,
        SPOOL_PROCESSING,
        SPOOL_RESPONSES,
        SPOOL_ARCHIVE,
        SPOOL_QUARANTINE,
        SPOOL_DIAGNOSTICS,
        SPOOL_INBOX,
        SPOOL_DIR_COUNT,
} SpoolDir;
const char *spool_dir_name(SpoolDir d); /* "requests", ... */

typedef struct Spool {
        int root_fd;
        int dirs[SPOOL_DIR_COUNT];
} Spool;
#define SPOOL_NULL                                                                                 \
        ((Spool){-EBADF, {-EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF, -EBADF}})

/* Opens relpath below the pinned checkout and each directory in it (PIN_SAME_MOUNT below the
 * spool). A positive PIN_E_* names the first refusal; *ret_which (static memory or relpath) says
 * where. tmp, inbox and diagnostics are made again when absent; the others too (git clean -xfd),
 * never through a link. */
MUST_CHECK int spool_open(int checkout_fd, const char *relpath, const PinRule *rule, Spool *ret,
                          const char **ret_which);
void spool_close(Spool *s); /* also for CLEANUP */
/* false when the names no longer lead to the pinned inodes (attacks.md 12-14): the drain stops
 * cleanly. */
MUST_CHECK int spool_same(const Spool *s, int checkout_fd, const char *relpath, bool *ret_same);
/* Installer: mkdir -p of relpath below the checkout (each part beneath, no symlinks) and its
 * directories with dir_mode. */
MUST_CHECK int spool_create(int checkout_fd, const char *relpath, mode_t dir_mode,
                            const PinRule *rule, const char **ret_which);
