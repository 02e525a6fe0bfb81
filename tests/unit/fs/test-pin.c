/* fs/pin: attacks.md rows 1 to 3, 7, 10, 11, 13, 15, 16, 22, 23, 25 and 26 as far as opening goes
 */
#include "tests/unit/fs/opens.h"

START_TEST(reason_is_there_for_each) {
        for (int i = PIN_E_ABSENT; i <= PIN_E_CHANGED; i++) {
                ck_assert_uint_gt(strlen(pin_reason(i)), 5);
                ck_assert_str_ne(pin_reason(i), pin_reason(0));
                for (int j = PIN_E_ABSENT; j < i; j++)
                        ck_assert_str_ne(pin_reason(i), pin_reason(j));
        }
        ck_assert_str_eq(pin_reason(-EIO), pin_reason(0));
}
END_TEST

START_TEST(dir_at_good) {
        PinRule ours = rule_ours();

        scratch_dir(scratch_fd, "a");
        scratch_dir(scratch_fd, "a/b");
        opens_dir(scratch_fd, "a", &ours, 0, 0);
        opens_dir(scratch_fd, "a/b", &ours, PIN_SAME_MOUNT, 0);
        opens_dir(scratch_fd, "a//b/", &ours, 0, 0);
        opens_dir(scratch_fd, ".", &ours, 0, 0);
        scratch_dir(scratch_fd, "..a");
        scratch_dir(scratch_fd, "..a/b..");
        opens_dir(scratch_fd, "..a/b..", &ours, 0, 0);
}
END_TEST

/* rows 11, 13, 16, 26 */
START_TEST(dir_at_refuses) {
        PinRule ours = rule_ours();

        scratch_dir(scratch_fd, "a");
        scratch_dir(scratch_fd, "a/b");
        scratch_file(scratch_fd, "file", "");
        scratch_link("a", scratch_fd, "link");
        scratch_link("/", scratch_fd, "root");
        scratch_link("nowhere", scratch_fd, "dangling");
        scratch_link("loop", scratch_fd, "loop");
        opens_dir(scratch_fd, "no", &ours, 0, PIN_E_ABSENT);
        opens_dir(scratch_fd, "a/no/b", &ours, 0, PIN_E_ABSENT);
        opens_dir(scratch_fd, "", &ours, 0, PIN_E_ABSENT);
        opens_dir(scratch_fd, "link", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "link/b", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "link/", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "root", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "root/etc", &ours, PIN_SAME_MOUNT, PIN_E_LINK);
        opens_dir(scratch_fd, "dangling", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "loop", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "file", &ours, 0, PIN_E_TYPE);
        opens_dir(scratch_fd, "file/b", &ours, 0, PIN_E_TYPE);
        opens_dir(scratch_fd, "..", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "a/..", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "a/../a", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "a/../../..", &ours, PIN_SAME_MOUNT, PIN_E_LINK);
        opens_dir(scratch_fd, "/", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "/etc", &ours, 0, PIN_E_LINK);
        opens_dir(scratch_fd, "/etc", &ours, PIN_SAME_MOUNT, PIN_E_LINK);
}
END_TEST

/* row 25 */
START_TEST(dir_at_proves_owner_and_mode) {
        PinRule other = {.owner = geteuid() + 1, .forbid = 0}, ours = rule_ours();

        scratch_dir(scratch_fd, "a");
        opens_dir(scratch_fd, "a", &other, 0, PIN_E_OWNER);
        opens_dir(scratch_fd, "a", &rule_any, 0, 0);
        for (mode_t bit = 1; bit <= 07000; bit <<= 1) {
                PinRule forbid = {.owner = geteuid(), .forbid = bit};

                ck_assert_int_eq(fchmodat(scratch_fd, "a", 0700 | bit, 0), 0);
                opens_dir(scratch_fd, "a", &ours, 0, bit == 0020 || bit == 0002 ? PIN_E_MODE : 0);
                opens_dir(scratch_fd, "a", &forbid, 0, PIN_E_MODE);
        }
}
END_TEST

START_TEST(file_at_good) {
        PinRule ours = rule_ours();
        CLEANUP(fd_closep) int fd = -EBADF;

        scratch_dir(scratch_fd, "a");
        scratch_file(scratch_fd, "a/f", "text");
        opens_file(scratch_fd, "a/f", &ours, 0, 0);
        opens_file(scratch_fd, "a/f", &ours, PIN_SAME_MOUNT, 0);
        ck_assert_int_eq(pin_file_at(scratch_fd, "a/f", &ours, 0, &fd, NULL),
                         0); /* the stat is optional */
}
END_TEST

