/* fs/lock: the file that was locked is no longer the one of that name */
#include <sys/file.h>
#include <sys/syscall.h>

#include "fs/lock.h"
#include "tests/unit/fs/scratch.h"

/* flock(2) is ours here: the name loses its file, or gets another one, just before. */
static int raced_times, raced_error;
static bool raced_put_another;

int flock(int fd, int operation) {
        if (raced_times > 0) {
                raced_times--;
                if (raced_error) {
                        errno = raced_error;
                        return -1;
                }
                ck_assert_int_eq(unlinkat(scratch_fd, "lock", 0), 0);
                if (raced_put_another)
                        scratch_file(scratch_fd, "lock", "");
        }
        return (int)syscall(SYS_flock, fd, operation);
}

static void take_is_of_the_name(void) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(fd_closep) int none = -EBADF;
        struct stat held, named;

        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0);
        ck_assert_int_eq(raced_times, 0);
        ck_assert_int_eq(fstat(fd, &held), 0);
        ck_assert_int_eq(fstatat(scratch_fd, "lock", &named, 0), 0);
        ck_assert_uint_eq(held.st_ino, named.st_ino);
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &none), LOCK_E_BUSY);
}

START_TEST(take_of_a_file_that_was_unlinked) {
        raced_times = 2;
        take_is_of_the_name();
}
END_TEST

START_TEST(take_of_a_file_that_was_replaced) {
        raced_times = 2;
        raced_put_another = true;
        take_is_of_the_name();
}
END_TEST

START_TEST(take_gives_up_in_the_end) {
        CLEANUP(fd_closep) int fd = -EBADF;

        raced_times = INT_MAX;
        raced_put_another = true;
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), LOCK_E_BUSY);
        ck_assert_int_eq(fd, -EBADF);
        ck_assert_int_gt(raced_times, INT_MAX - 1000);
}
END_TEST

START_TEST(take_after_a_signal) {
        CLEANUP(fd_closep) int fd = -EBADF;

        raced_times = 3;
        raced_error = EINTR;
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0);
        ck_assert_int_ge(fd, 0);
}
END_TEST

START_TEST(take_when_there_are_no_locks) {
        CLEANUP(fd_closep) int fd = -EBADF;

        raced_times = 1;
        raced_error = ENOLCK;
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), -ENOLCK);
        ck_assert_int_eq(fd, -EBADF);
}
END_TEST

START_TEST(take_refuses_what_is_no_file) {
        int fd = 77;
        bool held = true;

        scratch_file(scratch_fd, "file", "");
        scratch_link("file", scratch_fd, "link");
        scratch_dir(scratch_fd, "dir");
        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0600), 0);
        ck_assert_int_eq(lock_take(scratch_fd, "link", &fd), -ELOOP);
        ck_assert_int_eq(lock_take(scratch_fd, "dir", &fd), -EISDIR);
        ck_assert_int_eq(lock_take(scratch_fd, "fifo", &fd), -EINVAL);
        ck_assert_int_eq(lock_take(scratch_fd, "dir/x", &fd), -EINVAL);
        ck_assert_int_eq(lock_take(scratch_fd, "", &fd), -EINVAL);
        ck_assert_int_eq(lock_take(-1, "x", &fd), -EBADF);
        ck_assert_int_eq(lock_held(scratch_fd, "link", &held), -ELOOP);
        ck_assert_int_eq(lock_held(scratch_fd, "dir", &held), -EINVAL);
        ck_assert_int_eq(lock_held(scratch_fd, "fifo", &held), -EINVAL);
        ck_assert_int_eq(lock_held(scratch_fd, "dir/x", &held), -EINVAL);
        ck_assert_int_eq(fd, 77);
        ck_assert(held);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, take_of_a_file_that_was_unlinked);
        tcase_add_test(tc, take_of_a_file_that_was_replaced);
        tcase_add_test(tc, take_gives_up_in_the_end);
        tcase_add_test(tc, take_after_a_signal);
        tcase_add_test(tc, take_when_there_are_no_locks);
        tcase_add_test(tc, take_refuses_what_is_no_file);
}

int main(void) {
        return scratch_main("fs/lock-race", add_tests);
}
