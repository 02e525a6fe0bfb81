/* fs/pin: what happens between two calls, each way openat2 can fail, and attacks.md rows 4 to 6, 12
 * and 14 */
#include <dlfcn.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/unit/fs/opens.h"

/* syscall(2) is ours here, so that openat2 fails as asked and something can happen between two
 * calls of it. */
static struct {
        int calls, fail_from, fail_to, error;
        int before; /* the call before which `meanwhile` is done */
        void (*meanwhile)(void);
} fake;

long syscall(long number, ...) {
        static long (*real)(long, ...);
        long a[6];
        va_list args;

        va_start(args, number);
        for (size_t i = 0; i < 6; i++)
                a[i] = va_arg(args, long);
        va_end(args);
        if (!real) {
                void *found = dlsym(RTLD_NEXT, "syscall");

                memcpy(&real, &found, sizeof(real));
        }
        if (number == SYS_openat2) {
                fake.calls++;
                if (fake.calls == fake.before)
                        fake.meanwhile();
                if (fake.calls >= fake.fail_from && fake.calls <= fake.fail_to) {
                        errno = fake.error;
                        return -1;
                }
        }
        return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void fake_fail(int from, int to, int error) {
        fake.calls = 0;
        fake.fail_from = from;
        fake.fail_to = to;
        fake.error = error;
}

static void fake_meanwhile(int before, void (*meanwhile)(void)) {
        fake.calls = 0;
        fake.before = before;
        fake.meanwhile = meanwhile;
}

/* rows 4, 5, 6: nothing of these is ever opened, so a FIFO can't block (the case's time limit is
 * the test) */
START_TEST(file_at_fifo_socket_and_device) {
        CLEANUP(fd_closep) int dev_fd = -EBADF;

        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0644), 0);
        scratch_socket(scratch_fd, "socket");
        opens_file(scratch_fd, "fifo", &rule_any, 0, PIN_E_TYPE);
        opens_file(scratch_fd, "socket", &rule_any, 0, PIN_E_TYPE);
        ck_assert_int_eq(pin_root("/dev", &rule_any, &dev_fd), 0);
        fake.calls = 0;
        opens_file(dev_fd, "null", &rule_any, 0, PIN_E_TYPE);
        opens_file(dev_fd, "tty", &rule_any, 0,
                   PIN_E_TYPE);          /* with no terminal its driver would say ENXIO */
        ck_assert_int_eq(fake.calls, 2); /* O_PATH each, and no second open */
}
END_TEST

static void swap_for(const char *other) {
        ck_assert_int_eq(renameat2(scratch_fd, "f", scratch_fd, other, RENAME_EXCHANGE), 0);
}

static void swap_for_file(void) {
        swap_for("other");
}

static void swap_for_link(void) {
        swap_for("link");
}

static void swap_for_fifo(void) {
        swap_for("fifo");
}

static void swap_for_nothing(void) {
        ck_assert_int_eq(unlinkat(scratch_fd, "f", 0), 0);
}

static void swap_mode(void) {
        ck_assert_int_eq(fchmodat(scratch_fd, "f", 0666, 0), 0);
}

static void swap_links(void) {
        ck_assert_int_eq(linkat(scratch_fd, "f", scratch_fd, "second", 0), 0);
}

/* rows 12, 14, between the two opens of pin_file_at */
START_TEST(file_at_swapped_between_the_opens) {
        static const struct {
                void (*swap)(void);
                int want;
        } swaps[] = {
                {swap_for_file, PIN_E_CHANGED}, {swap_for_link, PIN_E_LINK},
                {swap_for_fifo, PIN_E_TYPE},    {swap_for_nothing, PIN_E_ABSENT},
                {swap_mode, PIN_E_MODE},        {swap_links, PIN_E_LINKS},
        };
        PinRule ours = rule_ours();

        scratch_link("/etc/passwd", scratch_fd, "link");
        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0644), 0);
        for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++) {
                scratch_file(scratch_fd, "f", "text");
                scratch_file(scratch_fd, "other", "text");
                opens_file(scratch_fd, "f", &ours, 0, 0);
                fake_meanwhile(2, swaps[i].swap);
                opens_file(scratch_fd, "f", &ours, 0, swaps[i].want);
                fake_meanwhile(0, NULL);
                if (swaps[i].swap == swap_for_link || swaps[i].swap == swap_for_fifo)
                        swaps[i].swap();
                (void)unlinkat(scratch_fd, "f", 0); /* where it is there */
                (void)unlinkat(scratch_fd, "other", 0);
        }
}
END_TEST

