/* fs/pin.h - hold files and directories by descriptor, once their owner, type and mode are proven
 *
 * Everything below a pinned directory is resolved by openat2(2) with RESOLVE_BENEATH | NO_SYMLINKS
 * | NO_MAGICLINKS (| NO_XDEV); a name with ".." in it is PIN_E_LINK. No fallback: a kernel without
 * openat2 gives -ENOSYS and nothing runs. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"

enum {
        PIN_E_ABSENT = 1, /* ENOENT */
        PIN_E_LINK,   /* a symlink or magic link on the way (ELOOP), or an escape (EXDEV of BENEATH)
                       */
        PIN_E_MOUNT,  /* a mount point on the way where PIN_SAME_MOUNT was asked (EXDEV) */
        PIN_E_TYPE,   /* not the type asked for: ENOTDIR, ENXIO, EISDIR or by fstat */
        PIN_E_OWNER,  /* another owner than the rule's */
        PIN_E_MODE,   /* a mode bit that the rule forbids */
        PIN_E_LINKS,  /* a regular file with more than one hard link */
        PIN_E_ACCESS, /* EACCES, EPERM; EAGAIN of a lease that somebody holds on the file */
        PIN_E_TOO_BIG, /* pin_read_at only */
        PIN_E_CHANGED, /* another inode at the second open, or (pin_read_at) the size moved while
                          reading */
};

typedef struct PinRule {
        uid_t owner;   /* (uid_t)-1: any */
        mode_t forbid; /* e.g. 0022 */
} PinRule;

typedef enum PinFlags { PIN_SAME_MOUNT = 1, PIN_ANY_LINKS = 2 } PinFlags;

/* What a PIN_E_* means, for messages: "does not exist", "belongs to another user", ... */
const char *pin_reason(int code);

/* An absolute path of the host's own: symlinks are the operator's and followed, magic links not. */
MUST_CHECK int pin_host_dir(const char *path, const PinRule *rule, int *ret_fd);
/* An absolute, already resolved path (the checkout): no symlink anywhere. */
MUST_CHECK int pin_root(const char *path, const PinRule *rule, int *ret_fd);
/* A directory below `at`; name may have several components. Opened O_RDONLY | O_DIRECTORY |
 * O_CLOEXEC. */
MUST_CHECK int pin_dir_at(int at, const char *name, const PinRule *rule, PinFlags flags,
                          int *ret_fd);
/* A regular file below `at`: O_PATH and fstat first, so that no FIFO blocks and no device driver is
 * opened, then O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC of that very inode, fstat again.
 * *ret_stat optional. */
MUST_CHECK int pin_file_at(int at, const char *name, const PinRule *rule, PinFlags flags,
                           int *ret_fd, struct stat *ret_stat);
/* Does a walk from `at` without links get to anything? 0, PIN_E_ABSENT, PIN_E_LINK, PIN_E_TYPE (a
 * file on the way), PIN_E_ACCESS. Opens O_PATH alone. */
MUST_CHECK int pin_see_at(int at, const char *name);
/* pin_file_at and one bounded read of it into memory. */
MUST_CHECK int pin_read_at(int at, const char *name, const PinRule *rule, PinFlags flags,
                           size_t max, Str *ret);
/* mkdirat unless it is there, then pin_dir_at. */
MUST_CHECK int pin_make_dir_at(int at, const char *name, mode_t mode, const PinRule *rule,
                               int *ret_fd);
/* mkdir -p for a host path of ours (config, state, programs), each new part with mode. */
MUST_CHECK int pin_make_host_dir(const char *path, mode_t mode);
/* true: fd's directory is `ancestor_fd` itself or lies below it (walks .. comparing device and
 * inode). */
MUST_CHECK int pin_is_below(int fd, int ancestor_fd, bool *ret_below);
/* O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC of a single name below dirfd. PIN_E_TYPE
 * when something stands there. */
MUST_CHECK int pin_create_at(int dirfd, const char *name, mode_t mode, int *ret_fd);
/* O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR | O_CLOEXEC of a host file of ours; proven by the rule,
 * one link. */
MUST_CHECK int pin_append_at(int dirfd, const char *name, mode_t mode, const PinRule *rule,
                             int *ret_fd);
