#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "installer/tree.h"

enum { TREE_KEPT_MAX = 2048 };

bool tree_has(int dirfd, const char *name) {
        struct stat st;

        return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int tree_keep(Str *kept, const char *name, const char *why) {
        return kept->len > TREE_KEPT_MAX ? 0 : str_addf(kept, "%s: %s\n", name, why);
}

static void tree_closedirp(DIR **dir) {
        if (*dir)
                (void)closedir(*dir); /* it was only read */
        *dir = NULL;
}

/* Names first, so that removing does not disturb the reading. */
static int tree_names(int fd, Strv *names) {
        CLEANUP(tree_closedirp) DIR *dir = NULL;
        int copy, r;

        r = fd_dup(fd, &copy);
        if (r < 0)
                return r;
        dir = fdopendir(copy);
        if (!dir) {
                r = err_new(errno);
                (void)fd_close(copy);
                return r;
        }
        for (;;) {
                struct dirent *entry;

                errno = 0;
                entry = readdir(dir);
                if (!entry)
                        return errno ? err_new(errno) : 0;
                if (str_eq(entry->d_name, ".") || str_eq(entry->d_name, ".."))
                        continue;
                r = strv_add(names, entry->d_name);
                if (r < 0)
                        return r;
        }
}

static int tree_remove_at(int dirfd, const char *name, int depth, Str *kept) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(strv_done) Strv names = STRV_NULL;
        int r;

        if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return tree_keep(kept, name, strerror(errno));
        if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
                return 0;
        if (errno != ENOTEMPTY && errno != EEXIST)
                return tree_keep(kept, name, strerror(errno));
        if (depth == TREE_MAX_DEPTH)
                return tree_keep(kept, name, "nests too deep");
        r = pin_dir_at(dirfd, name, &(PinRule){(uid_t)-1, 0}, PIN_SAME_MOUNT, &fd);
        if (r > 0)
                return tree_keep(kept, name, pin_reason(r));
        if (r == 0)
                r = tree_names(fd, &names);
        for (size_t i = 0; i < names.len && r == 0; i++)
                r = tree_remove_at(fd, names.items[i], depth + 1, kept);
        if (r == 0 && unlinkat(dirfd, name, AT_REMOVEDIR) < 0)
                return tree_keep(kept, name, strerror(errno));
        return r;
}

int tree_remove(int dirfd, const char *name, Str *kept) {
        return tree_remove_at(dirfd, name, 0, kept);
}

int tree_remove_empty(int dirfd, const char *name, bool *ret_gone) {
        *ret_gone = unlinkat(dirfd, name, AT_REMOVEDIR) == 0;
        if (*ret_gone || errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT ||
            errno == ENOTDIR || errno == EACCES || errno == EPERM || errno == EBUSY)
                return 0;
        return err_new(errno);
}