static void race(pid_t parent) {
        while (getppid() == parent) {
                (void)renameat2(scratch_fd, "f", scratch_fd, "link", RENAME_EXCHANGE);
                (void)renameat2(scratch_fd, "d", scratch_fd, "dlink", RENAME_EXCHANGE);
        }
}

/* rows 12, 14: a link and a file (a link and a directory) changing places all the time. Only ever
 * the right inode. */
START_TEST(swapped_in_a_tight_loop) {
        pid_t parent = getpid(), racer;
        struct timespec start, now;
        int opened = 0, refused = 0;
        struct stat file, deep;

        scratch_dir(scratch_fd, "d");
        scratch_file(scratch_fd, "d/f", "good");
        scratch_file(scratch_fd, "f", "good");
        scratch_dir(scratch_fd, "evil");
        scratch_file(scratch_fd, "evil/f", "evil");
        scratch_link("evil/f", scratch_fd, "link");
        scratch_link("evil", scratch_fd, "dlink");
        ck_assert_int_eq(fstatat(scratch_fd, "f", &file, 0), 0);
        ck_assert_int_eq(fstatat(scratch_fd, "d/f", &deep, 0), 0);
        racer = fork();
        ck_assert_int_ge(racer, 0);
        if (racer == 0) {
                race(parent);
                _exit(0);
        }
        ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &start), 0);
        do {
                for (int i = 0; i < 100; i++) {
                        CLEANUP(fd_closep) int fd = -EBADF;
                        struct stat st;
                        int r = pin_file_at(scratch_fd, i % 2 ? "d/f" : "f", &rule_any, 0, &fd,
                                            &st);

                        if (r == 0) {
                                opened++;
                                ck_assert_uint_eq(st.st_ino, i % 2 ? deep.st_ino : file.st_ino);
                        } else {
                                refused++;
                                ck_assert_int_eq(r, PIN_E_LINK);
                        }
                }
                ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
        } while (now.tv_sec - start.tv_sec < 2 &&
                 (now.tv_sec == start.tv_sec || opened == 0 || refused == 0));
        ck_assert_int_eq(kill(racer, SIGKILL), 0);
        ck_assert_int_eq(waitpid(racer, NULL, 0), racer);
        ck_assert_int_gt(opened + refused, 100);
}
END_TEST

/* A lease held on a request's file makes open(O_NONBLOCK) say EAGAIN for as long as its owner
 * likes. */
START_TEST(file_at_under_a_lease) {
        PinRule ours = rule_ours();
        int ready[2], status;
        pid_t holder;
        char c = 0;

        scratch_file(scratch_fd, "f", "text");
        ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
        holder = fork();
        ck_assert_int_ge(holder, 0);
        if (holder == 0) {
                int fd = openat(scratch_fd, "f", O_RDWR | O_CLOEXEC);

                (void)signal(SIGIO, SIG_IGN);
                c = fd >= 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0 ? 'y' : 'n';
                if (write(ready[1], &c, 1) == 1)
                        (void)pause();
                _exit(0);
        }
        ck_assert_int_eq(read(ready[0], &c, 1), 1);
        if (c == 'y') {
                fake.calls = 0;
                opens_file(scratch_fd, "f", &ours, 0, PIN_E_ACCESS);
                ck_assert_int_gt(fake.calls, 2);
                ck_assert_int_lt(fake.calls, 200);
        } else {
                scratch_skip("lease: this file system has none");
        }
        ck_assert_int_eq(kill(holder, SIGKILL), 0);
        ck_assert_int_eq(waitpid(holder, &status, 0), holder);
        opens_file(scratch_fd, "f", &ours, 0, 0);
        ck_assert_int_eq(fd_close(ready[0]), -EBADF);
        ck_assert_int_eq(fd_close(ready[1]), -EBADF);
}
END_TEST

