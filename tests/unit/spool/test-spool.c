/* spool/spool: attacks.md rows 11 to 16, 25, 26 */
#include "tests/unit/spool/pool.h"

static void opens(const PinRule *rule, int expected, const char *which_expected) {
        CLEANUP(spool_close) Spool s = SPOOL_NULL;
        const char *which = NULL;

        ck_assert_int_eq(spool_open(scratch_fd, pool_path, rule, &s, &which), expected);
        if (expected == 0)
                return;
        ck_assert_str_eq(which, which_expected);
        ck_assert_int_eq(s.root_fd, -EBADF); /* untouched */
}

static void opens_as_ours(int expected, const char *which) {
        PinRule rule = pool_rule();

        opens(&rule, expected, which);
}

static void same(bool expected) {
        bool is = !expected;

        ck_assert_int_eq(spool_same(&pool, scratch_fd, pool_path, &is), 0);
        ck_assert_int_eq(is, expected);
}

static void opens_into_pool(const PinRule *rule) {
        const char *which;

        ck_assert_int_eq(spool_open(scratch_fd, pool_path, rule, &pool, &which), 0);
}

START_TEST(dir_name_each) {
        static const char *const names[] = {"tmp",     "requests",   "processing",  "responses",
                                            "archive", "quarantine", "diagnostics", "inbox"};

        ck_assert_int_eq(SPOOL_DIR_COUNT, 8);
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT; d++)
                ck_assert_str_eq(spool_dir_name(d), names[d]);
}
END_TEST

START_TEST(create_with_mode) {
        PinRule rule = {geteuid(), 0002};
        const char *which;

        (void)umask(077);
        ck_assert_int_eq(spool_create(scratch_fd, "a//b/c", 02770, &rule, &which), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "a") & 07777, 0700); /* the umask's say */
        ck_assert_uint_eq(scratch_mode(scratch_fd, "a/b/c") & 07777, 02770);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "a/b/c/requests") & 07777, 02770);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "a/b/c/inbox") & 07777, 02770);
        ck_assert_int_eq(spool_create(scratch_fd, "a/b/c", 0700, &rule, &which), 0); /* again */
        ck_assert_uint_eq(scratch_mode(scratch_fd, "a/b/c/requests") & 07777, 02770);
}
END_TEST

START_TEST(create_refuses) {
        PinRule rule = pool_rule();
        const char *which = NULL;

        scratch_dir(scratch_fd, "outside");
        scratch_link("outside", scratch_fd, "link");
        scratch_file(scratch_fd, "file", "");
        ck_assert_int_eq(spool_create(scratch_fd, "/tmp/x", 0755, &rule, &which), PIN_E_LINK);
        ck_assert_int_eq(spool_create(scratch_fd, "link/x", 0755, &rule, &which), PIN_E_LINK);
        ck_assert_int_eq(spool_create(scratch_fd, "link", 0755, &rule, &which), PIN_E_LINK);
        ck_assert_str_eq(which, "link");
        ck_assert_int_eq(spool_create(scratch_fd, "file/x", 0755, &rule, &which), PIN_E_TYPE);
        ck_assert_int_lt(spool_create(scratch_fd, "a/../../x", 0755, &rule, &which), 0);
        ck_assert_uint_eq(pool_count(scratch_open_dir(scratch_fd, "outside"), "", NULL), 0);
}
END_TEST

START_TEST(create_names_the_directory) {
        PinRule rule = pool_rule();
        const char *which = NULL;

        scratch_dir(scratch_fd, "s");
        scratch_link("/tmp", scratch_fd, "s/archive");
        ck_assert_int_eq(spool_create(scratch_fd, "s", 0755, &rule, &which), PIN_E_LINK);
        ck_assert_str_eq(which, "archive");
}
END_TEST

START_TEST(open_absent) {
        opens_as_ours(PIN_E_ABSENT, pool_path);
}
END_TEST

/* row 26, and what git clean -xfd leaves */
START_TEST(open_makes_again) {
        PinRule rule = pool_rule();
        const char *which;

        ck_assert_int_eq(spool_create(scratch_fd, pool_path, 0711, &rule, &which), 0);
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT; d++) {
                char path[64];

                (void)snprintf(path, sizeof(path), "%s/%s", pool_path, spool_dir_name(d));
                ck_assert_int_eq(unlinkat(scratch_fd, path, AT_REMOVEDIR), 0);
        }
        (void)umask(0077);
        ck_assert_int_eq(spool_open(scratch_fd, pool_path, &rule, &pool, &which), 0);
        ck_assert_uint_eq(scratch_mode(pool.root_fd, "requests") & 07777, 0711); /* the root's */
        ck_assert_uint_eq(scratch_mode(pool.root_fd, "inbox") & 07777, 0711);
        same(true);
}
END_TEST

