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

/* A plan of this test's own: the real one can only name what a table holds. */
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

static void setup(void) {
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

static void teardown(void) {
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

static Plan shell(const char *script) {
        return (Plan){.argv = {"/bin/sh", "-c", script, NULL}, .envp = {"A=1", NULL}, .cwd = "/"};
}

static Run start(const Plan *plan, const RunSpec *like) {
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

static int reap(Run *run, int timeout_ms) {
        struct pollfd end = {.fd = run->pidfd, .events = POLLIN};
        siginfo_t info;

        ck_assert_int_eq(poll(&end, 1, timeout_ms), 1);
        ck_assert_int_eq(waitid(P_PIDFD, (id_t)run->pidfd, &info, WEXITED), 0);
        ck_assert_int_eq(info.si_pid, run->pid);
        ck_assert_int_eq(info.si_code, CLD_EXITED);
        (void)close(run->pidfd);
        return info.si_status;
}

static RunResult finish(Run *run, int timeout_ms) {
        RunResult result = RUN_RESULT_NULL;
        bool running = true;

        ck_assert_int_eq(reap(run, timeout_ms), 0);
        ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
        ck_assert(!running);
        ck_assert_int_eq(result_load(run_fd, "x", &result), 0);
        ck_assert_int_gt(result.ended_ms, 0);
        return result;
}

static RunResult run_shell(const char *script) {
        Plan plan = shell(script);
        Run run = start(&plan, NULL);

        return finish(&run, 20000);
}

static const char *tail(const RunResult *r) {
        return r->tail.data ? r->tail.data : "";
}

/* Waits until the log holds `lines` lines; its text. */
static char *wait_log(unsigned lines) {
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
static bool is_gone(pid_t pid) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
                return true;
        return kill(pid, 0) < 0 && errno == ESRCH;
}

START_TEST(exit_status_output_and_times) {
        int64_t before = clock_wall_ms();
        RunResult r = run_shell("echo out; echo err >&2; sleep 0.1; exit 7");
        char *log = wait_log(2);

        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 7);
        ck_assert_str_eq(tail(&r), "out\nerr\n");
        ck_assert_str_eq(log, "out\nerr\n");
        ck_assert_uint_eq(r.output_bytes, 8);
        ck_assert(!r.truncated);
        ck_assert_int_ge(r.started_ms, before);
        ck_assert_int_ge(r.duration_ms, 100);
        ck_assert_int_ge(r.ended_ms, r.started_ms + 100);
        ck_assert_str_eq(r.spawn_stage, "");
        free(log);
        result_done(&r);
}
END_TEST

START_TEST(exit_without_output) {
        RunResult r = run_shell(":");

        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 0);
        ck_assert_uint_eq(r.tail.len, 0);
        result_done(&r);
}
END_TEST

START_TEST(signal_of_the_child) {
        RunResult r = run_shell("echo before; kill -KILL $$");

        ck_assert_int_eq(r.kind, RESULT_SIGNAL);
        ck_assert_int_eq(r.code, SIGKILL);
        ck_assert_str_eq(tail(&r), "before\n");
        result_done(&r);
}
END_TEST

START_TEST(large_output_keeps_its_tail) {
        RunResult r = run_shell("head -c 300000 /dev/zero | tr '\\0' x; echo end");

        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_uint_eq(r.output_bytes, 300004);
        ck_assert(r.truncated);
        ck_assert_uint_gt(r.tail.len, 60000);
        ck_assert_uint_le(r.tail.len, RESULT_TAIL_MAX);
        ck_assert_str_eq(tail(&r) + r.tail.len - 5, "xend\n");
        result_done(&r);
}
END_TEST

START_TEST(exec_failure_is_told) {
        Plan plan = {.argv = {"/nonexistent/x", NULL}, .envp = {NULL}, .cwd = "/"};
        Run run = start(&plan, NULL);
        RunResult r = finish(&run, 5000);

        ck_assert_int_eq(r.kind, RESULT_SPAWN);
        ck_assert_str_eq(r.spawn_stage, "exec");
        ck_assert_int_eq(r.code, ENOENT);
        ck_assert_int_eq(r.started_ms, 0);
        ck_assert_int_eq(r.duration_ms, 0);
        result_done(&r);
}
END_TEST

START_TEST(world_of_child_and_keeper) {
        char path[64], target[4096], *log, link[32];
        Plan plan = shell("ls -l /proc/self/fd | grep -c -- '->'; env; pwd; sleep 10");
        unsigned found = 0;
        Run run;

        ck_assert_int_ge(dup2(run_fd, 50), 50); /* no CLOEXEC: what a careless drain might hold */
        ck_assert_int_eq(setenv("INVOCATION_ID", "feed", 1), 0);
        run = start(&plan, NULL);
        log = wait_log(4);
        /* 0-2 and the directory that ls reads */
        ck_assert_int_eq(strncmp(log, "4\n", 2), 0);
        ck_assert_ptr_nonnull(strstr(log, "A=1\n"));
        ck_assert_ptr_null(strstr(log, "INVOCATION_ID"));
        ck_assert_ptr_nonnull(strstr(log, "\n/\n"));
        /* The keeper: three of the drain's, and its own kernel objects; 0-2 are /dev/null. */
        for (int fd = 0; fd < 256; fd++) {
                ssize_t n;

                (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", run.pid, fd);
                n = readlink(path, target, sizeof(target) - 1);
                if (n < 0)
                        continue;
                target[n] = '\0';
                if (fd <= 2)
                        ck_assert_str_eq(target, "/dev/null");
                if (strcmp(target, dir) == 0)
                        found++;
                else if (fd > 2)
                        ck_assert_msg(strncmp(target, dir, strlen(dir)) == 0 ||
                                              strncmp(target, "anon_inode:", 11) == 0 ||
                                              strncmp(target, "pipe:", 5) == 0,
                                      "fd %d is %s", fd, target);
        }
        ck_assert_uint_eq(found, 1);
        (void)snprintf(link, sizeof(link), "%d\n", run.pid);
        free(log);
        ck_assert_int_eq(getsid(run.pid), run.pid);
        ck_assert_int_eq(result_cancel(run_fd, "x"), 0);
        (void)close(50);
        result_done(&(RunResult[]){finish(&run, 5000)}[0]);
}
END_TEST

START_TEST(deadline_kills_what_ignores_term) {
        Plan plan = shell("trap '' TERM\n"
                          "setsid sh -c 'echo $$; while :; do sleep 1; done' &\n"
                          "echo $$; while :; do sleep 1; done");
        int64_t begun = clock_mono_ms();
        Run run = start(&plan, &(RunSpec){.timeout_sec = 1});
        RunResult r;
        int a, b;

        r = finish(&run, 5000);
        ck_assert_int_eq(r.kind, RESULT_TIMEOUT);
        ck_assert_int_eq(r.code, 0);
        ck_assert_int_ge(clock_mono_ms() - begun, 1300);
        ck_assert_int_lt(clock_mono_ms() - begun, 4000);
        ck_assert_int_eq(sscanf(tail(&r), "%d\n%d\n", &a, &b), 2);
        ck_assert(is_gone(a));
        ck_assert(is_gone(b));
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* not one process is left to us */
        result_done(&r);
}
END_TEST

START_TEST(deadline_lets_a_polite_child_finish) {
        Plan plan = shell("trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.05; done");
        int64_t begun = clock_mono_ms();
        Run run = start(&plan, &(RunSpec){.timeout_sec = 1, .term_grace_ms = 8000});
        RunResult r = finish(&run, 6000);

        ck_assert_int_eq(r.kind, RESULT_TIMEOUT);
        ck_assert_uint_gt(r.tail.len, 4); /* the shell may say "Terminated" of its sleep */
        ck_assert_str_eq(tail(&r) + r.tail.len - 4, "bye\n");
        ck_assert_int_lt(clock_mono_ms() - begun, 4000); /* not the whole grace */
        result_done(&r);
}
END_TEST

START_TEST(deadline_catches_a_process_that_hops) {
        /* Each one forks the next and ends; nobody lives long enough to be looked at twice. */
        Plan plan = shell("export H='trap \"\" TERM; sh -c \"$H\" & exit'; trap '' TERM; sh -c "
                          "\"$H\" & sleep 60");
        Run run = start(&plan, &(RunSpec){.timeout_sec = 1});
        RunResult r = finish(&run, 8000);

        ck_assert_int_eq(r.kind, RESULT_TIMEOUT);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        result_done(&r);
}
END_TEST

START_TEST(background_process_holds_the_pipe_but_not_the_run) {
        int64_t begun = clock_mono_ms();
        RunResult r = run_shell("sleep 30 & echo $!");
        int pid;

        ck_assert_int_lt(clock_mono_ms() - begun, 3000);
        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 0);
        ck_assert_int_eq(sscanf(tail(&r), "%d\n", &pid), 1);
        ck_assert_int_eq(kill(pid, 0), 0); /* it outlives the run */
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        result_done(&r);
}
END_TEST

START_TEST(background_process_that_writes_for_ever) {
        int64_t begun = clock_mono_ms();
        RunResult r = run_shell("yes & echo $! >&2; exit 3");
        int pid = -1;

        ck_assert_int_lt(clock_mono_ms() - begun, 5000);
        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 3);
        ck_assert(r.truncated);
        pid = waitpid(-1, NULL, 0); /* SIGPIPE, now that nobody reads */
        ck_assert_int_gt(pid, 0);
        result_done(&r);
}
END_TEST

