/* base/fd.h - owning file descriptors */
#pragma once
#include "base/err.h"

/* Closes fd when >= 0, keeps errno, gives -EBADF: `fd = fd_close(fd)`. */
int fd_close(int fd);
/* For CLEANUP(fd_closep). */
void fd_closep(int *fd);
/* Gives *fd to the caller and leaves -EBADF behind. */
int fd_take(int *fd);
/* A duplicate with O_CLOEXEC. -errno of fcntl(2). */
MUST_CHECK int fd_dup(int fd, int *ret_fd);
