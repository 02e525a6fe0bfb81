#include "installer/tree.h"
#include "tests/unit/fs/scratch.h"

START_TEST(remove_everything) {
        CLEANUP(str_done) Str kept = STR_NULL;

        scratch_dir(scratch_fd, "t");
        scratch_dir(scratch_fd, "t/a");
        scratch_dir(scratch_fd, "t/a/b");
        scratch_file(scratch_fd, "t/a/b/f", "x");
        scratch_file(scratch_fd, "t/.dot", "x");
        scratch_file(scratch_fd, "t/\xff\n", "x");
        ck_assert_int_eq(mkfifoat(scratch_fd, "t/fifo", 0600), 0);
        scratch_file(scratch_fd, "canary", "alive");
        scratch_dir(scratch_fd, "keep");
        scratch_file(scratch_fd, "keep/f", "alive");
        scratch_link("../canary", scratch_fd, "t/link");
        scratch_link("../keep", scratch_fd, "t/dirlink");
        ck_assert_int_eq(tree_remove(scratch_fd, "t", &kept), 0);
        ck_assert_uint_eq(kept.len, 0);
        ck_assert(!tree_has(scratch_fd, "t"));
        scratch_has(scratch_fd, "canary", "alive");
        scratch_has(scratch_fd, "keep/f", "alive");
        ck_assert_int_eq(tree_remove(scratch_fd, "t", &kept), 0); /* absent is fine */
        ck_assert_int_eq(tree_remove(scratch_fd, "canary", &kept), 0);
        ck_assert(!tree_has(scratch_fd, "canary"));
}
END_TEST

START_TEST(remove_too_deep) {
        CLEANUP(str_done) Str kept = STR_NULL;
        CLEANUP(fd_closep) int at = -EBADF;

        at = scratch_open_dir(scratch_fd, ".");
        for (int i = 0; i < TREE_MAX_DEPTH + 5; i++) {
                int next;

                scratch_dir(at, "d");
                next = scratch_open_dir(at, "d");
                (void)fd_close(at);
                at = next;
        }
        ck_assert_int_eq(tree_remove(scratch_fd, "d", &kept), 0);
        ck_assert_ptr_nonnull(strstr(kept.data, "d: nests too deep"));
        ck_assert(tree_has(scratch_fd, "d"));
}
END_TEST

START_TEST(remove_what_is_anothers) {
        CLEANUP(str_done) Str kept = STR_NULL;

        if (geteuid() != 0) {
                scratch_skip("needs root for a file of another user's");
                return;
        }
        scratch_dir(scratch_fd, "t");
        scratch_dir(scratch_fd, "t/theirs");
        scratch_file(scratch_fd, "t/theirs/f", "x");
        scratch_file(scratch_fd, "t/ours", "x");
        ck_assert_int_eq(fchown(scratch_fd, 65534, 65534), 0);
        ck_assert_int_eq(fchownat(scratch_fd, "t", 65534, 65534, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(tree_remove(scratch_fd, "t", &kept), 0);
        ck_assert_ptr_nonnull(strstr(kept.data, "f: "));
        ck_assert(!tree_has(scratch_fd, "t/ours"));
        ck_assert(tree_has(scratch_fd, "t/theirs/f"));
}
END_TEST

START_TEST(remove_empty) {
        bool gone;

        scratch_dir(scratch_fd, "e");
        scratch_dir(scratch_fd, "full");
        scratch_file(scratch_fd, "full/f", "x");
        ck_assert_int_eq(tree_remove_empty(scratch_fd, "e", &gone), 0);
        ck_assert(gone);
        ck_assert_int_eq(tree_remove_empty(scratch_fd, "e", &gone), 0);
        ck_assert(!gone);
        ck_assert_int_eq(tree_remove_empty(scratch_fd, "full", &gone), 0);
        ck_assert(!gone);
        ck_assert_int_eq(tree_remove_empty(scratch_fd, "full/f", &gone), 0);
        ck_assert(!gone);
        scratch_has(scratch_fd, "full/f", "x");
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, remove_everything);
        tcase_add_test(tc, remove_too_deep);
        tcase_add_test(tc, remove_what_is_anothers);
        tcase_add_test(tc, remove_empty);
}

int main(void) {
        return scratch_main("installer/tree", add_tests);
}
