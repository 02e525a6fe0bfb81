/* fs/publish: every step failing, the order of the steps, and tmp names that were guessed
 * (attacks.md row 19) */
#include <dirent.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "fs/publish.h"
#include "tests/unit/fs/scratch.h"

/* The steps of the module are ours here: each is noted by a letter, and the nth may fail. */
static struct {
        char steps[64]; /* w write, m fchmod, s fsync of a file, d fsync of a directory, r rename, n
                         * rename without replacing, x exchange */
        size_t count;
        size_t fail_at; /* from 1 */
        int error;
        void (*before_rename)(void);
        unsigned drawn, stuck; /* random draws so far; the first so many are all alike */
} fake;

static bool fake_step(char letter) {
        ck_assert_uint_lt(fake.count, sizeof(fake.steps) - 1);
        fake.steps[fake.count++] = letter;
        if (fake.count != fake.fail_at)
                return true;
        errno = fake.error;
        return false;
}

ssize_t write(int fd, const void *bytes, size_t len) {
        return fake_step('w') ? syscall(SYS_write, fd, bytes, len) : -1;
}

int fchmod(int fd, mode_t mode) {
        return fake_step('m') ? (int)syscall(SYS_fchmod, fd, mode) : -1;
}

int fsync(int fd) {
        struct stat st;

        ck_assert_int_eq(fstat(fd, &st), 0);
        return fake_step(S_ISDIR(st.st_mode) ? 'd' : 's') ? (int)syscall(SYS_fsync, fd) : -1;
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
        if (fake.before_rename)
                fake.before_rename();
        if (!fake_step(flags & RENAME_EXCHANGE ? 'x' : flags & RENAME_NOREPLACE ? 'n' : 'r'))
                return -1;
        return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

void randombytes_buf(void *bytes, size_t len);
void randombytes_buf(void *bytes, size_t len) {
        fake.drawn++;
        memset(bytes, fake.drawn <= fake.stuck ? 0 : (int)(fake.drawn & 0xff), len);
}

static void fake_reset(void) {
        memset(&fake, 0, sizeof(fake));
}

static int entries(void) {
        DIR *dir = fdopendir(scratch_open_dir(scratch_fd, "."));
        int n = 0;

        ck_assert_ptr_nonnull(dir);
        while (readdir(dir))
                n++;
        ck_assert_int_eq(closedir(dir), 0);
        return n - 2;
}

static int put(PublishFlags flags) {
        size_t fail_at = fake.fail_at;

        fake.count = 0;
        memset(fake.steps, 0, sizeof(fake.steps));
        fake.fail_at = fail_at;
        return publish_file(scratch_fd, "f", "text", 4, 0644, flags);
}

START_TEST(file_steps_in_their_order) {
        ck_assert_int_eq(put(PUBLISH_SYNC), 0);
        ck_assert_str_eq(fake.steps, "wmsrd");
        ck_assert_int_eq(put(0), 0);
        ck_assert_str_eq(fake.steps, "wmr");
        ck_assert_int_eq(put(PUBLISH_NEW | PUBLISH_SYNC), PUBLISH_E_EXISTS);
        ck_assert_str_eq(fake.steps, "wmsn");
        ck_assert_int_eq(unlinkat(scratch_fd, "f", 0), 0);
        scratch_dir(scratch_fd, "f");
        ck_assert_int_eq(put(PUBLISH_SYNC), 0);
        ck_assert_str_eq(fake.steps, "wmsrxd");
        ck_assert_int_eq(entries(), 1);
}
END_TEST

/* Each step of a publish over an old file, each with an error of the host: an error, the old file,
 * and no tmp. */
START_TEST(file_any_step_fails) {
        static const int errors[] = {EIO, ENOSPC, EDQUOT, EROFS, ENOMEM};

        for (size_t at = 1; at <= 5; at++)
                for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
                        fake_reset();
                        ck_assert_int_eq(
                                publish_file(scratch_fd, "f", "old", 3, 0644, PUBLISH_SYNC), 0);
                        fake.fail_at = at;
                        fake.error = errors[e];
                        ck_assert_int_eq(put(PUBLISH_SYNC), -errors[e]);
                        ck_assert_uint_eq(fake.count, at); /* a failed fsync is not tried again */
                        scratch_has(scratch_fd, "f", at < 5 ? "old" : "text");
                        ck_assert_int_eq(entries(), 1);
                }
}
END_TEST

START_TEST(file_refusals_of_the_renames) {
        static const int errors[] = {EACCES, EPERM, EBUSY, EXDEV, EINVAL, ENOTDIR, ENAMETOOLONG};

        scratch_dir(scratch_fd, "f");
        scratch_file(scratch_fd, "f/x", "");
        for (size_t at = 4; at <= 5; at++)
                for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
                        fake.fail_at = at;
                        fake.error = errors[e];
                        ck_assert_int_eq(put(PUBLISH_SYNC), PUBLISH_E_BLOCKED);
                        ck_assert_uint_eq(fake.count, at);
                        ck_assert(S_ISDIR(scratch_mode(scratch_fd, "f")));
                        ck_assert_int_eq(entries(), 1);
                }
}
END_TEST

