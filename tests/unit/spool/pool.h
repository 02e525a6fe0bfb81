/* tests/unit/spool/pool.h - an open spool in the scratch directory */
#pragma once
#include <dirent.h>

#include "spool/spool.h"
#include "tests/unit/fs/scratch.h"

static const char pool_path[] = "untracked/pool";
static Spool pool; /* pool_open fills it */

static inline PinRule pool_rule(void) {
        return (PinRule){geteuid(), 0022};
}

static inline void pool_open(void) {
        PinRule rule = pool_rule();
        const char *which = NULL;

        ck_assert_int_eq(spool_create(scratch_fd, pool_path, 0755, &rule, &which), 0);
        ck_assert_int_eq(spool_open(scratch_fd, pool_path, &rule, &pool, &which), 0);
}

/* How many entries begin with prefix; "" counts all but "." and "..". The last one's name in *name.
 */
static inline size_t pool_count(int dirfd, const char *prefix, char name[NAME_MAX + 1]) {
        DIR *dir = fdopendir(scratch_open_dir(dirfd, "."));
        const struct dirent *entry;
        size_t n = 0;

        ck_assert_ptr_nonnull(dir);
        while ((entry = readdir(dir))) {
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                    strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
                        continue;
                n++;
                if (name)
                        (void)snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
        }
        (void)closedir(dir);
        return n;
}

static inline void pool_age(int dirfd, const char *name, int64_t mtime_ms) {
        struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                    {mtime_ms / 1000, (mtime_ms % 1000) * 1000000}};

        ck_assert_int_eq(utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW), 0);
}
