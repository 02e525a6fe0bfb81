/* A directory of its own for each test, and what the tests of this room share. */
#pragma once
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"

static char room_path[256];
static int room_fd = -EBADF;

static inline void room_setup(void) {
        const char *tmp = getenv("TMPDIR");

        snprintf(room_path, sizeof(room_path), "%s/spoolgate-guard.XXXXXX", tmp ? tmp : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(room_path));
        room_fd = open(room_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(room_fd, 0);
}

static inline int room_remove(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

static inline void room_teardown(void) {
        room_fd = fd_close(room_fd);
        ck_assert_int_eq(nftw(room_path, room_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void room_dir(const char *name) {
        ck_assert_int_eq(mkdirat(room_fd, name, 0700), 0);
}

static inline void room_write_bytes(const char *name, const void *bytes, size_t len, mode_t mode) {
        int fd = openat(room_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fchmod(fd, mode), 0);
        ck_assert_int_eq(io_write_all(fd, bytes, len), 0);
        fd_close(fd);
}

static inline void room_write(const char *name, const char *text, mode_t mode) {
        room_write_bytes(name, text, strlen(text), mode);
}

static inline const char *room_at(const char *name) {
        static char path[512];

        snprintf(path, sizeof(path), "%s/%s", room_path, name);
        return path;
}

static inline Strv room_list(const char *a, const char *b) {
        Strv v = STRV_NULL;

        if (a)
                ck_assert_int_eq(strv_add(&v, a), 0);
        if (b)
                ck_assert_int_eq(strv_add(&v, b), 0);
        return v;
}

static inline int room_run(const char *name, TCase *tc) {
        Suite *suite = suite_create(name);
        SRunner *runner;
        int failed;

        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
