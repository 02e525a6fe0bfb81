/* The second half needs a user manager, and a process in its care: on a host, `systemd-run --user
 * --pipe --wait test-run-scope`. Without one it is skipped and the exit status is 77. */
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
#include "base/hash.h"
#include "base/io.h"
#include "run/kin.h"
#include "run/scope.h"

static char dir[256], unit[128];

static void name_unit(void) {
        char nonce[17];

        hash_random_hex(nonce, 16);
        (void)snprintf(unit, sizeof(unit), "spoolgate-unit-test.up-%s.scope", nonce);
}

static void make_dir(void) {
        const char *tmp = getenv("TMPDIR");

        (void)snprintf(dir, sizeof(dir), "%s/spoolgate-scope.XXXXXX", tmp ? tmp : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        ck_assert_uint_lt(strlen(dir), 80);
        name_unit();
        (void)signal(SIGTERM, SIG_DFL); /* libcheck's handler kills the whole group */
}

static void remove_dir(void) {
        static const char *const names[] = {"bus", "systemd/private", "x.lock", "x.log",
                                            "x.result"};
        int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                (void)unlinkat(fd, names[i], 0);
        (void)unlinkat(fd, "systemd", AT_REMOVEDIR);
        (void)close(fd);
        ck_assert_int_eq(rmdir(dir), 0);
}

static void no_bus(void) {
        ck_assert_int_eq(unsetenv("DBUS_SESSION_BUS_ADDRESS"), 0);
        ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", dir, 1), 0);
}

static int enter(uint32_t timeout_ms) {
        ScopeSpec spec = {.unit = unit, .description = "a test", .timeout_ms = timeout_ms};

        return scope_enter(&spec);
}

/* ---- without a manager ---- */

START_TEST(stage_names_each_code) {
        ck_assert_str_eq(scope_stage(SCOPE_E_BUS), "bus");
        ck_assert_str_eq(scope_stage(SCOPE_E_EXISTS), "exists");
        ck_assert_str_eq(scope_stage(SCOPE_E_JOB), "job");
        ck_assert_str_eq(scope_stage(SCOPE_E_TIMEOUT), "job-timeout");
        ck_assert_str_eq(scope_stage(SCOPE_E_PLACE), "place");
        ck_assert_str_eq(scope_stage(-ENOMEM), "setup");
}
END_TEST

static void nobody_answers(void) {
        bool value = true;

        ck_assert_int_eq(enter(500), SCOPE_E_BUS);
        ck_assert_int_eq(scope_active(unit, &value), SCOPE_E_BUS);
        ck_assert(value);
        ck_assert_int_eq(scope_drop_empty(unit), SCOPE_E_BUS);
        ck_assert_int_eq(scope_available(&value), 0);
        ck_assert(!value);
}

START_TEST(enter_without_any_bus) {
        no_bus();
        nobody_answers();
        ck_assert_int_eq(unsetenv("XDG_RUNTIME_DIR"), 0);
        nobody_answers();
        ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", "relative", 1), 0);
        nobody_answers();
        ck_assert_int_eq(setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1), 0);
        nobody_answers();
        ck_assert_int_eq(setenv("DBUS_SESSION_BUS_ADDRESS", "no address", 1), 0);
        nobody_answers();
}
END_TEST

static int listen_at(const char *name) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        (void)strcat(strcat(strcpy(address.sun_path, dir), "/"), name);
        ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        ck_assert_int_eq(listen(fd, 8), 0);
        return fd;
}

START_TEST(enter_is_bounded_on_a_mute_bus) {
        int64_t begun = clock_mono_ms();
        char path[300];
        int fd, private;

        no_bus();
        fd = listen_at("bus");
        ck_assert_int_eq(enter(400), SCOPE_E_BUS);
        (void)snprintf(path, sizeof(path), "%s/systemd", dir);
        ck_assert_int_eq(mkdir(path, 0700), 0);
        private = listen_at("systemd/private");
        ck_assert_int_eq(enter(400), SCOPE_E_BUS);
        ck_assert_int_lt(clock_mono_ms() - begun, 3000);
        (void)close(fd);
        (void)close(private);
}
END_TEST

START_TEST(enter_leaves_no_fd) {
        int before, after;

        no_bus();
        before = dup(0);
        (void)close(before);
        ck_assert_int_eq(enter(100), SCOPE_E_BUS);
        after = dup(0);
        (void)close(after);
        ck_assert_int_eq(before, after);
}
END_TEST

/* ---- with one ---- */

static bool stands(void) {
        char *path = NULL;
        bool yes;

        ck_assert_int_eq(kin_cgroup(getpid(), &path), 0);
        yes = str_ends(path, unit);
        free(path);
        return yes;
}

/* A process which enters the scope and stays until it is killed; what scope_enter said. */
static pid_t enter_and_stay(int *ret_code) {
        int pair[2], code;
        pid_t pid;

        ck_assert_int_eq(pipe(pair), 0);
        pid = fork();
        if (pid == 0) {
                code = enter(10000);
                if (code == 0 && !stands())
                        code = 99;
                if (write(pair[1], &code, sizeof(code)) != (ssize_t)sizeof(code))
                        _exit(1);
                for (;;)
                        (void)pause();
        }
        ck_assert_int_eq(read(pair[0], ret_code, sizeof(*ret_code)), (ssize_t)sizeof(*ret_code));
        (void)close(pair[0]);
        (void)close(pair[1]);
        return pid;
}