/* rows 11, 26 */
START_TEST(open_refuses_each) {
        static const char *const names[] = {"requests", "tmp", "inbox"};

        pool_open();
        scratch_dir(scratch_fd, "elsewhere");
        for (size_t i = 0; i < 3; i++) {
                ck_assert_int_eq(unlinkat(pool.root_fd, names[i], AT_REMOVEDIR), 0);
                scratch_link("../../elsewhere", pool.root_fd, names[i]);
                opens_as_ours(PIN_E_LINK, names[i]);
                same(false);
                ck_assert_int_eq(unlinkat(pool.root_fd, names[i], 0), 0);
                scratch_link("nowhere", pool.root_fd, names[i]); /* mkdir through it? no */
                opens_as_ours(PIN_E_LINK, names[i]);
                ck_assert_int_eq(unlinkat(pool.root_fd, names[i], 0), 0);
                scratch_file(pool.root_fd, names[i], "");
                opens_as_ours(PIN_E_TYPE, names[i]);
                same(false);
                ck_assert_int_eq(unlinkat(pool.root_fd, names[i], 0), 0);
                scratch_dir(pool.root_fd, names[i]);
                ck_assert_int_eq(fchmodat(pool.root_fd, names[i], 0777, 0), 0);
                opens_as_ours(PIN_E_MODE, names[i]);
                ck_assert_int_eq(fchmodat(pool.root_fd, names[i], 0755, 0), 0);
        }
        opens_as_ours(0, NULL);
        ck_assert(!scratch_exists(pool.root_fd, "nowhere"));
}
END_TEST

/* row 25 */
START_TEST(open_proves_the_owner) {
        PinRule foreign = {geteuid() + 1, 0022};

        pool_open();
        opens(&foreign, PIN_E_OWNER, pool_path);
        if (geteuid() != 0)
                return;
        ck_assert_int_eq(fchownat(pool.root_fd, "requests", 65534, 65534, 0), 0);
        opens_as_ours(PIN_E_OWNER, "requests");
}
END_TEST

/* row 13: the whole tree moved, a link in its place */
START_TEST(open_and_same_parent_swapped) {
        pool_open();
        same(true);
        ck_assert_int_eq(renameat(scratch_fd, "untracked", scratch_fd, "away"), 0);
        same(false);
        scratch_link("away", scratch_fd, "untracked");
        same(false);
        opens_as_ours(PIN_E_LINK, pool_path);
        scratch_file(pool.dirs[SPOOL_REQUESTS], "still", "the pinned one"); /* row 12 */
        scratch_has(scratch_fd, "away/pool/requests/still", "the pinned one");
}
END_TEST

/* rows 12, 14 */
START_TEST(same_directory_exchanged) {
        pool_open();
        scratch_dir(pool.root_fd, "other");
        ck_assert_int_eq(
                renameat2(pool.root_fd, "other", pool.root_fd, "processing", RENAME_EXCHANGE), 0);
        same(false);
        ck_assert_int_eq(
                renameat2(pool.root_fd, "other", pool.root_fd, "processing", RENAME_EXCHANGE), 0);
        same(true);
}
END_TEST

/* row 15 */
START_TEST(open_refuses_a_mount) {
        PinRule any = {(uid_t)-1, 0};
        char path[PATH_MAX + 64];

        pool_open();
        if (!scratch_can_mount()) {
                scratch_skip("no mounts here");
                return;
        }
        spool_close(&pool); /* of the old mount namespace, as scratch_fd is */
        scratch_tear_down();
        scratch_fd = openat(AT_FDCWD, scratch_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        opens_into_pool(&any);
        (void)snprintf(path, sizeof(path), "%s/%s/requests", scratch_path, pool_path);
        ck_assert_int_eq(mount(path, path, NULL, MS_BIND, NULL), 0);
        opens(&any, PIN_E_MOUNT, "requests");
        same(false);
        ck_assert_int_eq(umount(path), 0);
        opens(&any, 0, NULL);
        same(true);
        /* the whole of it: below its root there is one mount only */
        (void)snprintf(path, sizeof(path), "%s/%s", scratch_path, pool_path);
        ck_assert_int_eq(mount(path, path, NULL, MS_BIND, NULL), 0);
        opens(&any, 0, NULL);
        ck_assert_int_eq(umount(path), 0);
}
END_TEST

START_TEST(close_twice) {
        pool_open();
        spool_close(&pool);
        ck_assert_int_eq(pool.root_fd, -EBADF);
        ck_assert_int_eq(pool.dirs[SPOOL_INBOX], -EBADF);
        spool_close(&pool);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, dir_name_each);
        tcase_add_test(tc, create_with_mode);
        tcase_add_test(tc, create_refuses);
        tcase_add_test(tc, create_names_the_directory);
        tcase_add_test(tc, open_absent);
        tcase_add_test(tc, open_makes_again);
        tcase_add_test(tc, open_refuses_each);
        tcase_add_test(tc, open_proves_the_owner);
        tcase_add_test(tc, open_and_same_parent_swapped);
        tcase_add_test(tc, same_directory_exchanged);
        tcase_add_test(tc, open_refuses_a_mount);
        tcase_add_test(tc, close_twice);
}

int main(void) {
        return scratch_main("spool/spool", add_tests);
}