START_TEST(child_that_closes_its_output_runs_on) {
        RunResult r = run_shell("exec >&- 2>&-; sleep 0.3; exit 4");

        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 4);
        ck_assert_int_ge(r.duration_ms, 300);
        result_done(&r);
}
END_TEST

START_TEST(cancel_ends_the_run) {
        Plan plan = shell("echo $$; exec sleep 60");
        Run run = start(&plan, NULL);
        char *log = wait_log(1);
        RunResult r;
        int pid;

        ck_assert_int_eq(sscanf(log, "%d", &pid), 1);
        ck_assert_int_eq(result_cancel(run_fd, "x"), 0);
        r = finish(&run, 5000);
        ck_assert_int_eq(r.kind, RESULT_CANCELLED);
        ck_assert_str_eq(tail(&r), log);
        ck_assert(is_gone(pid));
        free(log);
        result_done(&r);
}
END_TEST

START_TEST(zombies_are_reaped) {
        Plan plan = shell("for i in 1 2 3 4 5 6 7 8; do (sh -c : &) ; done; echo x; sleep 60");
        Run run = start(&plan, NULL);
        char path[64];
        Str text = STR_NULL;
        int fd;

        free(wait_log(1));
        for (int i = 0; i < 100; i++) {
                (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", run.pid, run.pid);
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        break; /* a kernel without it */
                ck_assert_int_eq(io_read_all(fd, 65536, &text), 0);
                (void)close(fd);
                if (text.data && strchr(text.data, ' ') == strrchr(text.data, ' '))
                        break;
                ck_assert_int_lt(i, 99);
                (void)usleep(20000);
        }
        str_done(&text);
        ck_assert_int_eq(result_cancel(run_fd, "x"), 0);
        result_done(&(RunResult[]){finish(&run, 5000)}[0]);
}
END_TEST

/* A drain that starts a run and dies of SIGKILL. */
static void dying_drain(const Plan *plan, const RunSpec *like, pid_t *ret_keeper) {
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

START_TEST(direct_run_survives_its_drain) {
        Plan plan = shell("echo hi; sleep 0.5; echo end; exit 5");
        RunResult r = RUN_RESULT_NULL;
        bool running = false;
        pid_t keeper;

        dying_drain(&plan, NULL, &keeper);
        ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
        ck_assert(running);
        ck_assert_int_eq(result_load(run_fd, "x", &r), RESULT_E_ABSENT);
        for (int i = 0; running && i < 500; i++) {
                (void)usleep(10000);
                ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
        }
        ck_assert(!running);
        ck_assert_int_eq(result_load(run_fd, "x", &r), 0); /* there as soon as the lock is free */
        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 5);
        ck_assert_str_eq(tail(&r), "hi\nend\n");
        ck_assert_int_eq(waitpid(keeper, NULL, 0), keeper);
        result_done(&r);
}
END_TEST

/* ---- scopes where there is no manager ---- */

static void no_bus(void) {
        ck_assert_int_eq(unsetenv("DBUS_SESSION_BUS_ADDRESS"), 0);
        ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", dir, 1), 0);
}

START_TEST(scope_without_a_bus_runs_nothing) {
        Plan plan = shell("echo run");
        RunResult r;
        Run run;

        no_bus();
        run = start(&plan,
                    &(RunSpec){.unit = "spoolgate-a.up-0123456789abcdef.scope", .sync = true});
        r = finish(&run, 15000);
        ck_assert_int_eq(r.kind, RESULT_SPAWN);
        ck_assert_str_eq(r.spawn_stage, "bus");
        ck_assert_int_eq(r.started_ms, 0);
        ck_assert_uint_eq(r.output_bytes, 0);
        result_done(&r);
}
END_TEST

/* A bus that takes connections and never says a word. */
static int mute_bus(void) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        no_bus();
        ck_assert_uint_lt(strlen(dir), 80);
        (void)strcat(strcpy(address.sun_path, dir), "/bus");
        ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        ck_assert_int_eq(listen(fd, 8), 0);
        return fd;
}

