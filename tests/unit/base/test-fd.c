/* base/fd: who owns a descriptor */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"

static int fd_of_null(void) {
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        return fd;
}

static bool fd_is_open(int fd) {
        return fcntl(fd, F_GETFD) >= 0;
}

START_TEST(close_gives_ebadf_and_keeps_errno) {
        int fd = fd_of_null();

        errno = EXDEV;
        ck_assert_int_eq(fd_close(fd), -EBADF);
        ck_assert_int_eq(errno, EXDEV);
        ck_assert(!fd_is_open(fd));
        /* Closed already: close(2) fails with EBADF, and errno is still the caller's. */
        errno = EXDEV;
        ck_assert_int_eq(fd_close(fd), -EBADF);
        ck_assert_int_eq(errno, EXDEV);
}
END_TEST

START_TEST(close_of_no_fd) {
        ck_assert_int_eq(fd_close(-EBADF), -EBADF);
        ck_assert_int_eq(fd_close(-1), -EBADF);
        ck_assert(fd_is_open(STDIN_FILENO) || errno == EBADF);
}
END_TEST

START_TEST(closep_at_the_end_of_scope) {
        int seen;

        {
                CLEANUP(fd_closep) int fd = fd_of_null();

                seen = fd;
                ck_assert(fd_is_open(seen));
        }
        ck_assert(!fd_is_open(seen));
}
END_TEST

START_TEST(take_leaves_nothing_to_close) {
        int kept;

        {
                CLEANUP(fd_closep) int fd = fd_of_null();

                kept = fd_take(&fd);
                ck_assert_int_eq(fd, -EBADF);
        }
        ck_assert(fd_is_open(kept));
        ck_assert_int_eq(fd_close(kept), -EBADF);
}
END_TEST

START_TEST(dup_is_cloexec_and_no_standard_stream) {
        CLEANUP(fd_closep) int fd = fd_of_null();
        CLEANUP(fd_closep) int copy = -EBADF;

        (void)close(STDIN_FILENO);
        ck_assert_int_eq(fd_dup(fd, &copy), 0);
        ck_assert_int_gt(copy, STDERR_FILENO);
        ck_assert_int_ne(copy, fd);
        ck_assert_int_eq(fcntl(copy, F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(dup_of_a_closed_fd) {
        int copy = 12345;

        ck_assert_int_eq(fd_dup(-1, &copy), -EBADF);
        ck_assert_int_eq(copy, 12345);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("base/fd");
        TCase *tc = tcase_create("fd");
        SRunner *runner;
        int failed;

        tcase_add_test(tc, close_gives_ebadf_and_keeps_errno);
        tcase_add_test(tc, close_of_no_fd);
        tcase_add_test(tc, closep_at_the_end_of_scope);
        tcase_add_test(tc, take_leaves_nothing_to_close);
        tcase_add_test(tc, dup_is_cloexec_and_no_standard_stream);
        tcase_add_test(tc, dup_of_a_closed_fd);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
