/* fs/publish: attacks.md rows 7 to 9, 17 to 20, 22 and 27 as far as putting, moving and removing
 * goes */
#include <dirent.h>

#include "base/hash.h"
#include "fs/publish.h"
#include "tests/unit/fs/scratch.h"

static void random_set_up(void) {
        ck_assert_int_eq(hash_init(), 0);
}

/* The names of a directory but for "." and ".."; *ret_dot: of these, those with a dot in front. */
static int count(int at, const char *name, int *ret_dot) {
        int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), all = 0;
        DIR *dir;

        ck_assert_int_ge(fd, 0);
        dir = fdopendir(fd);
        ck_assert_ptr_nonnull(dir);
        *ret_dot = 0;
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
                if (str_eq(entry->d_name, ".") || str_eq(entry->d_name, ".."))
                        continue;
                all++;
                *ret_dot += entry->d_name[0] == '.';
        }
        ck_assert_int_eq(closedir(dir), 0);
        return all;
}

static void holds(int want_all, int want_dot) {
        int dot, all = count(scratch_fd, ".", &dot);

        ck_assert_int_eq(all, want_all);
        ck_assert_int_eq(dot, want_dot);
}

START_TEST(file_new_and_replaced) {
        (void)umask(077); /* the mode is the one asked for all the same */
        ck_assert_int_eq(publish_file(scratch_fd, "f", "one", 3, 0644, PUBLISH_SYNC), 0);
        scratch_has(scratch_fd, "f", "one");
        ck_assert_uint_eq(scratch_mode(scratch_fd, "f"), S_IFREG | 0644);
        ck_assert_int_eq(publish_file(scratch_fd, "f", "two!", 4, 0600, 0), 0);
        scratch_has(scratch_fd, "f", "two!");
        ck_assert_uint_eq(scratch_mode(scratch_fd, "f"), S_IFREG | 0600);
        ck_assert_int_eq(publish_file(scratch_fd, "f", NULL, 0, 0600, 0), 0);
        scratch_has(scratch_fd, "f", "");
        holds(1, 0);
}
END_TEST

START_TEST(file_replaced_is_another_inode) {
        CLEANUP(fd_closep) int old = -EBADF;
        char text[8] = "";

        ck_assert_int_eq(publish_file(scratch_fd, "f", "one", 3, 0644, 0), 0);
        old = openat(scratch_fd, "f", O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(publish_file(scratch_fd, "f", "two", 3, 0644, 0), 0);
        ck_assert_int_eq(pread(old, text, 7, 0), 3);
        ck_assert_str_eq(text, "one");
        ck_assert_int_eq(pwrite(old, "bad", 3, 0),
                         3); /* who kept the old one writes into nothing that counts */
        scratch_has(scratch_fd, "f", "two");
}
END_TEST

START_TEST(file_new_never_covers) {
        scratch_dir(scratch_fd, "d");
        scratch_link("nowhere", scratch_fd, "link");
        ck_assert_int_eq(publish_file(scratch_fd, "f", "one", 3, 0644, PUBLISH_NEW | PUBLISH_SYNC),
                         0);
        ck_assert_int_eq(publish_file(scratch_fd, "f", "two", 3, 0644, PUBLISH_NEW),
                         PUBLISH_E_EXISTS);
        ck_assert_int_eq(publish_file(scratch_fd, "d", "two", 3, 0644, PUBLISH_NEW),
                         PUBLISH_E_EXISTS);
        ck_assert_int_eq(publish_file(scratch_fd, "link", "two", 3, 0644, PUBLISH_NEW),
                         PUBLISH_E_EXISTS);
        scratch_has(scratch_fd, "f", "one");
        ck_assert(S_ISDIR(scratch_mode(scratch_fd, "d")) &&
                  S_ISLNK(scratch_mode(scratch_fd, "link")));
        ck_assert(!scratch_exists(scratch_fd, "nowhere"));
        holds(3, 0);
}
END_TEST

/* row 17 */
START_TEST(file_over_a_planted_link) {
        scratch_file(scratch_fd, "canary", "canary");
        scratch_link("canary", scratch_fd, "r");
        ck_assert_int_eq(linkat(scratch_fd, "canary", scratch_fd, "hard", 0), 0);
        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0644), 0);
        scratch_socket(scratch_fd, "socket");
        ck_assert_int_eq(publish_file(scratch_fd, "r", "text", 4, 0644, 0), 0);
        ck_assert_int_eq(publish_file(scratch_fd, "hard", "text", 4, 0644, 0), 0);
        ck_assert_int_eq(publish_file(scratch_fd, "fifo", "text", 4, 0644, 0), 0);
        ck_assert_int_eq(publish_file(scratch_fd, "socket", "text", 4, 0644, 0), 0);
        scratch_has(scratch_fd, "r", "text");
        scratch_has(scratch_fd, "hard", "text");
        scratch_has(scratch_fd, "fifo", "text");
        scratch_has(scratch_fd, "socket", "text");
        scratch_has(scratch_fd, "canary", "canary");
        holds(5, 0);
}
END_TEST

