#include "check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/audit.h"
#include "record/ledger.h"

enum { CHECK_DOTFILES = 8 /* a torn write, and the logs of looks that ran again */, CHECK_PRINTED = 40 };

static const char *const check_names[CHECK_RULES] = {
        "I1 one answer each", "I2 at most once", "I3 on record first", "I4 nothing left in line", "I8 restored by the next drain",
        "audit", "ledger", "tidy", "never spins", "exit status",
};

const char *check_name(CheckRule rule) {
        return check_names[rule];
}

size_t check_total(const CheckReport *r) {
        size_t n = 0;

        for (size_t i = 0; i < CHECK_RULES; i++)
                n += r->count[i];
        return n;
}

void check_breach(CheckReport *r, CheckRule rule, const char *format, ...) {
        char text[512];
        va_list ap;

        r->count[rule]++;
        if (check_total(r) > (r->quiet ? r->quiet : CHECK_PRINTED))
                return;
        va_start(ap, format);
        vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        printf("  %s: %s: %s\n", r->where, check_names[rule], text);
        fflush(stdout);
}

static bool check_reason(const World *w, const char *name, const char *reason) {
        static char bytes[256 * 1024];
        char file[192], want[64];

        snprintf(file, sizeof(file), "responses/%s.response.json", name);
        snprintf(want, sizeof(want), "\"reason\":\"%s\"", reason);
        return world_read(w->spool.text, file, bytes, sizeof(bytes), NULL) && strstr(bytes, want);
}

/* Host trouble is answered so where it was injected; nothing may have run for it. */
static bool check_excused(const World *w, const CheckReport *r, const char *name) {
        static const char *const reasons[] = {
                "host-error", "host-config", "spawn", "integrity-error",
                "paused",    /* whether STATE/paused is there can't be told */
                "malformed", /* it could not be claimed or read */
        };

        for (size_t i = 0; r->faulty && i < sizeof(reasons) / sizeof(reasons[0]); i++)
                if (check_reason(w, name, reasons[i]))
                        return true;
        return false;
}

/* I1: its answer, of the right kind; its file in archive/ or quarantine/, once. */
static void check_case(const World *w, size_t i, CheckReport *r) {
        const WorldCase *c = &world_cases[i];
        unsigned state = world_state(w, i);
        char name[128], path[1024];
        struct stat st;
        bool archived;

        world_name(w, i, name);
        if (state == 0) {
                check_breach(r, CHECK_I1, "%s has no last answer", name);
                return;
        }
        r->states[state]++;
        if (!(state & (c->ends | r->also)) && !check_excused(w, r, name) )
                check_breach(r, CHECK_I1, "%s ended as %u, not in %u", name, state, c->ends);
        if (c->reason && state != W_DONE && !r->faulty && !check_reason(w, name, c->reason))
                check_breach(r, CHECK_I1, "%s has another reason than %s", name, c->reason);
        snprintf(path, sizeof(path), "%s/archive/%s", w->spool.text, name);
        archived = lstat(path, &st) == 0;
        if (archived == c->quarantined && !r->faulty)
                check_breach(r, CHECK_I1, "%s is %sin archive/", name, archived ? "" : "not ");
}

/* I2: done => exactly one effect, refused => none, never two; over all requests of one key and line. */
static void check_effects(const World *w, size_t i, CheckReport *r) {
        const WorldCase *c = &world_cases[i];
        bool ran = false, maybe = false;
        size_t n;

        if (!c->line)
                return;
        for (size_t k = 0; k < world_case_count; k++) {
                unsigned state;
                char name[128];
                if (!world_cases[k].line || strcmp(world_cases[k].line, c->line) != 0)
                        continue;
                if (k < i)
                        return; /* counted there */
                state = world_state(w, k);
                world_name(w, k, name);
                ran = ran || (state == W_DONE && !(c->reason && strcmp(c->reason, "plan") == 0)) ||
                      (state == W_FAILED && check_reason(w, name, "exit-nonzero"));
                maybe = maybe || state == W_UNCERTAIN || (state == W_FAILED && !check_reason(w, name, "spawn"));
        }
        n = world_effects(w, c->line);
        if (n > 1)
                check_breach(r, CHECK_I2, "'%s' happened %zu times", c->line, n);
        else if (ran && n != 1)
                check_breach(r, CHECK_I2, "'%s' is said to be done and did not happen", c->line);
        else if (!ran && !maybe && n != 0)
                check_breach(r, CHECK_I2, "'%s' was refused and happened", c->line);
        r->uncertain_ran += !ran && maybe && n == 1;
}

