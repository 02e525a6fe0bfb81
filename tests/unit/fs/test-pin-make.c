/* fs/pin: roots, whole reads, and what makes things */
#include "tests/unit/fs/opens.h"

/* scratch_path without links on the way (TMPDIR may be one), and something behind it. */
static const char *real_path(const char *rest) {
        static char path[PATH_MAX + 64];
        char real[PATH_MAX];

        ck_assert_ptr_nonnull(realpath(scratch_path, real));
        (void)snprintf(path, sizeof(path), "%s%s", real, rest);
        return path;
}

START_TEST(host_dir_follows_the_operators_links) {
        PinRule ours = rule_ours(), other = {.owner = geteuid() + 1};
        CLEANUP(fd_closep) int fd = -EBADF;
        struct stat st, want;

        scratch_dir(scratch_fd, "d");
        scratch_file(scratch_fd, "f", "");
        scratch_link("d", scratch_fd, "link");
        scratch_link("loop", scratch_fd, "loop");
        ck_assert_int_eq(pin_host_dir(real_path("/link"), &ours, &fd), 0);
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(fstatat(scratch_fd, "d", &want, 0), 0);
        ck_assert_uint_eq(st.st_ino, want.st_ino);
        fd = fd_close(fd);
        ck_assert_int_eq(pin_host_dir(real_path("/no"), &ours, &fd), PIN_E_ABSENT);
        ck_assert_int_eq(pin_host_dir(real_path("/f"), &ours, &fd), PIN_E_TYPE);
        ck_assert_int_eq(pin_host_dir(real_path("/loop"), &ours, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_host_dir(real_path("/link"), &other, &fd), PIN_E_OWNER);
        ck_assert_int_eq(pin_host_dir("etc", &rule_any, &fd), -EINVAL);
        ck_assert_int_eq(pin_host_dir("", &rule_any, &fd), -EINVAL);
        ck_assert_int_eq(fchmodat(scratch_fd, "d", 0775, 0), 0);
        ck_assert_int_eq(pin_host_dir(real_path("/d"), &ours, &fd), PIN_E_MODE);
        ck_assert_int_eq(fd, -EBADF);
}
END_TEST

/* row 13 */
START_TEST(root_has_no_link_anywhere) {
        PinRule ours = rule_ours(), other = {.owner = geteuid() + 1};
        CLEANUP(fd_closep) int fd = -EBADF;

        scratch_dir(scratch_fd, "d");
        scratch_dir(scratch_fd, "d/e");
        scratch_file(scratch_fd, "f", "");
        scratch_link("d", scratch_fd, "link");
        ck_assert_int_eq(pin_root(real_path("/d/e"), &ours, &fd), 0);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        fd = fd_close(fd);
        ck_assert_int_eq(pin_root(real_path("/link"), &ours, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_root(real_path("/link/e"), &ours, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_root(real_path("/d/../d"), &ours, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_root(real_path("/no"), &ours, &fd), PIN_E_ABSENT);
        ck_assert_int_eq(pin_root(real_path("/f"), &ours, &fd), PIN_E_TYPE);
        ck_assert_int_eq(pin_root(real_path("/d"), &other, &fd), PIN_E_OWNER);
        ck_assert_int_eq(pin_root("d", &ours, &fd), -EINVAL);
        ck_assert_int_eq(fd, -EBADF);
}
END_TEST

/* row 12: what is pinned stays what it was */
START_TEST(pinned_directory_survives_a_swap) {
        PinRule ours = rule_ours();
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str s = STR_NULL;

        scratch_dir(scratch_fd, "requests");
        scratch_file(scratch_fd, "requests/f", "good");
        scratch_dir(scratch_fd, "evil");
        scratch_file(scratch_fd, "evil/f", "evil");
        ck_assert_int_eq(pin_dir_at(scratch_fd, "requests", &ours, PIN_SAME_MOUNT, &fd), 0);
        ck_assert_int_eq(renameat2(scratch_fd, "requests", scratch_fd, "evil", RENAME_EXCHANGE), 0);
        ck_assert_int_eq(pin_read_at(fd, "f", &ours, PIN_SAME_MOUNT, 100, &s), 0);
        ck_assert_str_eq(s.data, "good");
}
END_TEST

START_TEST(read_at_bounds) {
        PinRule ours = rule_ours();
        CLEANUP(str_done) Str s = STR_NULL;

        scratch_file(scratch_fd, "f", "12345");
        ck_assert_int_eq(str_adds(&s, "old"), 0);
        ck_assert_int_eq(pin_read_at(scratch_fd, "f", &ours, 0, 4, &s), PIN_E_TOO_BIG);
        ck_assert_int_eq(pin_read_at(scratch_fd, "no", &ours, 0, 4, &s), PIN_E_ABSENT);
        ck_assert_str_eq(s.data, "old");
        ck_assert_int_eq(pin_read_at(scratch_fd, "f", &ours, 0, 5, &s), 0);
        ck_assert_str_eq(s.data, "12345");
        ck_assert_uint_eq(s.len, 5);
}
END_TEST

/* row 29: a file whose size is not what fstat says; in /proc it never is */
START_TEST(read_at_changing_file) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str s = STR_NULL;

        if (pin_root("/proc", &rule_any, &fd) != 0 || !scratch_exists(fd, "version")) {
                scratch_skip("changing file: no /proc/version");
                return;
        }
        ck_assert_int_eq(pin_read_at(fd, "version", &rule_any, 0, 65536, &s), PIN_E_CHANGED);
        ck_assert_ptr_null(s.data);
}
END_TEST

/* row 26 */
START_TEST(make_dir_at_new_old_and_planted) {
        PinRule ours = rule_ours(), other = {.owner = geteuid() + 1};
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(fd_closep) int again = -EBADF;

        scratch_dir(scratch_fd, "elsewhere");
        scratch_file(scratch_fd, "file", "");
        scratch_link("elsewhere", scratch_fd, "link");
        scratch_link("nowhere", scratch_fd, "dangling");
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "tmp", 0700, &ours, &fd), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "tmp"), S_IFDIR | 0700);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "tmp", 0755, &ours, &again), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "tmp"), S_IFDIR | 0700);
        again = fd_close(again);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "link", 0700, &ours, &again), PIN_E_LINK);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "dangling", 0700, &ours, &again), PIN_E_LINK);
        ck_assert(!scratch_exists(scratch_fd, "nowhere"));
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "file", 0700, &ours, &again), PIN_E_TYPE);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "tmp", 0700, &other, &again), PIN_E_OWNER);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "link/x", 0700, &ours, &again), -EINVAL);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "..", 0700, &ours, &again), -EINVAL);
        ck_assert_int_eq(pin_make_dir_at(scratch_fd, "", 0700, &ours, &again), -EINVAL);
        ck_assert(!scratch_exists(scratch_fd, "elsewhere/x"));
        ck_assert_int_eq(again, -EBADF);
}
END_TEST

