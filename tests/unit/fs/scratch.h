/* tests/unit/fs/scratch.h - a directory for each case, gone when the program ends, and what to do
 * in it */
#pragma once
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

static char scratch_top[PATH_MAX / 2];
static char scratch_path[PATH_MAX]; /* of this case */
static int scratch_fd = -EBADF;

static inline void scratch_set_up(void) {
        static unsigned cases; /* counts in the child only, hence the pid */

        (void)umask(022);
        (void)snprintf(scratch_path, sizeof(scratch_path), "%s/%d.%u", scratch_top, (int)getpid(),
                       cases++);
        ck_assert_int_eq(mkdir(scratch_path, 0755), 0);
        scratch_fd = open(scratch_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(scratch_fd, 0);
}

static inline void scratch_tear_down(void) {
        scratch_fd = fd_close(scratch_fd);
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw) {
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

static inline int scratch_open_up_one(const char *path, const struct stat *st, int type,
                                      struct FTW *ftw) {
        (void)ftw;
        (void)st;
        return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) : 0;
}

/* main(): everything is removed here, also after a case that failed and so never came to its own
 * end. */
static inline int scratch_main(const char *suite_name, void (*add)(TCase *)) {
        const char *tmp = getenv("TMPDIR");
        Suite *suite = suite_create(suite_name);
        TCase *tc = tcase_create(suite_name);
        SRunner *runner;
        int failed;

        (void)snprintf(scratch_top, sizeof(scratch_top), "%s/test-fs-XXXXXX",
                       tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(scratch_top) || chmod(scratch_top, 0755) < 0) {
                perror(scratch_top);
                return EXIT_FAILURE;
        }
        tcase_set_timeout(tc, 20);
        tcase_add_checked_fixture(tc, scratch_set_up, scratch_tear_down);
        add(tc);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        (void)nftw(scratch_top, scratch_open_up_one, 16, FTW_PHYS);
        if (nftw(scratch_top, scratch_remove_one, 16, FTW_PHYS | FTW_DEPTH) != 0)
                perror(scratch_top);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A case that this host can't run. MUST_WORK=1 turns it into a failure. */
static inline void scratch_skip(const char *why) {
        const char *must = getenv("MUST_WORK");

        if (must && *must == '1')
                ck_abort_msg("must work: %s", why);
        (void)fprintf(stderr, "SKIP: %s\n", why);
}

/* From now on nobody special. The files so far stay whose they were. */
static inline void scratch_drop_root(void) {
        if (geteuid() != 0)
                return;
        ck_assert_int_eq(setgroups(0, NULL), 0);
        ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
        ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
}

static inline bool scratch_tell(const char *path, const char *text) {
        CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

        return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* In a new user namespace: we stay who we were, so that owners still read as they are. */
static inline bool scratch_map(uid_t uid, gid_t gid) {
        char users[32], groups[32];

        (void)snprintf(users, sizeof(users), "%u %u 1", uid, uid);
        (void)snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
        return scratch_tell("/proc/self/uid_map", users) &&
               scratch_tell("/proc/self/setgroups", "deny") &&
               scratch_tell("/proc/self/gid_map", groups);
}

/* Mounts of our own, as root or in a user namespace. */
static inline bool scratch_can_mount(void) {
        uid_t uid = geteuid();
        gid_t gid = getegid();

        if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0)
                return false;
        if (uid != 0 && !scratch_map(uid, gid))
                return false;
        return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static inline void scratch_file(int at, const char *name, const char *text) {
        CLEANUP(fd_closep) int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

static inline void scratch_dir(int at, const char *name) {
        ck_assert_int_eq(mkdirat(at, name, 0755), 0);
}

static inline void scratch_link(const char *target, int at, const char *name) {
        ck_assert_int_eq(symlinkat(target, at, name), 0);
}

static inline int scratch_open_dir(int at, const char *name) {
        int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        return fd;
}

/* A bound socket without sun_path's limit: by way of the working directory. */
static inline void scratch_socket(int at, const char *name) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fchdir(at), 0);
        (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
        ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
        ck_assert_int_eq(chdir("/"), 0);
}

static inline void scratch_has(int at, const char *name, const char *text) {
        CLEANUP(fd_closep) int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        char got[256] = "";

        ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
        ck_assert_int_ge(read(fd, got, sizeof(got) - 1), 0);
        ck_assert_str_eq(got, text);
}

static inline bool scratch_exists(int at, const char *name) {
        struct stat st;

        return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline mode_t scratch_mode(int at, const char *name) {
        struct stat st;

        ck_assert_int_eq(fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW), 0);
        return st.st_mode;
}
