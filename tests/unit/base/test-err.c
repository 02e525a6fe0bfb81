/* base/err: where a negative comes from */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

START_TEST(last_without_an_error) {
        ck_assert_str_eq(err_last(), "");
}
END_TEST

START_TEST(new_gives_minus_errno_and_keeps_the_place) {
        char want[64];
        int r = err_new(ENOSPC), line = __LINE__;

        ck_assert_int_eq(r, -ENOSPC);
        (void)snprintf(want, sizeof(want), "test-err.c:%d: No space left on device", line);
        ck_assert_ptr_nonnull(strstr(err_last(), want));
}
END_TEST

START_TEST(new_is_negative_whatever_it_gets) {
        ck_assert_int_eq(err_new(0), -EIO);
        ck_assert_int_eq(err_new(-EPERM), -EIO);
}
END_TEST

START_TEST(last_is_the_last) {
        ck_assert_int_eq(err_new(EPERM), -EPERM);
        ck_assert_int_eq(err_new(ENOMEM), -ENOMEM);
        ck_assert_ptr_nonnull(strstr(err_last(), strerror(ENOMEM)));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("base/err");
        TCase *tc = tcase_create("err");
        SRunner *runner;
        int failed;

        tcase_add_test(tc, last_without_an_error);
        tcase_add_test(tc, new_gives_minus_errno_and_keeps_the_place);
        tcase_add_test(tc, new_is_negative_whatever_it_gets);
        tcase_add_test(tc, last_is_the_last);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
