/* spool/prune: retention, stale drafts, trees, and what may not be touched */
#include "spool/prune.h"
#include "tests/unit/spool/pool.h"

enum { HOUR_MS = 3600 * 1000 };
static const int64_t now_ms = 1767323045678;
static const Strv nobody = {0};
static const PruneLimits wide = {INT64_MAX / 2, 1000, UINT64_MAX, 1000};

static PruneReport prune(const PruneLimits *limits, const Strv *busy) {
        PruneReport report = {0};

        ck_assert_int_eq(prune_run(&pool, limits, busy, now_ms, &report), 0);
        return report;
}

static void aged_file(SpoolDir d, const char *name, int64_t age_ms) {
        scratch_file(pool.dirs[d], name, "x");
        pool_age(pool.dirs[d], name, now_ms - age_ms);
}

static bool has(SpoolDir d, const char *name) {
        return scratch_exists(pool.dirs[d], name);
}

START_TEST(run_by_age) {
        static const SpoolDir kept[] = {SPOOL_ARCHIVE, SPOOL_RESPONSES, SPOOL_QUARANTINE,
                                        SPOOL_INBOX};
        PruneLimits limits = wide;
        PruneReport report;

        pool_open();
        limits.keep_ms = 1000;
        for (size_t i = 0; i < 4; i++) {
                aged_file(kept[i], "old", 1001);
                aged_file(kept[i], "young", 1000);
                aged_file(kept[i], "future", -5000);
        }
        aged_file(SPOOL_REQUESTS, "old", 10 * HOUR_MS); /* never ours to drop */
        aged_file(SPOOL_PROCESSING, "old", 10 * HOUR_MS);
        aged_file(SPOOL_DIAGNOSTICS, "old", 10 * HOUR_MS);
        report = prune(&limits, &nobody);
        ck_assert_uint_eq(report.removed, 4);
        ck_assert_uint_eq(report.stuck, 0);
        ck_assert(!report.more);
        for (size_t i = 0; i < 4; i++)
                ck_assert(!has(kept[i], "old") && has(kept[i], "young") && has(kept[i], "future"));
        ck_assert(has(SPOOL_REQUESTS, "old") && has(SPOOL_PROCESSING, "old") &&
                  has(SPOOL_DIAGNOSTICS, "old"));
}
END_TEST

START_TEST(run_by_count_newest_kept) {
        PruneLimits limits = wide;
        char name[16];

        pool_open();
        limits.keep_files = 3;
        for (int i = 0; i < 10; i++) {
                (void)snprintf(name, sizeof(name), "f%d", i);
                aged_file(SPOOL_ARCHIVE, name, 1000 * (i * 7 % 10));
        }
        ck_assert_uint_eq(prune(&limits, &nobody).removed, 7);
        ck_assert(has(SPOOL_ARCHIVE, "f0") && has(SPOOL_ARCHIVE, "f3") && has(SPOOL_ARCHIVE, "f6"));
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_ARCHIVE], "", NULL), 3);
        limits.keep_files = 0;
        ck_assert_uint_eq(prune(&limits, &nobody).removed, 3);
}
END_TEST

START_TEST(run_by_bytes) {
        PruneLimits limits = wide;
        static char block[65536];
        struct stat st;

        pool_open();
        memset(block, 'x', sizeof(block) - 1);
        block[sizeof(block) - 1] = '\0';
        scratch_file(pool.dirs[SPOOL_ARCHIVE], "old", block);
        scratch_file(pool.dirs[SPOOL_ARCHIVE], "young", block);
        pool_age(pool.dirs[SPOOL_ARCHIVE], "old", now_ms - 2000);
        pool_age(pool.dirs[SPOOL_ARCHIVE], "young", now_ms - 1000);
        scratch_file(pool.dirs[SPOOL_ARCHIVE], "sparse", ""); /* 1 TiB that takes no room */
        ck_assert_int_eq(ftruncate(openat(pool.dirs[SPOOL_ARCHIVE], "sparse", O_WRONLY), 1LL << 40),
                         0);
        pool_age(pool.dirs[SPOOL_ARCHIVE], "sparse", now_ms);
        ck_assert_int_eq(fstatat(pool.dirs[SPOOL_ARCHIVE], "young", &st, 0), 0);
        limits.keep_bytes = (uint64_t)st.st_blocks * 512;
        ck_assert_uint_eq(prune(&limits, &nobody).removed, 1);
        ck_assert(has(SPOOL_ARCHIVE, "young") && has(SPOOL_ARCHIVE, "sparse"));
}
END_TEST

