/* doctor's checks of owners, modes, the spool's mount and the pinned programs */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "fs/publish.h"
#include "installer/detect.h"
#include "installer/programs.h"
#include "operator/doctor.h"
#include "spool/spool.h"

enum { DOCTOR_INOTIFY_MS = 1000 };

/* A host path that must be ours and nobody else's to write. Absent is another check's matter. */
static int doctor_host_path(Doctor *d, const char *path) {
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_freep) char *quoted = NULL;
        struct stat st;
        int r;

        if (fstatat(AT_FDCWD, path, &st, 0) < 0)
                return errno == ENOENT || errno == EACCES ? 0 : err_new(errno);
        if (st.st_uid == geteuid() && !(st.st_mode & 0022))
                return 0;
        r = doctor_quote(path, &quoted);
        if (r < 0)
                return r;
        if (st.st_uid != geteuid()) {
                r = str_printf(&command, "sudo chown %u:%u %s", (unsigned)geteuid(),
                               (unsigned)getegid(), quoted);
                return r < 0 ? r
                             : doctor_add(d, DOCTOR_FINDING, &command,
                                          "%s belongs to user %u: it is not trusted", path,
                                          (unsigned)st.st_uid);
        }
        r = str_printf(&command, "chmod go-w %s", quoted);
        return r < 0 ? r
                     : doctor_add(d, DOCTOR_SAFE, &command,
                                  "%s is writable by others (mode %o): it is not trusted", path,
                                  (unsigned)st.st_mode & 07777);
}

static int doctor_owners(Doctor *d) {
        const Layout *l = &d->layout;
        static const char *const config[] = {"", "/bridge.json", "/policy.conf", "/verbs.json",
                                             "/redact.conf"};
        static const char *const state[] = {
                "",      "/audit.log", "/ledger", "/ledger/begun", "/ledger/ended",
                "/rate", "/seal",      "/run",    "/paused"};
        static const char *const lib[] = {"", "/spoolgate-drain", "/spoolgate-inspect"};
        const struct {
                const char *root, *const *names;
                size_t len;
        } all[] = {{l->config, config, sizeof(config) / sizeof(config[0])},
                   {l->state, state, sizeof(state) / sizeof(state[0])},
                   {l->lib, lib, sizeof(lib) / sizeof(lib[0])}};
        int r = 0;

        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
                for (size_t k = 0; r == 0 && k < all[i].len; k++) {
                        CLEANUP(str_freep) char *path = NULL;

                        r = str_printf(&path, "%s%s", all[i].root, all[i].names[k]);
                        if (r == 0)
                                r = doctor_host_path(d, path);
                }
        return r;
}

/* What the installer gives it: the sticky mode where the agent is another uid, else 0755. */
static int doctor_spool_mode(Doctor *d, SpoolDir dir, const char *path, const struct stat *st) {
        const Bridge *b = d->config.bridge;
        bool foreign = b->agent_uid >= 0 && b->agent_uid != (int64_t)geteuid();
        bool open = foreign && (dir == SPOOL_REQUESTS || dir == SPOOL_TMP);
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_freep) char *quoted = NULL;
        mode_t mode = st->st_mode & 07777;
        int r = doctor_quote(path, &quoted);

        if (r < 0 || (open ? (mode & 01777) == 01777 : (mode & 0722) == 0700))
                return r;
        r = str_printf(&command, "chmod %s %s", open ? "1777" : "u+rwx,go-w", quoted);
        return r < 0 ? r
                     : doctor_add(d, DOCTOR_SAFE, &command, "%s has mode %o%s", path,
                                  (unsigned)mode,
                                  open ? ": the agent's uid can't file a request" : "");
}