/* row 18 */
START_TEST(file_over_a_planted_directory) {
        scratch_dir(scratch_fd, "empty");
        ck_assert_int_eq(publish_file(scratch_fd, "empty", "text", 4, 0644, PUBLISH_SYNC), 0);
        scratch_has(scratch_fd, "empty", "text");
        holds(1, 0); /* an empty one goes at once */
        scratch_dir(scratch_fd, "full");
        scratch_file(scratch_fd, "full/x", "");
        ck_assert_int_eq(publish_file(scratch_fd, "full", "text", 4, 0644, PUBLISH_SYNC), 0);
        scratch_has(scratch_fd, "full", "text");
        holds(3, 1);
}
END_TEST

/* rows 9, 18, 20 */
START_TEST(file_where_it_may_not_be) {
        CLEANUP(fd_closep) int ours = -EBADF;
        CLEANUP(fd_closep) int sticky = -EBADF;
        CLEANUP(fd_closep) int gone = -EBADF;
        int dot;

        scratch_dir(scratch_fd, "ours");
        scratch_dir(scratch_fd, "sticky");
        scratch_dir(scratch_fd, "sticky/d");
        scratch_file(scratch_fd, "sticky/f", "kept");
        scratch_dir(scratch_fd, "gone");
        ours = scratch_open_dir(scratch_fd, "ours");
        sticky = scratch_open_dir(scratch_fd, "sticky");
        gone = scratch_open_dir(scratch_fd, "gone");
        ck_assert_int_eq(fchmod(ours, 0555), 0);
        ck_assert_int_eq(fchmod(sticky, 01777), 0);
        ck_assert_int_eq(unlinkat(scratch_fd, "gone", AT_REMOVEDIR), 0);
        if (geteuid() != 0)
                scratch_skip("sticky directory: needs files of two users");
        scratch_drop_root();
        ck_assert_int_eq(publish_file(ours, "f", "text", 4, 0644, PUBLISH_SYNC), PUBLISH_E_BLOCKED);
        ck_assert_int_eq(publish_file(gone, "f", "text", 4, 0644, PUBLISH_SYNC), PUBLISH_E_BLOCKED);
        if (faccessat(sticky, "f", W_OK, AT_EACCESS) < 0) {
                ck_assert_int_eq(publish_file(sticky, "f", "text", 4, 0644, 0), PUBLISH_E_BLOCKED);
                ck_assert_int_eq(publish_file(sticky, "d", "text", 4, 0644, 0), PUBLISH_E_BLOCKED);
                ck_assert_int_eq(publish_remove(sticky, "f"), MOVE_E_DENIED);
                ck_assert_int_eq(publish_remove(sticky, "d"), MOVE_E_DENIED);
                ck_assert_int_eq(publish_move(sticky, "f", sticky, "g", 0), MOVE_E_DENIED);
                scratch_has(sticky, "f", "kept");
                ck_assert_int_eq(count(sticky, ".", &dot), 2);
        }
        ck_assert_int_eq(count(ours, ".", &dot), 0);
        ck_assert_int_eq(publish_remove(ours, "absent"), 0);
        ck_assert_int_eq(publish_move(scratch_fd, "sticky", gone, "x", 0),
                         MOVE_E_DENIED); /* not "absent": it stays */
        ck_assert_int_eq(publish_move(scratch_fd, "no", gone, "x", 0), MOVE_E_ABSENT);
}
END_TEST

START_TEST(names_are_single) {
        static const char *const bad[] = {"", ".", "..", "a/b", "/a", "a/", "../a"};

        scratch_file(scratch_fd, "f", "");
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                ck_assert_int_eq(publish_file(scratch_fd, bad[i], "x", 1, 0644, 0), -EINVAL);
                ck_assert_int_eq(publish_move(scratch_fd, bad[i], scratch_fd, "g", 0), -EINVAL);
                ck_assert_int_eq(publish_move(scratch_fd, "f", scratch_fd, bad[i], 0), -EINVAL);
                ck_assert_int_eq(publish_remove(scratch_fd, bad[i]), -EINVAL);
        }
        holds(1, 0);
        ck_assert_int_eq(publish_file(-1, "f", "x", 1, 0644, 0), -EBADF);
        ck_assert_int_eq(publish_remove(-1, "f"), -EBADF);
        ck_assert_int_eq(publish_move(-1, "f", -1, "g", 0), -EBADF);
}
END_TEST