/* rows 1, 2, 7, 16, 58 */
START_TEST(file_at_refuses) {
        PinRule ours = rule_ours();

        scratch_dir(scratch_fd, "a");
        scratch_file(scratch_fd, "f", "text");
        scratch_link("f", scratch_fd, "link");
        scratch_link("/etc/passwd", scratch_fd, "passwd");
        scratch_link("nowhere", scratch_fd, "dangling");
        scratch_link(".", scratch_fd, "self");
        opens_file(scratch_fd, "no", &ours, 0, PIN_E_ABSENT);
        opens_file(scratch_fd, "link", &ours, 0, PIN_E_LINK);
        opens_file(scratch_fd, "link", &rule_any, PIN_SAME_MOUNT | PIN_ANY_LINKS, PIN_E_LINK);
        opens_file(scratch_fd, "passwd", &rule_any, 0, PIN_E_LINK);
        opens_file(scratch_fd, "dangling", &ours, 0, PIN_E_LINK);
        opens_file(scratch_fd, "self/f", &ours, 0, PIN_E_LINK);
        opens_file(scratch_fd, "a", &ours, 0, PIN_E_TYPE);
        opens_file(scratch_fd, "f/x", &ours, 0, PIN_E_TYPE);
        opens_file(scratch_fd, "f/", &ours, 0, PIN_E_TYPE);
        opens_file(scratch_fd, "a/../f", &ours, 0, PIN_E_LINK);
        opens_file(scratch_fd, "../f", &ours, 0, PIN_E_LINK);
        opens_file(scratch_fd, "/etc/passwd", &rule_any, 0, PIN_E_LINK);
        opens_file(scratch_fd, "/etc/passwd", &rule_any, PIN_SAME_MOUNT, PIN_E_LINK);
}
END_TEST

/* row 3 */
START_TEST(file_at_hard_link) {
        PinRule ours = rule_ours();

        scratch_file(scratch_fd, "f", "text");
        ck_assert_int_eq(linkat(scratch_fd, "f", scratch_fd, "second", 0), 0);
        opens_file(scratch_fd, "f", &ours, 0, PIN_E_LINKS);
        opens_file(scratch_fd, "second", &ours, 0, PIN_E_LINKS);
        opens_file(scratch_fd, "second", &ours, PIN_ANY_LINKS, 0);
        ck_assert_int_eq(unlinkat(scratch_fd, "second", 0), 0);
        opens_file(scratch_fd, "f", &ours, 0, 0);
}
END_TEST

START_TEST(file_at_proves_owner_and_mode) {
        PinRule other = {.owner = geteuid() + 1, .forbid = 0};

        scratch_file(scratch_fd, "f", "text");
        opens_file(scratch_fd, "f", &other, 0, PIN_E_OWNER);
        for (mode_t bit = 1; bit <= 07000; bit <<= 1) {
                PinRule forbid = {.owner = geteuid(), .forbid = bit};
                PinRule rest = {.owner = geteuid(), .forbid = 07777 & ~(bit | 0600)};

                ck_assert_int_eq(fchmodat(scratch_fd, "f", 0600 | bit, 0), 0);
                opens_file(scratch_fd, "f", &forbid, 0, PIN_E_MODE);
                opens_file(scratch_fd, "f", &rest, 0, 0);
        }
}
END_TEST

/* row 10 */
START_TEST(file_at_unreadable) {
        PinRule other;

        scratch_file(scratch_fd, "f", "text");
        scratch_dir(scratch_fd, "d");
        scratch_file(scratch_fd, "d/f", "text");
        ck_assert_int_eq(fchmodat(scratch_fd, "f", 0, 0), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "d", 0, 0), 0);
        scratch_drop_root();
        other = (PinRule){.owner = geteuid() + 1};
        opens_file(scratch_fd, "f", &rule_any, 0, PIN_E_ACCESS);
        opens_file(scratch_fd, "f", &other, 0, PIN_E_OWNER); /* O_PATH sees it all the same */
        opens_file(scratch_fd, "d/f", &rule_any, 0, PIN_E_ACCESS);
        opens_dir(scratch_fd, "d", &rule_any, 0, PIN_E_ACCESS);
}
END_TEST

