/* spool/claim: attacks.md rows 1 to 10, 21, 28 to 31, 58 */
#include <sys/sysmacros.h>

#include "spool/claim.h"
#include "tests/unit/spool/pool.h"

static const char request[] = "20260101T000000Z-ping-0123456789abcdef.json";

static void reads(size_t max, int expected, const char *text) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(claim_read(&pool, request, max, &s), expected);
        if (expected == 0)
                ck_assert_str_eq(s.data, text);
        else
                ck_assert_ptr_null(s.data);
}

START_TEST(take_and_return) {
        pool_open();
        ck_assert_int_eq(claim_take(&pool, request), CLAIM_E_GONE);
        scratch_file(pool.dirs[SPOOL_REQUESTS], request, "{}");
        ck_assert_int_eq(claim_take(&pool, request), 0);
        ck_assert(!scratch_exists(pool.dirs[SPOOL_REQUESTS], request));
        scratch_has(pool.dirs[SPOOL_PROCESSING], request, "{}");
        ck_assert_int_eq(claim_take(&pool, request), CLAIM_E_GONE); /* row 58 */
        ck_assert_int_eq(claim_return(&pool, request), 0);
        scratch_has(pool.dirs[SPOOL_REQUESTS], request, "{}");
        ck_assert_int_eq(claim_return(&pool, request), CLAIM_E_GONE);
}
END_TEST

START_TEST(take_never_covers) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_REQUESTS], request, "new");
        scratch_file(pool.dirs[SPOOL_PROCESSING], request, "old");
        ck_assert_int_eq(claim_take(&pool, request), CLAIM_E_EXISTS);
        ck_assert_int_eq(claim_return(&pool, request), CLAIM_E_EXISTS);
        scratch_has(pool.dirs[SPOOL_REQUESTS], request, "new");
        scratch_has(pool.dirs[SPOOL_PROCESSING], request, "old");
}
END_TEST

/* Two drains and one file: exactly one gets it. */
START_TEST(take_race) {
        enum { ROUNDS = 200 };
        char name[16];
        int status, won = 0;
        pid_t pid;

        pool_open();
        for (int i = 0; i < ROUNDS; i++) {
                (void)snprintf(name, sizeof(name), "%d", i);
                scratch_file(pool.dirs[SPOOL_REQUESTS], name, "");
        }
        pid = fork();
        ck_assert_int_ge(pid, 0);
        for (int i = 0; i < ROUNDS; i++) {
                int r;

                (void)snprintf(name, sizeof(name), "%d", i);
                r = claim_take(&pool, name);
                if (r != 0 && r != CLAIM_E_GONE)
                        _exit(255);
                won += r == 0;
        }
        if (pid == 0)
                _exit(won);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 255);
        ck_assert_int_eq(won + WEXITSTATUS(status), ROUNDS);
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_PROCESSING], "", NULL), ROUNDS);
}
END_TEST