static void end(pid_t pid) {
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static bool active(void) {
        bool value;

        ck_assert_int_eq(scope_active(unit, &value), 0);
        return value;
}

static void wait_inactive(void) {
        for (int i = 0; active(); i++) {
                ck_assert_int_lt(i, 500);
                (void)usleep(10000);
        }
}

START_TEST(enter_stands_and_ends_with_its_last_process) {
        bool value = false;
        int code;
        pid_t pid;

        ck_assert_int_eq(scope_available(&value), 0);
        ck_assert(value);
        ck_assert(!active());
        pid = enter_and_stay(&code);
        ck_assert_int_eq(code, 0);
        ck_assert(active());
        ck_assert(!stands());
        end(pid);
        wait_inactive();
}
END_TEST

START_TEST(enter_a_name_that_is_taken) {
        int code;
        pid_t pid = enter_and_stay(&code), other;

        ck_assert_int_eq(code, 0);
        other = enter_and_stay(&code);
        ck_assert_int_eq(code, SCOPE_E_EXISTS);
        end(other);
        end(pid);
        wait_inactive();
}
END_TEST

START_TEST(enter_a_name_that_is_none) {
        int code;

        (void)strcpy(unit, "no unit name");
        end(enter_and_stay(&code));
        ck_assert_int_eq(code, SCOPE_E_JOB);
        (void)strcpy(unit, "spoolgate-unit-test.service");
        end(enter_and_stay(&code));
        ck_assert_int_eq(code, SCOPE_E_JOB);
}
END_TEST

START_TEST(enter_with_limits) {
        ScopeSpec spec = {
                .unit = unit, .tasks_max = 50, .memory_max = 1 << 30, .timeout_ms = 10000};
        pid_t pid = fork();
        int status;

        if (pid == 0)
                _exit(scope_enter(&spec) == 0 && stands() ? 0 : 1);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* A scope whose only process was a zombie when the manager took it is active, empty, and stays. */
START_TEST(drop_empty_ends_what_nobody_is_in) {
        ScopeSpec spec = {.unit = unit, .timeout_ms = 10000};
        int code;
        pid_t pid;

        ck_assert_int_eq(scope_drop_empty(unit), 0); /* no such unit */
        pid = enter_and_stay(&code);
        ck_assert_int_eq(code, 0);
        ck_assert_int_eq(scope_drop_empty(unit), 0); /* somebody is there: untouched */
        ck_assert(active());
        (void)usleep(50000);
        ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
        end(pid);
        wait_inactive();
        name_unit();
        for (int i = 0; i < 200 && !active();
             i++) { /* killed in the middle of its launch, until it takes */
                pid = fork();
                if (pid == 0) {
                        (void)!scope_enter(&spec);
                        _exit(0);
                }
                (void)usleep(1000 + 20 * (useconds_t)i);
                (void)kill(pid, SIGKILL);
                (void)usleep(5000); /* a zombie meanwhile */
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
                (void)usleep(5000);
        }
        ck_assert_int_eq(scope_drop_empty(unit), 0);
        wait_inactive();
}
END_TEST

START_TEST(enter_over_the_private_socket) {
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char real[256], path[300];
        int code;
        pid_t pid;

        (void)snprintf(real, sizeof(real), "%s/systemd/private", runtime ? runtime : "");
        (void)snprintf(path, sizeof(path), "%s/systemd", dir);
        ck_assert_int_eq(mkdir(path, 0700), 0);
        (void)strcat(path, "/private");
        ck_assert_int_eq(symlink(real, path), 0);
        no_bus(); /* there is only DIR/systemd/private now */
        pid = enter_and_stay(&code);
        ck_assert_int_eq(code, 0);
        ck_assert(active());
        end(pid);
        wait_inactive();
}
END_TEST

START_TEST(enter_past_a_dead_bus) {
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char real[256], path[300];
        int code, fd;

        (void)snprintf(real, sizeof(real), "%s/systemd/private", runtime ? runtime : "");
        (void)snprintf(path, sizeof(path), "%s/systemd", dir);
        ck_assert_int_eq(mkdir(path, 0700), 0);
        (void)strcat(path, "/private");
        ck_assert_int_eq(symlink(real, path), 0);
        no_bus();
        fd = listen_at("bus"); /* a bus that never says a word */
        end(enter_and_stay(&code));
        ck_assert_int_eq(code, 0);
        (void)close(fd);
}
END_TEST

static TCase *cases_without(void) {
        TCase *tc = tcase_create("without");

        tcase_set_timeout(tc, 120); /* scope_active and scope_available wait 5 s each */
        tcase_add_checked_fixture(tc, make_dir, remove_dir);
        tcase_add_test(tc, stage_names_each_code);
        tcase_add_test(tc, enter_without_any_bus);
        tcase_add_test(tc, enter_is_bounded_on_a_mute_bus);
        tcase_add_test(tc, enter_leaves_no_fd);
        return tc;
}

static TCase *cases_with(void) {
        TCase *tc = tcase_create("with");

        tcase_set_timeout(tc, 60);
        tcase_add_checked_fixture(tc, make_dir, remove_dir);
        tcase_add_test(tc, enter_stands_and_ends_with_its_last_process);
        tcase_add_test(tc, enter_a_name_that_is_taken);
        tcase_add_test(tc, enter_a_name_that_is_none);
        tcase_add_test(tc, enter_with_limits);
        tcase_add_test(tc, drop_empty_ends_what_nobody_is_in);
        tcase_add_test(tc, enter_over_the_private_socket);
        tcase_add_test(tc, enter_past_a_dead_bus);
        return tc;
}

int main(void) {
        Suite *suite = suite_create("run/scope");
        SRunner *runner;
        bool there = false;
        int failed;

        if (hash_init() < 0 || scope_available(&there) < 0)
                return 1;
        suite_add_tcase(suite, cases_without());
        if (there)
                suite_add_tcase(suite, cases_with());
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        if (failed)
                return 1;
        if (!there)
                printf("no user manager answers: the cases with one were skipped\n");
        return there ? 0 : 77;
}
