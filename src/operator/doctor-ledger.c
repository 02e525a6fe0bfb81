/* doctor's check of the ledger: entries that the drain can't use */
#include <errno.h>

#include "base/fd.h"
#include "base/hash.h"
#include "operator/doctor.h"
#include "operator/history.h"
#include "record/ledger.h"
#include "spool/scan.h"
#include "wire/name.h"

enum { DOCTOR_LEDGER_MAX = 1000000, DOCTOR_LEDGER_SAID = 20 };

static int doctor_entry_newer(Doctor *d, const char *where, const char *key) {
        CLEANUP(str_freep) char *command = NULL;
        int r = str_printf(&command, "spoolgate upgrade -s %s", d->layout.slug);

        return r < 0 ? r
                     : doctor_add(d, DOCTOR_FINDING, &command,
                                  "%s/ledger/%s/%s was written by a newer version: what asks with "
                                  "its key is refused",
                                  d->layout.state, where, key);
}

typedef struct DoctorStart {
        const char *key;
        char *name, *verb, *arg;
} DoctorStart;

static void doctor_start_done(DoctorStart *s) {
        str_freep(&s->name);
        str_freep(&s->verb);
        str_freep(&s->arg);
}

static int doctor_start_each(void *userdata, const Record *r, const char *raw, size_t len,
                             const char *hash) {
        DoctorStart *s = userdata;
        const char *key = record_str(r, "key");
        int x;

        (void)raw;
        (void)len;
        (void)hash;
        if (!key || !str_eq(key, s->key) || !str_eq(record_str(r, "event"), "start"))
                return 0;
        doctor_start_done(s);
        x = str_dup(record_str(r, "request"), &s->name);
        if (x == 0)
                x = str_dup(record_str(r, "verb"), &s->verb);
        return x == 0 ? str_dup(record_str(r, "arg"), &s->arg) : x;
}

/* What was begun under this key, by the audit log. *ret: it says so, and the finding is added. */
static int doctor_entry_begun(Doctor *d, const char *key, bool *ret) {
        CLEANUP(doctor_start_done) DoctorStart s = {.key = key};
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        uint64_t lines;
        Name name;
        int r = history_read(d->config.state_fd, doctor_start_each, &s, &why, &lines);

        *ret = false;
        if (r != 0 || !s.name || !s.verb || name_parse(s.name, &name) != 0)
                return r < 0 ? r : 0; /* a broken log is another check's */
        r = str_printf(&command, "spoolgate resolve -s %s %s failed", d->layout.slug, name.text);
        if (r < 0)
                return r;
        *ret = true;
        return doctor_add(d, DOCTOR_FINDING, &command,
                          "%s/ledger/begun/%s is damaged: nothing that changes something runs. "
                          "%s%s%s was begun, and what became of it is not known: say done, failed "
                          "or retry",
                          d->layout.state, key, s.verb, s.arg ? " " : "", s.arg ? s.arg : "");
}

/* Moved aside it is kept as evidence, and its key can be used again. One that was only begun is the
 * operator's to judge: --fix leaves it alone. */
static int doctor_entry_damaged(Doctor *d, bool ended, const char *key) {
        const char *where = ended ? "ended" : "begun";
        CLEANUP(str_freep) char *from = NULL;
        CLEANUP(str_freep) char *to = NULL;
        CLEANUP(str_freep) char *quoted_from = NULL;
        CLEANUP(str_freep) char *quoted_to = NULL;
        CLEANUP(str_freep) char *command = NULL;
        bool said = false;
        int r = ended ? 0 : doctor_entry_begun(d, key, &said);

        if (r < 0 || said)
                return r;
        r = str_printf(&from, "%s/ledger/%s/%s", d->layout.state, where, key);
        if (r == 0)
                r = str_printf(&to, "%s/ledger/%s.%s", d->layout.state, key, where);
        if (r == 0)
                r = doctor_quote(from, &quoted_from);
        if (r == 0)
                r = doctor_quote(to, &quoted_to);
        if (r == 0)
                r = str_printf(&command, "mv -n -- %s %s", quoted_from, quoted_to);
        if (r < 0)
                return r;
        return ended ? doctor_add(d, DOCTOR_SAFE, &command,
                                  "%s is damaged: what asks with its key is refused; moved aside, "
                                  "the key is free for a new run",
                                  from)
                     : doctor_add(d, DOCTOR_FINDING, &command,
                                  "%s is damaged: nothing that changes something runs. Its run was "
                                  "begun, and what became of it is not known (spoolgate audit); "
                                  "moved aside, a request of it that still waits runs again",
                                  from);
}

static int doctor_entries(Doctor *d, const Ledger *l, bool ended, size_t *said) {
        CLEANUP(strv_done) Strv keys = STRV_NULL;
        bool more;
        int r = scan_visible(ended ? l->ended_fd : l->begun_fd, DOCTOR_LEDGER_MAX, &keys, &more);

        for (size_t i = 0; r == 0 && i < keys.len && *said < DOCTOR_LEDGER_SAID; i++) {
                CLEANUP(ledger_entry_done) LedgerEntry e = LEDGER_ENTRY_NULL;
                const char *key = keys.items[i];

                if (!hash_is_hex(key, HASH_HEX_SIZE - 1))
                        continue;
                r = ended ? ledger_find(l, key, &e) : ledger_load_begun(l, key, &e);
                *said += r == LEDGER_E_CORRUPT || r == LEDGER_E_NEWER;
                if (r == LEDGER_E_NEWER)
                        r = doctor_entry_newer(d, ended ? "ended" : "begun", key);
                else if (r == LEDGER_E_CORRUPT)
                        r = doctor_entry_damaged(d, ended, key);
                else if (r == LEDGER_E_ABSENT) /* a drain is at work */
                        r = 0;
        }
        return r;
}

static int doctor_ledger(Doctor *d) {
        PinRule rule = config_rule(&d->config);
        CLEANUP(ledger_close) Ledger l = LEDGER_NULL;
        size_t said = 0;
        int r;

        l.rule = rule;
        r = pin_dir_at(d->config.state_fd, "ledger/begun", &rule, 0, &l.begun_fd);
        if (r == 0)
                r = pin_dir_at(d->config.state_fd, "ledger/ended", &rule, 0, &l.ended_fd);
        if (r != 0)
                return r < 0 ? r : 0; /* absent: nothing has run; others' are another check's */
        r = doctor_entries(d, &l, false, &said);
        return r < 0 ? r : doctor_entries(d, &l, true, &said);
}

static const DoctorCheck doctor_ledger_checks[] = {{"ledger", doctor_ledger, true}};

const DoctorCheck *doctor_ledger_check(size_t i) {
        return i < sizeof(doctor_ledger_checks) / sizeof(doctor_ledger_checks[0])
                       ? &doctor_ledger_checks[i]
                       : NULL;
}
