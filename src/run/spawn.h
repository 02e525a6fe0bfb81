/* run/spawn.h - fork and execve of a Plan in a world built from nothing */
#pragma once
#include <sys/types.h>
#include "base/err.h"
#include "verb/argv.h"

enum { SPAWN_E_EXEC = 1 };
/* Child: new session, stdin /dev/null, stdout and stderr out_fd, close_range(3..), default signals
 * and empty mask, umask 022, soft rlimits NOFILE 1024 and CORE 0 (the hard ones stay), nice as it
 * is, cwd and environment of the plan, execve(argv[0]). *ret_errno of a failed chdir or execve
 * comes back over the gate on which the child waits until its pidfd exists: SPAWN_E_EXEC (then
 * *ret_errno alone is set), the child reaped. -errno: nothing was run. */
MUST_CHECK int spawn_child(const Plan *plan, int out_fd, pid_t *ret_pid, int *ret_pidfd,
                           int *ret_errno);
/* First thing in a main: default dispositions, empty mask, fds 0-2 open, umask 077 (a drain may
 * inherit anything). */
MUST_CHECK int spawn_reset_self(void);

/* A fork that stands at a gate. In the parent *ret_pid > 0, *ret_pidfd is the child's and *ret_gate
 * wants spawn_gate_open; in the child *ret_pid is 0, every signal is blocked and *ret_gate wants
 * spawn_gate_wait. No child goes on that has no pidfd. */
MUST_CHECK int spawn_fork(pid_t *ret_pid, int *ret_pidfd, int *ret_gate);
MUST_CHECK int spawn_gate_open(int gate);
/* -EPIPE: the parent is gone, or will have nothing run. Async-signal-safe. */
MUST_CHECK int spawn_gate_wait(int gate);
/* Default dispositions; the mask stays. Async-signal-safe. */
void spawn_reset_signals(void);
/* /dev/null, O_CLOEXEC. Async-signal-safe. */
MUST_CHECK int spawn_open_null(int *ret_fd);
