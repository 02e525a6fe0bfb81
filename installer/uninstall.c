#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/lock.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "installer/agentfiles.h"
#include "installer/keys.h"
#include "installer/systemctl.h"
#include "installer/tree.h"
#include "installer/uninstall.h"
#include "installer/units.h"
#include "spool/spool.h"

typedef struct Uninstall {
        const Layout *layout;
        bool purge, dry;
        Str *report;
        Strv *warnings;
} Uninstall;

static const PinRule uninstall_any = {(uid_t)-1, 0};

static int uninstall_warn(Uninstall *u, const Str *text) {
        return text->len > 0 ? strv_add(u->warnings, text->data) : 0;
}

static int uninstall_said(Uninstall *u, const char *dir, const char *name) {
        return str_addf(u->report, "%-12s %s/%s\n", u->dry ? "would remove" : "removed", dir, name);
}

/* A file or, with everything in it, a folder; dir is how fd is called. */
static int uninstall_entry(Uninstall *u, int fd, const char *dir, const char *name) {
        CLEANUP(str_done) Str kept = STR_NULL;
        int r = 0;

        if (!tree_has(fd, name))
                return 0;
        if (!u->dry)
                r = tree_remove(fd, name, &kept);
        if (r == 0 && kept.len > 0)
                return str_adds(&kept, "these could not be removed") < 0 ? -ENOMEM
                                                                         : uninstall_warn(u, &kept);
        return r < 0 ? r : uninstall_said(u, dir, name);
}

/* A folder, only when nothing is in it. */
static int uninstall_empty(Uninstall *u, int fd, const char *dir, const char *name) {
        bool gone = false;
        int r = 0;

        if (!u->dry)
                r = tree_remove_empty(fd, name, &gone);
        return r < 0 || !gone ? r : uninstall_said(u, dir, name);
}

/* *ret_fd stays closed where dir is not there. */
static int uninstall_open(const char *dir, int *ret_fd) {
        int r = pin_host_dir(dir, &uninstall_any, ret_fd);

        return r == PIN_E_ABSENT || r == PIN_E_TYPE ? 0 : r > 0 ? err_new(EACCES) : r;
}

static int uninstall_in(Uninstall *u, const char *dir, const char *name, bool empty) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r = uninstall_open(dir, &fd);

        if (r < 0 || fd < 0)
                return r;
        return empty ? uninstall_empty(u, fd, dir, name) : uninstall_entry(u, fd, dir, name);
}

/* dir is ".../spoolgate/SLUG": the slug's folder, then the shared one, each when empty. */
static int uninstall_folder(Uninstall *u, const char *dir) {
        CLEANUP(str_freep) char *parent = NULL;
        CLEANUP(str_freep) char *above = NULL;
        char *slash;
        int r;

        r = str_dup(dir, &parent);
        if (r < 0)
                return r;
        slash = strrchr(parent, '/');
        *slash = '\0';
        r = uninstall_in(u, parent, slash + 1, true);
        if (r == 0)
                r = str_dup(parent, &above);
        if (r < 0)
                return r;
        slash = strrchr(above, '/');
        *slash = '\0';
        return uninstall_in(u, above, slash + 1, true);
}

static int uninstall_units(Uninstall *u) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str why = STR_NULL;
        bool any = false;
        int r;

        r = uninstall_open(u->layout->units, &fd);
        if (r < 0 || fd < 0)
                return r;
        for (size_t i = 0; i < UNITS_COUNT && r == 0; i++) {
                CLEANUP(str_freep) char *name = NULL;

                r = units_name(u->layout->slug, i, &name);
                any = any || (r == 0 && tree_has(fd, name));
        }
        if (r == 0 && any && !u->dry)
                r = systemctl_disable(u->layout->slug, &why);
        for (size_t i = 0; i < UNITS_COUNT && r >= 0; i++) {
                static const char *const wants[UNITS_COUNT] = {"default.target.wants", "",
                                                               "timers.target.wants", ""};
                CLEANUP(str_freep) char *name = NULL;
                CLEANUP(str_freep) char *link = NULL;

                r = units_name(u->layout->slug, i, &name);
                if (r == 0)
                        r = str_printf(&link, "%s/%s", wants[i], name);
                if (r == 0 && *wants[i]) /* left behind only where no manager answered */
                        r = uninstall_entry(u, fd, u->layout->units, link);
                if (r == 0)
                        r = uninstall_entry(u, fd, u->layout->units, name);
        }
        if (r == 0 && any && !u->dry && why.len == 0)
                r = systemctl_forget(u->layout->slug, &why);
        return r < 0 ? r : uninstall_warn(u, &why);
}

