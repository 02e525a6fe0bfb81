/* What the tests of a keeper share: a plan, a directory for its files, a start and an end */
#pragma once
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "run/keeper.h"
#include "run/redact.h"
#include "run/result.h"

/* A plan of the tests' own: the real one can only name what a table holds. */
struct Plan {
        const char *argv[4], *envp[3], *cwd;
};
const char *const *plan_argv(const Plan *p) {
        return p->argv;
}
const char *const *plan_envp(const Plan *p) {
        return p->envp;
}
const char *plan_cwd(const Plan *p) {
        return p->cwd;
}
const Verb *plan_verb(const Plan *p) {
        static const Verb verb = {.name = "test"};

        (void)p;
        return &verb;
}

static char dir[256];
static int run_fd, log_fd;
static Redact *redact;

static inline void setup(void) {
        const char *tmp = getenv("TMPDIR");

        (void)snprintf(dir, sizeof(dir), "%s/spoolgate-keeper.XXXXXX", tmp ? tmp : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        run_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(run_fd, 0);
        log_fd = openat(run_fd, "x.log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_ge(log_fd, 0);
        ck_assert_int_eq(redact_new(&redact), 0);
        ck_assert_int_eq(redact_compile(redact), 0);
        /* Orphans come to us when a keeper is gone, so that each test can end its own. */
        ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
        /* libcheck's handler for TERM kills the whole group. */
        (void)signal(SIGTERM, SIG_DFL);
}

static inline void teardown(void) {
        DIR *d = opendir(dir);
        struct dirent *entry;

        ck_assert_ptr_nonnull(d);
        while ((entry = readdir(d)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        (void)unlinkat(dirfd(d), entry->d_name, 0);
        (void)closedir(d);
        ck_assert_int_eq(rmdir(dir), 0);
        (void)close(run_fd);
        (void)close(log_fd);
        redact = redact_free(redact);
}

static inline Plan shell(const char *script) {
        return (Plan){.argv = {"/bin/sh", "-c", script, NULL}, .envp = {"A=1", NULL}, .cwd = "/"};
}

static inline Run start(const Plan *plan, const RunSpec *like) {
        RunSpec spec = {.plan = plan,
                        .id = "x",
                        .run_fd = run_fd,
                        .log_fd = log_fd,
                        .timeout_sec = 20,
                        .term_grace_ms = 300,
                        .exit_grace_ms = 300,
                        .redact = redact};
        Run run = {0};

        if (like) {
                spec.unit = like->unit;
                spec.timeout_sec = like->timeout_sec ? like->timeout_sec : spec.timeout_sec;
                spec.term_grace_ms = like->term_grace_ms ? like->term_grace_ms : spec.term_grace_ms;
                spec.sync = like->sync;
        }
        ck_assert_int_eq(result_lock(run_fd, "x", &spec.lock_fd), 0);
        ck_assert_int_eq(keeper_start(&spec, &run), 0);
        (void)close(spec.lock_fd);
        return run;
}

static inline int reap(Run *run, int timeout_ms) {
        struct pollfd end = {.fd = run->pidfd, .events = POLLIN};
        siginfo_t info;

        ck_assert_int_eq(poll(&end, 1, timeout_ms), 1);
        ck_assert_int_eq(waitid(P_PIDFD, (id_t)run->pidfd, &info, WEXITED), 0);
        ck_assert_int_eq(info.si_pid, run->pid);
        ck_assert_int_eq(info.si_code, CLD_EXITED);
        (void)close(run->pidfd);
        return info.si_status;
}

static inline RunResult finish(Run *run, int timeout_ms) {
        RunResult result = RUN_RESULT_NULL;
        bool running = true;

        ck_assert_int_eq(reap(run, timeout_ms), 0);
        ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
        ck_assert(!running);
        ck_assert_int_eq(result_load(run_fd, "x", &result), 0);
        ck_assert_int_gt(result.ended_ms, 0);
        return result;
}

static inline RunResult run_shell(const char *script) {
        Plan plan = shell(script);
        Run run = start(&plan, NULL);

        return finish(&run, 20000);
}

static inline const char *tail(const RunResult *r) {
        return r->tail.data ? r->tail.data : "";
}

/* Waits until the log holds `lines` lines; its text. */
static inline char *wait_log(unsigned lines) {
        for (int i = 0; i < 500; i++) {
                Str text = STR_NULL;
                unsigned n = 0;
                char *out;

                ck_assert_int_eq(io_read_file(log_fd, 65536, &text), 0);
                for (size_t j = 0; j < text.len; j++)
                        n += text.data[j] == '\n';
                ck_assert_int_eq(str_take(&text, &out), 0);
                if (n >= lines)
                        return out;
                free(out);
                (void)usleep(10000);
        }
        ck_abort_msg("no output");
        return NULL;
}

/* Dead, or a zombie that is ours to reap. */
static inline bool is_gone(pid_t pid) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
                return true;
        return kill(pid, 0) < 0 && errno == ESRCH;
}

/* A drain that starts a run and dies of SIGKILL. */
static inline void dying_drain(const Plan *plan, const RunSpec *like, pid_t *ret_keeper) {
        int pair[2], status;
        pid_t drain;

        ck_assert_int_eq(pipe(pair), 0);
        drain = fork();
        if (drain == 0) {
                Run run = start(plan, like);

                if (write(pair[1], &run.pid, sizeof(run.pid)) != (ssize_t)sizeof(run.pid))
                        _exit(1);
                if (!like)
                        free(wait_log(1));
                (void)kill(getpid(), SIGKILL);
        }
        ck_assert_int_eq(read(pair[0], ret_keeper, sizeof(*ret_keeper)),
                         (ssize_t)sizeof(*ret_keeper));
        ck_assert_int_eq(waitpid(drain, &status, 0), drain);
        ck_assert_int_eq(WTERMSIG(status), SIGKILL);
        (void)close(pair[0]);
        (void)close(pair[1]);
}
