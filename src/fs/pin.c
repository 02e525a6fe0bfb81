#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "fs/pin.h"

enum {
        PIN_TRIES = 64,   /* of one openat2 */
        PIN_DEPTH = 4096, /* of pin_is_below: PATH_MAX slashes */
        PIN_OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
        PIN_OPEN_PATH = O_PATH | O_CLOEXEC,
};

/* Resolution below a pinned directory: nothing on the way can lead out of it. */
static const uint64_t pin_beneath = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

const char *pin_reason(int code) {
        switch (code) {
        case PIN_E_ABSENT:
                return "does not exist";
        case PIN_E_LINK:
                return "is or lies behind a symbolic link, or leads out of its directory";
        case PIN_E_MOUNT:
                return "lies on another mount";
        case PIN_E_TYPE:
                return "is not of the right type";
        case PIN_E_OWNER:
                return "belongs to another user";
        case PIN_E_MODE:
                return "has permissions that are too wide";
        case PIN_E_LINKS:
                return "has more than one hard link";
        case PIN_E_ACCESS:
                return "may not be opened";
        case PIN_E_TOO_BIG:
                return "is too big";
        case PIN_E_CHANGED:
                return "changed while it was read";
        default:
                return "can not be used";
        }
}

/* What an errno of open or mkdir says about the entry; everything else is trouble of the host. */
static int pin_foreseen(int errno_value) {
        switch (errno_value) {
        case ENOENT:
        case ENAMETOOLONG: /* no such name can exist */
                return PIN_E_ABSENT;
        case ELOOP:
        case EXDEV:
                return PIN_E_LINK;
        case ENOTDIR:
        case EISDIR:
        case ENXIO:
        case ENODEV:
                return PIN_E_TYPE;
        case EACCES:
        case EPERM:
                return PIN_E_ACCESS;
        default:
                return 0;
        }
}

/* One openat2(2); the fd, or -1 and errno. EAGAIN: a rename raced with "..", or (with O_NONBLOCK)
 * the file's owner holds a lease on it. The latter can last, hence the bound. */
static int pin_call(int at, const char *name, int flags, mode_t mode, uint64_t resolve) {
        struct open_how how = {
                .flags = (uint64_t)(unsigned)flags,
                .mode = flags & O_CREAT ? mode : 0,
                .resolve = resolve,
        };
        long fd = -1;

        for (int i = 0; i < PIN_TRIES; i++) {
                fd = syscall(SYS_openat2, at, name, &how, sizeof(how));
                if (fd >= 0 || (errno != EINTR && errno != EAGAIN))
                        break;
        }
        return (int)fd;
}

/* EXDEV under NO_XDEV: a mount point, unless the same walk without NO_XDEV is refused as well. */
static int pin_why_xdev(int at, const char *name, uint64_t resolve) {
        int fd = pin_call(at, name, PIN_OPEN_PATH, 0, resolve & ~(uint64_t)RESOLVE_NO_XDEV);

        if (fd < 0 && (errno == EXDEV || errno == ELOOP))
                return PIN_E_LINK;
        (void)fd_close(fd);
        return PIN_E_MOUNT;
}

static int pin_open(int at, const char *name, int flags, mode_t mode, uint64_t resolve,
                    int *ret_fd) {
        int fd = pin_call(at, name, flags, mode, resolve);
        int r;

        if (fd >= 0) {
                *ret_fd = fd;
                return 0;
        }
        if (errno == EXDEV && resolve & RESOLVE_NO_XDEV)
                return pin_why_xdev(at, name, resolve);
        if (errno == EAGAIN) /* a lease that the agent holds is a refusal of that file, not trouble
                                of the host */
                return PIN_E_ACCESS;
        r = pin_foreseen(errno);
        return r > 0 ? r : err_new(errno);
}

/* RESOLVE_BENEATH still lets "a/../b" pass; we have no use for it, and a name with it is hostile.
 */
static bool pin_goes_up(const char *name) {
        for (const char *at = name; *at;) {
                size_t len = strcspn(at, "/");

                if (len == 2 && at[0] == '.' && at[1] == '.')
                        return true;
                at += len;
                at += strspn(at, "/");
        }
        return false;
}