static int uninstall_running(Uninstall *u, Str *why) {
        CLEANUP(fd_closep) int fd = -EBADF;
        bool held = false;
        int r;

        r = uninstall_open(u->layout->state, &fd);
        if (r == 0 && fd >= 0)
                r = lock_held(fd, "lock", &held);
        if (r < 0 || !held)
                return r;
        return str_addf(why, "a drain of %s is running\nspoolgate uninstall -s %s", u->layout->slug,
                        u->layout->slug) < 0
                       ? -ENOMEM
                       : UNINSTALL_E_REFUSED;
}

/* The folders on the way to the spool, when nothing else is in them. */
static int uninstall_spool_parents(Uninstall *u, int checkout, const Bridge *b) {
        CLEANUP(str_freep) char *path = NULL;
        int r = str_dup(b->spool, &path);

        while (r == 0) {
                CLEANUP(fd_closep) int parent = -EBADF;
                char *slash = strrchr(path, '/');
                bool gone = u->dry;

                if (slash)
                        *slash = '\0';
                r = pin_dir_at(checkout, slash ? path : ".", &uninstall_any, 0, &parent);
                if (r != 0)
                        return r < 0 ? r : 0;
                if (!u->dry)
                        r = tree_remove_empty(parent, slash ? slash + 1 : path, &gone);
                if (r < 0 || !gone || !slash)
                        return r;
        }
        return r;
}

static int uninstall_spool(Uninstall *u, const Bridge *b) {
        CLEANUP(fd_closep) int checkout = -EBADF;
        CLEANUP(fd_closep) int spool = -EBADF;
        CLEANUP(str_freep) char *dir = NULL;
        int r;

        r = pin_root(b->checkout.path, &uninstall_any, &checkout);
        if (r == 0)
                r = pin_dir_at(checkout, b->spool, &uninstall_any, 0, &spool);
        if (r != 0)
                return r < 0 ? r : 0; /* gone, or no longer what was installed: nothing of ours to
                                         reach */
        r = str_printf(&dir, "%s/%s", b->checkout.path, b->spool);
        if (r == 0)
                r = uninstall_entry(u, spool, dir, "spoolgate-request");
        if (r == 0)
                r = uninstall_entry(u, spool, dir, AGENTFILES_DIR);
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT && r == 0; d++)
                r = u->purge ? uninstall_entry(u, spool, dir, spool_dir_name(d))
                             : uninstall_empty(u, spool, dir, spool_dir_name(d));
        return r < 0 ? r : uninstall_spool_parents(u, checkout, b);
}

static int uninstall_state(Uninstall *u) {
        static const char *const dirs[] = {"ledger/begun", "ledger/ended", "ledger",
                                           "rate",         "seal",         "run"};
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_freep) char *parent = NULL;
        int r;

        if (u->purge) {
                r = str_dup(u->layout->state, &parent);
                if (r < 0)
                        return r;
                *strrchr(parent, '/') = '\0';
                r = uninstall_in(u, parent, u->layout->slug, false);
                return r < 0 ? r : uninstall_folder(u, u->layout->state);
        }
        r = uninstall_open(u->layout->state, &fd);
        for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && r == 0 && fd >= 0; i++)
                r = uninstall_empty(u, fd, u->layout->state, dirs[i]);
        return r < 0 ? r : uninstall_folder(u, u->layout->state);
}

/* Good for nothing without the bridge; one that is installed anew gets others. */
static int uninstall_keys(Uninstall *u) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(strv_done) Strv names = STRV_NULL;
        int r = uninstall_open(u->layout->config, &fd);

        if (r == 0 && fd >= 0)
                r = keys_list(fd, &names);
        for (size_t i = 0; r == 0 && i < names.len; i++)
                r = uninstall_entry(u, fd, u->layout->config, names.items[i]);
        return r;
}

static int uninstall_config(Uninstall *u) {
        static const char *const files[] = {"policy.conf", "verbs.json", "redact.conf"};
        int r = 0;

        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && r == 0 && u->purge; i++)
                r = uninstall_in(u, u->layout->config, files[i], false);
        if (r == 0)
                r = uninstall_keys(u);
        if (r == 0)
                r = uninstall_in(u, u->layout->config, "bridge.json", false);
        return r < 0 ? r : uninstall_folder(u, u->layout->config);
}

int uninstall_run(const Layout *l, const Bridge *b, bool purge, bool dry_run, Str *report,
                  Strv *warnings, Str *why) {
        Uninstall u = {l, purge, dry_run, report, warnings};
        int r;

        r = uninstall_units(&u);
        if (r == 0)
                r = uninstall_running(&u, why);
        if (r == 0)
                r = uninstall_in(&u, l->lib, "spoolgate-drain", false);
        if (r == 0)
                r = uninstall_in(&u, l->lib, "spoolgate-inspect", false);
        if (r == 0)
                r = uninstall_folder(&u, l->lib);
        if (r == 0)
                r = b ? uninstall_spool(&u, b)
                      : strv_add(warnings, "there is no readable bridge.json: the spool, if there "
                                           "is one, stays");
        if (r == 0)
                r = uninstall_state(&u);
        return r != 0 ? r : uninstall_config(&u);
}
