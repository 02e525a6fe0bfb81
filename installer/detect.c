#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "installer/detect.h"

enum { DETECT_GITFILE_MAX = 8192, DETECT_IGNORE_MAX = 1024 * 1024 };

static const PinRule detect_any = {(uid_t)-1, 0};

void checkout_done(Checkout *c) {
        c->fd = fd_close(c->fd);
        str_freep(&c->root.path);
        str_freep(&c->git_dir.path);
}

static int detect_refused(int added) {
        return added < 0 ? added : DETECT_E_REFUSED;
}

static int detect_pin(const char *path, BridgePin *ret) {
        struct stat st;
        int r;

        if (stat(path, &st) < 0)
                return err_new(errno);
        r = str_dup(path, &ret->path);
        ret->device = st.st_dev;
        ret->inode = st.st_ino;
        return r;
}

/* Is there a .git in dir? */
static int detect_has_git(const char *dir, bool *ret) {
        CLEANUP(str_freep) char *git = NULL;
        struct stat st;
        int r;

        r = str_printf(&git, "%s/.git", dir);
        if (r == 0)
                *ret = lstat(git, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
        return r;
}

/* dir is cut down, slash by slash, to the root of the checkout that holds it. */
static int detect_climb(char *dir, bool *ret_found) {
        int r;

        for (;;) {
                char *slash = strrchr(dir, '/');

                r = detect_has_git(dir, ret_found);
                if (r < 0 || *ret_found || !slash || slash == dir)
                        return r;
                *slash = '\0';
        }
}

static int detect_root(const char *project, char **ret, Str *why) {
        CLEANUP(str_freep) char *start = NULL;
        CLEANUP(str_freep) char *at = NULL;
        bool found = false;
        int r;

        start = realpath(project ? project : ".", NULL);
        if (!start)
                return detect_refused(
                        str_addf(why, "%s: %s", project ? project : ".", strerror(errno)));
        r = str_dup(start, &at);
        if (r == 0)
                r = detect_climb(at, &found);
        if (r < 0)
                return r;
        if (!found)
                return detect_refused(str_addf(
                        why, "no git repository at %s or above it\ngit init %s", start, start));
        if (project && !str_eq(at, start))
                return detect_refused(str_addf(why,
                                               "%s is not the root of its checkout; name the "
                                               "root\nspoolgate install --project %s",
                                               start, at));
        *ret = at;
        at = NULL;
        return 0;
}

/* "gitdir: PATH" of a gitfile (gitrepository-layout(5)). */
static int detect_gitfile(const Checkout *c, char **ret, Str *why) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(str_freep) char *path = NULL;
        const char *target;
        int r;

        r = pin_read_at(c->fd, ".git", &detect_any, PIN_ANY_LINKS, DETECT_GITFILE_MAX, &text);
        if (r != 0)
                return r < 0 ? r
                             : detect_refused(
                                       str_addf(why, "%s/.git %s", c->root.path, pin_reason(r)));
        if (!str_starts(text.data, "gitdir: "))
                return detect_refused(
                        str_addf(why, "%s/.git: is neither a folder nor a gitfile", c->root.path));
        text.data[strcspn(text.data, "\r\n")] = '\0';
        target = text.data + strlen("gitdir: ");
        r = target[0] == '/' ? str_dup(target, &path)
                             : str_printf(&path, "%s/%s", c->root.path, target);
        if (r < 0)
                return r;
        *ret = realpath(path, NULL);
        if (!*ret)
                return detect_refused(
                        str_addf(why, "%s/.git names %s: %s", c->root.path, path, strerror(errno)));
        return 0;
}

static int detect_git_dir(Checkout *c, Str *why) {
        CLEANUP(str_freep) char *git = NULL;
        struct stat st;
        int r;

        r = str_printf(&git, "%s/.git", c->root.path);
        if (r < 0)
                return r;
        if (lstat(git, &st) < 0)
                return err_new(errno);
        if (!S_ISDIR(st.st_mode)) {
                str_freep(&git);
                r = detect_gitfile(c, &git, why);
        }
        if (r == 0)
                r = detect_pin(git, &c->git_dir);
        return r;
}

int detect_checkout(const char *project, Checkout *ret, Str *why) {
        CLEANUP(checkout_done) Checkout c = CHECKOUT_NULL;
        CLEANUP(str_freep) char *root = NULL;
        int r;

        r = detect_root(project, &root, why);
        if (r == 0)
                r = detect_pin(root, &c.root);
        if (r != 0)
                return r;
        r = pin_root(root, &detect_any, &c.fd);
        if (r > 0)
                return detect_refused(str_addf(why, "%s %s", root, pin_reason(r)));
        if (r == 0)
                r = detect_git_dir(&c, why);
        if (r != 0)
                return r;
        *ret = c;
        c = CHECKOUT_NULL;
        return 0;
}