START_TEST(make_dir_at_where_nothing_may_be_made) {
        CLEANUP(fd_closep) int d = -EBADF;
        CLEANUP(fd_closep) int gone = -EBADF;
        int fd = 77;

        scratch_dir(scratch_fd, "d");
        scratch_dir(scratch_fd, "gone");
        d = scratch_open_dir(scratch_fd, "d");
        gone = scratch_open_dir(scratch_fd, "gone");
        ck_assert_int_eq(unlinkat(scratch_fd, "gone", AT_REMOVEDIR), 0);
        ck_assert_int_eq(fchmod(d, 0555), 0);
        scratch_drop_root();
        ck_assert_int_eq(pin_make_dir_at(d, "x", 0700, &rule_any, &fd), PIN_E_ACCESS);
        ck_assert_int_eq(pin_make_dir_at(gone, "x", 0700, &rule_any, &fd), PIN_E_ABSENT);
        ck_assert_int_eq(pin_create_at(d, "x", 0700, &fd), PIN_E_ACCESS);
        ck_assert_int_eq(pin_create_at(gone, "x", 0700, &fd), PIN_E_ABSENT);
        ck_assert_int_eq(pin_append_at(d, "x", 0700, &rule_any, &fd), PIN_E_ACCESS);
        ck_assert_int_eq(fd, 77);
}
END_TEST