/* row 23 */
START_TEST(names_too_long) {
        char name[300];

        memset(name, 'n', sizeof(name));
        name[299] = '\0';
        scratch_file(scratch_fd, "f", "kept");
        ck_assert_int_eq(publish_file(scratch_fd, name, "x", 1, 0644, PUBLISH_SYNC),
                         PUBLISH_E_BLOCKED);
        ck_assert_int_eq(publish_move(scratch_fd, "f", scratch_fd, name, 0), MOVE_E_DENIED);
        ck_assert_int_eq(publish_remove(scratch_fd, name), MOVE_E_DENIED);
        holds(1, 0);
        name[255] = '\0';
        ck_assert_int_eq(publish_file(scratch_fd, name, "x", 1, 0644, PUBLISH_SYNC), 0);
        ck_assert_int_eq(publish_remove(scratch_fd, name), 0);
}
END_TEST

/* rows 4, 5, 7, 8, 22: whatever it is, one rename moves it, and nothing of it is opened */
START_TEST(move_of_anything) {
        static const char *const odd[] = {"a\nb", "\033[2J", "\xff\xfe", "-rf", "\"'"};
        CLEANUP(fd_closep) int to = -EBADF;

        scratch_dir(scratch_fd, "to");
        to = scratch_open_dir(scratch_fd, "to");
        scratch_file(scratch_fd, "f", "text");
        scratch_dir(scratch_fd, "d");
        scratch_dir(scratch_fd, "d/e");
        scratch_link("/etc/passwd", scratch_fd, "link");
        ck_assert_int_eq(mkfifoat(scratch_fd, "fifo", 0644), 0);
        scratch_socket(scratch_fd, "socket");
        ck_assert_int_eq(publish_move(scratch_fd, "f", to, "1", PUBLISH_SYNC), 0);
        ck_assert_int_eq(publish_move(scratch_fd, "d", to, "2", PUBLISH_SYNC), 0);
        ck_assert_int_eq(publish_move(scratch_fd, "link", to, "3", 0), 0);
        ck_assert_int_eq(publish_move(scratch_fd, "fifo", to, "4", 0), 0);
        ck_assert_int_eq(publish_move(scratch_fd, "socket", to, "5", 0), 0);
        scratch_has(to, "1", "text");
        ck_assert(S_ISDIR(scratch_mode(to, "2/e")) && S_ISLNK(scratch_mode(to, "3")));
        ck_assert(S_ISFIFO(scratch_mode(to, "4")) && S_ISSOCK(scratch_mode(to, "5")));
        for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
                scratch_file(scratch_fd, odd[i], "");
                ck_assert_int_eq(publish_move(scratch_fd, odd[i], to, "odd", 0), 0);
                ck_assert_int_eq(publish_remove(to, "odd"), 0);
        }
        holds(1, 0);
}
END_TEST

START_TEST(move_never_covers) {
        scratch_file(scratch_fd, "a", "a");
        scratch_file(scratch_fd, "b", "b");
        scratch_link("nowhere", scratch_fd, "link");
        scratch_dir(scratch_fd, "d");
        ck_assert_int_eq(publish_move(scratch_fd, "a", scratch_fd, "b", 0), MOVE_E_EXISTS);
        ck_assert_int_eq(publish_move(scratch_fd, "a", scratch_fd, "a", 0), MOVE_E_EXISTS);
        ck_assert_int_eq(publish_move(scratch_fd, "a", scratch_fd, "link", 0), MOVE_E_EXISTS);
        ck_assert_int_eq(publish_move(scratch_fd, "a", scratch_fd, "d", 0), MOVE_E_EXISTS);
        ck_assert_int_eq(publish_move(scratch_fd, "no", scratch_fd, "c", 0), MOVE_E_ABSENT);
        scratch_has(scratch_fd, "a", "a");
        scratch_has(scratch_fd, "b", "b");
}
END_TEST

/* A directory moved into what was put below it: EINVAL, and it must not look like trouble of the
 * host. */
START_TEST(move_into_itself) {
        CLEANUP(fd_closep) int to = -EBADF;

        scratch_dir(scratch_fd, "d");
        scratch_dir(scratch_fd, "d/quarantine");
        to = scratch_open_dir(scratch_fd, "d/quarantine");
        ck_assert_int_eq(publish_move(scratch_fd, "d", to, "x", PUBLISH_SYNC), MOVE_E_DENIED);
}
END_TEST

