/* spool/quarantine: attacks.md rows 1, 4, 7 to 10, 15, 22, 23 */
#include "base/hash.h"
#include "spool/quarantine.h"
#include "tests/unit/spool/pool.h"

static const int64_t now_ms = 1767323045678; /* 2026-01-02T03:04:05.678Z */
static char taken[QUARANTINE_NAME_SIZE];

static void takes(const char *name, int expected) {
        ck_assert_int_eq(quarantine_take(&pool, SPOOL_REQUESTS, name, now_ms, taken), expected);
        if (expected != QUARANTINE_E_STUCK)
                ck_assert(!scratch_exists(pool.dirs[SPOOL_REQUESTS], name));
        if (expected == 0) {
                ck_assert(str_starts(taken, "20260102T030405Z-"));
                ck_assert(hash_is_hex(taken + 17, 16));
                ck_assert(scratch_exists(pool.dirs[SPOOL_QUARANTINE], taken));
        }
}

START_TEST(take_each_kind) {
        char longest[NAME_MAX + 1];
        int from;

        pool_open();
        from = pool.dirs[SPOOL_REQUESTS];
        memset(longest, 'z', NAME_MAX);
        longest[NAME_MAX] = '\0';
        scratch_file(from, "x.json", "evidence");
        takes("x.json", 0);
        scratch_has(pool.dirs[SPOOL_QUARANTINE], taken, "evidence");
        scratch_link("/etc/passwd", from, "link");
        takes("link", 0);
        ck_assert(S_ISLNK(scratch_mode(pool.dirs[SPOOL_QUARANTINE], taken)));
        ck_assert_int_eq(mkfifoat(from, "fifo", 0600), 0);
        takes("fifo", 0);
        scratch_file(from, longest, "");
        takes(longest, 0);
        scratch_file(from, "\xff\x1b[2J\n\"\xe2\x80\xae", "");
        takes("\xff\x1b[2J\n\"\xe2\x80\xae", 0);
        scratch_file(from, "closed", "");
        ck_assert_int_eq(fchmodat(from, "closed", 0, 0), 0);
        takes("closed", 0);
        ck_assert_uint_eq(pool_count(from, "", NULL), 0);
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_QUARANTINE], "20260102T030405Z-", NULL), 6);
}
END_TEST

/* row 8: one rename, whatever is in it */
START_TEST(take_tree) {
        pool_open();
        scratch_dir(pool.dirs[SPOOL_REQUESTS], "x.json");
        scratch_dir(pool.dirs[SPOOL_REQUESTS], "x.json/deep");
        scratch_file(pool.dirs[SPOOL_REQUESTS], "x.json/deep/file", "kept");
        takes("x.json", 0);
        ck_assert_uint_eq(
                pool_count(scratch_open_dir(pool.dirs[SPOOL_QUARANTINE], taken), "", NULL), 1);
}
END_TEST

START_TEST(take_gone) {
        pool_open();
        takes("nothing", QUARANTINE_E_GONE);
        ck_assert_str_eq(taken, "");
}
END_TEST

START_TEST(take_from_elsewhere) {
        pool_open();
        scratch_dir(pool.dirs[SPOOL_PROCESSING], "x");
        ck_assert_int_eq(quarantine_take(&pool, SPOOL_PROCESSING, "x", now_ms, taken), 0);
        ck_assert(scratch_exists(pool.dirs[SPOOL_QUARANTINE], taken));
}
END_TEST

/* row 9: the right to write into the moved directory itself is missing */
START_TEST(take_in_place) {
        pool_open();
        if (geteuid() != 0) {
                scratch_skip("a directory of another uid needs root");
                return;
        }
        scratch_dir(pool.dirs[SPOOL_REQUESTS], "x.json");
        ck_assert_int_eq(fchmodat(pool.root_fd, "requests", 0777, 0), 0);
        ck_assert_int_eq(fchmodat(pool.root_fd, "quarantine", 0777, 0), 0);
        scratch_drop_root();
        takes("x.json", QUARANTINE_E_IN_PLACE);
        ck_assert(str_starts(taken, ".bad-"));
        ck_assert(hash_is_hex(taken + 5, 16));
        ck_assert(scratch_exists(pool.dirs[SPOOL_REQUESTS], taken));
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_QUARANTINE], "", NULL), 0);
}
END_TEST

/* quarantine/ can't take it (removed, unwritable), the line is cleared all the same */
START_TEST(take_without_quarantine) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_REQUESTS], "x.json", "");
        ck_assert_int_eq(unlinkat(pool.root_fd, "quarantine", AT_REMOVEDIR), 0);
        takes("x.json", QUARANTINE_E_IN_PLACE);
        ck_assert(str_starts(taken, ".bad-"));
}
END_TEST

START_TEST(take_stuck) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_REQUESTS], "x.json", "");
        ck_assert_int_eq(fchmodat(pool.root_fd, "requests", 0555, 0), 0);
        scratch_drop_root();
        takes("x.json", QUARANTINE_E_STUCK);
        ck_assert_str_eq(taken, "");
        ck_assert(scratch_exists(pool.dirs[SPOOL_REQUESTS], "x.json"));
}
END_TEST

START_TEST(take_not_a_name) {
        pool_open();
        ck_assert_int_eq(quarantine_take(&pool, SPOOL_REQUESTS, "a/b", now_ms, taken), -EINVAL);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, take_each_kind);
        tcase_add_test(tc, take_tree);
        tcase_add_test(tc, take_gone);
        tcase_add_test(tc, take_from_elsewhere);
        tcase_add_test(tc, take_in_place);
        tcase_add_test(tc, take_without_quarantine);
        tcase_add_test(tc, take_stuck);
        tcase_add_test(tc, take_not_a_name);
}

int main(void) {
        return scratch_main("spool/quarantine", add_tests);
}