START_TEST(scope_keeper_that_stands_nowhere_dies_with_its_drain) {
        Plan plan = shell("echo run");
        RunResult r;
        bool running = true;
        int bus = mute_bus(), status;
        pid_t keeper;

        dying_drain(&plan, &(RunSpec){.unit = "spoolgate-a.up-0123456789abcdef.scope"}, &keeper);
        ck_assert_int_eq(waitpid(keeper, &status, 0), keeper);
        ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 1);
        ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
        ck_assert(!running);
        ck_assert_int_eq(result_load(run_fd, "x", &r), RESULT_E_ABSENT);
        (void)close(bus);
}
END_TEST

START_TEST(scope_with_a_mute_bus_times_out) {
        Plan plan = shell("echo run");
        int bus = mute_bus();
        RunResult r;
        Run run;

        run = start(&plan, &(RunSpec){.unit = "spoolgate-a.up-0123456789abcdef.scope"});
        r = finish(&run, 15000);
        ck_assert_int_eq(r.kind, RESULT_SPAWN);
        ck_assert_str_eq(r.spawn_stage, "bus");
        ck_assert_uint_eq(r.output_bytes, 0);
        result_done(&r);
        (void)close(bus);
}
END_TEST

START_TEST(cancel_before_the_scope_stands_runs_nothing) {
        Plan plan = shell("echo run");
        RunResult r;
        int bus = mute_bus(), e;
        Run run;

        run = start(&plan, &(RunSpec){.unit = "spoolgate-a.up-0123456789abcdef.scope"});
        while ((e = result_cancel(run_fd, "x")) == RESULT_E_ABSENT)
                (void)usleep(1000);
        ck_assert_int_eq(e, 0);
        (void)close(bus); /* resets what is queued there */
        r = finish(&run, 15000);
        ck_assert_int_eq(r.started_ms, 0);
        ck_assert_uint_eq(r.output_bytes, 0);
        result_done(&r);
}
END_TEST