static bool pin_is_single(const char *name) {
        return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Judged on what fstat(2) of the held fd said, never on a name. */
static int pin_prove(const struct stat *st, mode_t type, const PinRule *rule, bool any_links) {
        if (S_ISLNK(st->st_mode))
                return PIN_E_LINK;
        if ((st->st_mode & S_IFMT) != type)
                return PIN_E_TYPE;
        if (rule->owner != (uid_t)-1 && st->st_uid != rule->owner)
                return PIN_E_OWNER;
        if (st->st_mode & rule->forbid)
                return PIN_E_MODE;
        if (type == S_IFREG && !any_links && st->st_nlink != 1)
                return PIN_E_LINKS;
        return 0;
}

static int pin_prove_fd(int fd, mode_t type, const PinRule *rule, bool any_links,
                        struct stat *ret_stat) {
        struct stat st;
        int r;

        if (fstat(fd, &st) < 0)
                return err_new(errno);
        r = pin_prove(&st, type, rule, any_links);
        if (r != 0)
                return r;
        *ret_stat = st;
        return 0;
}

static int pin_open_dir(int at, const char *name, uint64_t resolve, const PinRule *rule,
                        int *ret_fd) {
        CLEANUP(fd_closep) int fd = -EBADF;
        struct stat st;
        int r;

        r = pin_open(at, name, PIN_OPEN_DIR, 0, resolve, &fd);
        if (r != 0)
                return r;
        r = pin_prove_fd(fd, S_IFDIR, rule, true, &st);
        if (r != 0)
                return r;
        *ret_fd = fd_take(&fd);
        return 0;
}

static uint64_t pin_resolve(PinFlags flags) {
        return pin_beneath | (flags & PIN_SAME_MOUNT ? RESOLVE_NO_XDEV : 0);
}

int pin_host_dir(const char *path, const PinRule *rule, int *ret_fd) {
        if (path[0] != '/')
                return err_new(EINVAL);
        return pin_open_dir(AT_FDCWD, path, RESOLVE_NO_MAGICLINKS, rule, ret_fd);
}

int pin_root(const char *path, const PinRule *rule, int *ret_fd) {
        if (path[0] != '/')
                return err_new(EINVAL);
        if (pin_goes_up(path))
                return PIN_E_LINK;
        return pin_open_dir(AT_FDCWD, path, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, rule,
                            ret_fd);
}

int pin_see_at(int at, const char *name) {
        CLEANUP(fd_closep) int fd = -EBADF;

        return pin_goes_up(name) ? PIN_E_LINK
                                 : pin_open(at, name, PIN_OPEN_PATH, 0, pin_beneath, &fd);
}

int pin_dir_at(int at, const char *name, const PinRule *rule, PinFlags flags, int *ret_fd) {
        if (pin_goes_up(name))
                return PIN_E_LINK;
        return pin_open_dir(at, name, pin_resolve(flags), rule, ret_fd);
}

int pin_file_at(int at, const char *name, const PinRule *rule, PinFlags flags, int *ret_fd,
                struct stat *ret_stat) {
        CLEANUP(fd_closep) int seen_fd = -EBADF;
        CLEANUP(fd_closep) int fd = -EBADF;
        bool any_links = flags & PIN_ANY_LINKS;
        struct stat seen, st;
        int r;

        if (pin_goes_up(name))
                return PIN_E_LINK;
        /* Without O_NOFOLLOW: with it, O_PATH would open a symlink at the end instead of refusing
         * it. */
        r = pin_open(at, name, PIN_OPEN_PATH, 0, pin_resolve(flags), &seen_fd);
        if (r != 0)
                return r;
        r = pin_prove_fd(seen_fd, S_IFREG, rule, any_links, &seen);
        if (r != 0)
                return r;
        /* Not by /proc/self/fd (a magic link, and /proc may be hidden): by name again, and
         * compared. seen_fd keeps the inode number from being used again meanwhile. */
        r = pin_open(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0,
                     pin_resolve(flags), &fd);
        if (r != 0)
                return r;
        r = pin_prove_fd(fd, S_IFREG, rule, any_links, &st);
        if (r != 0)
                return r;
        if (st.st_dev != seen.st_dev || st.st_ino != seen.st_ino)
                return PIN_E_CHANGED;
        *ret_fd = fd_take(&fd);
        if (ret_stat)
                *ret_stat = st;
        return 0;
}

int pin_read_at(int at, const char *name, const PinRule *rule, PinFlags flags, size_t max,
                Str *ret) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = pin_file_at(at, name, rule, flags, &fd, NULL);
        if (r != 0)
                return r;
        r = io_read_file(fd, max, ret);
        if (r == IO_E_TOO_BIG)
                return PIN_E_TOO_BIG;
        if (r == IO_E_CHANGED)
                return PIN_E_CHANGED;
        return r;
}

int pin_make_dir_at(int at, const char *name, mode_t mode, const PinRule *rule, int *ret_fd) {
        if (!pin_is_single(name))
                return err_new(EINVAL); /* mkdirat would follow symlinks on the way */
        if (mkdirat(at, name, mode) < 0 && errno != EEXIST) {
                int r = pin_foreseen(errno);

                return r > 0 ? r : err_new(errno);
        }
        return pin_dir_at(at, name, rule, 0, ret_fd);
}

