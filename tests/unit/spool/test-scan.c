/* spool/scan: attacks.md rows 22 to 24, 61 */
#include <malloc.h>

#include "spool/scan.h"
#include "tests/unit/spool/pool.h"

static void scan(int dirfd, size_t max, size_t expected, bool more_expected, Strv *ret) {
        bool more = !more_expected;

        ck_assert_int_eq(scan_visible(dirfd, max, ret, &more), 0);
        ck_assert_uint_eq(ret->len, expected);
        ck_assert_int_eq(more, more_expected);
        for (size_t i = 1; i < ret->len; i++)
                ck_assert_int_lt(strcmp(ret->items[i - 1], ret->items[i]), 0);
}

static void any(bool expected) {
        bool is = !expected;

        ck_assert_int_eq(scan_any(scratch_fd, &is), 0);
        ck_assert_int_eq(is, expected);
}

START_TEST(visible_empty_and_dots) {
        CLEANUP(strv_done) Strv v = STRV_NULL;

        scan(scratch_fd, 10, 0, false, &v);
        any(false);
        scratch_file(scratch_fd, ".draft", "");
        scratch_file(scratch_fd, "...", "");
        scan(scratch_fd, 10, 0, false, &v);
        scan(scratch_fd, 0, 0, false, &v);
        any(false);
}
END_TEST

START_TEST(visible_whatever_it_is) {
        static const char *const names[] = {"\x01\n", " ", "A.json", "\xff\xfe.json", "a b.json "};
        CLEANUP(strv_done) Strv v = STRV_NULL;
        char longest[NAME_MAX + 1];

        memset(longest, 'z', NAME_MAX);
        longest[NAME_MAX] = '\0';
        for (size_t i = 0; i < 5; i++)
                scratch_file(scratch_fd, names[i], "");
        scratch_file(scratch_fd, longest, "");
        scratch_dir(scratch_fd, "dir.json");
        scratch_link("nowhere", scratch_fd, "link.json");
        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0600), 0);
        scan(scratch_fd, 100, 9, false, &v);
        ck_assert_str_eq(v.items[0], "\x01\n"); /* bytewise, so \xff is the last */
        ck_assert_str_eq(v.items[7], longest);
        ck_assert_str_eq(v.items[8], "\xff\xfe.json");
        any(true);
}
END_TEST

START_TEST(visible_keeps_the_smallest) {
        CLEANUP(strv_done) Strv v = STRV_NULL;
        char name[32];

        for (int i = 0; i < 100; i++) {
                (void)snprintf(name, sizeof(name), "%03d", i * 37 % 100);
                scratch_file(scratch_fd, name, "");
        }
        for (size_t max = 1; max <= 100; max++) {
                scan(scratch_fd, max, max, max < 100, &v);
                for (size_t i = 0; i < max; i++) {
                        (void)snprintf(name, sizeof(name), "%03zu", i);
                        ck_assert_str_eq(v.items[i], name);
                }
        }
        scan(scratch_fd, 101, 100, false, &v);
        scan(scratch_fd, 0, 0, true, &v);
}
END_TEST

START_TEST(visible_reads_afresh) {
        CLEANUP(strv_done) Strv v = STRV_NULL;

        scratch_file(scratch_fd, "a", "");
        scan(scratch_fd, 10, 1, false, &v);
        scan(scratch_fd, 10, 1, false, &v); /* no shared offset */
        scratch_file(scratch_fd, "b", "");
        scan(scratch_fd, 10, 2, false, &v);
        any(true);
        any(true);
}
END_TEST

START_TEST(visible_untouched_on_error) {
        CLEANUP(strv_done) Strv v = STRV_NULL;
        bool more = true;
        bool is = true;

        ck_assert_int_eq(strv_add(&v, "old"), 0);
        ck_assert_int_lt(scan_visible(-EBADF, 10, &v, &more), 0);
        ck_assert_uint_eq(v.len, 1);
        ck_assert(more);
        ck_assert_int_lt(scan_any(-EBADF, &is), 0);
        ck_assert(is);
        scratch_drop_root();
        ck_assert_int_eq(geteuid() == 65534 || fchmod(scratch_fd, 0) == 0, true);
        if (geteuid() != 65534)
                ck_assert_int_eq(scan_visible(scratch_fd, 10, &v, &more), -EACCES);
}
END_TEST

/* row 61: one inode under a hundred thousand names; what is kept is bounded by max alone */
START_TEST(visible_flood) {
        enum { FLOOD = 100000, MAX = 256 };
        CLEANUP(strv_done) Strv v = STRV_NULL;
        char dir[8] = "d0", name[32];
        size_t before, after;
        int dirfd = -EBADF;

        scratch_dir(scratch_fd, dir);
        dirfd = scratch_open_dir(scratch_fd, dir);
        scratch_file(scratch_fd, "one", "");
        for (int i = 0; i < FLOOD; i++) {
                (void)snprintf(name, sizeof(name), "%06d", (i * 7919) % FLOOD);
                /* a file system may bound the links of one inode: another one then */
                if (linkat(scratch_fd, "one", dirfd, name, 0) == 0)
                        continue;
                ck_assert_int_eq(errno, EMLINK);
                ck_assert_int_eq(unlinkat(scratch_fd, "one", 0), 0);
                scratch_file(scratch_fd, "one", "");
                ck_assert_int_eq(linkat(scratch_fd, "one", dirfd, name, 0), 0);
        }
        before = mallinfo2().uordblks;
        scan(dirfd, MAX, MAX, true, &v);
        after = mallinfo2().uordblks;
        ck_assert_uint_lt(after - before, MAX * 64);
        ck_assert_str_eq(v.items[0], "000000");
        ck_assert_str_eq(v.items[MAX - 1], "000255");
        (void)fd_close(dirfd);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, visible_empty_and_dots);
        tcase_add_test(tc, visible_whatever_it_is);
        tcase_add_test(tc, visible_keeps_the_smallest);
        tcase_add_test(tc, visible_reads_afresh);
        tcase_add_test(tc, visible_untouched_on_error);
        tcase_add_test(tc, visible_flood);
}

int main(void) {
        return scratch_main("spool/scan", add_tests);
}
