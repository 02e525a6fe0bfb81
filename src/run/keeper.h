/* run/keeper.h - the process that stands beside a verb: starts it, pumps its output, keeps its
 * deadline, writes its result
 *
 * Every run has one, forked from the drain, having dropped every fd of the drain but those named
 * here. For a scope it first moves itself into a transient unit (PR_SET_PDEATHSIG until it asks for
 * one), so a drain that dies later loses nothing; for a direct run it stays a child in the drain's
 * cgroup. It is a subreaper: what the verb forks stays its descendant, whatever session it makes.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "run/redact.h"
#include "verb/argv.h"

typedef struct RunSpec {
        const Plan *plan;
        const char *id;                /* STATE/run/ID.* */
        const char *unit;              /* "spoolgate-SLUG.VERB-NONCE.scope", or NULL: direct */
        const char *description;       /* of the unit */
        int64_t tasks_max, memory_max; /* 0: not set */
        int run_fd;                    /* STATE/run */
        int lock_fd;                   /* from result_lock; the keeper's copy keeps it held */
        int log_fd;                    /* archive/NAME.log, write end */
        uint32_t timeout_sec;
        uint32_t term_grace_ms; /* TERM to KILL: 5000 */
        uint32_t exit_grace_ms; /* child's exit to end of pumping when the pipe stays open: 500 */
        bool sync;              /* result fsynced (mutating) */
        const Redact *redact;   /* compiled in the drain, shared by copy-on-write */
} RunSpec;

typedef struct Run {
        pid_t pid;
        int pidfd;
} Run;
/* Forks the keeper. The caller then closes its lock_fd and log_fd, watches pidfd, reaps pid by
 * waitid(P_PIDFD), and reads ID.result. The three fds must be above 2, timeout_sec above 0:
 * -EINVAL. -errno: nothing was run. The keeper exits 0 when its result is stored, 1 when it could
 * not store it; SIGTERM, SIGINT and SIGHUP cancel. It never blocks the caller. */
MUST_CHECK int keeper_start(const RunSpec *spec, Run *ret);