typedef struct CheckAudit {
        const World *world;
        bool claimed[CHECK_CASES], started[CHECK_CASES], ended[CHECK_CASES], early[CHECK_CASES];
        bool faulty;
} CheckAudit;

static int check_line(void *userdata, const char *line, size_t len, const char *hash) {
        CheckAudit *a = userdata;
        char text[AUDIT_LINE_MAX + 1];

        (void)hash;
        len = len < AUDIT_LINE_MAX ? len : AUDIT_LINE_MAX;
        memcpy(text, line, len);
        text[len] = '\0';
        for (size_t i = 0; i < world_case_count; i++) {
                char name[128];
                world_name(a->world, i, name);
                if (!strstr(text, name))
                        continue;
                if (strstr(text, "\"event\":\"claimed\""))
                        a->claimed[i] = true;
                if (strstr(text, "\"event\":\"start\"")) {
                        a->early[i] = a->early[i] || (!a->claimed[i] && !a->faulty);
                        a->started[i] = true;
                }
                if (strstr(text, "\"event\":\"end\"")) {
                        a->early[i] = a->early[i] || !a->started[i];
                        a->ended[i] = true;
                }
        }
        return 0;
}

/* It, or the one of the same key that ran for both. */
static bool check_recorded(const CheckAudit *a, size_t i) {
        const char *key = world_cases[i].key;

        for (size_t k = 0; k < world_case_count; k++)
                if ((k == i || (key && world_cases[k].key && strcmp(world_cases[k].key, key) == 0)) && a->started[k] && a->ended[k])
                        return true;
        return false;
}

/* The chain holds; what ran has its start and its end there, in this order. */
static void check_audit(const World *w, int state, CheckReport *r) {
        PinRule rule = { geteuid(), 0022 };
        CheckAudit a = { .world = w, .faulty = r->faulty };
        AuditBreak broken;
        uint64_t lines;
        int e = audit_verify(state, &rule, check_line, &a, &broken, &lines);

        if (e != 0) {
                check_breach(r, CHECK_AUDIT, "the chain doesn't hold (%d): %s", e, e == AUDIT_E_BROKEN ? broken.what : "");
                return;
        }
        for (size_t i = 0; i < world_case_count; i++) {
                const WorldCase *c = &world_cases[i];
                if (a.early[i])
                        check_breach(r, CHECK_AUDIT, "request %zu has an end before its start, or a start before its claim", i);
                if (!a.claimed[i] && world_sent(w, i) && !r->faulty && !r->cut)
                        check_breach(r, CHECK_AUDIT, "request %zu has no claim on record", i);
                if (c->mutating && !c->reason && world_state(w, i) & (W_DONE | W_FAILED | W_UNCERTAIN) && !check_recorded(&a, i))
                        check_breach(r, CHECK_AUDIT, "request %zu has no %s line", i, a.started[i] ? "end" : "start");
        }
}