/* rows 22, 23: the kernel takes any byte but '/' and NUL; what a name may be is for others to say
 */
START_TEST(file_at_odd_names) {
        static const char *const names[] = {"a\nb",     "\033[2J", "\xff\xfe", "\xe2\x80\xae.json",
                                            "\"'$(x)`", " ",       "-rf",      "...",
                                            ".json",    "a.json ", "\\"};
        PinRule ours = rule_ours();
        char name[257];

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                scratch_file(scratch_fd, names[i], "text");
                opens_file(scratch_fd, names[i], &ours, 0, 0);
        }
        memset(name, 'n', sizeof(name));
        name[255] = '\0';
        scratch_file(scratch_fd, name, "text");
        opens_file(scratch_fd, name, &ours, 0, 0);
        name[255] = 'n';
        name[256] = '\0';
        opens_file(scratch_fd, name, &ours, 0, PIN_E_ABSENT);
        opens_dir(scratch_fd, name, &ours, PIN_SAME_MOUNT, PIN_E_ABSENT);
}
END_TEST

/* row 16 */
/* row 94 */
START_TEST(see_at_walks_without_links) {
        scratch_dir(scratch_fd, "a");
        scratch_dir(scratch_fd, "a/b");
        scratch_file(scratch_fd, "a/file", "");
        scratch_link("a", scratch_fd, "link");
        scratch_link("nowhere", scratch_fd, "a/dangling");
        ck_assert_int_eq(mkfifoat(scratch_fd, "a/fifo", 0600), 0);
        ck_assert_int_eq(pin_see_at(scratch_fd, "a/b"), 0);
        ck_assert_int_eq(pin_see_at(scratch_fd, "a/file"), 0);
        ck_assert_int_eq(pin_see_at(scratch_fd, "a/fifo"), 0);
        ck_assert_int_eq(pin_see_at(scratch_fd, "a/none"), PIN_E_ABSENT);
        ck_assert_int_eq(pin_see_at(scratch_fd, "a/file/x"), PIN_E_TYPE);
        ck_assert_int_eq(pin_see_at(scratch_fd, "link"), PIN_E_LINK);
        ck_assert_int_eq(pin_see_at(scratch_fd, "link/b"), PIN_E_LINK);
        ck_assert_int_eq(pin_see_at(scratch_fd, "a/dangling"), PIN_E_LINK);
        ck_assert_int_eq(pin_see_at(scratch_fd, "a/../a"), PIN_E_LINK);
        ck_assert_int_eq(pin_see_at(scratch_fd, "/etc"), PIN_E_LINK);
        if (geteuid() != 0) {
                ck_assert_int_eq(fchmodat(scratch_fd, "a", 0, 0), 0);
                ck_assert_int_eq(pin_see_at(scratch_fd, "a"), 0);
                ck_assert_int_eq(pin_see_at(scratch_fd, "a/b"), PIN_E_ACCESS);
                ck_assert_int_eq(fchmodat(scratch_fd, "a", 0700, 0), 0);
        }
}
END_TEST