static int doctor_spool_dir(Doctor *d, SpoolDir dir, const char *name) {
        const Bridge *b = d->config.bridge;
        CLEANUP(str_freep) char *relative = NULL;
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *quoted = NULL;
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule mine = {geteuid(), 0};
        struct stat st;
        int r = str_printf(&relative, "%s%s%s", b->spool, *name ? "/" : "", name);

        if (r == 0)
                r = str_printf(&path, "%s/%s", b->checkout.path, relative);
        if (r == 0)
                r = doctor_quote(path, &quoted);
        if (r == 0)
                r = pin_dir_at(d->config.checkout_fd, relative, &mine, 0, &fd);
        if (r < 0)
                return r;
        if (r == 0) {
                if (fstat(fd, &st) < 0)
                        return err_new(errno);
                return doctor_spool_mode(d, dir, path, &st);
        }
        if (r == PIN_E_ABSENT)
                r = str_printf(&command, "mkdir -p -m 755 %s", quoted) < 0 ? -ENOMEM : r;
        else if (r == PIN_E_OWNER)
                r = str_printf(&command, "sudo chown %u:%u %s", (unsigned)geteuid(),
                               (unsigned)getegid(), quoted) < 0
                            ? -ENOMEM
                            : r;
        else
                r = str_printf(&command, "ls -ld %s", quoted) < 0 ? -ENOMEM : r;
        return r < 0 ? r
                     : doctor_add(d, r == PIN_E_ABSENT ? DOCTOR_SAFE : DOCTOR_FINDING, &command,
                                  "the spool's %s %s", path, pin_reason(r));
}

static int doctor_spool(Doctor *d) {
        size_t before = d->len;
        int r = doctor_spool_dir(d, SPOOL_DIR_COUNT, "");

        for (SpoolDir dir = 0; r == 0 && d->len == before && dir < SPOOL_DIR_COUNT; dir++)
                r = doctor_spool_dir(d, dir, spool_dir_name(dir));
        return r;
}

/* Makes a dotfile there, which is no request, and waits for word of it. *ret_seen. */
static int doctor_try_inotify(int dirfd, bool *ret_seen) {
        CLEANUP(fd_closep) int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        CLEANUP(fd_closep) int made = -EBADF;
        char where[64], name[32], hex[17];
        struct pollfd polled;
        int r;

        if (notify < 0)
                return err_new(errno);
        (void)snprintf(where, sizeof(where), "/proc/self/fd/%d", dirfd);
        hash_random_hex(hex, 16);
        (void)snprintf(name, sizeof(name), ".doctor-%s", hex);
        if (inotify_add_watch(notify, where, IN_CREATE | IN_MOVED_TO) < 0)
                return err_new(errno);
        r = pin_create_at(dirfd, name, 0600, &made);
        if (r != 0)
                return r < 0 ? r : err_new(EEXIST);
        polled = (struct pollfd){.fd = notify, .events = POLLIN};
        *ret_seen = poll(&polled, 1, DOCTOR_INOTIFY_MS) == 1;
        r = publish_remove(dirfd, name);
        return r < 0 ? r : 0;
}

static int doctor_inotify(Doctor *d) {
        CLEANUP(str_freep) char *requests = NULL;
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        const char *blind = NULL;
        bool seen = false;
        int r = str_printf(&requests, "%s/requests", d->config.bridge->spool);

        if (r == 0)
                r = pin_dir_at(d->config.checkout_fd, requests, &any, 0, &fd);
        if (r != 0)
                return r < 0 ? r : 0; /* the spool's own check has said so */
        r = doctor_try_inotify(fd, &seen);
        if (r == 0)
                r = detect_blind(fd, &blind);
        if (r < 0 || (seen && !blind))
                return r;
        r = str_printf(&command, "systemctl --user enable --now spoolgate-%s.timer",
                       d->layout.slug);
        if (r < 0)
                return r;
        if (seen)
                return doctor_add(d, DOCTOR_NOTE, &command,
                                  "the spool is on %s: what others write there gives no event; the "
                                  "timer sweeps once a minute",
                                  blind);
        return doctor_add(d, DOCTOR_FINDING, &command,
                          "inotify gives no event in %s: requests wait for the timer", requests);
}

