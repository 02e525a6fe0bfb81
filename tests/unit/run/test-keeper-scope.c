/* The keeper in a scope. Needs a user manager, and to be a process in its care: on a host,
 * `systemd-run --user --pipe --wait test-run-keeper-scope`. Exit 77 without one. */
#include "base/hash.h"
#include "run/scope.h"
#include "tests/unit/run/rig.h"

static char unit[128];

static void name_unit(void) {
        char nonce[17];

        hash_random_hex(nonce, 16);
        (void)snprintf(unit, sizeof(unit), "spoolgate-unit-test.up-%s.scope", nonce);
}

static Run begin(const Plan *plan, uint32_t timeout_sec) {
        return start(plan, &(RunSpec){.unit = unit, .timeout_sec = timeout_sec, .sync = true});
}

/* The end of a run whose keeper may be nobody's child. */
static RunResult settle(void) {
        RunResult r = RUN_RESULT_NULL;
        bool running = true;

        for (int i = 0; running; i++) {
                ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
                ck_assert_int_lt(i, 1000);
                (void)usleep(10000);
        }
        ck_assert_int_eq(result_load(run_fd, "x", &r), 0);
        return r;
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

START_TEST(keeper_runs_the_verb_in_the_scope) {
        Plan plan = shell("cat /proc/self/cgroup");
        Run run = begin(&plan, 20);
        RunResult r = settle();

        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 0);
        ck_assert_ptr_nonnull(strstr(r.tail.data, unit));
        ck_assert_int_eq(waitpid(run.pid, NULL, 0), run.pid);
        wait_inactive();
        result_done(&r);
}
END_TEST

/* The drain's whole world is gone, and the run's outcome is true nevertheless. */
START_TEST(keeper_outlives_its_drain) {
        Plan plan = shell("echo hi; sleep 1; echo end; exit 6");
        pid_t drain = fork();
        struct stat st;
        RunResult r;

        if (drain == 0) {
                (void)begin(&plan, 20);
                do
                        (void)usleep(1000);
                while (fstat(log_fd, &st) == 0 && st.st_size == 0);
                (void)kill(getpid(), SIGKILL);
        }
        ck_assert_int_eq(waitpid(drain, NULL, 0), drain);
        ck_assert(active());
        r = settle();
        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(r.code, 6);
        ck_assert_str_eq(r.tail.data, "hi\nend\n");
        wait_inactive();
        result_done(&r);
}
END_TEST

/* Killed at any moment of the launch: the verb never ran and no scope stays, or it ran and its
 * result says so. */
START_TEST(drain_killed_while_it_launches) {
        Plan plan = shell("echo run");

        for (useconds_t wait = 0; wait < 12000; wait += 500) {
                pid_t drain;
                bool running = true;
                RunResult r = RUN_RESULT_NULL;
                struct stat st;
                int e;

                name_unit();
                drain = fork();
                if (drain == 0) {
                        (void)begin(&plan, 20);
                        for (;;)
                                (void)pause();
                }
                (void)usleep(wait);
                ck_assert_int_eq(kill(drain, SIGKILL), 0);
                ck_assert_int_eq(waitpid(drain, NULL, 0), drain);
                for (int i = 0; running; i++) {
                        ck_assert_int_eq(result_running(run_fd, "x", &running), 0);
                        ck_assert_int_lt(i, 1000);
                        (void)usleep(10000);
                }
                e = result_load(run_fd, "x", &r);
                if (e == 0)
                        ck_assert_int_eq(r.kind, RESULT_EXIT);
                else {
                        ck_assert_int_eq(e, RESULT_E_ABSENT);
                        ck_assert_int_eq(fstat(log_fd, &st), 0);
                        ck_assert_int_eq(st.st_size, 0);
                }
                wait_inactive();
                result_done(&r);
                ck_assert_int_eq(result_forget(run_fd, "x"), 0);
                ck_assert_int_eq(ftruncate(log_fd, 0), 0);
                ck_assert_int_eq(lseek(log_fd, 0, SEEK_SET), 0);
                while (waitpid(-1, NULL, WNOHANG) > 0) /* keepers that came to us */
                        ;
        }
}
END_TEST

START_TEST(deadline_ends_the_whole_scope) {
        Plan plan = shell("trap '' TERM; setsid sh -c 'echo $$; while :; do sleep 1; done' & "
                          "while :; do sleep 1; done");
        Run run = begin(&plan, 1);
        RunResult r = settle();
        int pid;

        ck_assert_int_eq(r.kind, RESULT_TIMEOUT);
        ck_assert_int_eq(sscanf(r.tail.data, "%d", &pid), 1);
        ck_assert_int_eq(kill(pid, 0), -1);
        ck_assert_int_eq(waitpid(run.pid, NULL, 0), run.pid);
        wait_inactive();
        result_done(&r);
}
END_TEST

START_TEST(scope_stays_with_what_the_verb_left) {
        Plan plan = shell("sleep 30 & echo $!");
        Run run = begin(&plan, 20);
        RunResult r = settle();
        int pid;

        ck_assert_int_eq(r.kind, RESULT_EXIT);
        ck_assert_int_eq(sscanf(r.tail.data, "%d", &pid), 1);
        ck_assert_int_eq(waitpid(run.pid, NULL, 0), run.pid);
        ck_assert_int_eq(kill(pid, 0), 0);
        ck_assert(active());
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        wait_inactive();
        result_done(&r);
}
END_TEST

static TCase *cases(void) {
        TCase *tc = tcase_create("keeper-scope");

        tcase_set_timeout(tc, 60);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_checked_fixture(tc, name_unit, NULL);
        tcase_add_test(tc, keeper_runs_the_verb_in_the_scope);
        tcase_add_test(tc, keeper_outlives_its_drain);
        tcase_add_test(tc, drain_killed_while_it_launches);
        tcase_add_test(tc, deadline_ends_the_whole_scope);
        tcase_add_test(tc, scope_stays_with_what_the_verb_left);
        return tc;
}

int main(void) {
        Suite *suite;
        SRunner *runner;
        bool there = false;
        int failed;

        if (scope_available(&there) < 0)
                return 1;
        if (!there) {
                printf("no user manager answers: skipped\n");
                return 77;
        }

        suite = suite_create("run/keeper-scope");
        suite_add_tcase(suite, cases());
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? 1 : 0;
}
