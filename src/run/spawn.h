/* run/spawn.h - fork and execve of a Plan in a world built from nothing */
#pragma once
#include <sys/types.h>
#include "base/err.h"
#include "verb/argv.h"

enum { SPAWN_E_EXEC = 1 };
/* Child: new session, stdin /dev/null, stdout and stderr out_fd, close_range(3..), default signals and empty mask, umask 022, default
 * rlimits (soft NOFILE 1024, CORE 0), nice as it is, cwd and environment of the plan, execve(argv[0]). *ret_errno of a failed chdir or execve comes
 * back over a CLOEXEC pipe: SPAWN_E_EXEC, the child reaped. */
MUST_CHECK int spawn_child(const Plan *plan, int out_fd, pid_t *ret_pid, int *ret_pidfd, int *ret_errno);
/* First thing in a main: default dispositions, empty mask, fds 0-2 open, umask 077 (a drain may inherit anything). */
MUST_CHECK int spawn_reset_self(void);