START_TEST(run_leaves_the_busy) {
        CLEANUP(strv_done) Strv busy = STRV_NULL;
        PruneLimits limits = wide;

        pool_open();
        limits.keep_files = 0;
        ck_assert_int_eq(strv_add(&busy, "a.json"), 0);
        aged_file(SPOOL_ARCHIVE, "a.json", 0);
        aged_file(SPOOL_ARCHIVE, "a.json.log", 0);
        aged_file(SPOOL_ARCHIVE, "a.jsonx", 0);
        aged_file(SPOOL_RESPONSES, "a.json.response.json", 0);
        aged_file(SPOOL_RESPONSES, "b.json.response.json", 0);
        ck_assert_uint_eq(prune(&limits, &busy).removed, 2);
        ck_assert(has(SPOOL_ARCHIVE, "a.json") && has(SPOOL_ARCHIVE, "a.json.log"));
        ck_assert(has(SPOOL_RESPONSES, "a.json.response.json"));
}
END_TEST

START_TEST(run_stale_drafts) {
        pool_open();
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT; d++) {
                aged_file(d, ".stale", HOUR_MS + 1);
                aged_file(d, ".fresh", HOUR_MS);
        }
        aged_file(SPOOL_TMP, "stale", HOUR_MS + 1);
        aged_file(SPOOL_TMP, "fresh", HOUR_MS);
        ck_assert_uint_eq(prune(&wide, &nobody).removed, SPOOL_DIR_COUNT + 1);
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT; d++)
                ck_assert(!has(d, ".stale") && has(d, ".fresh"));
        ck_assert(!has(SPOOL_TMP, "stale") && has(SPOOL_TMP, "fresh"));
}
END_TEST

/* Deeper than any path and any recursion would go, and a link out of it. */
START_TEST(run_deep_tree) {
        enum { DEPTH = 3000 };
        PruneLimits limits = wide;
        PruneReport report;
        int dirfd, calls = 0;
        size_t removed = 0;

        pool_open();
        scratch_file(scratch_fd, "canary", "untouched");
        scratch_dir(pool.dirs[SPOOL_QUARANTINE], "tree");
        dirfd = scratch_open_dir(pool.dirs[SPOOL_QUARANTINE], "tree");
        for (int i = 0; i < DEPTH; i++) {
                int next;

                scratch_link(scratch_path, dirfd, "out");
                scratch_file(dirfd, "file", "");
                scratch_dir(dirfd, "d");
                next = scratch_open_dir(dirfd, "d");
                (void)fd_close(dirfd);
                dirfd = next;
        }
        (void)fd_close(dirfd);
        limits.keep_files = 0;
        do {
                report = prune(&limits, &nobody);
                removed += report.removed;
                ck_assert_uint_le(report.removed, limits.budget);
                ck_assert_uint_eq(report.stuck, 0);
        } while (report.more && ++calls < 1000);
        ck_assert_int_gt(calls, 1); /* the budget held */
        ck_assert(!report.more);
        ck_assert_uint_eq(removed, 3 * DEPTH + 1);
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_QUARANTINE], "", NULL), 0);
        scratch_has(scratch_fd, "canary", "untouched");
}
END_TEST

/* The agent may use our own prefix: it gains that its files go sooner. */
START_TEST(run_planted_gone) {
        pool_open();
        aged_file(SPOOL_REQUESTS, ".gone-file", 0);
        scratch_dir(pool.dirs[SPOOL_TMP], ".gone-dir");
        scratch_link("/", pool.dirs[SPOOL_ARCHIVE], ".gone-link");
        ck_assert_uint_eq(prune(&wide, &nobody).removed, 3);
        ck_assert_uint_eq(prune(&wide, &nobody).stuck, 0);
}
END_TEST

