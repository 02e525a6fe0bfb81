#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

int fd_close(int fd) {
        int saved = errno;

        /* Never again on EINTR: Linux has let go of the number by then, and it may be somebody
         * else's. */
        if (fd >= 0)
                (void)close(fd);
        errno = saved;
        return -EBADF;
}

void fd_closep(int *fd) {
        *fd = fd_close(*fd);
}

int fd_take(int *fd) {
        int taken = *fd;

        *fd = -EBADF;
        return taken;
}

int fd_dup(int fd, int *ret_fd) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC,
                         3); /* never onto a standard stream that happens to be closed */

        if (copy < 0)
                return err_new(errno);
        *ret_fd = copy;
        return 0;
}
