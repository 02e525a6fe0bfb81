#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "installer/child.h"

typedef struct ChildSetup {
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attr;
        bool files_made, attr_made;
} ChildSetup;

static void child_setup_done(ChildSetup *s) {
        if (s->files_made)
                (void)posix_spawn_file_actions_destroy(&s->files); /* frees memory only */
        if (s->attr_made)
                (void)posix_spawnattr_destroy(&s->attr);
}

static int child_setup(ChildSetup *s, int out, bool both) {
        sigset_t set;
        int e;

        e = posix_spawn_file_actions_init(&s->files);
        s->files_made = e == 0;
        if (e == 0)
                e = posix_spawnattr_init(&s->attr);
        s->attr_made = e == 0;
        if (e == 0)
                e = posix_spawn_file_actions_addopen(&s->files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                                     0);
        if (e == 0)
                e = posix_spawn_file_actions_adddup2(&s->files, out, STDOUT_FILENO);
        if (e == 0 && both)
                e = posix_spawn_file_actions_adddup2(&s->files, out, STDERR_FILENO);
        if (e == 0 && !both)
                e = posix_spawn_file_actions_addopen(&s->files, STDERR_FILENO, "/dev/null",
                                                     O_WRONLY, 0);
        if (e == 0)
                e = posix_spawn_file_actions_addchdir_np(
                        &s->files,
                        "/"); /* no .envrc of the checkout is in sight of a shell's hooks */
        (void)sigemptyset(&set);
        if (e == 0)
                e = posix_spawnattr_setsigmask(&s->attr, &set);
        if (e == 0)
                e = posix_spawnattr_setflags(&s->attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
        return e == 0 ? 0 : err_new(e);
}

/* One read; keeps at most max bytes of all. false at the end of the pipe. */
static int child_read(int fd, size_t max, Str *output, bool *ret_more) {
        char bytes[4096];
        ssize_t n;

        do
                n = read(fd, bytes, sizeof(bytes));
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN)
                return err_new(errno);
        *ret_more = n > 0;
        if (n <= 0 || output->len >= max)
                return 0;
        return str_add(output, bytes,
                       (size_t)n < max - output->len ? (size_t)n : max - output->len);
}

/* Until the child has ended; a grandchild that keeps the pipe open holds up nobody. */
static int child_watch(int pidfd, int out, int64_t timeout_ms, size_t max, Str *output) {
        struct pollfd polled[2] = {{.fd = pidfd, .events = POLLIN}, {.fd = out, .events = POLLIN}};
        int64_t end = clock_mono_ms() + timeout_ms;
        bool more = true;
        int r = 0;

        while (r == 0) {
                int64_t left = end - clock_mono_ms();

                if (left <= 0)
                        return CHILD_E_TIMEOUT;
                if (poll(polled, 2, left > 1000 ? 1000 : (int)left) < 0 && errno != EINTR)
                        return err_new(errno);
                if (polled[1].revents && polled[1].fd >= 0) {
                        r = child_read(out, max, output, &more);
                        if (!more)
                                polled[1].fd = -1;
                }
                if (polled[0].revents && r == 0)
                        break;
        }
        for (more = polled[1].fd >= 0; r == 0 && more && clock_mono_ms() < end;)
                r = child_read(out, max, output, &more);
        return r;
}

int child_run(const char *const *argv, int64_t timeout_ms, size_t max, bool both, Str *ret_output,
              int *ret_status) {
        CLEANUP(str_done) Str output = STR_NULL;
        CLEANUP(child_setup_done) ChildSetup setup = {0};
        CLEANUP(fd_closep) int out = -EBADF;
        CLEANUP(fd_closep) int in = -EBADF;
        CLEANUP(fd_closep) int pidfd = -EBADF;
        int pipes[2], status, r;
        pid_t pid;

        if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
                return err_new(errno);
        out = pipes[0];
        in = pipes[1];
        if (fcntl(in, F_SETFL, 0) < 0) /* the child's end blocks, as programs expect */
                return err_new(errno);
        r = child_setup(&setup, in, both);
        if (r < 0)
                return r;
        if (posix_spawn(&pid, argv[0], &setup.files, &setup.attr, (char *const *)(uintptr_t)argv,
                        environ) != 0)
                return CHILD_E_SPAWN;
        in = fd_close(in);
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        r = pidfd < 0 ? err_new(errno) : child_watch(pidfd, out, timeout_ms, max, &output);
        if (r != 0)
                (void)kill(-pid, SIGKILL); /* its session's first group; ended already is fine */
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return err_new(errno);
        if (r == 0)
                r = str_reserve(&output, 0);
        if (r != 0)
                return r;
        str_done(ret_output);
        *ret_output = output;
        output = STR_NULL;
        *ret_status = status;
        return 0;
}
