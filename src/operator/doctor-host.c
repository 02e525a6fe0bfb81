/* doctor's checks of the kernel, the clock, free space, subordinate ids and the programs verbs run
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "guard/jail.h"
#include "installer/detect.h"
#include "operator/doctor.h"
#include "operator/history.h"

enum {
        DOCTOR_FREE_BYTES = 64 * 1024 * 1024,
        DOCTOR_FREE_INODES = 1000,
        DOCTOR_AHEAD_MS = 60 * 1000,
        DOCTOR_SUBIDS = 65536,
        DOCTOR_SUBID_MAX = 1024 * 1024,
};

/* Everything else here opens with it too, and says -ENOSYS. */
static int doctor_openat2(Doctor *d) {
        CLEANUP(fd_closep) int root = -EBADF;
        CLEANUP(fd_closep) int again = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        int r = pin_host_dir("/", &any, &root);

        if (r == 0)
                r = pin_dir_at(root, ".", &any, 0, &again);
        if (r == -ENOSYS)
                return doctor_say(d, DOCTOR_FINDING, "uname -r",
                                  "this kernel has no openat2(2), or a filter hides it: nothing "
                                  "runs here (Linux 5.6 is needed)");
        return r < 0 ? r : 0;
}

static int doctor_landlock(Doctor *d) {
        bool there = jail_landlock_abi() > 0;

        if (str_eq(d->config.bridge->jail, "landlock"))
                return there ? 0
                             : doctor_say(d, DOCTOR_FINDING, "cat /sys/kernel/security/lsm",
                                          "Landlock is off, and this bridge's jail asks for it: "
                                          "every verb that changes something is refused as "
                                          "integrity-error");
        return doctor_say(d, DOCTOR_NOTE, NULL,
                          there ? "the repository is read behind seccomp alone (--jail seccomp), "
                                  "though this kernel has Landlock"
                                : "Landlock is off: the repository is read behind seccomp alone");
}

typedef struct DoctorLast {
        int64_t ms;
} DoctorLast;

static int doctor_last(void *userdata, const Record *r, const char *raw, size_t len,
                       const char *hash) {
        DoctorLast *last = userdata;
        int64_t ms = history_time(r);

        (void)raw;
        (void)len;
        (void)hash;
        last->ms = ms > last->ms ? ms : last->ms;
        return 0;
}

/* One walk of the log: its proof, and its latest stamp against the clock. */
static int doctor_audit(Doctor *d) {
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        DoctorLast last = {0};
        uint64_t lines;
        int r = history_read(d->config.state_fd, doctor_last, &last, &why, &lines);

        if (r < 0)
                return r;
        if (r > 0) {
                r = str_printf(&command, "spoolgate audit verify -s %s", d->layout.slug);
                return r < 0 ? r
                             : doctor_add(d, DOCTOR_FINDING, &command,
                                          "the audit log is broken: %s", why.data);
        }
        return last.ms > clock_wall_ms() + DOCTOR_AHEAD_MS
                       ? doctor_say(d, DOCTOR_FINDING, "timedatectl status",
                                    "the clock went back: the audit log has records of the future, "
                                    "and rate windows last longer")
                       : 0;
}

bool doctor_tight(uint64_t free_bytes, uint64_t free_inodes) {
        return free_bytes < DOCTOR_FREE_BYTES || free_inodes < DOCTOR_FREE_INODES;
}

static int doctor_space_at(Doctor *d, int fd, const char *path) {
        CLEANUP(str_freep) char *quoted = NULL;
        CLEANUP(str_freep) char *command = NULL;
        struct statvfs fs;
        uint64_t bytes, inodes;
        int r;

        if (fstatvfs(fd, &fs) < 0)
                return err_new(errno);
        bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
        inodes = fs.f_files == 0 ? UINT64_MAX : fs.f_favail;
        if (!doctor_tight(bytes, inodes))
                return 0;
        r = doctor_quote(path, &quoted);
        if (r == 0)
                r = str_printf(&command,
                               "spoolgate reap -s %s; df -h %s; df -hi %s; "
                               "du -xhd 3 %s | sort -h | tail -n 12",
                               d->layout.slug, quoted, quoted, quoted);
        return r < 0 ? r
                     : doctor_add(d, DOCTOR_FINDING, &command,
                                  "little room for %s: %llu KiB and %llu inodes; what can't be "
                                  "recorded is not started",
                                  path, (unsigned long long)(bytes / 1024),
                                  (unsigned long long)inodes);
}

static int doctor_space(Doctor *d) {
        int r = doctor_space_at(d, d->config.state_fd, d->layout.state);

        return r < 0 ? r : doctor_space_at(d, d->config.checkout_fd, d->bridge->checkout.path);
}

static bool doctor_subid_line(const char *line, size_t len, const char *user, unsigned uid,
                              unsigned long long *ret_first, unsigned long long *ret_count) {
        CLEANUP(str_freep) char *copy = NULL;
        char *first, *count;
        unsigned long long id;

        if (str_printf(&copy, "%.*s", (int)len, line) < 0)
                return false;
        first = strchr(copy, ':');
        count = first ? strchr(first + 1, ':') : NULL;
        if (!count)
                return false;
        *first++ = '\0';
        *count++ = '\0';
        if (!str_eq(copy, user) && !(str_parse_uint(copy, UINT32_MAX, &id) && id == uid))
                return false;
        return str_parse_uint(first, UINT32_MAX, ret_first) &&
               str_parse_uint(count, UINT32_MAX, ret_count);
}

