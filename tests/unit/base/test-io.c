/* base/io: whole reads and writes; read, pread, write and fsync are ours here, so that each way
 * they can come back is tried (no fortified inline wrappers, then) */
#undef _FORTIFY_SOURCE
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"

static struct {
        int fail_at; /* the nth call (from 1) fails ... */
        int error;   /* ... with this; 0: gives `gives` instead of doing anything */
        ssize_t gives;
        size_t at_most; /* of each call, when set */
        size_t asked;   /* in sum */
        int calls;
        void (*meanwhile)(int fd); /* after the first call */
} fake;

static bool fake_decides(int fd, size_t *len, ssize_t *ret) {
        fake.calls++;
        fake.asked += *len;
        if (fake.calls == 2 && fake.meanwhile)
                fake.meanwhile(fd);
        if (fake.at_most && *len > fake.at_most)
                *len = fake.at_most;
        if (fake.calls != fake.fail_at)
                return false;
        errno = fake.error;
        *ret = fake.error ? -1 : fake.gives;
        return true;
}

ssize_t write(int fd, const void *bytes, size_t len) {
        ssize_t r;

        return fake_decides(fd, &len, &r) ? r : syscall(SYS_write, fd, bytes, len);
}

ssize_t read(int fd, void *bytes, size_t len) {
        ssize_t r;

        return fake_decides(fd, &len, &r) ? r : syscall(SYS_read, fd, bytes, len);
}

ssize_t pread(int fd, void *bytes, size_t len, off_t offset) {
        ssize_t r;

        return fake_decides(fd, &len, &r) ? r : syscall(SYS_pread64, fd, bytes, len, offset);
}

int fsync(int fd) {
        size_t none = 0;
        ssize_t r;

        return fake_decides(fd, &none, &r) ? (int)r : (int)syscall(SYS_fsync, fd);
}

static int file_of(const void *bytes, size_t len) {
        int fd = memfd_create("test-io", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(syscall(SYS_pwrite64, fd, bytes, len, 0), (long)len);
        return fd;
}

static void file_has(int fd, const char *text) {
        char got[64] = "";

        ck_assert_int_eq(syscall(SYS_pread64, fd, got, sizeof(got) - 1, 0), (long)strlen(text));
        ck_assert_str_eq(got, text);
}

START_TEST(write_all_after_short_writes_and_a_signal) {
        CLEANUP(fd_closep) int fd = file_of("", 0);

        fake.at_most = 2;
        fake.fail_at = 2;
        fake.error = EINTR;
        ck_assert_int_eq(io_write_all(fd, "seven!!", 7), 0);
        ck_assert_int_eq(fake.calls, 5);
        file_has(fd, "seven!!");
}
END_TEST

START_TEST(write_all_of_nothing) {
        ck_assert_int_eq(io_write_all(-1, NULL, 0), 0);
        ck_assert_int_eq(fake.calls, 0);
}
END_TEST

START_TEST(write_all_disk_full_in_the_middle) {
        CLEANUP(fd_closep) int fd = file_of("", 0);

        fake.at_most = 3;
        fake.fail_at = 2;
        fake.error = ENOSPC;
        ck_assert_int_eq(io_write_all(fd, "seven!!", 7), -ENOSPC);
        ck_assert_int_eq(fake.calls, 2);
}
END_TEST

START_TEST(write_all_without_progress) {
        CLEANUP(fd_closep) int fd = file_of("", 0);

        fake.fail_at = 1;
        ck_assert_int_eq(io_write_all(fd, "x", 1), -EIO);
        ck_assert_int_eq(fake.calls, 1);
}
END_TEST

START_TEST(read_all_replaces_and_terminates) {
        CLEANUP(fd_closep) int fd = file_of("a\0b", 3);
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(str_adds(&s, "old"), 0);
        fake.at_most = 1;
        fake.fail_at = 1;
        fake.error = EINTR;
        ck_assert_int_eq(io_read_all(fd, 3, &s), 0);
        ck_assert_uint_eq(s.len, 3);
        ck_assert_mem_eq(s.data, "a\0b", 4);
        /* From the current offset, which is the end now. */
        ck_assert_int_eq(io_read_all(fd, 3, &s), 0);
        ck_assert_uint_eq(s.len, 0);
        ck_assert_str_eq(s.data, "");
}
END_TEST

START_TEST(read_all_reads_one_byte_more_than_max_and_no_further) {
        CLEANUP(fd_closep) int fd = file_of("123456789", 9);
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(str_adds(&s, "old"), 0);
        ck_assert_int_eq(io_read_all(fd, 4, &s), IO_E_TOO_BIG);
        ck_assert_str_eq(s.data, "old");
        ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 5);
        ck_assert_uint_eq(fake.asked, 5);
}
END_TEST