static void directory_comes_and_goes(void) {
        if (unlinkat(scratch_fd, "f", AT_REMOVEDIR) < 0)
                scratch_dir(scratch_fd, "f");
}

/* The directory is there for each rename and gone for each exchange. */
START_TEST(file_raced_by_a_directory) {
        fake.before_rename = directory_comes_and_goes;
        ck_assert_int_eq(put(0), PUBLISH_E_BLOCKED);
        ck_assert_uint_lt(fake.count, 50);
        ck_assert_int_eq(entries(), scratch_exists(scratch_fd, "f") ? 1 : 0);
}
END_TEST

static void take_the_tmp_away(void) {
        ck_assert_int_eq(unlinkat(scratch_fd, ".tmp.0101010101010101", 0), 0);
        fake.before_rename = NULL;
}

START_TEST(file_whose_tmp_was_taken_away) {
        fake.before_rename = take_the_tmp_away;
        ck_assert_int_eq(put(PUBLISH_SYNC), PUBLISH_E_BLOCKED);
        ck_assert_int_eq(entries(), 0);
}
END_TEST

/* row 19 */
START_TEST(file_with_guessed_tmp_names) {
        scratch_file(scratch_fd, "canary", "canary");
        scratch_link("canary", scratch_fd, ".tmp.0101010101010101");
        scratch_link("nowhere", scratch_fd, ".tmp.0202020202020202");
        scratch_dir(scratch_fd, ".tmp.0303030303030303");
        ck_assert_int_eq(mkfifoat(scratch_fd, ".tmp.0404040404040404", 0666), 0);
        ck_assert_int_eq(put(PUBLISH_SYNC), 0);
        ck_assert_uint_eq(fake.drawn, 5);
        scratch_has(scratch_fd, "f", "text");
        scratch_has(scratch_fd, "canary", "canary");
        ck_assert(!scratch_exists(scratch_fd, "nowhere"));
        ck_assert_int_eq(entries(), 6); /* what was planted is not ours to remove */
}
END_TEST

START_TEST(file_with_every_tmp_name_taken) {
        fake.stuck = UINT_MAX;
        scratch_file(scratch_fd, ".tmp.0000000000000000", "kept");
        ck_assert_int_eq(put(PUBLISH_SYNC), PUBLISH_E_BLOCKED);
        ck_assert_uint_gt(fake.drawn, 1);
        ck_assert_uint_lt(fake.drawn, 100);
        scratch_has(scratch_fd, ".tmp.0000000000000000", "kept");
        ck_assert_int_eq(entries(), 1);
}
END_TEST

static int move(int from_fd, int to_fd) {
        fake.count = 0;
        memset(fake.steps, 0, sizeof(fake.steps));
        return publish_move(from_fd, "f", to_fd, "g", PUBLISH_SYNC);
}

START_TEST(move_steps_and_errors) {
        static const int denied[] = {EACCES, EPERM, EBUSY, EXDEV, EMLINK, EINVAL, ENOTDIR};
        CLEANUP(fd_closep) int to = -EBADF;

        scratch_dir(scratch_fd, "to");
        to = scratch_open_dir(scratch_fd, "to");
        scratch_file(scratch_fd, "f", "");
        fake.fail_at = 1;
        for (size_t e = 0; e < sizeof(denied) / sizeof(denied[0]); e++) {
                fake.error = denied[e];
                ck_assert_int_eq(move(scratch_fd, to), MOVE_E_DENIED);
                ck_assert(scratch_exists(scratch_fd, "f"));
        }
        fake.error = ENOSPC;
        ck_assert_int_eq(move(scratch_fd, to), -ENOSPC);
        fake.fail_at = 0;
        ck_assert_int_eq(move(scratch_fd, to), 0);
        ck_assert_str_eq(fake.steps, "ndd");
        for (fake.fail_at = 2; fake.fail_at <= 3; fake.fail_at++) {
                ck_assert_int_eq(renameat(to, "g", scratch_fd, "f"), 0);
                fake.error = EIO;
                ck_assert_int_eq(move(scratch_fd, to), -EIO);
                ck_assert_uint_eq(fake.count, fake.fail_at);
        }
        scratch_file(scratch_fd, "f", "");
        ck_assert_int_eq(move(scratch_fd, scratch_fd), 0);
        ck_assert_str_eq(fake.steps, "nd"); /* one directory, one sync */
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_checked_fixture(tc, fake_reset, NULL);
        tcase_add_test(tc, file_steps_in_their_order);
        tcase_add_test(tc, file_any_step_fails);
        tcase_add_test(tc, file_refusals_of_the_renames);
        tcase_add_test(tc, file_raced_by_a_directory);
        tcase_add_test(tc, file_whose_tmp_was_taken_away);
        tcase_add_test(tc, file_with_guessed_tmp_names);
        tcase_add_test(tc, file_with_every_tmp_name_taken);
        tcase_add_test(tc, move_steps_and_errors);
}

int main(void) {
        return scratch_main("fs/publish-fault", add_tests);
}
