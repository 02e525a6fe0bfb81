#include "installer/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "installer/notice.h"
#include "spool/scan.h"
#include "wire/mac.h"

#define KEYS_PREFIX "mac-"
#define KEYS_SUFFIX ".key"
enum { KEYS_FILE_MAX = 1024, KEYS_SCAN = 4096 };

void keys_done(Keys *k) {
        for (size_t i = 0; i < KEYS_MAX; i++) {
                if (k->bytes[i].data)
                        explicit_bzero(k->bytes[i].data, k->bytes[i].cap);
                str_done(&k->bytes[i]);
        }
        strv_done(&k->names);
        strv_done(&k->drop);
        *k = KEYS_NULL;
}

bool keys_number(const char *name, unsigned long long *ret) {
        char digits[10];
        size_t len = strlen(name);

        if (!str_starts(name, KEYS_PREFIX) || !str_ends(name, KEYS_SUFFIX) ||
            len <= sizeof(KEYS_PREFIX KEYS_SUFFIX) - 1)
                return false;
        len -= sizeof(KEYS_PREFIX KEYS_SUFFIX) - 1;
        name += sizeof(KEYS_PREFIX) - 1;
        if (len >= sizeof(digits) || name[0] == '0')
                return false;
        memcpy(digits, name, len);
        digits[len] = '\0';
        return str_parse_uint(digits, 999999999, ret);
}

static unsigned long long keys_highest(const Strv *names, unsigned long long below) {
        unsigned long long highest = 0, n;

        for (size_t i = 0; i < names->len; i++)
                if (keys_number(names->items[i], &n) && n > highest && n < below)
                        highest = n;
        return highest;
}

static int keys_name(unsigned long long n, Strv *to) {
        CLEANUP(str_freep) char *name = NULL;
        int r = str_printf(&name, KEYS_PREFIX "%llu" KEYS_SUFFIX, n);

        return r < 0 ? r : strv_add_take(to, &name);
}

int keys_choose(const InstallOptions *o, const Strv *before, const Strv *files, Strv *ret) {
        unsigned long long newest = keys_highest(files, ULLONG_MAX);
        unsigned long long named = before ? keys_highest(before, ULLONG_MAX) : 0;
        CLEANUP(strv_done) Strv now = STRV_NULL;
        int r = 0;

        if (o->no_auth)
                return 0;
        if (before)
                r = strv_copy(before, &now);
        else if (newest > 0)
                r = keys_name(newest, &now);
        if (r == 0 && !before && keys_highest(files, newest) > 0)
                r = keys_name(keys_highest(files, newest), &now);
        if (r == 0 && (o->rotate_key || (o->auth && now.len == 0)))
                r = keys_name((newest > named ? newest : named) + 1, ret);
        for (size_t i = 0; r == 0 && i < now.len && ret->len < KEYS_MAX; i++)
                r = strv_add(ret, now.items[i]);
        return r;
}

int keys_list(int dir, Strv *ret) {
        CLEANUP(strv_done) Strv all = STRV_NULL;
        unsigned long long n;
        bool more;
        int r = dir < 0 ? 0 : scan_visible(dir, KEYS_SCAN, &all, &more);

        for (size_t i = 0; r == 0 && i < all.len; i++)
                if (keys_number(all.items[i], &n))
                        r = strv_add(ret, all.items[i]);
        return r;
}

/* The key as it stands; *ret_open: others could read it. false in *ret_good: there is none. */
static int keys_read(int dir, const char *name, Str *ret, bool *ret_good, bool *ret_open) {
        PinRule mine = {geteuid(), 0};
        char key[MAC_KEY_HEX + 1];
        struct stat st;
        int r = dir < 0 ? PIN_E_ABSENT : pin_read_at(dir, name, &mine, 0, KEYS_FILE_MAX, ret);

        *ret_good = r == 0 && mac_key(ret->data ? ret->data : "", ret->len, key) == 0;
        *ret_open = *ret_good && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    (st.st_mode & 0077);
        explicit_bzero(key, sizeof(key));
        return r < 0 ? r : 0;
}

static int keys_make(Str *ret) {
        char hex[MAC_KEY_HEX + 1];
        int r;

        hash_random_hex(hex, MAC_KEY_HEX);
        str_clear(ret);
        r = str_addf(ret, "%s\n", hex);
        explicit_bzero(hex, sizeof(hex));
        return r;
}

static int keys_warn(Strv *warnings, const Layout *l, const char *name, const char *what,
                     const char *option) {
        CLEANUP(str_freep) char *text = NULL;
        int r = str_printf(&text, "the key file %s/%s %s\nspoolgate install --slug %s %s",
                           l->config, name, what, l->slug, option);

        return r < 0 ? r : strv_add_take(warnings, &text);
}

/* One that is no good: the newest is made anew, the one before it is let go. `old`: it should have
 * been there. */
