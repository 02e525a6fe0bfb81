#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "spool/spool.h"

enum { SPOOL_MODE_BITS = 02777, SPOOL_PARENT_MODE = 0755 };

static const PinRule spool_any = {(uid_t)-1, 0};

const char *spool_dir_name(SpoolDir d) {
        static const char *const names[SPOOL_DIR_COUNT] = {
                [SPOOL_TMP] = "tmp",
                [SPOOL_REQUESTS] = "requests",
                [SPOOL_PROCESSING] = "processing",
                [SPOOL_RESPONSES] = "responses",
                [SPOOL_ARCHIVE] = "archive",
                [SPOOL_QUARANTINE] = "quarantine",
                [SPOOL_DIAGNOSTICS] = "diagnostics",
                [SPOOL_INBOX] = "inbox",
        };

        return names[d];
}

/* A directory of the spool, made with exactly `mode` when absent. It is proven again by a walk that
 * stays on the mount: mkdirat says nothing about what a racing writer put there since. */
static int spool_dir(int at, const char *name, mode_t mode, const PinRule *rule, int *ret_fd) {
        CLEANUP(fd_closep) int made = -EBADF;
        int r;

        r = pin_dir_at(at, name, rule, PIN_SAME_MOUNT, ret_fd);
        if (r != PIN_E_ABSENT)
                return r;
        r = pin_make_dir_at(at, name, mode & 0777, rule, &made);
        if (r != 0)
                return r;
        if (fchmod(made, mode) < 0) /* the umask's say is not wanted: a container's uid may write */
                return errno == EPERM ? PIN_E_OWNER : err_new(errno);
        return pin_dir_at(at, name, rule, PIN_SAME_MOUNT, ret_fd);
}

int spool_open(int checkout_fd, const char *relpath, const PinRule *rule, Spool *ret,
               const char **ret_which) {
        CLEANUP(spool_close) Spool s = SPOOL_NULL;
        struct stat st;
        int r;

        *ret_which = relpath;
        r = pin_dir_at(checkout_fd, relpath, rule, 0, &s.root_fd);
        if (r != 0)
                return r;
        if (fstat(s.root_fd, &st) < 0)
                return err_new(errno);
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT; d++) {
                *ret_which = spool_dir_name(d);
                r = spool_dir(s.root_fd, spool_dir_name(d), st.st_mode & SPOOL_MODE_BITS, rule,
                              &s.dirs[d]);
                if (r != 0)
                        return r;
        }
        *ret = s;
        s = SPOOL_NULL;
        return 0;
}

void spool_close(Spool *s) {
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT; d++)
                s->dirs[d] = fd_close(s->dirs[d]);
        s->root_fd = fd_close(s->root_fd);
}

/* Whether `name` below `at` still leads to the directory that fd holds. */
static int spool_leads_to(int at, const char *name, PinFlags flags, int fd, bool *ret_same) {
        CLEANUP(fd_closep) int now = -EBADF;
        struct stat a, b;
        int r;

        r = pin_dir_at(at, name, &spool_any, flags, &now);
        if (r < 0)
                return r;
        if (r > 0) {
                *ret_same = false;
                return 0;
        }
        if (fstat(now, &a) < 0 || fstat(fd, &b) < 0)
                return err_new(errno);
        *ret_same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
        return 0;
}

int spool_same(const Spool *s, int checkout_fd, const char *relpath, bool *ret_same) {
        bool same = false;
        int r;

        r = spool_leads_to(checkout_fd, relpath, 0, s->root_fd, &same);
        for (SpoolDir d = 0; r == 0 && same && d < SPOOL_DIR_COUNT; d++)
                r = spool_leads_to(s->root_fd, spool_dir_name(d), PIN_SAME_MOUNT, s->dirs[d],
                                   &same);
        if (r != 0)
                return r;
        *ret_same = same;
        return 0;
}

/* Every part of relpath but the last one: made when absent, else left as it is. On 0 *ret_fd holds
 * the last one's parent and *ret_last its name (a part of `path`, which loses its slashes). */
static int spool_parents(int checkout_fd, char *path, int *ret_fd, const char **ret_last) {
        CLEANUP(fd_closep) int at = -EBADF;
        char *part = path;
        int r;

        r = pin_dir_at(checkout_fd, ".", &spool_any, 0, &at);
        if (r != 0)
                return r;
        for (char *slash; (slash = strchr(part, '/')); part = slash + 1) {
                int next = -EBADF;

                *slash = '\0';
                if (!*part)
                        continue; /* "a//b" */
                r = pin_make_dir_at(at, part, SPOOL_PARENT_MODE, &spool_any, &next);
                if (r != 0)
                        return r;
                (void)fd_close(at);
                at = next;
        }
        *ret_fd = fd_take(&at);
        *ret_last = part;
        return 0;
}

int spool_create(int checkout_fd, const char *relpath, mode_t dir_mode, const PinRule *rule,
                 const char **ret_which) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(fd_closep) int parent = -EBADF;
        CLEANUP(fd_closep) int root = -EBADF;
        const char *last;
        int r;

        *ret_which = relpath;
        if (relpath[0] == '/')
                return PIN_E_LINK; /* leads out of the checkout */
        r = str_dup(relpath, &path);
        if (r == 0)
                r = spool_parents(checkout_fd, path, &parent, &last);
        if (r == 0)
                r = spool_dir(parent, last, dir_mode & SPOOL_MODE_BITS, rule, &root);
        for (SpoolDir d = 0; r == 0 && d < SPOOL_DIR_COUNT; d++) {
                CLEANUP(fd_closep) int fd = -EBADF;

                *ret_which = spool_dir_name(d);
                r = spool_dir(root, spool_dir_name(d), dir_mode & SPOOL_MODE_BITS, rule, &fd);
        }
        return r;
}
