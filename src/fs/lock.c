#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/lock.h"

enum { LOCK_TRIES = 16 };

static int lock_open(int dirfd, const char *name, int flags, int *ret_fd) {
        CLEANUP(fd_closep) int fd = -EBADF;
        struct stat st;

        if (!*name || strchr(name, '/'))
                return err_new(EINVAL);
        do
                fd = openat(dirfd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                            0600);
        while (fd < 0 && errno == EINTR);
        if (fd < 0)
                return err_new(errno);
        if (fstat(fd, &st) < 0)
                return err_new(errno);
        if (!S_ISREG(st.st_mode))
                return err_new(EINVAL);
        *ret_fd = fd_take(&fd);
        return 0;
}

/* flock(2) is what others see and wait on; the open-file-description lock beside it, of the same
 * life, is what lock_held can ask about without taking anything (F_OFD_GETLK). A probe by LOCK_SH
 * would now and then turn a drain away. */
static int lock_both(int fd) {
        struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int r;

        do
                r = flock(fd, LOCK_EX | LOCK_NB);
        while (r < 0 && errno == EINTR);
        if (r == 0)
                r = fcntl(fd, F_OFD_SETLK, &range);
        if (r < 0)
                return errno == EWOULDBLOCK || errno == EACCES ? LOCK_E_BUSY : err_new(errno);
        return 0;
}

/* Is what the name means now the file that fd is? */
static int lock_is_current(int fd, int dirfd, const char *name, bool *ret_current) {
        struct stat held, named;

        if (fstat(fd, &held) < 0)
                return err_new(errno);
        if (fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) < 0) {
                if (errno != ENOENT)
                        return err_new(errno);
                *ret_current = false;
                return 0;
        }
        *ret_current = held.st_dev == named.st_dev && held.st_ino == named.st_ino;
        return 0;
}

int lock_take(int dirfd, const char *name, int *ret_fd) {
        for (int i = 0; i < LOCK_TRIES; i++) {
                CLEANUP(fd_closep) int fd = -EBADF;
                bool current = false;
                int r;

                r = lock_open(dirfd, name, O_RDWR | O_CREAT, &fd);
                if (r == 0)
                        r = lock_both(fd);
                /* Unlinked between open and flock: a lock on a file without a name keeps nobody
                 * out. */
                if (r == 0)
                        r = lock_is_current(fd, dirfd, name, &current);
                if (r != 0)
                        return r;
                if (current) {
                        *ret_fd = fd_take(&fd);
                        return 0;
                }
        }
        return LOCK_E_BUSY;
}

int lock_held(int dirfd, const char *name, bool *ret_held) {
        struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = lock_open(dirfd, name, O_RDONLY, &fd);
        if (r == -ENOENT) {
                *ret_held = false;
                return 0;
        }
        if (r < 0)
                return r;
        if (fcntl(fd, F_OFD_GETLK, &range) < 0)
                return err_new(errno);
        *ret_held = range.l_type != F_UNLCK;
        return 0;
}
