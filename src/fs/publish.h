/* fs/publish.h - the only writer of files that others read: whole or not at all
 *
 * tmp in the same directory (O_EXCL | O_NOFOLLOW, random dot name) -> full write -> fsync ->
 * renameat2 -> fsync of the directory; the order that attacks.md section 5 measured as surviving a
 * power cut. */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"

enum {
        PUBLISH_E_EXISTS = 1, /* PUBLISH_NEW and the name is taken */
        PUBLISH_E_BLOCKED,    /* something that can't be replaced or exchanged away stands there, or
                                 the directory is not writable */
};
typedef enum PublishFlags {
        PUBLISH_NEW = 1,  /* RENAME_NOREPLACE: never covers what is there */
        PUBLISH_SYNC = 2, /* file and directory fsync; else atomic only */
} PublishFlags;

/* name: one component. A directory planted at the name is exchanged away (RENAME_EXCHANGE) and left
 * under a dot name for the pruner. Leaves no tmp file behind on any error it lives to see. */
MUST_CHECK int publish_file(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode,
                            PublishFlags flags);

enum {
        MOVE_E_ABSENT = 1,
        MOVE_E_EXISTS,
        MOVE_E_DENIED /* EACCES EPERM EXDEV EBUSY: can't be moved there */
};
/* renameat2(RENAME_NOREPLACE). sync: fsync of both directories, the target's first. */
MUST_CHECK int publish_move(int from_fd, const char *from, int to_fd, const char *to,
                            PublishFlags flags);
/* unlinkat; absent is 0. MOVE_E_DENIED when it can't be. */
MUST_CHECK int publish_remove(int dirfd, const char *name);