START_TEST(read_all_max_zero_and_max_huge) {
        CLEANUP(fd_closep) int fd = file_of("1", 1);
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(io_read_all(fd, 0, &s), IO_E_TOO_BIG);
        ck_assert_int_eq(io_read_all(fd, 0, &s), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(io_read_all(fd, SIZE_MAX, &s), 0);
        ck_assert_str_eq(s.data, "1");
}
END_TEST

START_TEST(read_all_error_leaves_the_result_alone) {
        CLEANUP(fd_closep) int fd = file_of("123", 3);
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(str_adds(&s, "old"), 0);
        fake.fail_at = 2;
        fake.error = EIO;
        ck_assert_int_eq(io_read_all(fd, 100, &s), -EIO);
        ck_assert_str_eq(s.data, "old");
}
END_TEST

START_TEST(read_file_ignores_the_offset) {
        CLEANUP(fd_closep) int fd = file_of("123456", 6);
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(lseek(fd, 4, SEEK_SET), 4);
        fake.at_most = 2;
        ck_assert_int_eq(io_read_file(fd, 6, &s), 0);
        ck_assert_str_eq(s.data, "123456");
        ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 4);
}
END_TEST

START_TEST(read_file_empty) {
        CLEANUP(fd_closep) int fd = file_of("", 0);
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(io_read_file(fd, 0, &s), 0);
        ck_assert_uint_eq(s.len, 0);
        ck_assert_str_eq(s.data, "");
}
END_TEST

/* attacks.md rows 28 to 30 */
START_TEST(read_file_sparse_terabyte_is_refused_unread) {
        CLEANUP(fd_closep) int fd = file_of("", 0);
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(ftruncate(fd, (off_t)1 << 40), 0);
        ck_assert_int_eq(io_read_file(fd, 65536, &s), IO_E_TOO_BIG);
        ck_assert_int_eq(fake.calls, 0);
        ck_assert_ptr_null(s.data);
}
END_TEST

static void grow(int fd) {
        ck_assert_int_eq(syscall(SYS_pwrite64, fd, "more and more", 13, 4), 13);
}

static void shrink(int fd) {
        ck_assert_int_eq(ftruncate(fd, 3), 0);
}

START_TEST(read_file_that_grows) {
        CLEANUP(fd_closep) int fd = file_of("1234", 4);
        CLEANUP(str_done) Str s = STR_NULL;

        fake.at_most = 2;
        fake.meanwhile = grow;
        ck_assert_int_eq(io_read_file(fd, 1000, &s), IO_E_CHANGED);
        ck_assert_int_le(fake.calls, 4);
        ck_assert_ptr_null(s.data);
}
END_TEST

START_TEST(read_file_that_shrinks) {
        CLEANUP(fd_closep) int fd = file_of("123456", 6);
        CLEANUP(str_done) Str s = STR_NULL;

        fake.at_most = 2;
        fake.meanwhile = shrink;
        ck_assert_int_eq(io_read_file(fd, 1000, &s), IO_E_CHANGED);
        ck_assert_ptr_null(s.data);
}
END_TEST

START_TEST(read_file_of_a_pipe) {
        int ends[2];
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert_int_eq(io_read_file(ends[0], 10, &s), -EINVAL);
        ck_assert_int_eq(io_read_file(-1, 10, &s), -EBADF);
        ck_assert_int_eq(fake.calls, 0);
        ck_assert_int_eq(fd_close(ends[0]), -EBADF);
        ck_assert_int_eq(fd_close(ends[1]), -EBADF);
}
END_TEST

START_TEST(read_file_error) {
        CLEANUP(fd_closep) int fd = file_of("123", 3);
        CLEANUP(str_done) Str s = STR_NULL;

        fake.fail_at = 1;
        fake.error = EIO;
        ck_assert_int_eq(io_read_file(fd, 3, &s), -EIO);
}
END_TEST

START_TEST(sync_is_not_tried_again) {
        CLEANUP(fd_closep) int fd = file_of("", 0);

        ck_assert_int_eq(io_sync(fd), 0);
        fake.fail_at = 2;
        fake.error = EIO;
        ck_assert_int_eq(io_sync(fd), -EIO);
        ck_assert_int_eq(fake.calls, 2);
}
END_TEST

static void fake_reset(void) {
        memset(&fake, 0, sizeof(fake));
}

int main(void) {
        Suite *suite = suite_create("base/io");
        TCase *tc = tcase_create("io");
        SRunner *runner;
        int failed;

        tcase_add_checked_fixture(tc, fake_reset, fake_reset);
        tcase_add_test(tc, write_all_after_short_writes_and_a_signal);
        tcase_add_test(tc, write_all_of_nothing);
        tcase_add_test(tc, write_all_disk_full_in_the_middle);
        tcase_add_test(tc, write_all_without_progress);
        tcase_add_test(tc, read_all_replaces_and_terminates);
        tcase_add_test(tc, read_all_reads_one_byte_more_than_max_and_no_further);
        tcase_add_test(tc, read_all_max_zero_and_max_huge);
        tcase_add_test(tc, read_all_error_leaves_the_result_alone);
        tcase_add_test(tc, read_file_ignores_the_offset);
        tcase_add_test(tc, read_file_empty);
        tcase_add_test(tc, read_file_sparse_terabyte_is_refused_unread);
        tcase_add_test(tc, read_file_that_grows);
        tcase_add_test(tc, read_file_that_shrinks);
        tcase_add_test(tc, read_file_of_a_pipe);
        tcase_add_test(tc, read_file_error);
        tcase_add_test(tc, sync_is_not_tried_again);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