static int doctor_ignored(Doctor *d) {
        const Bridge *b = d->config.bridge;
        CLEANUP(str_freep) char *file = NULL;
        CLEANUP(str_freep) char *quoted = NULL;
        CLEANUP(str_freep) char *line = NULL;
        CLEANUP(str_freep) char *command = NULL;
        Checkout c = {d->config.checkout_fd, b->checkout, b->git_dir}; /* lent */
        struct stat st;
        bool ignored, own;
        int r;

        if (!b->git_dir.path)
                return 0;
        r = detect_ignored(&c, b->spool, &ignored);
        if (r < 0 || ignored)
                return r;
        own = fstatat(d->config.checkout_fd, ".git/info", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
              S_ISDIR(st.st_mode);
        r = str_printf(&file, "%s/%s", b->checkout.path, own ? ".git/info/exclude" : ".gitignore");
        if (r == 0)
                r = doctor_quote(file, &quoted);
        if (r == 0)
                r = doctor_quote(b->spool, &line);
        if (r == 0)
                r = str_printf(&command, "echo /%s/ >>%s", line, quoted);
        return r < 0 ? r
                     : doctor_add(d, DOCTOR_SAFE, &command,
                                  "git doesn't ignore the spool %s: requests and answers get "
                                  "committed, and git clean removes them",
                                  b->spool);
}

static int doctor_hash(const char *dir, const char *name, char hex[HASH_HEX_SIZE],
                       bool *ret_found) {
        CLEANUP(fd_closep) int at = -EBADF;
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        uint64_t size;
        int r = pin_host_dir(dir, &any, &at);

        if (r == 0)
                r = pin_file_at(at, name, &any, PIN_ANY_LINKS, &fd, NULL);
        if (r == 0)
                r = hash_sha256_fd(fd, PROGRAMS_MAX_BYTES, hex, &size);
        *ret_found = r == 0;
        return r < 0 ? r : 0;
}

static int doctor_program(Doctor *d, const char *name) {
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_done) Str installed = STR_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        char pinned[HASH_HEX_SIZE], now[HASH_HEX_SIZE];
        bool found;
        int r = doctor_hash(d->layout.lib, name, pinned, &found);

        if (r == 0)
                r = str_printf(&command, "spoolgate upgrade -s %s", d->layout.slug);
        if (r == 0 && !found)
                return doctor_add(d, DOCTOR_FINDING, &command, "the pinned program %s/%s is gone",
                                  d->layout.lib, name);
        if (r == 0)
                r = programs_read(PROGRAMS_BINARY, name, PROGRAMS_MAX_BYTES, &installed, &why);
        if (r != 0)
                return r < 0 ? r : doctor_add(d, DOCTOR_NOTE, &command, "%s", why.data);
        hash_sha256(installed.data, installed.len, now);
        return hash_equal(pinned, now)
                       ? 0
                       : doctor_add(d, DOCTOR_FINDING, &command,
                                    "the pinned %s is another build than the installed one "
                                    "(installed: version " SPOOLGATE_VERSION "; bridge made by %s)",
                                    name,
                                    d->bridge && d->bridge->version ? d->bridge->version : "?");
}

static int doctor_programs(Doctor *d) {
        int r = doctor_program(d, "spoolgate-drain");

        return r < 0 ? r : doctor_program(d, "spoolgate-inspect");
}

static const DoctorCheck doctor_files_checks[] = {
        {"owners and modes", doctor_owners, false},
        {"pinned programs", doctor_programs, false},
        {"spool", doctor_spool, true},
        {"inotify", doctor_inotify, true},
        {"spool is ignored", doctor_ignored, true},
};

const DoctorCheck *doctor_files_check(size_t i) {
        return i < sizeof(doctor_files_checks) / sizeof(doctor_files_checks[0])
                       ? &doctor_files_checks[i]
                       : NULL;
}
