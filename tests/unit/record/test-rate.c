/* record/rate: attacks.md rows 51, 62 */
#include "record/rate.h"
#include "tests/unit/fs/scratch.h"

static const int64_t t0 = 1767323045678;
static const RateLimit two = {2, 1000}, three = {3, 5000}, many = {1000, 1000};

static PinRule ours(void) {
        return (PinRule){geteuid(), 0077};
}

static int64_t take(const char *key, RateLimit per_key, RateLimit total, int64_t now_ms) {
        PinRule rule = ours();
        int64_t wait = -1;

        ck_assert_int_eq(rate_take(scratch_fd, &rule, key, per_key, total, now_ms, &wait), 0);
        ck_assert_int_ge(wait, 0);
        return wait;
}

static void takes(int expected) {
        PinRule rule = ours();
        int64_t wait = -1;

        ck_assert_int_eq(rate_take(scratch_fd, &rule, "up", two, three, t0, &wait), expected);
        ck_assert_int_eq(wait, -1); /* untouched */
}

static void plant(const char *text) {
        CLEANUP(fd_closep) int fd = -EBADF;

        if (!scratch_exists(scratch_fd, "rate"))
                ck_assert_int_eq(mkdirat(scratch_fd, "rate", 0700), 0);
        (void)unlinkat(scratch_fd, "rate/window", 0);
        fd = openat(scratch_fd, "rate/window", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

START_TEST(take_per_key) {
        ck_assert_int_eq(take("restart.web", two, many, t0), 0);
        ck_assert_int_eq(take("restart.web", two, many, t0 + 300), 0);
        ck_assert_int_eq(take("restart.web", two, many, t0 + 300), 700); /* the first leaves then */
        ck_assert_int_eq(take("restart.web", two, many, t0 + 999), 1);
        ck_assert_int_eq(take("restart.db", two, many, t0 + 999), 0); /* another key */
        ck_assert_int_eq(take("restart.we", two, many, t0 + 999), 0);
        ck_assert_int_eq(take("restart.web", two, many, t0 + 1000), 0);
        ck_assert_int_eq(take("restart.web", two, many, t0 + 1000),
                         300); /* the second one's turn */
        ck_assert_uint_eq(scratch_mode(scratch_fd, "rate/window") & 07777, 0600);
}
END_TEST

START_TEST(take_total) {
        ck_assert_int_eq(take("a", two, three, t0), 0);
        ck_assert_int_eq(take("b", two, three, t0 + 10), 0);
        ck_assert_int_eq(take("c", two, three, t0 + 20), 0);
        ck_assert_int_eq(take("d", two, three, t0 + 30), 4970);
        ck_assert_int_eq(take("a", two, three, t0 + 4999), 1); /* its own window has room */
        ck_assert_int_eq(take("d", two, three, t0 + 5000), 0);
        ck_assert_int_eq(take("d", two, three, t0 + 5000), 10);
}
END_TEST

START_TEST(take_both_the_longer_wait) {
        RateLimit one_long = {1, 9000};

        ck_assert_int_eq(take("a", one_long, three, t0), 0);
        ck_assert_int_eq(take("b", two, three, t0), 0);
        ck_assert_int_eq(take("b", two, three, t0), 0);
        ck_assert_int_eq(take("a", one_long, three, t0 + 1), 8999);
        ck_assert_int_eq(take("b", two, three, t0 + 1), 4999);
}
END_TEST

START_TEST(take_zero_count) {
        RateLimit none = {0, 600};

        ck_assert_int_eq(take("a", none, many, t0), 600);
        ck_assert_int_eq(take("a", many, none, t0), 600);
        ck_assert(!scratch_exists(scratch_fd, "rate/window")); /* nothing counted */
}
END_TEST

START_TEST(take_limit_lowered) {
        RateLimit one = {1, 1000};

        for (int i = 0; i < 5; i++)
                ck_assert_int_eq(take("a", many, many, t0 + i * 100), 0);
        ck_assert_int_eq(take("a", one, many, t0 + 400), 1000); /* all five have to leave */
        ck_assert_int_eq(take("a", two, many, t0 + 400), 900);
}
END_TEST

/* Kept in a file: a new process is bound by it. */
START_TEST(take_across_processes) {
        for (int i = 0; i < 3; i++) {
                int status;
                pid_t pid = fork();

                ck_assert_int_ge(pid, 0);
                if (pid == 0)
                        _exit(take("a", two, many, t0) == 0 ? 0 : 1);
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert_int_eq(WEXITSTATUS(status), i < 2 ? 0 : 1);
        }
}
END_TEST

START_TEST(take_clock_back) {
        ck_assert_int_eq(take("a", two, many, t0), 0);
        ck_assert_int_eq(take("a", two, many, t0), 0);
        /* A year earlier: no free pass, and no wait of a year either. */
        ck_assert_int_eq(take("a", two, many, t0 - 31536000000), 1000);
        ck_assert_int_eq(take("a", two, many, t0 - 31536000000 + 400), 600);
        ck_assert_int_eq(take("a", two, many, t0 - 31536000000 + 999), 1);
        ck_assert_int_eq(take("a", two, many, t0 - 31536000000 + 1000), 0);
}
END_TEST

START_TEST(take_clock_back_with_room) {
        ck_assert_int_eq(take("a", two, many, t0), 0);
        ck_assert_int_eq(take("a", two, many, t0 - 5000), 0);
        ck_assert_int_eq(take("a", two, many, t0 - 5000), 1000);
}
END_TEST

START_TEST(take_forgets_the_old) {
        char text[256] = "";
        CLEANUP(fd_closep) int fd = -EBADF;

        ck_assert_int_eq(take("a", two, three, t0), 0);
        ck_assert_int_eq(take("b", two, three, t0 + 5000), 0);
        fd = openat(scratch_fd, "rate/window", O_RDONLY);
        ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
        ck_assert_str_eq(text, "1767323050678 b\n");
}
END_TEST

START_TEST(take_corrupt) {
        static const char *const bad[] = {
                "x",       "1 a",     "1\n",       "1  a\n",
                "-1 a\n",  " a\n",    "1 \n",      "99999999999999999999 a\n",
                "1 a b\n", "1 a\n\n", "1 a\x1b\n", "1x a\n"};

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                plant(bad[i]);
                takes(RATE_E_CORRUPT);
                scratch_has(scratch_fd, "rate/window", bad[i]); /* kept for the operator */
        }
        plant("");
        ck_assert_int_eq(take("up", two, three, t0), 0);
}
END_TEST

START_TEST(take_not_our_file) {
        plant("");
        ck_assert_int_eq(fchmodat(scratch_fd, "rate/window", 0666, 0), 0);
        takes(RATE_E_CORRUPT);
        ck_assert_int_eq(unlinkat(scratch_fd, "rate/window", 0), 0);
        scratch_link("../elsewhere", scratch_fd, "rate/window");
        takes(RATE_E_CORRUPT);
        ck_assert_int_eq(unlinkat(scratch_fd, "rate/window", 0), 0);
        scratch_dir(scratch_fd, "rate/window");
        takes(RATE_E_CORRUPT);
        ck_assert_int_eq(unlinkat(scratch_fd, "rate/window", AT_REMOVEDIR), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "rate", 0777, 0), 0);
        takes(RATE_E_CORRUPT);
}
END_TEST