START_TEST(make_host_dir_all_parts) {
        scratch_dir(scratch_fd, "old");
        scratch_link("old", scratch_fd, "link");
        scratch_link("nowhere", scratch_fd, "dangling");
        scratch_file(scratch_fd, "file", "");
        ck_assert_int_eq(pin_make_host_dir(real_path("/link/a//b/c/"), 0700), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "old/a"), S_IFDIR | 0700);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "old/a/b/c"), S_IFDIR | 0700);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "old"), S_IFDIR | 0755);
        ck_assert_int_eq(pin_make_host_dir(real_path("/old/a/b/c"), 0755), 0); /* there already */
        ck_assert_uint_eq(scratch_mode(scratch_fd, "old/a/b/c"), S_IFDIR | 0700);
        ck_assert_int_eq(pin_make_host_dir("/", 0700), 0);
        ck_assert_int_eq(pin_make_host_dir(real_path("/file/x"), 0700), PIN_E_TYPE);
        ck_assert_int_eq(pin_make_host_dir(real_path("/file"), 0700), PIN_E_TYPE);
        ck_assert_int_eq(pin_make_host_dir(real_path("/dangling/x"), 0700), PIN_E_ABSENT);
        ck_assert_int_eq(pin_make_host_dir("relative", 0700), -EINVAL);
        ck_assert(!scratch_exists(scratch_fd, "nowhere"));
        ck_assert_int_eq(fchmodat(scratch_fd, "old", 0555, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(pin_make_host_dir(real_path("/old/new"), 0700), PIN_E_ACCESS);
}
END_TEST

static void is_below(int fd, int ancestor_fd, bool want) {
        bool below = !want;

        ck_assert_int_eq(pin_is_below(fd, ancestor_fd, &below), 0);
        ck_assert(below == want);
}

START_TEST(is_below_of_relatives) {
        CLEANUP(fd_closep) int a = -EBADF;
        CLEANUP(fd_closep) int b = -EBADF;
        CLEANUP(fd_closep) int deep = -EBADF;
        CLEANUP(fd_closep) int root = -EBADF;
        CLEANUP(fd_closep) int file = -EBADF;
        bool below = true;

        scratch_dir(scratch_fd, "a");
        scratch_dir(scratch_fd, "ab");
        scratch_dir(scratch_fd, "a/x");
        scratch_dir(scratch_fd, "a/x/y");
        scratch_link("a/x", scratch_fd, "link");
        scratch_file(scratch_fd, "f", "");
        a = scratch_open_dir(scratch_fd, "a");
        b = scratch_open_dir(scratch_fd, "ab");
        deep = scratch_open_dir(scratch_fd, "link/y"); /* by whatever way it was opened */
        root = scratch_open_dir(AT_FDCWD, "/");
        is_below(a, a, true);
        is_below(deep, a, true);
        is_below(deep, scratch_fd, true);
        is_below(deep, root, true);
        is_below(a, deep, false);
        is_below(deep, b, false);
        is_below(b, a, false);
        is_below(root, a, false);
        is_below(root, root, true);
        file = openat(scratch_fd, "f", O_RDONLY | O_CLOEXEC);
        ck_assert_int_eq(pin_is_below(file, a, &below), PIN_E_TYPE);
        ck_assert_int_eq(pin_is_below(-1, a, &below), -EBADF);
        ck_assert_int_eq(pin_is_below(a, -1, &below), -EBADF);
        ck_assert(below);
        ck_assert_int_eq(renameat(scratch_fd, "a/x", scratch_fd, "ab/x"), 0);
        is_below(deep, a, false);
        is_below(deep, b, true);
}
END_TEST

/* A directory bound onto its own child is its own "..", and yet no root. */
START_TEST(is_below_across_a_bind_mount) {
        CLEANUP(fd_closep) int a = -EBADF;
        char from[PATH_MAX + 64], to[PATH_MAX + 80];

        scratch_dir(scratch_fd, "a");
        scratch_dir(scratch_fd, "a/x");
        (void)snprintf(from, sizeof(from), "%s/a", scratch_path);
        (void)snprintf(to, sizeof(to), "%s/x", from);
        if (!scratch_can_mount() || mount(from, to, NULL, MS_BIND, NULL) < 0) {
                scratch_skip("below a bind mount: not allowed to mount");
                return;
        }
        scratch_fd = fd_close(scratch_fd);
        scratch_fd = scratch_open_dir(AT_FDCWD, scratch_path);
        a = scratch_open_dir(AT_FDCWD, to);
        is_below(a, scratch_fd, true);
        a = fd_close(a);
        ck_assert_int_eq(umount(to), 0);
}
END_TEST

/* row 19 */
START_TEST(create_at_covers_nothing) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(fd_closep) int none = -EBADF;
        char name[257];

        scratch_dir(scratch_fd, "d");
        scratch_file(scratch_fd, "f", "kept");
        scratch_link("f", scratch_fd, "link");
        scratch_link("nowhere", scratch_fd, "dangling");
        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0644), 0);
        ck_assert_int_eq(pin_create_at(scratch_fd, "new", 0640, &fd), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "new"), S_IFREG | 0640);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_WRONLY);
        ck_assert_int_eq(pin_create_at(scratch_fd, "new", 0600, &none), PIN_E_TYPE);
        ck_assert_int_eq(pin_create_at(scratch_fd, "f", 0600, &none), PIN_E_TYPE);
        ck_assert_int_eq(pin_create_at(scratch_fd, "d", 0600, &none), PIN_E_TYPE);
        ck_assert_int_eq(pin_create_at(scratch_fd, "link", 0600, &none), PIN_E_TYPE);
        ck_assert_int_eq(pin_create_at(scratch_fd, "dangling", 0600, &none), PIN_E_TYPE);
        ck_assert_int_eq(pin_create_at(scratch_fd, "fifo", 0600, &none), PIN_E_TYPE);
        ck_assert_int_eq(pin_create_at(scratch_fd, "d/x", 0600, &none), -EINVAL);
        ck_assert_int_eq(pin_create_at(scratch_fd, "/tmp", 0600, &none), -EINVAL);
        ck_assert_int_eq(pin_create_at(scratch_fd, ".", 0600, &none), -EINVAL);
        ck_assert_int_eq(pin_create_at(scratch_fd, "", 0600, &none), -EINVAL);
        memset(name, 'n', 256);
        name[256] = '\0';
        ck_assert_int_eq(pin_create_at(scratch_fd, name, 0600, &none), -ENAMETOOLONG);
        ck_assert_int_eq(none, -EBADF);
        ck_assert(!scratch_exists(scratch_fd, "nowhere"));
        scratch_has(scratch_fd, "f", "kept");
}
END_TEST

