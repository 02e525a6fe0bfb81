/* fs/lock */
#include <signal.h>
#include <sys/file.h>

#include "fs/lock.h"
#include "tests/unit/fs/scratch.h"

static void held_is(const char *name, bool want) {
        bool held = !want;

        ck_assert_int_eq(lock_held(scratch_fd, name, &held), 0);
        ck_assert(held == want);
}

START_TEST(take_makes_the_file_and_holds_it) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(fd_closep) int none = -EBADF;

        held_is("lock", false);
        ck_assert(!scratch_exists(scratch_fd, "lock")); /* looking makes nothing */
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "lock"), S_IFREG | 0600);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &none), LOCK_E_BUSY);
        ck_assert_int_eq(none, -EBADF);
        held_is("lock", true);
        held_is("lock", true);
        held_is("other", false);
        fd = fd_close(fd);
        held_is("lock", false);
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0); /* the file is there already */
}
END_TEST

/* The lock is as long as its last descriptor: a child that kept it would keep the lock (I7). */
START_TEST(take_lives_as_long_as_its_descriptor) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(fd_closep) int copy = -EBADF;

        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0);
        ck_assert_int_eq(fd_dup(fd, &copy), 0);
        fd = fd_close(fd);
        held_is("lock", true);
        copy = fd_close(copy);
        held_is("lock", false);
}
END_TEST

START_TEST(take_from_another_process_that_is_killed) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int ready[2];
        pid_t holder;
        char c;

        ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
        holder = fork();
        ck_assert_int_ge(holder, 0);
        if (holder == 0) {
                c = lock_take(scratch_fd, "lock", &fd) == 0 ? 'y' : 'n';
                if (write(ready[1], &c, 1) == 1)
                        (void)pause();
                _exit(0);
        }
        ck_assert_int_eq(read(ready[0], &c, 1), 1);
        ck_assert_int_eq(c, 'y');
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), LOCK_E_BUSY);
        held_is("lock", true);
        ck_assert_int_eq(kill(holder, SIGKILL), 0);
        ck_assert_int_eq(waitpid(holder, NULL, 0), holder);
        held_is("lock", false);
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0);
        ck_assert_int_eq(fd_close(ready[0]), -EBADF);
        ck_assert_int_eq(fd_close(ready[1]), -EBADF);
}
END_TEST

/* flock(1) by hand keeps a drain out too. */
START_TEST(take_beside_a_plain_flock) {
        CLEANUP(fd_closep) int plain = -EBADF;
        CLEANUP(fd_closep) int fd = -EBADF;

        scratch_file(scratch_fd, "lock", "");
        plain = openat(scratch_fd, "lock", O_RDONLY | O_CLOEXEC);
        ck_assert_int_eq(flock(plain, LOCK_SH | LOCK_NB), 0);
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), LOCK_E_BUSY);
        ck_assert_int_eq(flock(plain, LOCK_UN), 0);
        ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0);
        ck_assert_int_lt(flock(plain, LOCK_SH | LOCK_NB), 0);
        ck_assert_int_eq(errno, EWOULDBLOCK);
}
END_TEST

/* An observer must never turn a drain away. */
START_TEST(held_takes_nothing) {
        pid_t parent = getpid(), observer;

        scratch_file(scratch_fd, "lock", "");
        observer = fork();
        ck_assert_int_ge(observer, 0);
        if (observer == 0) {
                bool held;

                while (getppid() == parent && lock_held(scratch_fd, "lock", &held) == 0)
                        ;
                _exit(0);
        }
        for (int i = 0; i < 5000; i++) {
                CLEANUP(fd_closep) int fd = -EBADF;

                ck_assert_int_eq(lock_take(scratch_fd, "lock", &fd), 0);
        }
        ck_assert_int_eq(kill(observer, SIGKILL), 0);
        ck_assert_int_eq(waitpid(observer, NULL, 0), observer);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, take_makes_the_file_and_holds_it);
        tcase_add_test(tc, take_lives_as_long_as_its_descriptor);
        tcase_add_test(tc, take_from_another_process_that_is_killed);
        tcase_add_test(tc, take_beside_a_plain_flock);
        tcase_add_test(tc, held_takes_nothing);
}

int main(void) {
        return scratch_main("fs/lock", add_tests);
}
