/* doctor's checks of the configuration, the seal, and what waits */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "fs/lock.h"
#include "drain/integrity.h"
#include "operator/doctor.h"
#include "record/ledger.h"
#include "run/result.h"
#include "spool/scan.h"

enum { DOCTOR_BEGUN_MAX = 1000 };

/* why's last line is the command, when it has several. */
static int doctor_split(Doctor *d, const char *why) {
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_freep) char *command = NULL;
        const char *last = strrchr(why, '\n');
        int r = last ? str_printf(&text, "%.*s", (int)(last - why), why) : str_dup(why, &text);

        if (r == 0)
                r = last ? str_dup(last + 1, &command)
                         : str_printf(&command, "spoolgate install --slug %s", d->layout.slug);
        return r < 0 ? r : doctor_add(d, DOCTOR_FINDING, &command, "%s", text);
}

static int doctor_bridge(Doctor *d) {
        return d->loaded ? 0 : doctor_split(d, d->trouble.data);
}

static int doctor_edit(Doctor *d, const char *file, const char *trouble) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *quoted = NULL;
        CLEANUP(str_freep) char *command = NULL;
        int r;

        if (!trouble)
                return 0;
        r = str_printf(&path, "%s/%s", d->layout.config, file);
        if (r == 0)
                r = doctor_quote(path, &quoted);
        if (r == 0)
                r = str_printf(&command, "vi %s", quoted);
        return r < 0 ? r : doctor_add(d, DOCTOR_FINDING, &command, "%s", trouble);
}

static int doctor_lint(Doctor *d) {
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_freep) char *redact = NULL;
        int r = 0;

        if (d->config.trouble) {
                r = str_printf(&command, "spoolgate policy --edit -s %s", d->layout.slug);
                if (r == 0)
                        r = doctor_add(d, DOCTOR_FINDING, &command, "nothing runs: %s",
                                       d->config.trouble);
        }
        if (r == 0)
                r = doctor_edit(d, "verbs.json", d->config.own_trouble);
        if (r == 0)
                r = config_redact(&d->config, &redact);
        return r < 0 ? r : doctor_edit(d, "redact.conf", redact);
}

/* A verb that policy lets run and that can't. */
static int doctor_verbs(Doctor *d) {
        const Config *c = &d->config;
        const Verb *verb;
        int r = 0;

        for (size_t i = 0; r == 0 && c->policy && (verb = table_at(c->table, i)); i++) {
                CLEANUP(str_freep) char *command = NULL;
                struct stat st;

                if (policy_mode(c->policy, verb) != POLICY_AUTO)
                        continue;
                if (verb->missing) {
                        r = str_printf(&command, "spoolgate verbs -s %s", d->layout.slug);
                        if (r == 0)
                                r = doctor_add(d, DOCTOR_NOTE, &command,
                                               "MODE_%s is auto, and it can't run: %s", verb->name,
                                               verb->missing);
                } else if (verb->own && verb->argv[0].text &&
                           fstatat(AT_FDCWD, verb->argv[0].text, &st, 0) < 0) {
                        CLEANUP(str_freep) char *trouble = NULL;

                        r = str_printf(&trouble, "the program of the own verb %s, %s, is gone",
                                       verb->name, verb->argv[0].text);
                        if (r == 0)
                                r = doctor_edit(d, "verbs.json", trouble);
                }
        }
        return r;
}

static int doctor_seal(Doctor *d) {
        CLEANUP(guard_freep) Guard *g = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(str_freep) char *command = NULL;
        int r = integrity_ask(&d->config, &g);

        if (r < 0 || guard_code(g) == GUARD_OK)
                return r;
        r = host_guard_text(g, &text);
        if (r == 0)
                r = str_printf(&command, "spoolgate seal -s %s", d->layout.slug);
        return r < 0 ? r
                     : doctor_add(d, DOCTOR_FINDING, &command, "%s: %s", guard_name(guard_code(g)),
                                  text.data);
}