START_TEST(append_at_makes_and_appends) {
        PinRule ours = rule_ours();
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(fd_closep) int second = -EBADF;

        ck_assert_int_eq(pin_append_at(scratch_fd, "log", 0600, &ours, &fd), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "log"), S_IFREG | 0600);
        ck_assert_int_eq(pin_append_at(scratch_fd, "log", 0600, &ours, &second), 0);
        ck_assert_int_eq(write(fd, "a\n", 2), 2);
        ck_assert_int_eq(write(second, "b\n", 2), 2);
        ck_assert_int_eq(write(fd, "c\n", 2), 2);
        scratch_has(scratch_fd, "log", "a\nb\nc\n");
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND), O_RDWR | O_APPEND);
}
END_TEST

START_TEST(append_at_refuses) {
        PinRule ours = rule_ours(), other = {.owner = geteuid() + 1};
        CLEANUP(fd_closep) int fd = -EBADF;

        scratch_dir(scratch_fd, "d");
        scratch_file(scratch_fd, "f", "kept");
        scratch_link("f", scratch_fd, "link");
        scratch_link("nowhere", scratch_fd, "dangling");
        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0644), 0);
        scratch_socket(scratch_fd, "socket");
        ck_assert_int_eq(pin_append_at(scratch_fd, "d", 0600, &ours, &fd), PIN_E_TYPE);
        ck_assert_int_eq(pin_append_at(scratch_fd, "fifo", 0600, &ours, &fd), PIN_E_TYPE);
        ck_assert_int_eq(pin_append_at(scratch_fd, "socket", 0600, &ours, &fd), PIN_E_TYPE);
        ck_assert_int_eq(pin_append_at(scratch_fd, "link", 0600, &ours, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_append_at(scratch_fd, "dangling", 0600, &ours, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_append_at(scratch_fd, "f", 0600, &other, &fd), PIN_E_OWNER);
        ck_assert_int_eq(pin_append_at(scratch_fd, "d/x", 0600, &ours, &fd), -EINVAL);
        ck_assert_int_eq(fchmodat(scratch_fd, "f", 0664, 0), 0);
        ck_assert_int_eq(pin_append_at(scratch_fd, "f", 0600, &ours, &fd), PIN_E_MODE);
        ck_assert_int_eq(fchmodat(scratch_fd, "f", 0644, 0), 0);
        ck_assert_int_eq(linkat(scratch_fd, "f", scratch_fd, "second", 0), 0);
        ck_assert_int_eq(pin_append_at(scratch_fd, "f", 0600, &ours, &fd), PIN_E_LINKS);
        ck_assert_int_eq(fd, -EBADF);
        ck_assert(!scratch_exists(scratch_fd, "nowhere"));
        scratch_has(scratch_fd, "f", "kept");
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, host_dir_follows_the_operators_links);
        tcase_add_test(tc, root_has_no_link_anywhere);
        tcase_add_test(tc, pinned_directory_survives_a_swap);
        tcase_add_test(tc, read_at_bounds);
        tcase_add_test(tc, read_at_changing_file);
        tcase_add_test(tc, make_dir_at_new_old_and_planted);
        tcase_add_test(tc, make_dir_at_where_nothing_may_be_made);
        tcase_add_test(tc, make_host_dir_all_parts);
        tcase_add_test(tc, is_below_of_relatives);
        tcase_add_test(tc, is_below_across_a_bind_mount);
        tcase_add_test(tc, create_at_covers_nothing);
        tcase_add_test(tc, append_at_makes_and_appends);
        tcase_add_test(tc, append_at_refuses);
}

int main(void) {
        return scratch_main("fs/pin-make", add_tests);
}
