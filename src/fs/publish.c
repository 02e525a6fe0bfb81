#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "base/io.h"
#include "fs/pin.h"
#include "fs/publish.h"

enum { PUBLISH_TRIES = 16, PUBLISH_DIGITS = 16 };
#define PUBLISH_PREFIX ".tmp."

/* A file under its tmp name; removed at the end of the scope while `stands`. */
typedef struct PublishTmp {
        int dirfd;
        bool stands;
        char name[sizeof(PUBLISH_PREFIX) + PUBLISH_DIGITS];
} PublishTmp;

static void publish_tmp_done(PublishTmp *tmp) {
        /* On the way out of a failure already; what stays is a dot name that the pruner sweeps. */
        if (tmp->stands)
                (void)unlinkat(tmp->dirfd, tmp->name, 0);
        tmp->stands = false;
}

static bool publish_is_single(const char *name) {
        return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* O_EXCL: a planted name (link or not) is refused, and another one is drawn. */
static int publish_tmp_create(PublishTmp *tmp, int *ret_fd) {
        memcpy(tmp->name, PUBLISH_PREFIX, sizeof(PUBLISH_PREFIX));
        for (int i = 0; i < PUBLISH_TRIES; i++) {
                int r;

                hash_random_hex(tmp->name + sizeof(PUBLISH_PREFIX) - 1, PUBLISH_DIGITS);
                r = pin_create_at(tmp->dirfd, tmp->name, 0600, ret_fd);
                if (r == PIN_E_TYPE)
                        continue;
                if (r == 0)
                        tmp->stands = true;
                return r > 0 ? PUBLISH_E_BLOCKED
                             : r; /* not writable, or the directory itself was removed */
        }
        return PUBLISH_E_BLOCKED;
}

static int publish_fill(int fd, const void *bytes, size_t len, mode_t mode, bool sync) {
        int r;

        r = io_write_all(fd, bytes, len);
        if (r < 0)
                return r;
        if (fchmod(fd, mode) < 0) /* whatever the umask: readers of another uid depend on it */
                return err_new(errno);
        return sync ? io_sync(fd) : 0;
}

/* The refusals of rename(2) and unlink(2) that the other writer of a shared directory can bring
 * about. They must not look like trouble of the host, which would stop the drain for everybody. */
static bool publish_is_denied(int errno_value) {
        switch (errno_value) {
        case EACCES:
        case EPERM:
        case EXDEV:
        case EBUSY:
        case EMLINK: /* a directory, and the target has all the subdirectories it may have */
        case EINVAL: /* a directory that was made an ancestor of the target; or no such rename flag
                        here */
        case ENOTDIR:
        case EISDIR:
        case ENOTEMPTY:
        case EEXIST:
        case ENAMETOOLONG: /* a name derived from one that was long enough already */
                return true;
        default:
                return false;
        }
}

/* Something that rename(2) won't cover (a directory) changes places with the tmp file, and stays
 * under the tmp name when it can't be removed (attacks.md row 18). -1 and errno like renameat2. */
static int publish_exchange(PublishTmp *tmp, const char *name) {
        if (renameat2(tmp->dirfd, tmp->name, tmp->dirfd, name, RENAME_EXCHANGE) < 0)
                return -1;
        tmp->stands = false;
        if (unlinkat(tmp->dirfd, tmp->name, 0) < 0)
                (void)unlinkat(tmp->dirfd, tmp->name, AT_REMOVEDIR); /* full: the pruner's */
        return 0;
}

static int publish_place(PublishTmp *tmp, const char *name, bool fresh) {
        for (int i = 0; i < PUBLISH_TRIES; i++) {
                if (renameat2(tmp->dirfd, tmp->name, tmp->dirfd, name,
                              fresh ? RENAME_NOREPLACE : 0) == 0) {
                        tmp->stands = false;
                        return 0;
                }
                if (errno == EEXIST && fresh)
                        return PUBLISH_E_EXISTS;
                if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST) {
                        if (publish_exchange(tmp, name) == 0)
                                return 0;
                        if (errno == ENOENT)
                                continue; /* gone again meanwhile */
                }
                if (publish_is_denied(errno) ||
                    errno == ENOENT) /* ENOENT: our tmp was taken away */
                        return PUBLISH_E_BLOCKED;
                return err_new(errno);
        }
        return PUBLISH_E_BLOCKED;
}

int publish_file(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode,
                 PublishFlags flags) {
        CLEANUP(publish_tmp_done) PublishTmp tmp = {.dirfd = dirfd};
        CLEANUP(fd_closep) int fd = -EBADF;
        bool sync = flags & PUBLISH_SYNC;
        int r;

        if (!publish_is_single(name))
                return err_new(EINVAL);
        r = publish_tmp_create(&tmp, &fd);
        if (r == 0)
                r = publish_fill(fd, bytes, len, mode, sync);
        if (r == 0)
                r = publish_place(&tmp, name, flags & PUBLISH_NEW);
        if (r == 0 && sync)
                r = io_sync(dirfd);
        return r;
}

int publish_move(int from_fd, const char *from, int to_fd, const char *to, PublishFlags flags) {
        struct stat st;
        int r = 0;

        if (!publish_is_single(from) || !publish_is_single(to))
                return err_new(EINVAL);
        if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) < 0) {
                if (errno == EEXIST)
                        return MOVE_E_EXISTS;
                /* ENOENT is also a target directory that was removed: the entry stays, so it is not
                 * "absent". */
                if (errno == ENOENT && fstatat(from_fd, from, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
                    errno == ENOENT)
                        return MOVE_E_ABSENT;
                if (publish_is_denied(errno) || errno == ENOENT)
                        return MOVE_E_DENIED;
                return err_new(errno);
        }
        if (flags & PUBLISH_SYNC) {
                r = io_sync(
                        to_fd); /* the target first: a power cut may leave two names, never none */
                if (r == 0 && from_fd != to_fd)
                        r = io_sync(from_fd);
        }
        return r;
}

int publish_remove(int dirfd, const char *name) {
        if (!publish_is_single(name))
                return err_new(EINVAL);
        if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno == EISDIR && (unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOENT))
                return 0;
        return publish_is_denied(errno) ? MOVE_E_DENIED : err_new(errno);
}