static int doctor_pause(Doctor *d) {
        CLEANUP(host_pause_done) HostPause pause = HOST_PAUSE_NULL;
        CLEANUP(str_freep) char *command = NULL;
        int r = host_pause(&d->config, &pause);

        if (r < 0 || !pause.paused)
                return r;
        r = str_printf(&command, "spoolgate resume -s %s", d->layout.slug);
        return r < 0 ? r
                     : doctor_add(d, DOCTOR_NOTE, &command, "paused%s%s%s%s",
                                  pause.by ? " by " : "", pause.by ? pause.by : "",
                                  pause.reason ? ": " : "", pause.reason ? pause.reason : "");
}

static int doctor_rate(Doctor *d) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *quoted = NULL;
        CLEANUP(str_freep) char *command = NULL;
        HostRate rate;
        int r;

        if (!d->config.policy)
                return 0;
        r = host_rate(&d->config, "restart", NULL, &rate);
        if (r < 0 || !rate.broken)
                return r;
        r = str_printf(&path, "%s/rate/window", d->layout.state);
        if (r == 0)
                r = doctor_quote(path, &quoted);
        if (r == 0)
                r = str_printf(&command, "rm %s", quoted);
        return r < 0 ? r
                     : doctor_add(d, DOCTOR_SAFE, &command,
                                  "%s doesn't parse: every verb that changes something is refused",
                                  path);
}

static int doctor_start(Doctor *d, const char *text) {
        CLEANUP(str_freep) char *command = NULL;
        int r = str_printf(&command, "systemctl --user start spoolgate-%s.service", d->layout.slug);

        return r < 0 ? r : doctor_add(d, DOCTOR_SAFE, &command, "%s", text);
}

/* With no drain at work: begun runs whose keeper is gone, and requests that nobody takes. */
static int doctor_waiting(Doctor *d) {
        const Config *c = &d->config;
        CLEANUP(str_freep) char *requests = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        bool waits = false, draining = false;
        int r = str_printf(&requests, "%s/requests", c->bridge->spool);

        if (r == 0)
                r = pin_dir_at(c->checkout_fd, requests, &any, 0, &fd);
        if (r == 0)
                r = scan_any(fd, &waits);
        if (r == 0 && waits)
                r = lock_held(c->state_fd, "lock", &draining);
        if (r < 0 || !waits || draining)
                return r < 0 ? r : 0;
        return doctor_start(d, "requests wait, and no drain is at work");
}

static int doctor_begun(Doctor *d) {
        const Config *c = &d->config;
        CLEANUP(strv_done) Strv keys = STRV_NULL;
        PinRule rule = config_rule(c);
        Ledger ledger = LEDGER_NULL;
        bool draining, alive = true;
        int r = lock_held(c->state_fd, "lock", &draining);

        if (r < 0 || draining)
                return r;
        r = ledger_open(c->state_fd, &rule, &ledger);
        if (r == 0)
                r = ledger_list_begun(&ledger, DOCTOR_BEGUN_MAX, &keys);
        ledger_close(&ledger);
        for (size_t i = 0; r == 0 && alive && i < keys.len; i++)
                r = result_running(c->run_fd, keys.items[i], &alive);
        if (r < 0 || alive)
                return r < 0 ? r : 0;
        return doctor_start(d, "a run was begun and its keeper is gone: the next drain settles it");
}

static const DoctorCheck doctor_policy_checks[] = {
        {"bridge", doctor_bridge, false},       {"policy and verbs", doctor_lint, true},
        {"verbs that run", doctor_verbs, true}, {"seal", doctor_seal, true},
        {"pause", doctor_pause, true},          {"rate", doctor_rate, true},
        {"queue", doctor_waiting, true},        {"ledger", doctor_begun, true},
};

const DoctorCheck *doctor_policy_check(size_t i) {
        return i < sizeof(doctor_policy_checks) / sizeof(doctor_policy_checks[0])
                       ? &doctor_policy_checks[i]
                       : NULL;
}
