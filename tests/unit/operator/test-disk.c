/* operator/disk */
#include "operator/disk.h"
#include "tests/unit/fs/scratch.h"

static void text(uint64_t bytes, const char *want) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(disk_text(bytes, &s), 0);
        ck_assert_str_eq(s.data, want);
}

START_TEST(text_of_sizes) {
        text(0, "0 B");
        text(1023, "1023 B");
        text(1024, "1.0 KiB");
        text(1536, "1.5 KiB");
        text(10 * 1024, "10 KiB");
        text(5ULL << 30, "5.0 GiB");
        text(UINT64_MAX, "16383 PiB");
}
END_TEST

START_TEST(measure_counts_trees_and_follows_nothing) {
        char block[8192];
        Disk d = {0};

        memset(block, 'x', sizeof(block));
        block[sizeof(block) - 1] = '\0';
        scratch_dir(scratch_fd, "a");
        scratch_dir(scratch_fd, "a/b");
        scratch_file(scratch_fd, "a/b/c", block);
        scratch_file(scratch_fd, "f", block);
        scratch_link("/usr", scratch_fd, "a/link");
        ck_assert_int_eq(disk_measure(scratch_fd, &d), 0);
        ck_assert_uint_eq(d.entries, 5);
        ck_assert(!d.more);
        ck_assert_uint_ge(d.bytes, 16384);
        ck_assert_uint_lt(d.bytes, 1024 * 1024);
        ck_assert_uint_gt(d.free_bytes, 0);
}
END_TEST

START_TEST(measure_stops_when_too_deep) {
        char path[256] = "d";
        Disk d = {0};

        for (int i = 0; i < DISK_DEPTH_MAX + 3; i++) {
                scratch_dir(scratch_fd, path);
                (void)strncat(path, "/d", sizeof(path) - strlen(path) - 1);
        }
        ck_assert_int_eq(disk_measure(scratch_fd, &d), 0);
        ck_assert(d.more);
        ck_assert_uint_eq(d.entries, DISK_DEPTH_MAX + 1);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, text_of_sizes);
        tcase_add_test(tc, measure_counts_trees_and_follows_nothing);
        tcase_add_test(tc, measure_stops_when_too_deep);
}

int main(void) {
        return scratch_main("operator/disk", add_tests);
}