static int keys_take(int dir, const Layout *l, const char *name, bool old, Keys *k,
                     Strv *warnings) {
        size_t i = k->names.len;
        bool good, open;
        int r = keys_read(dir, name, &k->bytes[i], &good, &open);

        if (r < 0 || (!good && i > 0))
                return r;
        if (!good) {
                k->fresh = true;
                r = keys_make(&k->bytes[i]);
                if (r == 0 && old)
                        r = keys_warn(warnings, l, name, "held no key: it has another one now",
                                      "--auth");
        } else if (open) {
                r = keys_warn(warnings, l, name,
                              "could be read by others: its mode is mended, the key is no secret",
                              "--rotate-key");
        }
        return r < 0 ? r : strv_add(&k->names, name);
}

int keys_decide(const InstallOptions *o, const Layout *l, const Strv *before, Keys *ret,
                Strv *warnings) {
        CLEANUP(keys_done) Keys k = KEYS_NULL;
        CLEANUP(strv_done) Strv files = STRV_NULL;
        CLEANUP(strv_done) Strv chosen = STRV_NULL;
        CLEANUP(fd_closep) int dir = -EBADF;
        int r = pin_host_dir(l->config, &(PinRule){(uid_t)-1, 0}, &dir);

        if (r >= 0)
                r = keys_list(dir, &files);
        if (r == 0)
                r = keys_choose(o, before, &files, &chosen);
        for (size_t i = 0; r == 0 && i < chosen.len; i++)
                r = keys_take(dir, l, chosen.items[i],
                              strv_find(&files, chosen.items[i]) ||
                                      (before && strv_find(before, chosen.items[i])),
                              &k, warnings);
        if (o->auth || o->rotate_key || o->no_auth)
                for (size_t i = 0; r == 0 && i < files.len; i++)
                        if (!strv_find(&k.names, files.items[i]))
                                r = strv_add(&k.drop, files.items[i]);
        if (r != 0)
                return r;
        *ret = k;
        k = KEYS_NULL;
        return 0;
}

int keys_add(Plan *p, const Layout *l, Keys *k) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < k->names.len; i++)
                r = plan_add_file(p, -EBADF, l->config, k->names.items[i], &k->bytes[i], 0600, 0);
        return r;
}

int keys_drop(const Keys *k, const Layout *l, bool dry, Str *report) {
        CLEANUP(fd_closep) int dir = -EBADF;
        int r = 0;

        if (k->drop.len > 0 && !dry)
                r = pin_host_dir(l->config, &(PinRule){geteuid(), 0022}, &dir);
        for (size_t i = 0; r == 0 && i < k->drop.len; i++) {
                if (!dry)
                        r = publish_remove(dir, k->drop.items[i]);
                if (r == 0)
                        r = str_addf(report, "%-12s %s/%s\n", dry ? "would remove" : "removed",
                                     l->config, k->drop.items[i]);
        }
        return r > 0 ? err_new(EACCES) : r;
}

int keys_note(const Keys *k, const Layout *l) {
        CLEANUP(fd_closep) int state = -EBADF;
        CLEANUP(str_done) Str detail = STR_NULL;
        int r = str_adds(&detail, k->names.len > 0 ? "good:" : "requests need no signature");

        if (!k->fresh && k->drop.len == 0)
                return 0;
        for (size_t i = 0; r == 0 && i < k->names.len; i++)
                r = str_addf(&detail, " %s", k->names.items[i]);
        if (r == 0)
                r = pin_host_dir(l->state, &(PinRule){geteuid(), 0022}, &state);
        if (r == 0)
                r = notice_note(state, "keyed", NULL, detail.data);
        return r > 0 ? err_new(EACCES) : r;
}

static int keys_quote(Str *s, const char *path) {
        int r = str_addc(s, '\'');

        for (; *path && r == 0; path++)
                r = *path == '\'' ? str_adds(s, "'\\''") : str_addc(s, *path);
        return r < 0 ? r : str_addc(s, '\'');
}

int keys_advise(const Keys *k, const Layout *l, Str *report) {
        CLEANUP(str_freep) char *path = NULL;
        bool renewed = k->names.len > 1;
        int r;

        if (k->names.len == 0)
                return 0;
        r = str_printf(&path, "%s/%s", l->config, k->names.items[0]);
        if (r == 0)
                r = str_addf(report,
                             "\nRequests of the agent have to be signed. Its key is in %s.\n"
                             "Give it to the agent as a file outside the checkout, and name the "
                             "file in SPOOLGATE_KEY_FILE:\n",
                             path);
        if (r == 0 && renewed)
                r = str_addf(report, "podman secret rm spoolgate-%s\n", l->slug);
        if (r == 0)
                r = str_addf(report, "podman secret create spoolgate-%s ", l->slug);
        if (r == 0)
                r = keys_quote(report, path);
        if (r == 0)
                r = str_addf(report,
                             "\npodman run --secret spoolgate-%s --env "
                             "SPOOLGATE_KEY_FILE=/run/secrets/spoolgate-%s ...\n",
                             l->slug, l->slug);
        if (r == 0 && renewed)
                r = str_addf(report, "The key before it, %s, is good until the next rotation.\n",
                             k->names.items[1]);
        return r < 0 ? r : str_adds(report, "\n");
}