/* One step of pin_make_host_dir: *fd moves on to `name` below it, made when absent. */
static int pin_make_step(int *fd, const char *name, mode_t mode) {
        int next, r;

        r = pin_open(*fd, name, PIN_OPEN_PATH | O_DIRECTORY, 0, RESOLVE_NO_MAGICLINKS, &next);
        if (r == PIN_E_ABSENT) {
                if (mkdirat(*fd, name, mode) < 0 && errno != EEXIST) {
                        r = pin_foreseen(errno);
                        return r > 0 ? r : err_new(errno);
                }
                r = pin_open(*fd, name, PIN_OPEN_PATH | O_DIRECTORY, 0, RESOLVE_NO_MAGICLINKS,
                             &next);
        }
        if (r != 0)
                return r;
        (void)fd_close(*fd);
        *fd = next;
        return 0;
}

int pin_make_host_dir(const char *path, mode_t mode) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str part = STR_NULL;
        int r;

        if (path[0] != '/')
                return err_new(EINVAL);
        r = pin_open(AT_FDCWD, "/", PIN_OPEN_PATH | O_DIRECTORY, 0, RESOLVE_NO_MAGICLINKS, &fd);
        if (r != 0)
                return r;
        for (const char *at = path + strspn(path, "/"); *at; at += strspn(at, "/")) {
                size_t len = strcspn(at, "/");

                str_clear(&part);
                r = str_add(&part, at, len);
                if (r == 0)
                        r = pin_make_step(&fd, part.data, mode);
                if (r != 0)
                        return r;
                at += len;
        }
        return 0;
}

/* A place in the tree. The mount too: a directory bound onto its own child is no root. */
typedef struct PinPlace {
        uint32_t major, minor;
        uint64_t ino, mount;
} PinPlace;

static int pin_place(int fd, PinPlace *ret) {
        struct statx sx;

        if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &sx) < 0)
                return err_new(errno);
        *ret = (PinPlace){sx.stx_dev_major, sx.stx_dev_minor, sx.stx_ino,
                          sx.stx_mask & STATX_MNT_ID ? sx.stx_mnt_id : 0};
        return 0;
}

static bool pin_same_dir(const PinPlace *a, const PinPlace *b) {
        return a->major == b->major && a->minor == b->minor && a->ino == b->ino;
}

int pin_is_below(int fd, int ancestor_fd, bool *ret_below) {
        CLEANUP(fd_closep) int at = -EBADF;
        PinPlace ancestor = {0}, here = {0}, up = {0};
        int next = -EBADF, r;

        r = pin_place(ancestor_fd, &ancestor);
        if (r == 0)
                r = pin_place(fd, &here);
        for (int i = 0; r == 0 && i < PIN_DEPTH; i++) {
                if (pin_same_dir(&here, &ancestor)) {
                        *ret_below = true;
                        return 0;
                }
                r = pin_open(at >= 0 ? at : fd, "..", PIN_OPEN_PATH | O_DIRECTORY, 0,
                             RESOLVE_NO_MAGICLINKS, &next);
                if (r != 0)
                        return r;
                (void)fd_close(at);
                at = next;
                r = pin_place(at, &up);
                if (r == 0 && pin_same_dir(&up, &here) && up.mount == here.mount) {
                        *ret_below = false; /* the root is its own parent */
                        return 0;
                }
                here = up;
        }
        return r != 0 ? r : err_new(ELOOP);
}

int pin_create_at(int dirfd, const char *name, mode_t mode, int *ret_fd) {
        int fd, r;

        if (!pin_is_single(name))
                return err_new(EINVAL);
        fd = pin_call(dirfd, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode,
                      pin_beneath);
        if (fd >= 0) {
                *ret_fd = fd;
                return 0;
        }
        if (errno == EEXIST || errno == ELOOP)
                return PIN_E_TYPE;
        if (errno == ENAMETOOLONG)
                return err_new(errno); /* "absent" would be no answer to a create */
        r = pin_foreseen(errno);
        return r > 0 ? r : err_new(errno);
}

int pin_append_at(int dirfd, const char *name, mode_t mode, const PinRule *rule, int *ret_fd) {
        CLEANUP(fd_closep) int fd = -EBADF;
        struct stat st;
        int r;

        if (!pin_is_single(name))
                return err_new(EINVAL);
        r = pin_open(dirfd, name,
                     O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                     mode, pin_beneath, &fd);
        if (r != 0)
                return r;
        r = pin_prove_fd(fd, S_IFREG, rule, false, &st);
        if (r != 0)
                return r;
        *ret_fd = fd_take(&fd);
        return 0;
}
