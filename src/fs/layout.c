#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "fs/layout.h"
#include "fs/pin.h"

bool layout_slug_ok(const char *slug) {
        size_t len = strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789-");

        return slug[0] >= 'a' && slug[0] <= 'z' && len <= 31 && slug[len] == '\0';
}

void layout_done(Layout *l) {
        str_freep(&l->slug);
        str_freep(&l->home);
        str_freep(&l->config_root);
        str_freep(&l->config);
        str_freep(&l->state);
        str_freep(&l->lib);
        str_freep(&l->units);
}

/* An absolute directory from the environment without the slashes at its end; NULL when there is
 * none. */
static int layout_env(const char *name, char **ret) {
        const char *value = getenv(name);
        size_t len;
        char *copy;
        int r;

        if (!value || value[0] != '/') {
                *ret = NULL;
                return 0;
        }
        r = str_dup(value, &copy);
        if (r < 0)
                return r;
        for (len = strlen(copy); len > 0 && copy[len - 1] == '/'; len--)
                copy[len - 1] = '\0';
        *ret = copy;
        return 0;
}

/* $NAME, else HOME/fallback. */
static int layout_base(const char *name, const char *home, const char *fallback, char **ret) {
        CLEANUP(str_freep) char *base = NULL;
        int r;

        r = layout_env(name, &base);
        if (r == 0 && !base)
                r = str_printf(&base, "%s/%s", home, fallback);
        if (r < 0)
                return r;
        *ret = base;
        base = NULL;
        return 0;
}

static int layout_home(char **ret) {
        char *home;
        int r;

        r = layout_env("HOME", &home);
        if (r == 0 && !home)
                return LAYOUT_E_HOME;
        if (r == 0)
                *ret = home;
        return r;
}

int layout_init(Layout *ret, const char *slug) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        CLEANUP(str_freep) char *config = NULL;
        CLEANUP(str_freep) char *state = NULL;
        int r;

        if (!layout_slug_ok(slug))
                return LAYOUT_E_SLUG;
        r = layout_home(&l.home);
        if (r == 0)
                r = layout_base("XDG_CONFIG_HOME", l.home, ".config", &config);
        if (r == 0)
                r = layout_base("XDG_STATE_HOME", l.home, ".local/state", &state);
        if (r == 0)
                r = str_dup(slug, &l.slug);
        if (r == 0)
                r = str_printf(&l.config_root, "%s/spoolgate", config);
        if (r == 0)
                r = str_printf(&l.config, "%s/spoolgate/%s", config, slug);
        if (r == 0)
                r = str_printf(&l.state, "%s/spoolgate/%s", state, slug);
        if (r == 0)
                r = str_printf(&l.lib, "%s/.local/lib/spoolgate/%s", l.home, slug);
        if (r == 0)
                r = str_printf(&l.units, "%s/systemd/user", config);
        if (r != 0)
                return r;
        *ret = l;
        l = LAYOUT_NULL;
        return 0;
}

static void layout_closedirp(DIR **dir) {
        if (*dir)
                (void)closedir(*dir); /* it was only read */
        *dir = NULL;
}

/* Is there a regular SLUG/bridge.json? Links are the operator's own, and followed. */
static int layout_has_bridge(int root_fd, const char *slug, bool *ret_has) {
        CLEANUP(str_freep) char *path = NULL;
        struct stat st;
        int r;

        r = str_printf(&path, "%s/bridge.json", slug);
        if (r < 0)
                return r;
        if (fstatat(root_fd, path, &st, 0) < 0) {
                if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EACCES)
                        return err_new(errno);
                *ret_has = false;
                return 0;
        }
        *ret_has = S_ISREG(st.st_mode);
        return 0;
}

static int layout_scan(DIR *dir, Strv *slugs) {
        for (;;) {
                struct dirent *entry;
                bool has = false;
                int r;

                errno = 0;
                entry = readdir(dir);
                if (!entry)
                        return errno ? err_new(errno) : 0;
                if (!layout_slug_ok(entry->d_name))
                        continue;
                r = layout_has_bridge(dirfd(dir), entry->d_name, &has);
                if (r == 0 && has)
                        r = strv_add(slugs, entry->d_name);
                if (r < 0)
                        return r;
        }
}

int layout_list(Strv *ret) {
        static const PinRule any = {.owner = (uid_t)-1};
        CLEANUP(strv_done) Strv slugs = STRV_NULL;
        CLEANUP(layout_closedirp) DIR *dir = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        int r;

        r = layout_init(&l, "any");
        if (r != 0)
                return r;
        r = pin_host_dir(l.config_root, &any, &fd);
        if (r > 0 && r != PIN_E_ABSENT)
                return err_new(r == PIN_E_ACCESS ? EACCES : ENOTDIR);
        if (r < 0)
                return r;
        if (r == 0) {
                dir = fdopendir(fd);
                if (!dir)
                        return err_new(errno);
                (void)fd_take(&fd); /* dir's now */
                r = layout_scan(dir, &slugs);
                if (r < 0)
                        return r;
        }
        strv_sort(&slugs);
        *ret = slugs;
        slugs = STRV_NULL;
        return 0;
}