/* Each key that ran has ended, with the answer that was given. */
static void check_ledger(const World *w, int state, CheckReport *r) {
        PinRule rule = { geteuid(), 0022 };
        Ledger l = LEDGER_NULL;

        if (ledger_open(state, &rule, &l) != 0) {
                check_breach(r, CHECK_LEDGER, "can't be opened");
                return;
        }
        for (size_t i = 0; i < world_case_count; i++) {
                static char bytes[256 * 1024];
                const WorldCase *c = &world_cases[i];
                LedgerEntry e = LEDGER_ENTRY_NULL;
                char name[128], file[192], key[HASH_HEX_SIZE];
                size_t len = 0;
                bool found;
                if ((!c->mutating && !c->key) || c->reason || !(world_state(w, i) & (W_DONE | W_FAILED | W_UNCERTAIN)))
                        continue;
                world_name(w, i, name);
                ledger_key(c->key, name, key);
                snprintf(file, sizeof(file), "responses/%s.response.json", name);
                found = ledger_find(&l, key, &e) == 0 && e.state == LEDGER_ENDED;
                if (!found && (c->mutating || !r->faulty)) /* a look goes on without a ledger that can't be opened */
                        check_breach(r, CHECK_LEDGER, "request %zu is answered and its key has not ended", i);
                else if (found && strcmp(e.name, name) == 0 && world_read(w->spool.text, file, bytes, sizeof(bytes), &len) &&
                         (len != e.response.len || memcmp(bytes, e.response.data, len) != 0))
                        check_breach(r, CHECK_LEDGER, "request %zu has another answer than the ledger", i);
                ledger_entry_done(&e);
        }
        ledger_close(&l);
}

static const char *check_missing(const World *w) {
        static char list[512];
        char name[128], path[1024];
        size_t len = 0;
        struct stat st;

        list[0] = '\0';
        for (size_t i = 0; i < world_case_count && len < sizeof(list) - 32; i++) {
                world_name(w, i, name);
                snprintf(path, sizeof(path), "%s/archive/%s", w->spool.text, name);
                if (lstat(path, &st) < 0)
                        len += (size_t)snprintf(list + len, sizeof(list) - len, " %zu %s", i, world_cases[i].verb);
        }
        return list;
}

void check_given(const World *w, CheckGiven *ret) {
        for (size_t i = 0; i < world_case_count; i++)
                ret->answers[i] = world_sent(w, i) ? world_answer(w, i) : 0;
}

void check_kept(const World *w, const CheckGiven *given, CheckReport *r) {
        for (size_t i = 0; i < world_case_count; i++)
                if (given->answers[i] && world_answer(w, i) != given->answers[i])
                        check_breach(r, CHECK_I1, "request %zu (%s) had its answer, and has another now", i, world_cases[i].verb);
}

void check_world(const World *w, CheckReport *r) {
        static char bytes[64 * 1024];
        int state = open(w->state.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        size_t n;

        for (size_t i = 0; i < world_case_count; i++) {
                if (!world_sent(w, i))
                        continue;
                check_case(w, i, r);
                check_effects(w, i, r);
        }
        if (world_read(w->home.text, "violations", bytes, sizeof(bytes), NULL))
                check_breach(r, CHECK_I3, "ran off the record: %s", bytes);
        n = world_visible(w->spool.text, "requests") + world_visible(w->spool.text, "processing");
        if (n)
                check_breach(r, CHECK_I4, "%zu entries in requests/ and processing/", n);
        if (world_visible(w->state.text, "ledger/begun"))
                check_breach(r, CHECK_I8, "ledger/begun isn't empty");
        n = world_kept(w);
        if (n != w->hostile + world_sent_count(w))
                check_breach(r, CHECK_I1, "%zu entries are kept; not in archive/:%s", n, check_missing(w));
        n = world_visible(w->spool.text, "quarantine");
        if (!r->faulty && n != w->hostile + 2)
                check_breach(r, CHECK_I1, "%zu entries in quarantine/", n);
        if (world_dotfiles(w) > CHECK_DOTFILES)
                check_breach(r, CHECK_TIDY, "%zu dotfiles", world_dotfiles(w));
        if (state < 0)
                check_breach(r, CHECK_LEDGER, "no state");
        check_audit(w, state, r);
        check_ledger(w, state, r);
        close(state);
}