/* row 9 */
START_TEST(move_of_a_directory_of_another_user) {
        CLEANUP(fd_closep) int requests = -EBADF;
        CLEANUP(fd_closep) int quarantine = -EBADF;

        if (geteuid() != 0) {
                scratch_skip("directory of another user: needs root to make one");
                return;
        }
        scratch_dir(scratch_fd, "requests");
        scratch_dir(scratch_fd, "quarantine");
        scratch_dir(scratch_fd, "requests/x.json");
        ck_assert_int_eq(fchmodat(scratch_fd, "requests/x.json", 0700, 0), 0);
        ck_assert_int_eq(fchownat(scratch_fd, "requests", 65534, 65534, 0), 0);
        ck_assert_int_eq(fchownat(scratch_fd, "quarantine", 65534, 65534, 0), 0);
        requests = scratch_open_dir(scratch_fd, "requests");
        quarantine = scratch_open_dir(scratch_fd, "quarantine");
        scratch_drop_root();
        ck_assert_int_eq(publish_move(requests, "x.json", quarantine, "q", 0), MOVE_E_DENIED);
        ck_assert_int_eq(publish_move(requests, "x.json", requests, ".x", 0),
                         0); /* in place it goes */
        scratch_dir(requests, "full");
        scratch_file(requests, "full/f", "");
        ck_assert_int_eq(publish_move(requests, ".x", requests, "y", 0), 0);
        ck_assert_int_eq(publish_file(requests, "y", "text", 4, 0644, PUBLISH_SYNC),
                         0); /* and is exchanged away */
        scratch_has(requests, "y", "text");
}
END_TEST

/* rows 18, 27 */
START_TEST(move_and_publish_at_a_mount_point) {
        CLEANUP(fd_closep) int other = -EBADF;
        char path[PATH_MAX + 16];

        scratch_dir(scratch_fd, "other");
        scratch_dir(scratch_fd, "bound");
        (void)snprintf(path, sizeof(path), "%s/other", scratch_path);
        if (!scratch_can_mount() || mount("none", path, "tmpfs", 0, "size=64k") < 0) {
                scratch_skip("mount point: not allowed to mount");
                return;
        }
        scratch_fd = fd_close(scratch_fd);
        scratch_fd = scratch_open_dir(AT_FDCWD, scratch_path);
        other = scratch_open_dir(scratch_fd, "other");
        scratch_file(scratch_fd, "f", "kept");
        ck_assert_int_eq(publish_move(scratch_fd, "f", other, "f", PUBLISH_SYNC), MOVE_E_DENIED);
        ck_assert_int_eq(publish_move(scratch_fd, "other", scratch_fd, "x", 0), MOVE_E_DENIED);
        ck_assert_int_eq(publish_file(scratch_fd, "other", "text", 4, 0644, 0), PUBLISH_E_BLOCKED);
        ck_assert_int_eq(publish_remove(scratch_fd, "other"), MOVE_E_DENIED);
        holds(3, 0);
        ck_assert_int_eq(publish_file(other, "f", "text", 4, 0644, PUBLISH_SYNC), 0);
        other = fd_close(other);
        ck_assert_int_eq(umount(path), 0);
}
END_TEST

START_TEST(remove_of_anything) {
        scratch_file(scratch_fd, "f", "");
        scratch_file(scratch_fd, "canary", "canary");
        scratch_link("canary", scratch_fd, "link");
        scratch_dir(scratch_fd, "empty");
        scratch_dir(scratch_fd, "full");
        scratch_file(scratch_fd, "full/x", "");
        ck_assert_int_eq(publish_remove(scratch_fd, "f"), 0);
        ck_assert_int_eq(publish_remove(scratch_fd, "f"), 0);
        ck_assert_int_eq(publish_remove(scratch_fd, "link"), 0);
        ck_assert_int_eq(publish_remove(scratch_fd, "empty"), 0);
        ck_assert_int_eq(publish_remove(scratch_fd, "full"), MOVE_E_DENIED);
        scratch_has(scratch_fd, "canary", "canary");
        holds(2, 0);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_checked_fixture(tc, random_set_up, NULL);
        tcase_add_test(tc, file_new_and_replaced);
        tcase_add_test(tc, file_replaced_is_another_inode);
        tcase_add_test(tc, file_new_never_covers);
        tcase_add_test(tc, file_over_a_planted_link);
        tcase_add_test(tc, file_over_a_planted_directory);
        tcase_add_test(tc, file_where_it_may_not_be);
        tcase_add_test(tc, names_are_single);
        tcase_add_test(tc, names_too_long);
        tcase_add_test(tc, move_of_anything);
        tcase_add_test(tc, move_never_covers);
        tcase_add_test(tc, move_into_itself);
        tcase_add_test(tc, move_of_a_directory_of_another_user);
        tcase_add_test(tc, move_and_publish_at_a_mount_point);
        tcase_add_test(tc, remove_of_anything);
}

int main(void) {
        return scratch_main("fs/publish", add_tests);
}
