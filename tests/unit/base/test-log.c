/* base/log: what reaches stderr */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static int log_pipe[2];

static void log_set_up(void) {
        ck_assert_int_eq(unsetenv("JOURNAL_STREAM"), 0);
        ck_assert_int_eq(pipe2(log_pipe, O_CLOEXEC), 0);
        ck_assert_int_ge(dup2(log_pipe[1], STDERR_FILENO), 0);
}

static void log_said(const char *want) {
        char got[512] = "";
        ssize_t n = read(log_pipe[0], got, sizeof(got) - 1);

        ck_assert_int_eq(n, (ssize_t)strlen(want));
        ck_assert_str_eq(got, want);
}

START_TEST(print_one_line) {
        log_open("prog");
        log_print(LOG_LEVEL_ERR, "no %s in %d", "luck", 7);
        log_said("prog: no luck in 7\n");
}
END_TEST

START_TEST(print_under_the_journal_has_a_level) {
        ck_assert_int_eq(setenv("JOURNAL_STREAM", "9:1234", 1), 0);
        log_open("prog");
        log_print(LOG_LEVEL_WARNING, "a");
        log_said("<4>prog: a\n");
        log_print(LOG_LEVEL_INFO, "b");
        log_said("<6>prog: b\n");
}
END_TEST

START_TEST(print_hostile_bytes_escaped) {
        log_open("prog");
        log_print(LOG_LEVEL_ERR, "%s", "x\n<3>prog: forged\033[2J\xe2\x80\xae\xff");
        log_said("prog: x\\x0a<3>prog: forged\\x1b[2J\\xe2\\x80\\xae\\xff\n");
}
END_TEST

START_TEST(message_keeps_the_remedy_alone) {
        log_open("prog");
        log_message(LOG_LEVEL_ERR, "it is \033 so\nmend --this");
        log_said("prog: it is \\x1b so\nmend --this\n");
        ck_assert_int_eq(setenv("JOURNAL_STREAM", "9:1234", 1), 0);
        log_message(LOG_LEVEL_ERR, "a\nb\n");
        log_said("<3>prog: a\n<3>b\n");
}
END_TEST

START_TEST(print_without_stderr) {
        (void)close(STDERR_FILENO);
        log_print(LOG_LEVEL_ERR, "nobody hears this");
        ck_assert_int_eq(fcntl(log_pipe[0], F_SETFL, O_NONBLOCK), 0);
        ck_assert_int_lt(read(log_pipe[0], &(char){0}, 1), 0);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("base/log");
        TCase *tc = tcase_create("log");
        SRunner *runner;
        int failed;

        tcase_add_checked_fixture(tc, log_set_up, NULL);
        tcase_add_test(tc, print_one_line);
        tcase_add_test(tc, print_under_the_journal_has_a_level);
        tcase_add_test(tc, print_hostile_bytes_escaped);
        tcase_add_test(tc, message_keeps_the_remedy_alone);
        tcase_add_test(tc, print_without_stderr);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