/* row 9 */
START_TEST(take_stuck) {
        pool_open();
        if (geteuid() != 0) {
                scratch_skip("a directory of another uid needs root");
                return;
        }
        /* what a rename needs: write permission on the parents, which the sticky bit narrows */
        scratch_dir(pool.dirs[SPOOL_REQUESTS], request);
        ck_assert_int_eq(fchmodat(pool.root_fd, "requests", 0777, 0), 0);
        ck_assert_int_eq(fchmodat(pool.root_fd, "processing", 0777, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(claim_take(&pool, request), CLAIM_E_STUCK);
        ck_assert(scratch_exists(pool.dirs[SPOOL_REQUESTS], request));
}
END_TEST

START_TEST(take_odd_names) {
        char longest[NAME_MAX + 1];

        pool_open();
        memset(longest, 'z', NAME_MAX);
        longest[NAME_MAX] = '\0';
        scratch_file(pool.dirs[SPOOL_REQUESTS], longest, "");
        scratch_file(pool.dirs[SPOOL_REQUESTS], "\xff\n\"", "");
        ck_assert_int_eq(claim_take(&pool, longest), 0);
        ck_assert_int_eq(claim_take(&pool, "\xff\n\""), 0);
        ck_assert_int_eq(claim_take(&pool, "../archive"), -EINVAL);
        ck_assert_int_eq(claim_take(&pool, ".."), -EINVAL);
}
END_TEST

START_TEST(read_bounded) {
        pool_open();
        reads(10, CLAIM_E_ABSENT, NULL);
        scratch_file(pool.dirs[SPOOL_PROCESSING], request, "0123456789");
        reads(10, 0, "0123456789");
        reads(11, 0, "0123456789");
        reads(9, CLAIM_E_TOO_BIG, NULL);
        ck_assert_int_eq(
                ftruncate(openat(pool.dirs[SPOOL_PROCESSING], request, O_WRONLY), 1LL << 40),
                0); /* row 28 */
        reads(64 * 1024, CLAIM_E_TOO_BIG, NULL);
}
END_TEST

/* rows 1, 2, 4, 5, 7 */
START_TEST(read_not_a_file) {
        int dirfd;

        pool_open();
        dirfd = pool.dirs[SPOOL_PROCESSING];
        scratch_file(dirfd, "target", "secret");
        scratch_link("target", dirfd, request);
        reads(100, CLAIM_E_NOT_FILE, NULL);
        ck_assert_int_eq(unlinkat(dirfd, request, 0), 0);
        scratch_link("nowhere", dirfd, request);
        reads(100, CLAIM_E_NOT_FILE, NULL);
        ck_assert_int_eq(unlinkat(dirfd, request, 0), 0);
        ck_assert_int_eq(mkfifoat(dirfd, request, 0666), 0);
        reads(100, CLAIM_E_NOT_FILE, NULL); /* and doesn't hang */
        ck_assert_int_eq(unlinkat(dirfd, request, 0), 0);
        scratch_socket(dirfd, request);
        reads(100, CLAIM_E_NOT_FILE, NULL);
        ck_assert_int_eq(unlinkat(dirfd, request, 0), 0);
        scratch_dir(dirfd, request);
        reads(100, CLAIM_E_NOT_FILE, NULL);
}
END_TEST

/* row 6 */
START_TEST(read_device) {
        pool_open();
        if (mknodat(pool.dirs[SPOOL_PROCESSING], request, S_IFCHR | 0666, makedev(1, 5)) < 0) {
                scratch_skip("a device node needs root");
                return;
        }
        reads(100, CLAIM_E_NOT_FILE, NULL);
}
END_TEST

/* row 3 */
START_TEST(read_links) {
        pool_open();
        scratch_file(scratch_fd, "host-secret", "x");
        ck_assert_int_eq(linkat(scratch_fd, "host-secret", pool.dirs[SPOOL_PROCESSING], request, 0),
                         0);
        reads(100, CLAIM_E_LINKS, NULL);
        ck_assert_int_eq(unlinkat(scratch_fd, "host-secret", 0), 0);
        reads(100, 0, "x");
}
END_TEST

/* row 10 */
START_TEST(read_unreadable) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_PROCESSING], request, "x");
        ck_assert_int_eq(fchmodat(pool.dirs[SPOOL_PROCESSING], request, 0, 0), 0);
        scratch_drop_root();
        reads(100, CLAIM_E_UNREADABLE, NULL);
}
END_TEST

/* any owner: the container's uids are its own affair */
START_TEST(read_foreign_owner) {
        pool_open();
        if (geteuid() != 0) {
                scratch_skip("another owner needs root");
                return;
        }
        scratch_file(pool.dirs[SPOOL_PROCESSING], request, "x");
        ck_assert_int_eq(fchownat(pool.dirs[SPOOL_PROCESSING], request, 100999, 100999, 0), 0);
        reads(100, 0, "x");
}
END_TEST

START_TEST(reason_each) {
        for (int i = CLAIM_E_ABSENT; i <= CLAIM_E_CHANGED; i++) {
                ck_assert_str_ne(claim_reason(i), claim_reason(0));
                for (int j = CLAIM_E_ABSENT; j < i; j++)
                        ck_assert_str_ne(claim_reason(i), claim_reason(j));
        }
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, take_and_return);
        tcase_add_test(tc, take_never_covers);
        tcase_add_test(tc, take_race);
        tcase_add_test(tc, take_stuck);
        tcase_add_test(tc, take_odd_names);
        tcase_add_test(tc, read_bounded);
        tcase_add_test(tc, read_not_a_file);
        tcase_add_test(tc, read_device);
        tcase_add_test(tc, read_links);
        tcase_add_test(tc, read_unreadable);
        tcase_add_test(tc, read_foreign_owner);
        tcase_add_test(tc, reason_each);
}

int main(void) {
        return scratch_main("spool/claim", add_tests);
}