START_TEST(take_can_not_store) {
        PinRule any = {(uid_t)-1, 0};
        int64_t wait = -1;

        ck_assert_int_eq(take("a", two, many, t0), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "rate/window", 0644, 0), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "rate", 0555, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(rate_take(scratch_fd, &any, "a", two, many, t0, &wait), -EACCES);
        ck_assert_int_eq(wait, -1);
}
END_TEST

START_TEST(take_bad_key) {
        PinRule rule = ours();
        char long_key[130];
        int64_t wait;

        memset(long_key, 'a', 129);
        long_key[129] = '\0';
        ck_assert_int_eq(rate_take(scratch_fd, &rule, "", two, many, t0, &wait), -EINVAL);
        ck_assert_int_eq(rate_take(scratch_fd, &rule, "a b", two, many, t0, &wait), -EINVAL);
        ck_assert_int_eq(rate_take(scratch_fd, &rule, "a\n1 b", two, many, t0, &wait), -EINVAL);
        ck_assert_int_eq(rate_take(scratch_fd, &rule, long_key, two, many, t0, &wait), -EINVAL);
        ck_assert_int_eq(rate_take(scratch_fd, &rule, long_key + 1, two, many, t0, &wait), 0);
}
END_TEST

START_TEST(peek_counts_nothing) {
        uint32_t used = 9, all = 9;
        PinRule rule = ours();
        int64_t wait = -1;

        for (int i = 0; i < 3; i++) {
                ck_assert_int_eq(
                        rate_peek(scratch_fd, &rule, "a", two, three, t0, &wait, &used, &all), 0);
                ck_assert(wait == 0 && used == 0 && all == 0);
        }
        ck_assert_int_eq(take("a", two, three, t0), 0);
        ck_assert_int_eq(take("b", two, three, t0), 0);
        ck_assert_int_eq(take("a", two, three, t0), 0);
        ck_assert_int_eq(rate_peek(scratch_fd, &rule, "b", two, three, t0 + 1, &wait, &used, &all),
                         0);
        ck_assert(wait == 4999 && used == 1 && all == 3);
        ck_assert_int_eq(rate_peek(scratch_fd, &rule, "a", two, many, t0 + 1, &wait, &used, &all),
                         0);
        ck_assert(wait == 999 && used == 2 && all == 3);
        plant("?");
        wait = -1;
        ck_assert_int_eq(rate_peek(scratch_fd, &rule, "a", two, many, t0 + 1, &wait, &used, &all),
                         RATE_E_CORRUPT);
        ck_assert_int_eq(wait, -1);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, take_per_key);
        tcase_add_test(tc, take_total);
        tcase_add_test(tc, take_both_the_longer_wait);
        tcase_add_test(tc, take_zero_count);
        tcase_add_test(tc, take_limit_lowered);
        tcase_add_test(tc, take_across_processes);
        tcase_add_test(tc, take_clock_back);
        tcase_add_test(tc, take_clock_back_with_room);
        tcase_add_test(tc, take_forgets_the_old);
        tcase_add_test(tc, take_corrupt);
        tcase_add_test(tc, take_not_our_file);
        tcase_add_test(tc, take_can_not_store);
        tcase_add_test(tc, take_bad_key);
        tcase_add_test(tc, peek_counts_nothing);
}

int main(void) {
        return scratch_main("record/rate", add_tests);
}