START_TEST(run_wide_tree_out_of_sight_at_once) {
        PruneLimits limits = wide;
        PruneReport report;
        char name[16];
        int dirfd;

        pool_open();
        scratch_dir(pool.dirs[SPOOL_QUARANTINE], "tree");
        dirfd = scratch_open_dir(pool.dirs[SPOOL_QUARANTINE], "tree");
        for (int i = 0; i < 500; i++) {
                (void)snprintf(name, sizeof(name), "%d", i);
                scratch_file(dirfd, name, "");
        }
        pool_age(pool.dirs[SPOOL_QUARANTINE], "tree", now_ms - 10 * HOUR_MS);
        limits.keep_ms = HOUR_MS;
        limits.budget = 80;
        report = prune(&limits, &nobody);
        ck_assert(report.more);
        ck_assert_uint_le(report.removed, 80);
        ck_assert(!has(SPOOL_QUARANTINE, "tree")); /* though it is young again by its mtime */
        for (int i = 0; report.more && i < 100; i++)
                report = prune(&limits, &nobody);
        ck_assert(!report.more);
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_QUARANTINE], "", NULL), 0);
        (void)fd_close(dirfd);
}
END_TEST

/* A flood in one directory leaves the others their share, and is worked off from call to call. */
START_TEST(run_flood) {
        PruneLimits limits = wide;
        PruneReport report;
        char name[16];
        int calls = 0;

        pool_open();
        for (int i = 0; i < 2000; i++) {
                (void)snprintf(name, sizeof(name), "%d", i);
                scratch_file(pool.dirs[SPOOL_RESPONSES], name, "");
        }
        aged_file(SPOOL_ARCHIVE, "one", 0);
        aged_file(SPOOL_ARCHIVE, "two", 1000);
        limits.keep_files = 1;
        limits.budget = 100;
        report = prune(&limits, &nobody);
        ck_assert(report.more);
        ck_assert_uint_le(report.removed, 100);
        ck_assert(has(SPOOL_ARCHIVE, "one") && !has(SPOOL_ARCHIVE, "two"));
        for (; report.more && calls < 1000; calls++)
                report = prune(&limits, &nobody);
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_RESPONSES], "", NULL), 1);
}
END_TEST

START_TEST(run_stuck) {
        PruneLimits limits = wide;
        PruneReport report;

        pool_open();
        limits.keep_files = 0;
        scratch_dir(pool.dirs[SPOOL_ARCHIVE], "tree");
        scratch_dir(scratch_open_dir(pool.dirs[SPOOL_ARCHIVE], "tree"), "inner");
        ck_assert_int_eq(fchmodat(pool.dirs[SPOOL_ARCHIVE], "tree", 0555, 0), 0);
        scratch_file(pool.dirs[SPOOL_RESPONSES], "x", "");
        ck_assert_int_eq(fchmodat(pool.root_fd, "responses", 0555, 0), 0);
        ck_assert_int_eq(fchmodat(pool.root_fd, "archive", 0777, 0), 0);
        scratch_drop_root();
        report = prune(&limits, &nobody);
        ck_assert_uint_ge(report.stuck, 2);
        ck_assert_uint_eq(report.removed, 0);
        ck_assert(has(SPOOL_RESPONSES, "x"));
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_ARCHIVE], ".gone-", NULL), 1);
}
END_TEST

START_TEST(run_no_budget) {
        PruneLimits limits = wide;
        PruneReport report;

        pool_open();
        limits.budget = 0;
        limits.keep_files = 0;
        aged_file(SPOOL_ARCHIVE, "a", 0);
        report = prune(&limits, &nobody);
        ck_assert_uint_eq(report.removed, 0);
        ck_assert(report.more);
        limits.keep_files = SIZE_MAX;
        ck_assert_uint_eq(prune(&limits, &nobody).removed, 0);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, run_by_age);
        tcase_add_test(tc, run_by_count_newest_kept);
        tcase_add_test(tc, run_by_bytes);
        tcase_add_test(tc, run_leaves_the_busy);
        tcase_add_test(tc, run_stale_drafts);
        tcase_add_test(tc, run_deep_tree);
        tcase_add_test(tc, run_planted_gone);
        tcase_add_test(tc, run_wide_tree_out_of_sight_at_once);
        tcase_add_test(tc, run_flood);
        tcase_add_test(tc, run_stuck);
        tcase_add_test(tc, run_no_budget);
}

int main(void) {
        return scratch_main("spool/prune", add_tests);
}