START_TEST(magic_links_are_refused) {
        CLEANUP(fd_closep) int fd = -EBADF;
        char path[64], deeper[80];

        (void)snprintf(path, sizeof(path), "/proc/%d", (int)getpid());
        if (pin_root(path, &rule_any, &fd) != 0) {
                scratch_skip("magic links: no /proc");
                return;
        }
        opens_dir(fd, "root", &rule_any, 0, PIN_E_LINK);
        opens_dir(fd, "root", &rule_any, PIN_SAME_MOUNT, PIN_E_LINK);
        opens_dir(fd, "cwd", &rule_any, 0, PIN_E_LINK);
        opens_dir(fd, "root/etc", &rule_any, 0, PIN_E_LINK);
        opens_file(fd, "exe", &rule_any, 0, PIN_E_LINK);
        opens_file(fd, "fd/0", &rule_any, 0, PIN_E_LINK);
        fd = fd_close(fd);
        (void)snprintf(deeper, sizeof(deeper), "%s/root", path);
        ck_assert_int_eq(pin_host_dir(deeper, &rule_any, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_root(deeper, &rule_any, &fd), PIN_E_LINK);
        (void)snprintf(deeper, sizeof(deeper), "%s/root/etc", path);
        ck_assert_int_eq(pin_host_dir(deeper, &rule_any, &fd), PIN_E_LINK);
        ck_assert_int_eq(pin_make_host_dir(deeper, 0700), PIN_E_LINK);
        ck_assert_int_eq(fd, -EBADF);
}
END_TEST

/* row 15 without mounting anything: /proc is a mount of its own nearly everywhere */
START_TEST(mount_of_the_host) {
        CLEANUP(fd_closep) int root_fd = -EBADF;
        struct stat root, proc;

        ck_assert_int_eq(pin_root("/", &rule_any, &root_fd), 0);
        ck_assert_int_eq(fstat(root_fd, &root), 0);
        if (fstatat(root_fd, "proc", &proc, 0) < 0 || proc.st_dev == root.st_dev) {
                scratch_skip("mount of the host: /proc is none");
                return;
        }
        opens_dir(root_fd, "proc", &rule_any, 0, 0);
        opens_dir(root_fd, "proc", &rule_any, PIN_SAME_MOUNT, PIN_E_MOUNT);
        opens_dir(root_fd, "proc/absent", &rule_any, PIN_SAME_MOUNT, PIN_E_MOUNT);
        opens_file(root_fd, "proc/version", &rule_any, PIN_SAME_MOUNT, PIN_E_MOUNT);
        opens_dir(root_fd, "/proc", &rule_any, PIN_SAME_MOUNT,
                  PIN_E_LINK); /* leads out: no mount point's fault */
        opens_dir(root_fd, "proc/self", &rule_any, PIN_SAME_MOUNT, PIN_E_LINK);
}
END_TEST

/* row 15 */
START_TEST(mount_over_a_directory) {
        char path[PATH_MAX + 16];

        scratch_dir(scratch_fd, "requests");
        scratch_dir(scratch_fd, "other");
        scratch_file(scratch_fd, "other/f", "text");
        (void)snprintf(path, sizeof(path), "%s/requests", scratch_path);
        if (!scratch_can_mount() || mount("none", path, "tmpfs", 0, "size=64k") < 0) {
                scratch_skip("mount over a directory: not allowed to mount");
                return;
        }
        scratch_fd = fd_close(scratch_fd);
        scratch_fd = scratch_open_dir(AT_FDCWD, scratch_path);
        scratch_file(scratch_fd, "requests/f", "text");
        opens_dir(scratch_fd, "requests", &rule_any, PIN_SAME_MOUNT, PIN_E_MOUNT);
        opens_file(scratch_fd, "requests/f", &rule_any, PIN_SAME_MOUNT, PIN_E_MOUNT);
        opens_dir(scratch_fd, "requests", &rule_any, 0, 0);
        opens_file(scratch_fd, "requests/f", &rule_any, 0, 0);
        ck_assert_int_eq(umount(path), 0);
        /* A bind mount of the same file system is a mount as well, though st_dev tells nothing. */
        (void)snprintf(path, sizeof(path), "%s/other", scratch_path);
        ck_assert_int_eq(mount(path, path, NULL, MS_BIND, NULL), 0);
        opens_dir(scratch_fd, "other", &rule_any, PIN_SAME_MOUNT, PIN_E_MOUNT);
        opens_file(scratch_fd, "other/f", &rule_any, PIN_SAME_MOUNT, PIN_E_MOUNT);
        opens_file(scratch_fd, "other/f", &rule_any, 0, 0);
        ck_assert_int_eq(umount(path), 0);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, reason_is_there_for_each);
        tcase_add_test(tc, dir_at_good);
        tcase_add_test(tc, dir_at_refuses);
        tcase_add_test(tc, dir_at_proves_owner_and_mode);
        tcase_add_test(tc, file_at_good);
        tcase_add_test(tc, file_at_refuses);
        tcase_add_test(tc, file_at_hard_link);
        tcase_add_test(tc, file_at_proves_owner_and_mode);
        tcase_add_test(tc, file_at_unreadable);
        tcase_add_test(tc, file_at_odd_names);
        tcase_add_test(tc, see_at_walks_without_links);
        tcase_add_test(tc, magic_links_are_refused);
        tcase_add_test(tc, mount_of_the_host);
        tcase_add_test(tc, mount_over_a_directory);
}

int main(void) {
        return scratch_main("fs/pin", add_tests);
}
