#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/spawn.h"

void spawn_reset_signals(void) {
        struct sigaction action = {.sa_handler = SIG_DFL};

        /* KILL, STOP and the C library's own two are refused: they have no other disposition. */
        for (int sig = 1; sig < NSIG; sig++)
                (void)sigaction(sig, &action, NULL);
}

int spawn_open_null(int *ret_fd) {
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return err_new(errno);
        *ret_fd = fd;
        return 0;
}

int spawn_reset_self(void) {
        sigset_t none;

        spawn_reset_signals();
        (void)sigemptyset(&none);
        if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
                return err_new(errno);
        (void)umask(077);
        for (int fd = 0; fd <= 2; fd++) {
                int null = -EBADF, r;

                if (fcntl(fd, F_GETFD) >= 0)
                        continue;
                r = spawn_open_null(&null); /* the lowest free number is the missing one */
                if (r < 0)
                        return r;
                if (null != fd)
                        return err_new(EBADF);
                if (fcntl(fd, F_SETFD, 0) < 0)
                        return err_new(errno);
        }
        return 0;
}

/* Kills and reaps a child that never passed its gate. */
static void spawn_abandon(pid_t pid) {
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

static int spawn_fork_parent(pid_t pid, int *gate, int *ret_pidfd) {
        int pidfd = pidfd_open(pid, 0);
        int saved = errno;

        if (pidfd < 0) {
                *gate = fd_close(*gate);
                spawn_abandon(pid);
                return err_new(saved);
        }
        *ret_pidfd = pidfd;
        return 0;
}

int spawn_fork(pid_t *ret_pid, int *ret_pidfd, int *ret_gate) {
        CLEANUP(fd_closep) int near = -EBADF;
        CLEANUP(fd_closep) int far = -EBADF;
        sigset_t all, before;
        int pair[2], r = 0;
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return err_new(errno);
        near = pair[0];
        far = pair[1];
        (void)sigfillset(&all);
        if (sigprocmask(SIG_SETMASK, &all, &before) < 0) /* no handler of ours runs in the child */
                return err_new(errno);
        pid = fork();
        if (pid == 0) {
                *ret_pid = 0;
                *ret_gate = fd_take(&far);
                return 0;
        }
        if (pid < 0)
                r = err_new(errno);
        (void)sigprocmask(SIG_SETMASK, &before,
                          NULL); /* a mask of this process itself: can't fail */
        if (r == 0)
                r = spawn_fork_parent(pid, &near, ret_pidfd);
        if (r < 0)
                return r;
        *ret_pid = pid;
        *ret_gate = fd_take(&near);
        return 0;
}

int spawn_gate_open(int gate) {
        ssize_t n;

        do
                n = send(gate, "g", 1, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n == 1 ? 0 : err_new(errno);
}

int spawn_gate_wait(int gate) {
        ssize_t n;
        char go;

        do
                n = read(gate, &go, 1);
        while (n < 0 && errno == EINTR);
        return n == 1 ? 0 : err_new(EPIPE);
}

/* The soft limits that a login has; a child may raise them to the hard ones itself, as podman does.
 */
static int spawn_set_limits(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return -1;
        limit.rlim_cur = limit.rlim_max < 1024 ? limit.rlim_max : 1024;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || getrlimit(RLIMIT_CORE, &limit) < 0)
                return -1;
        limit.rlim_cur = 0;
        return setrlimit(RLIMIT_CORE, &limit);
}

/* out_fd may itself be one of 0-2, so it leaves them first. Everything above 2 ends with execve. */
static int spawn_set_fds(int out_fd, int *gate) {
        int out, null = -EBADF;

        out = fcntl(out_fd, F_DUPFD_CLOEXEC, 3);
        if (out < 0)
                return -1;
        *gate = fcntl(*gate, F_DUPFD_CLOEXEC, 3);
        if (*gate < 0)
                return -1;
        null = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (null < 0)
                return -1;
        if (null == 0 && fcntl(0, F_SETFD, 0) < 0)
                return -1;
        if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
                return -1;
        return close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
}

/* The child: async-signal-safe calls and _exit only. */
static __attribute__((noreturn)) void spawn_become(const Plan *plan, int out_fd, int gate) {
        const char *const *argv = plan_argv(plan);
        const char *const *envp = plan_envp(plan);
        sigset_t none;
        int error;

        (void)sigemptyset(&none);
        (void)umask(022);
        spawn_reset_signals();
        /* execve(2) takes char *const [] for history's sake and writes to neither. */
        if (setsid() >= 0 && spawn_set_fds(out_fd, &gate) == 0 && spawn_set_limits() == 0 &&
            chdir(plan_cwd(plan)) == 0 && sigprocmask(SIG_SETMASK, &none, NULL) == 0) {
                union {
                        const char *const *in;
                        char *const *out;
                } args = {argv}, env = {envp};

                (void)execve(argv[0], args.out, env.out);
        }
        error = errno;
        (void)send(gate, &error, sizeof(error), MSG_NOSIGNAL); /* the parent may be gone */
        _exit(127);
}

/* EOF: the gate was closed by execve. */
static int spawn_hear(int gate, int *ret_errno) {
        size_t have = 0;
        int error = 0;

        while (have < sizeof(error)) {
                ssize_t n = read(gate, (char *)&error + have, sizeof(error) - have);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_new(errno);
                if (n == 0)
                        break;
                have += (size_t)n;
        }
        if (have != sizeof(error))
                return 0;
        *ret_errno = error;
        return SPAWN_E_EXEC;
}

int spawn_child(const Plan *plan, int out_fd, pid_t *ret_pid, int *ret_pidfd, int *ret_errno) {
        CLEANUP(fd_closep) int gate = -EBADF;
        CLEANUP(fd_closep) int pidfd = -EBADF;
        pid_t pid = -1;
        int error = 0, r;

        r = spawn_fork(&pid, &pidfd, &gate);
        if (r < 0)
                return r;
        if (pid == 0) {
                if (spawn_gate_wait(gate) < 0)
                        _exit(127);
                spawn_become(plan, out_fd, gate);
        }
        r = spawn_gate_open(gate);
        if (r < 0) {
                spawn_abandon(pid);
                return r;
        }
        r = spawn_hear(gate, &error);
        if (r != 0) {
                spawn_abandon(pid);
                if (r == SPAWN_E_EXEC)
                        *ret_errno = error;
                return r;
        }
        *ret_pid = pid;
        *ret_pidfd = fd_take(&pidfd);
        return 0;
}