void doctor_subids(const char *text, const char *user, unsigned uid, long long id,
                   unsigned long long *ret_count, bool *ret_holds) {
        *ret_count = 0;
        *ret_holds = false;
        while (*text) {
                size_t len = strcspn(text, "\n");
                unsigned long long first, count;

                if (len < 256 && doctor_subid_line(text, len, user, uid, &first, &count)) {
                        *ret_count += count;
                        *ret_holds = *ret_holds || (id >= 0 && (unsigned long long)id >= first &&
                                                    (unsigned long long)id - first < count);
                }
                text += len + (text[len] == '\n');
        }
}

static int doctor_read_etc(const char *name, Str *ret) {
        CLEANUP(fd_closep) int etc = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        int r = pin_host_dir("/etc", &any, &etc);

        if (r == 0)
                r = pin_read_at(etc, name, &any, PIN_ANY_LINKS, DOCTOR_SUBID_MAX, ret);
        return r < 0 ? r : 0;
}

static int doctor_subid(Doctor *d) {
        CLEANUP(str_done) Str uids = STR_NULL;
        CLEANUP(str_done) Str gids = STR_NULL;
        CLEANUP(str_freep) char *user = NULL;
        CLEANUP(str_freep) char *command = NULL;
        const Bridge *b = d->config.bridge;
        unsigned long long count_u, count_g;
        bool linger, holds, ignored, podman = strstr(b->stack, "podman") != NULL;
        bool foreign = b->agent_uid >= 0 && b->agent_uid != (int64_t)geteuid();
        int r;

        if (!podman && !foreign)
                return 0;
        r = detect_linger(&linger, &user);
        if (r == 0)
                r = doctor_read_etc("subuid", &uids);
        if (r == 0)
                r = doctor_read_etc("subgid", &gids);
        if (r < 0)
                return r;
        doctor_subids(uids.data ? uids.data : "", user ? user : "", (unsigned)geteuid(),
                      b->agent_uid, &count_u, &holds);
        doctor_subids(gids.data ? gids.data : "", user ? user : "", (unsigned)geteuid(), -1,
                      &count_g, &ignored);
        if (podman && (count_u < DOCTOR_SUBIDS || count_g < DOCTOR_SUBIDS)) {
                r = str_printf(&command,
                               "sudo usermod --add-subuids 524288-589823 --add-subgids "
                               "524288-589823 %s",
                               user ? user : "");
                return r < 0 ? r
                             : doctor_add(d, DOCTOR_FINDING, &command,
                                          "/etc/subuid gives %llu ids, /etc/subgid %llu: rootless "
                                          "containers want 65536",
                                          count_u, count_g);
        }
        if (foreign && !holds)
                return doctor_say(d, DOCTOR_NOTE, "grep . /etc/subuid /etc/subgid",
                                  "--agent-uid is none of this user's subordinate ids: no rootless "
                                  "container of this user has it");
        return 0;
}

static int doctor_newuidmap(Doctor *d) {
        const Bridge *b = d->config.bridge;
        const char *at = b->path;
        struct stat st;

        if (!strstr(b->stack, "podman"))
                return 0;
        while (at && *at) {
                CLEANUP(str_freep) char *path = NULL;
                size_t len = strcspn(at, ":");
                int r = str_printf(&path, "%.*s/newuidmap", (int)len, at);

                if (r < 0)
                        return r;
                if (fstatat(AT_FDCWD, path, &st, 0) == 0 && (st.st_mode & 0111))
                        return 0;
                at += len + (at[len] == ':');
        }
        return doctor_say(
                d, DOCTOR_FINDING, "command -v newuidmap newgidmap",
                "newuidmap is not on the PATH that verbs get: rootless podman can't start "
                "there (package uidmap or shadow-utils, then spoolgate upgrade)");
}

static int doctor_binary(Doctor *d, const char *name, const char *path) {
        CLEANUP(str_freep) char *command = NULL;
        struct stat st;
        int r = str_printf(&command, "spoolgate upgrade -s %s", d->layout.slug);

        if (r < 0)
                return r;
        if (fstatat(AT_FDCWD, path, &st, 0) < 0)
                return doctor_add(d, DOCTOR_FINDING, &command, "%s, %s, is gone", name, path);
        if (!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
                return doctor_add(d, DOCTOR_FINDING, &command, "%s, %s, is no program", name, path);
        if (st.st_mode & 0022)
                return doctor_add(d, DOCTOR_FINDING, &command, "%s, %s, is writable by others",
                                  name, path);
        return 0;
}

static int doctor_binaries(Doctor *d) {
        const Strv *bins = &d->config.bridge->bins;
        int r = 0;

        for (size_t i = 0; r == 0 && i < bins->len; i++) {
                CLEANUP(str_freep) char *name = NULL;
                const char *path = strchr(bins->items[i], '=');

                if (!path)
                        continue;
                r = str_printf(&name, "%.*s", (int)(path - bins->items[i]), bins->items[i]);
                if (r == 0)
                        r = doctor_binary(d, name, path + 1);
        }
        return r;
}

static const DoctorCheck doctor_host_checks[] = {
        {"openat2", doctor_openat2, false},          {"Landlock", doctor_landlock, true},
        {"audit log and clock", doctor_audit, true}, {"free space", doctor_space, true},
        {"subordinate ids", doctor_subid, true},     {"newuidmap", doctor_newuidmap, true},
        {"programs", doctor_binaries, true},
};

const DoctorCheck *doctor_host_check(size_t i) {
        return i < sizeof(doctor_host_checks) / sizeof(doctor_host_checks[0])
                       ? &doctor_host_checks[i]
                       : NULL;
}
