/* How a keeper ends a run: deadline, cancel, and a scope that never stands. */
#include "tests/unit/run/rig.h"

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

static TCase *cases(void) {
        TCase *tc = tcase_create("keeper-end");

        tcase_set_timeout(tc, 60);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, deadline_kills_what_ignores_term);
        tcase_add_test(tc, deadline_lets_a_polite_child_finish);
        tcase_add_test(tc, deadline_catches_a_process_that_hops);
        tcase_add_test(tc, cancel_ends_the_run);
        tcase_add_test(tc, scope_without_a_bus_runs_nothing);
        tcase_add_test(tc, scope_keeper_that_stands_nowhere_dies_with_its_drain);
        tcase_add_test(tc, scope_with_a_mute_bus_times_out);
        tcase_add_test(tc, cancel_before_the_scope_stands_runs_nothing);
        return tc;
}

int main(void) {
        Suite *suite = suite_create("run/keeper-end");
        SRunner *runner;
        int failed;

        suite_add_tcase(suite, cases());
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? 1 : 0;
}
