#include "base/clock.h"
#include "installer/child.h"
#include "tests/unit/fs/scratch.h"

static int run(const char *script, int64_t timeout_ms, size_t max, bool both, Str *output,
               int *status) {
        return child_run((const char *const[]){"/bin/sh", "-c", script, NULL}, timeout_ms, max,
                         both, output, status);
}

START_TEST(run_output_and_status) {
        CLEANUP(str_done) Str output = STR_NULL;
        int status = -1;

        ck_assert_int_eq(run("echo out; echo err >&2; exit 3", 5000, 100, false, &output, &status),
                         0);
        ck_assert_str_eq(output.data, "out\n");
        ck_assert_int_eq(WEXITSTATUS(status), 3);
        ck_assert_int_eq(run("echo out; echo err >&2", 5000, 100, true, &output, &status), 0);
        ck_assert_str_eq(output.data, "out\nerr\n");
        ck_assert_int_eq(run(":", 5000, 100, true, &output, &status), 0);
        ck_assert_str_eq(output.data, "");
        ck_assert_int_eq(run("kill -9 $$", 5000, 100, true, &output, &status), 0);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == 9);
}
END_TEST

START_TEST(run_world) {
        CLEANUP(str_done) Str output = STR_NULL;
        int status;

        ck_assert_int_eq(run("pwd; cat; ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo session",
                             5000, 100, false, &output, &status),
                         0);
        ck_assert_str_eq(output.data, "/\nsession\n");
}
END_TEST

START_TEST(run_cuts_output) {
        CLEANUP(str_done) Str output = STR_NULL;
        int status;

        ck_assert_int_eq(
                run("head -c 1000000 /dev/zero | tr '\\0' x", 5000, 10, false, &output, &status),
                0);
        ck_assert_str_eq(output.data, "xxxxxxxxxx");
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(run_deadline) {
        CLEANUP(str_done) Str output = STR_NULL;
        int64_t start = clock_mono_ms();
        int status;

        ck_assert_int_eq(run("trap '' TERM HUP; sleep 60", 200, 10, false, &output, &status),
                         CHILD_E_TIMEOUT);
        ck_assert_int_lt(clock_mono_ms() - start, 5000);
        /* a grandchild that holds the pipe holds up nobody */
        ck_assert_int_eq(run("echo x; (sleep 3) & exit 0", 2000, 10, false, &output, &status), 0);
        ck_assert_str_eq(output.data, "x\n");
        ck_assert_int_lt(clock_mono_ms() - start, 5000);
}
END_TEST

START_TEST(run_absent) {
        CLEANUP(str_done) Str output = STR_NULL;
        int status = 77;

        ck_assert_int_eq(child_run((const char *const[]){"/nowhere/at/all", NULL}, 1000, 10, false,
                                   &output, &status),
                         CHILD_E_SPAWN);
        ck_assert_int_eq(status, 77);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, run_output_and_status);
        tcase_add_test(tc, run_world);
        tcase_add_test(tc, run_cuts_output);
        tcase_add_test(tc, run_deadline);
        tcase_add_test(tc, run_absent);
}

int main(void) {
        return scratch_main("installer/child", add_tests);
}