/* No fallback: without openat2 nothing is opened at all. */
START_TEST(kernel_without_openat2) {
        CLEANUP(str_done) Str s = STR_NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule ours = rule_ours();
        bool below = true;

        scratch_dir(scratch_fd, "d");
        scratch_file(scratch_fd, "f", "text");
        fake_fail(1, INT_MAX, ENOSYS);
        opens_dir(scratch_fd, "d", &ours, 0, -ENOSYS);
        opens_dir(scratch_fd, "d", &ours, PIN_SAME_MOUNT, -ENOSYS);
        opens_file(scratch_fd, "f", &ours, 0, -ENOSYS);
        ck_assert_int_eq(pin_host_dir("/", &rule_any, &fd), -ENOSYS);
        ck_assert_int_eq(pin_root("/", &rule_any, &fd), -ENOSYS);
        ck_assert_int_eq(pin_read_at(scratch_fd, "f", &ours, 0, 100, &s), -ENOSYS);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "d", 0755, &ours, &fd), -ENOSYS);
        ck_assert_int_eq(pin_make_host_dir(scratch_path, 0755), -ENOSYS);
        ck_assert_int_eq(pin_is_below(scratch_fd, STDIN_FILENO, &below), -ENOSYS);
        ck_assert_int_eq(pin_create_at(scratch_fd, "new", 0600, &fd), -ENOSYS);
        ck_assert_int_eq(pin_append_at(scratch_fd, "f", 0600, &ours, &fd), -ENOSYS);
        ck_assert_int_eq(fd, -EBADF);
        ck_assert(below && !s.data && !scratch_exists(scratch_fd, "new"));
}
END_TEST

START_TEST(host_trouble_is_passed_up) {
        static const int errors[] = {EMFILE, ENFILE, ENOMEM, EIO, EROFS, E2BIG, EINVAL};
        PinRule ours = rule_ours();

        scratch_file(scratch_fd, "f", "text");
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
                for (int call = 1; call <= 2; call++) {
                        fake_fail(call, call, errors[i]);
                        opens_file(scratch_fd, "f", &ours, 0, -errors[i]);
                }
        fake_fail(0, 0, 0);
        opens_file(-1, "f", &ours, 0, -EBADF);
}
END_TEST

START_TEST(foreseen_errors_of_either_open) {
        static const struct {
                int error, want;
        } errors[] = {
                {ENOENT, PIN_E_ABSENT}, {ENAMETOOLONG, PIN_E_ABSENT}, {ELOOP, PIN_E_LINK},
                {EXDEV, PIN_E_LINK},    {ENOTDIR, PIN_E_TYPE},        {ENXIO, PIN_E_TYPE},
                {ENODEV, PIN_E_TYPE},   {EISDIR, PIN_E_TYPE},         {EACCES, PIN_E_ACCESS},
                {EPERM, PIN_E_ACCESS},
        };
        PinRule ours = rule_ours();

        scratch_file(scratch_fd, "f", "text");
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
                for (int call = 1; call <= 2; call++) {
                        fake_fail(call, call, errors[i].error);
                        opens_file(scratch_fd, "f", &ours, 0, errors[i].want);
                }
        /* With NO_XDEV, what the walk without it says decides. */
        fake_fail(1, 1, EXDEV);
        opens_file(scratch_fd, "f", &ours, PIN_SAME_MOUNT, PIN_E_MOUNT);
        fake_fail(1, 2, EXDEV);
        opens_file(scratch_fd, "f", &ours, PIN_SAME_MOUNT, PIN_E_LINK);
}
END_TEST

START_TEST(interrupted_and_raced_calls_go_on) {
        PinRule ours = rule_ours();

        scratch_file(scratch_fd, "f", "text");
        fake_fail(1, 5, EINTR);
        opens_file(scratch_fd, "f", &ours, 0, 0);
        ck_assert_int_eq(fake.calls, 7);
        fake_fail(2, 6, EAGAIN);
        opens_file(scratch_fd, "f", &ours, 0, 0);
        fake_fail(1, INT_MAX, EAGAIN);
        opens_file(scratch_fd, "f", &ours, 0, PIN_E_ACCESS);
        ck_assert_int_lt(fake.calls, 200);
        fake_fail(1, INT_MAX, EINTR);
        opens_file(scratch_fd, "f", &ours, 0, -EINTR);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, file_at_fifo_socket_and_device);
        tcase_add_test(tc, file_at_swapped_between_the_opens);
        tcase_add_test(tc, swapped_in_a_tight_loop);
        tcase_add_test(tc, file_at_under_a_lease);
        tcase_add_test(tc, kernel_without_openat2);
        tcase_add_test(tc, host_trouble_is_passed_up);
        tcase_add_test(tc, foreseen_errors_of_either_open);
        tcase_add_test(tc, interrupted_and_raced_calls_go_on);
}

int main(void) {
        return scratch_main("fs/pin-race", add_tests);
}