START_TEST(start_refuses_a_bad_spec) {
        Plan plan = shell(":");
        RunSpec good = {.plan = &plan,
                        .id = "x",
                        .run_fd = 10,
                        .lock_fd = 11,
                        .log_fd = 12,
                        .timeout_sec = 1};
        RunSpec bad;
        Run run;

        bad = good, bad.run_fd = 2;
        ck_assert_int_eq(keeper_start(&bad, &run), -EINVAL);
        bad = good, bad.lock_fd = -1;
        ck_assert_int_eq(keeper_start(&bad, &run), -EINVAL);
        bad = good, bad.log_fd = 0;
        ck_assert_int_eq(keeper_start(&bad, &run), -EINVAL);
        bad = good, bad.timeout_sec = 0;
        ck_assert_int_eq(keeper_start(&bad, &run), -EINVAL);
}
END_TEST

START_TEST(result_that_can_not_be_stored) {
        Plan plan = shell("echo hi");
        bool running = true;
        Run run;

        run = start(&plan, NULL); /* the keeper's copy of run_fd is of a directory that goes away */
        ck_assert_int_eq(unlinkat(run_fd, "x.lock", 0), 0);
        ck_assert_int_eq(unlinkat(run_fd, "x.log", 0), 0);
        ck_assert_int_eq(rmdir(dir), 0);
        ck_assert_int_eq(reap(&run, 5000), 1);
        ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
        ck_assert(!running);
        ck_assert_int_eq(mkdir(dir, 0700), 0); /* for teardown */
}
END_TEST

static TCase *cases(void) {
        TCase *tc = tcase_create("keeper");

        tcase_set_timeout(tc, 60);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, exit_status_output_and_times);
        tcase_add_test(tc, exit_without_output);
        tcase_add_test(tc, signal_of_the_child);
        tcase_add_test(tc, large_output_keeps_its_tail);
        tcase_add_test(tc, exec_failure_is_told);
        tcase_add_test(tc, world_of_child_and_keeper);
        tcase_add_test(tc, deadline_kills_what_ignores_term);
        tcase_add_test(tc, deadline_lets_a_polite_child_finish);
        tcase_add_test(tc, deadline_catches_a_process_that_hops);
        tcase_add_test(tc, background_process_holds_the_pipe_but_not_the_run);
        tcase_add_test(tc, background_process_that_writes_for_ever);
        tcase_add_test(tc, child_that_closes_its_output_runs_on);
        tcase_add_test(tc, cancel_ends_the_run);
        tcase_add_test(tc, zombies_are_reaped);
        tcase_add_test(tc, direct_run_survives_its_drain);
        tcase_add_test(tc, scope_without_a_bus_runs_nothing);
        tcase_add_test(tc, scope_keeper_that_stands_nowhere_dies_with_its_drain);
        tcase_add_test(tc, scope_with_a_mute_bus_times_out);
        tcase_add_test(tc, cancel_before_the_scope_stands_runs_nothing);
        tcase_add_test(tc, start_refuses_a_bad_spec);
        tcase_add_test(tc, result_that_can_not_be_stored);
        return tc;
}

int main(void) {
        Suite *suite = suite_create("run/keeper");
        SRunner *runner;
        int failed;

        suite_add_tcase(suite, cases());
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? 1 : 0;
}
