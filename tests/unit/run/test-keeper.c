#include "tests/unit/run/rig.h"

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
        tcase_add_test(tc, background_process_holds_the_pipe_but_not_the_run);
        tcase_add_test(tc, background_process_that_writes_for_ever);
        tcase_add_test(tc, child_that_closes_its_output_runs_on);
        tcase_add_test(tc, zombies_are_reaped);
        tcase_add_test(tc, direct_run_survives_its_drain);
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
