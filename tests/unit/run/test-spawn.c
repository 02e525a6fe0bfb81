#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "run/spawn.h"

/* A plan of this test's own: the real one can only name what a table holds. */
struct Plan {
        const char *argv[5], *envp[3], *cwd;
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

static char self[4096];

/* ---- the child: this executable as `test-run-spawn world` ---- */

static void world_fds(void) {
        DIR *dir = opendir("/proc/self/fd");
        struct dirent *entry;
        bool seen[64] = {false};

        if (!dir)
                return;
        while ((entry = readdir(dir))) {
                int fd = atoi(entry->d_name);

                if (entry->d_name[0] != '.' && fd != dirfd(dir) && fd < 64)
                        seen[fd] = true;
        }
        (void)closedir(dir);
        printf("fds");
        for (int i = 0; i < 64; i++)
                if (seen[i])
                        printf(" %d", i);
        printf("\n");
}

static void world_signals(void) {
        struct sigaction action;
        sigset_t mask;

        (void)sigprocmask(SIG_SETMASK, NULL, &mask);
        for (int sig = 1; sig < NSIG; sig++) {
                if (sigismember(&mask, sig) == 1)
                        printf("blocked %d\n", sig);
                /* The sanitizers take some for themselves; none of them ignores one. */
                if (sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
                        printf("ignored %d\n", sig);
        }
}

static void world_limits(void) {
        struct rlimit files = {0}, core = {0};

        (void)getrlimit(RLIMIT_NOFILE, &files);
        (void)getrlimit(RLIMIT_CORE, &core);
        printf("nofile %llu core %llu\n", (unsigned long long)files.rlim_cur,
               (unsigned long long)core.rlim_cur);
}

static int world(void) {
        char cwd[4096], byte;
        mode_t mask = umask(0);
        int tty;

        world_fds();
        for (char **e = environ; *e; e++)
                printf("env %s\n", *e);
        printf("cwd %s\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
        world_signals();
        world_limits();
        printf("umask %03o\n", (unsigned)mask);
        printf("session %s\n", getsid(0) == getpid() ? "own" : "shared");
        tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
        printf("tty %s\n", tty < 0 ? "none" : "there");
        printf("stdin %zd\n", read(0, &byte, 1));
        return 0;
}

/* ---- the tests ---- */

static Plan plan_shell(const char *script) {
        return (Plan){.argv = {"/bin/sh", "-c", script, NULL}, .envp = {"A=1", NULL}, .cwd = "/"};
}

static void finish(pid_t pid, int pidfd, siginfo_t *info) {
        ck_assert_int_eq(waitid(P_PIDFD, (id_t)pidfd, info, WEXITED), 0);
        ck_assert_int_eq(info->si_pid, pid);
        (void)close(pidfd);
}

/* Runs to the end; what it wrote. */
static char *run(const Plan *plan, siginfo_t *info) {
        Str text = STR_NULL;
        int pair[2], error = -1, pidfd;
        pid_t pid;
        char *out;

        ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
        ck_assert_int_eq(spawn_child(plan, pair[1], &pid, &pidfd, &error), 0);
        ck_assert_int_eq(error, -1);
        (void)close(pair[1]);
        ck_assert_int_eq(io_read_all(pair[0], 65536, &text), 0);
        (void)close(pair[0]);
        finish(pid, pidfd, info);
        ck_assert_int_eq(str_take(&text, &out), 0);
        return out;
}

static unsigned open_fds(void) {
        unsigned n = 0;

        for (int fd = 0; fd < 256; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

START_TEST(child_world_is_built_from_nothing) {
        Plan plan = {.argv = {self, "world", NULL}, .envp = {"A=1", "B=x y", NULL}, .cwd = "/usr"};
        struct rlimit files;
        siginfo_t info;
        sigset_t all;
        char *out;
        int pair[2];

        ck_assert_int_eq(setenv("LD_LIBRARY_PATH", "/nowhere", 1), 0);
        ck_assert_int_eq(setenv("INVOCATION_ID", "feed", 1), 0);
        ck_assert_int_eq(pipe(pair), 0); /* no CLOEXEC, on purpose, as all that follows */
        ck_assert_int_eq(dup2(pair[0], 0), 0);
        for (int fd = 20; fd < 40; fd++)
                ck_assert_int_eq(dup2(pair[1], fd), fd);
        (void)signal(SIGPIPE, SIG_IGN);
        (void)signal(SIGHUP, SIG_IGN);
        (void)signal(SIGRTMIN, SIG_IGN);
        (void)umask(077);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
        files.rlim_cur = files.rlim_max < 2048 ? files.rlim_max : 2048;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
        (void)sigfillset(&all);
        (void)sigprocmask(SIG_SETMASK, &all, NULL);
        out = run(&plan, &info);
        ck_assert_str_eq(out, "fds 0 1 2\nenv A=1\nenv B=x y\ncwd /usr\nnofile 1024 core 0\n"
                              "umask 022\nsession own\ntty none\nstdin 0\n");
        ck_assert_int_eq(info.si_code, CLD_EXITED);
        ck_assert_int_eq(info.si_status, 0);
        free(out);
        (void)close(pair[0]);
        (void)close(pair[1]);
}
END_TEST

START_TEST(child_writes_both_streams_to_out_fd) {
        Plan plan = plan_shell("echo one; echo two >&2");
        unsigned before = open_fds();
        siginfo_t info;
        char *out = run(&plan, &info);

        ck_assert_str_eq(out, "one\ntwo\n");
        free(out);
        ck_assert_uint_eq(open_fds(), before);
}
END_TEST

START_TEST(child_with_low_fds_missing) {
        Plan plan = {.argv = {self, "world", NULL}, .envp = {NULL}, .cwd = "/"};
        int pair[2], error, pidfd, keep;
        Str text = STR_NULL;
        siginfo_t info;
        pid_t pid;

        keep = fcntl(2, F_DUPFD_CLOEXEC, 100);
        (void)close(0);
        (void)close(1);
        (void)close(2);
        ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0); /* 0 and 1 */
        ck_assert_int_eq(pair[1], 1);
        ck_assert_int_eq(spawn_child(&plan, pair[1], &pid, &pidfd, &error), 0);
        (void)close(1);
        ck_assert_int_eq(io_read_all(0, 65536, &text), 0);
        finish(pid, pidfd, &info);
        ck_assert_int_eq(dup2(keep, 2), 2);
        ck_assert_ptr_nonnull(strstr(text.data, "fds 0 1 2\n"));
        ck_assert_ptr_nonnull(strstr(text.data, "stdin 0\n"));
        str_done(&text);
}
END_TEST

START_TEST(child_exit_status) {
        Plan plan = plan_shell("exit 7");
        siginfo_t info;

        free(run(&plan, &info));
        ck_assert_int_eq(info.si_code, CLD_EXITED);
        ck_assert_int_eq(info.si_status, 7);
}
END_TEST

START_TEST(child_signal) {
        Plan plan = plan_shell("kill -USR1 $$");
        siginfo_t info;

        free(run(&plan, &info));
        ck_assert_int_eq(info.si_code, CLD_KILLED);
        ck_assert_int_eq(info.si_status, SIGUSR1);
}
END_TEST

static void refuse(const Plan *plan, int expected) {
        unsigned before = open_fds();
        int error = -1, pidfd = -77;
        pid_t pid = -77;

        ck_assert_int_eq(spawn_child(plan, 2, &pid, &pidfd, &error), SPAWN_E_EXEC);
        ck_assert_int_eq(error, expected);
        ck_assert_int_eq(pid, -77);
        ck_assert_int_eq(pidfd, -77);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* reaped */
        ck_assert_int_eq(errno, ECHILD);
        ck_assert_uint_eq(open_fds(), before);
}

START_TEST(child_that_can_not_be_executed) {
        Plan absent = {.argv = {"/nonexistent/x", NULL}, .envp = {NULL}, .cwd = "/"};
        Plan plain = {.argv = {"/etc/passwd", NULL}, .envp = {NULL}, .cwd = "/"};
        Plan no_cwd = {.argv = {"/bin/true", NULL}, .envp = {NULL}, .cwd = "/nonexistent"};

        refuse(&absent, ENOENT);
        refuse(&plain, EACCES);
        refuse(&no_cwd, ENOENT);
}
END_TEST

START_TEST(child_without_a_free_fd) {
        Plan plan = plan_shell("echo run >&2");
        int error = -1, pidfd = -77, r;
        pid_t pid = -77;

        /* From no free fd at all to just enough: never a child that nobody holds. */
        for (rlim_t n = 3; n < 40; n++) {
                struct rlimit files = {.rlim_cur = n, .rlim_max = 1024}, before;

                ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
                files.rlim_max = before.rlim_max;
                ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
                r = spawn_child(&plan, 2, &pid, &pidfd, &error);
                ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
                if (r == 0)
                        break;
                ck_assert(r == SPAWN_E_EXEC || r == -EMFILE);
                if (r == SPAWN_E_EXEC)
                        ck_assert_int_eq(error, EMFILE);
                ck_assert_int_eq(pid, -77);
                ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        }
        ck_assert_int_gt(pid, 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(fork_whose_gate_is_closed_ends) {
        int pidfd, gate, status;
        pid_t pid;

        ck_assert_int_eq(spawn_fork(&pid, &pidfd, &gate), 0);
        if (pid == 0)
                _exit(spawn_gate_wait(gate) == -EPIPE ? 42 : 1);
        (void)close(gate);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(WEXITSTATUS(status), 42);
        (void)close(pidfd);
}
END_TEST

START_TEST(fork_waits_at_the_gate) {
        int pidfd, gate, status;
        struct pollfd end;
        pid_t pid;

        ck_assert_int_eq(spawn_fork(&pid, &pidfd, &gate), 0);
        if (pid == 0)
                _exit(spawn_gate_wait(gate) == 0 ? 43 : 1);
        end = (struct pollfd){.fd = pidfd, .events = POLLIN};
        ck_assert_int_eq(poll(&end, 1, 100), 0);
        ck_assert_int_eq(spawn_gate_open(gate), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(WEXITSTATUS(status), 43);
        ck_assert_int_eq(spawn_gate_open(gate), -EPIPE);
        (void)close(gate);
        (void)close(pidfd);
}
END_TEST

START_TEST(fork_keeps_the_mask_of_the_parent) {
        int pidfd, gate;
        sigset_t some, now;
        pid_t pid;

        (void)sigemptyset(&some);
        (void)sigaddset(&some, SIGUSR2);
        (void)sigprocmask(SIG_SETMASK, &some, NULL);
        ck_assert_int_eq(spawn_fork(&pid, &pidfd, &gate), 0);
        if (pid == 0) {
                (void)sigprocmask(SIG_SETMASK, NULL, &now);
                _exit(sigismember(&now, SIGTERM) == 1 ? 0 : 1);
        }
        (void)sigprocmask(SIG_SETMASK, NULL, &now);
        ck_assert_int_eq(sigismember(&now, SIGUSR2), 1);
        ck_assert_int_eq(sigismember(&now, SIGTERM), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        (void)close(gate);
        (void)close(pidfd);
}
END_TEST

START_TEST(reset_self_mends_what_was_inherited) {
        struct sigaction action;
        sigset_t mask;
        int keep = fcntl(2, F_DUPFD_CLOEXEC, 100);

        (void)signal(SIGTERM, SIG_IGN);
        (void)signal(SIGPIPE, SIG_IGN);
        (void)sigfillset(&mask);
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        (void)umask(0);
        (void)close(0);
        (void)close(2);
        ck_assert_int_eq(spawn_reset_self(), 0);
        ck_assert_int_eq(fcntl(0, F_GETFD), 0); /* there, and no CLOEXEC */
        ck_assert_int_eq(fcntl(2, F_GETFD), 0);
        ck_assert_int_eq(dup2(keep, 2), 2);
        ck_assert_int_eq(sigaction(SIGTERM, NULL, &action), 0);
        ck_assert(action.sa_handler == SIG_DFL);
        ck_assert_int_eq(sigaction(SIGPIPE, NULL, &action), 0);
        ck_assert(action.sa_handler == SIG_DFL);
        (void)sigprocmask(SIG_SETMASK, NULL, &mask);
        ck_assert_int_eq(sigismember(&mask, SIGTERM), 0);
        ck_assert_int_eq((int)umask(0), 077);
}
END_TEST

static int run_suite(void) {
        Suite *suite = suite_create("run/spawn");
        TCase *tc = tcase_create("spawn");
        SRunner *runner;
        int failed;

        tcase_set_timeout(tc, 20);
        tcase_add_test(tc, child_world_is_built_from_nothing);
        tcase_add_test(tc, child_writes_both_streams_to_out_fd);
        tcase_add_test(tc, child_with_low_fds_missing);
        tcase_add_test(tc, child_exit_status);
        tcase_add_test(tc, child_signal);
        tcase_add_test(tc, child_that_can_not_be_executed);
        tcase_add_test(tc, child_without_a_free_fd);
        tcase_add_test(tc, fork_whose_gate_is_closed_ends);
        tcase_add_test(tc, fork_waits_at_the_gate);
        tcase_add_test(tc, fork_keeps_the_mask_of_the_parent);
        tcase_add_test(tc, reset_self_mends_what_was_inherited);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? 1 : 0;
}

int main(int argc, char **argv) {
        if (argc == 2 && strcmp(argv[1], "world") == 0)
                return world();
        if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
                return 99;
        return run_suite();
}