int detect_below(const char *path, int checkout_fd, bool *ret_below) {
        CLEANUP(str_freep) char *at = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = str_dup(path, &at);
        while (r == 0) {
                char *slash = strrchr(at, '/');

                r = pin_host_dir(*at ? at : "/", &detect_any, &fd);
                if (r == 0)
                        return pin_is_below(fd, checkout_fd, ret_below);
                if (r < 0 || !slash)
                        return r < 0 ? r : err_new(ENOENT);
                *slash = '\0'; /* absent, or a file: what counts is where it would be made */
                r = 0;
        }
        return r;
}

int detect_blind(int fd, const char **ret_name) {
        static const struct {
                unsigned long magic;
                const char *name;
        } blind[] = {
                {NFS_SUPER_MAGIC, "nfs"},
                {V9FS_MAGIC, "9p"},
                {FUSE_SUPER_MAGIC, "fuse or virtiofs"},
                {SMB_SUPER_MAGIC, "smb"},
                {CIFS_SUPER_MAGIC, "cifs"},
                {SMB2_SUPER_MAGIC, "smb"},
                {CEPH_SUPER_MAGIC, "ceph"},
                {AFS_FS_MAGIC, "afs"},
        };
        struct statfs fs;

        if (fstatfs(fd, &fs) < 0)
                return err_new(errno);
        *ret_name = NULL;
        for (size_t i = 0; i < sizeof(blind) / sizeof(blind[0]); i++)
                if ((unsigned long)fs.f_type == blind[i].magic)
                        *ret_name = blind[i].name;
        return 0;
}

bool detect_line_covers(const char *line, const char *spool) {
        size_t len = strcspn(line, "\r\n");
        bool rooted;

        while (len > 0 && line[len - 1] == ' ')
                len--;
        rooted = len > 0 && line[0] == '/';
        if (rooted) {
                line++;
                len--;
        }
        while (len >= 2 && line[len - 1] == '*' && (line[len - 2] == '/' || line[len - 2] == '*'))
                len--;
        while (len > 0 && line[len - 1] == '/')
                len--;
        return len > 0 && line[0] != '!' && line[0] != '#' && strncmp(spool, line, len) == 0 &&
               (spool[len] == '/' || !spool[len]);
}

static int detect_file_covers(int dir, const char *name, const char *spool, bool *ret) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        r = pin_read_at(dir, name, &detect_any, PIN_ANY_LINKS, DETECT_IGNORE_MAX, &text);
        if (r != 0)
                return r < 0 ? r : 0; /* what can't be read covers nothing: a warning more */
        for (const char *line = text.data; *line && !*ret;
             line += strcspn(line, "\n"), line += *line == '\n')
                *ret = detect_line_covers(line, spool);
        return 0;
}

int detect_ignored(const Checkout *c, const char *spool, bool *ret_ignored) {
        CLEANUP(str_freep) char *common = NULL;
        CLEANUP(fd_closep) int git = -EBADF;
        CLEANUP(str_done) Str link = STR_NULL;
        bool ignored = false;
        int r;

        r = detect_file_covers(c->fd, ".gitignore", spool, &ignored);
        if (r == 0)
                r = pin_host_dir(c->git_dir.path, &detect_any, &git);
        if (r == 0 && pin_read_at(git, "commondir", &detect_any, PIN_ANY_LINKS, DETECT_GITFILE_MAX,
                                  &link) == 0) {
                link.data[strcspn(link.data, "\r\n")] =
                        '\0'; /* a linked worktree has its excludes in the main .git */
                r = link.data[0] == '/' ? str_dup(link.data, &common)
                                        : str_printf(&common, "%s/%s", c->git_dir.path, link.data);
                git = fd_close(git);
                if (r == 0)
                        r = pin_host_dir(common, &detect_any, &git);
        }
        if (r == 0)
                r = detect_file_covers(git, "info/exclude", spool, &ignored);
        if (r < 0)
                return r;
        *ret_ignored = ignored;
        return 0;
}

int detect_linger(bool *ret_linger, char **ret_user) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *user = NULL;
        const struct passwd *pw = getpwuid(geteuid());
        int r;

        r = pw ? str_dup(pw->pw_name, &user) : str_printf(&user, "%u", geteuid());
        if (r == 0)
                r = str_printf(&path, "/var/lib/systemd/linger/%s", user);
        if (r < 0)
                return r;
        *ret_linger = access(path, F_OK) == 0;
        *ret_user = user;
        user = NULL;
        return 0;
}

int detect_slug(const char *root, char **ret) {
        CLEANUP(str_done) Str slug = STR_NULL;
        const char *slash = strrchr(root, '/');
        int r = 0;

        for (const char *at = slash ? slash + 1 : root; *at && slug.len < 31 && r == 0; at++) {
                char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
                bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';

                if (slug.len == 0 && !letter)
                        continue;
                if (!letter && !digit)
                        c = '-';
                if (c != '-' || slug.data[slug.len - 1] != '-')
                        r = str_addc(&slug, c);
        }
        while (slug.len > 0 && slug.data[slug.len - 1] == '-')
                slug.data[--slug.len] = '\0';
        if (r < 0)
                return r;
        if (slug.len == 0) {
                *ret = NULL;
                return 0;
        }
        return str_take(&slug, ret);
}
