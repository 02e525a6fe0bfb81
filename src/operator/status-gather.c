/* status_gather: what the host knows of one project */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "fs/lock.h"
#include "guard/seal.h"
#include "installer/detect.h"
#include "drain/integrity.h"
#include "operator/history.h"
#include "operator/status.h"
#include "record/ledger.h"
#include "record/refusals.h"
#include "run/result.h"
#include "spool/scan.h"

enum { STATUS_ENTRIES_MAX = 100 * 1000, STATUS_RUNS_MAX = 100, STATUS_RATES_MAX = 500 };

void status_done(Status *s) {
        str_freep(&s->slug);
        str_freep(&s->checkout);
        str_freep(&s->stack);
        str_freep(&s->launch);
        str_done(&s->trouble);
        str_freep(&s->policy_trouble);
        str_freep(&s->own_trouble);
        unitstates_done(&s->units);
        str_done(&s->units_trouble);
        for (size_t i = 0; i < s->runs_len; i++) {
                str_freep(&s->runs[i].name);
                str_freep(&s->runs[i].verb);
                str_freep(&s->runs[i].arg);
        }
        free(s->runs);
        for (size_t i = 0; i < s->rates_len; i++)
                str_freep(&s->rates[i].what);
        free(s->rates);
        for (size_t i = 0; i < s->last_len; i++) {
                str_freep(&s->last[i].what);
                str_freep(&s->last[i].reason);
        }
        str_done(&s->audit_trouble);
        str_done(&s->guard_text);
        str_freep(&s->seal_by);
        str_freep(&s->seal_commit);
        host_pause_done(&s->pause);
        *s = STATUS_NULL;
}

static int status_units(Status *s) {
        CLEANUP(str_freep) char *user = NULL;
        int r = unitstates_read(s->slug, &s->units, &s->units_trouble);

        if (r < 0)
                return r;
        s->has_units = r == 0;
        return detect_linger(&s->linger, &user);
}

static int status_count(const Config *c, const char *dir, size_t *ret, bool *ret_bad) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(strv_done) Strv names = STRV_NULL;
        PinRule any = {(uid_t)-1, 0};
        bool more;
        int r = str_printf(&path, "%s/%s", c->bridge->spool, dir);

        if (r == 0)
                r = pin_dir_at(c->checkout_fd, path, &any, 0, &fd);
        if (r == 0)
                r = scan_visible(fd, STATUS_ENTRIES_MAX, &names, &more);
        *ret_bad = *ret_bad || r > 0;
        *ret = names.len;
        return r < 0 ? r : 0;
}

static int status_run(const Config *c, const Ledger *ledger, const char *key, Status *s) {
        LedgerEntry e = LEDGER_ENTRY_NULL;
        StatusRun *runs;
        bool alive;
        int r = ledger_load_begun(ledger, key, &e);

        if (r != 0)
                return r < 0 ? r : 0; /* it has ended meanwhile */
        r = result_running(c->run_fd, key, &alive);
        runs = r < 0 ? NULL : reallocarray(s->runs, s->runs_len + 1, sizeof(*runs));
        if (runs) {
                s->runs = runs;
                runs[s->runs_len++] = (StatusRun){e.name, e.verb, e.arg, e.began_ms, alive};
                e.name = e.verb = e.arg = NULL;
        } else if (r >= 0) {
                r = err_new(ENOMEM);
        }
        ledger_entry_done(&e);
        return r < 0 ? r : 0;
}

static int status_runs(const Config *c, Status *s) {
        CLEANUP(strv_done) Strv keys = STRV_NULL;
        CLEANUP(strv_done) Strv ids = STRV_NULL;
        PinRule rule = config_rule(c);
        Ledger ledger = LEDGER_NULL;
        int r = ledger_open(c->state_fd, &rule, &ledger);

        if (r == 0)
                r = ledger_list_begun(&ledger, STATUS_RUNS_MAX, &keys);
        for (size_t i = 0; r == 0 && i < keys.len; i++)
                r = status_run(c, &ledger, keys.items[i], s);
        ledger_close(&ledger);
        if (r == 0)
                r = result_list(c->run_fd, STATUS_RUNS_MAX, &ids);
        for (size_t i = 0; r == 0 && i < ids.len; i++) {
                bool alive = false;

                if (str_starts(ids.items[i], "r-"))
                        r = result_running(c->run_fd, ids.items[i], &alive);
                s->reading += alive;
        }
        return r < 0 ? r : 0;
}

static int status_rate(const Config *c, const Verb *verb, const char *arg, Status *s) {
        StatusRate one = {0}, *rates;
        HostRate rate;
        int r = host_rate(c, verb->name, arg, &rate);

        if (r < 0)
                return r;
        s->rate_broken = rate.broken;
        s->rate_used = rate.used_total;
        s->rate_limit = rate.limit_total;
        if (rate.broken || rate.used == 0 || s->rates_len == STATUS_RATES_MAX)
                return 0;
        one = (StatusRate){NULL, rate.used, rate.limit, rate.retry_ms};
        r = str_printf(&one.what, "%s%s%s", verb->name, arg ? " " : "", arg ? arg : "");
        if (r < 0)
                return r;
        rates = reallocarray(s->rates, s->rates_len + 1, sizeof(*rates));
        if (!rates) {
                str_freep(&one.what);
                return err_new(ENOMEM);
        }
        s->rates = rates;
        rates[s->rates_len++] = one;
        return 0;
}

static int status_rates(const Config *c, Status *s) {
        PinRule rule = config_rule(c);
        const Verb *verb;
        int r;

        if (!c->policy)
                return 0;
        s->audit_day = policy_audit_day(c->policy);
        r = refusals_used(c->state_fd, &rule, s->audit_day, clock_wall_ms(), &s->audit_used);
        s->rate_window_sec = policy_rate_total(c->policy).window_sec;
        for (size_t i = 0; r == 0 && (verb = table_at(c->table, i)) && !s->rate_broken; i++) {
                const Strv *args = table_args(c->table, verb);

                if (verb->class != VERB_MUTATING)
                        continue;
                if (!args)
                        r = status_rate(c, verb, NULL, s);
                for (size_t k = 0; r == 0 && args && k < args->len && !s->rate_broken; k++)
                        r = status_rate(c, verb, args->items[k], s);
        }
        return r;
}

typedef struct StatusPast {
        Status *status;
        int64_t since_ms;
} StatusPast;

static int status_outcome(void *userdata, const Record *r, const char *raw, size_t len,
                          const char *hash) {
        StatusPast *p = userdata;
        Status *s = p->status;
        const char *name = record_str(r, "state"), *reason = record_str(r, "reason");
        const char *verb = record_str(r, "verb"), *arg = record_str(r, "arg");
        StatusLast one = {.at_ms = history_time(r)};
        int x;

        (void)raw;
        (void)len;
        (void)hash;
        if (!name || !state_parse(name, &one.state) || !state_terminal(one.state))
                return 0;
        if (one.at_ms >= p->since_ms)
                s->day[one.state]++;
        x = str_printf(&one.what, "%s%s%s", verb ? verb : "-", arg ? " " : "", arg ? arg : "");
        if (x == 0 && str_dup(reason, &one.reason) < 0) {
                str_freep(&one.what);
                x = -ENOMEM;
        }
        if (x < 0)
                return x;
        if (s->last_len == STATUS_LAST) {
                str_freep(&s->last[STATUS_LAST - 1].what);
                str_freep(&s->last[STATUS_LAST - 1].reason);
        } else {
                s->last_len++;
        }
        memmove(s->last + 1, s->last, (s->last_len - 1) * sizeof(one));
        s->last[0] = one;
        return 0;
}

static int status_seal(const Config *c, Status *s) {
        Seal seal = SEAL_NULL;
        int r = seal_load(c->state_fd, &seal);

        s->sealed = r == 0;
        s->seal_bad = r > 0 && r != SEAL_E_ABSENT;
        if (r != 0)
                return r < 0 ? r : 0;
        s->seal_ms = seal.time_ms;
        r = str_dup(seal.by, &s->seal_by);
        if (r == 0 && *seal.commit)
                r = str_dup(seal.commit, &s->seal_commit);
        seal_done(&seal);
        return r;
}

static int status_guard(const Config *c, Status *s) {
        CLEANUP(guard_freep) Guard *g = NULL;
        int r = integrity_ask(c, &g);

        if (r < 0) { /* the drain refuses it as integrity-error too */
                s->guard = GUARD_ERROR;
                return str_adds(&s->guard_text, "the integrity check could not be made");
        }
        s->guard = guard_code(g);
        return host_guard_text(g, &s->guard_text);
}

static int status_disk(const Config *c, Status *s) {
        CLEANUP(fd_closep) int spool = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        int r = pin_dir_at(c->checkout_fd, c->bridge->spool, &any, 0, &spool);

        if (r == 0)
                r = disk_measure(spool, &s->spool);
        else
                s->spool_bad = s->spool_bad || r > 0;
        return r < 0 ? r : disk_measure(c->state_fd, &s->state);
}

static int status_host(Config *c, int64_t now_ms, Status *s) {
        StatusPast past = {s, now_ms - STATUS_DAY_MS};
        uint64_t lines;
        int r;

        r = str_dup(c->bridge->checkout.path, &s->checkout);
        if (r == 0)
                r = str_dup(c->bridge->stack, &s->stack);
        if (r == 0)
                r = str_dup(c->bridge->launch, &s->launch);
        if (r == 0)
                r = str_dup(c->trouble, &s->policy_trouble);
        if (r == 0)
                r = str_dup(c->own_trouble, &s->own_trouble);
        if (r == 0)
                r = status_units(s);
        if (r == 0)
                r = status_count(c, "requests", &s->waiting, &s->spool_bad);
        if (r == 0)
                r = status_count(c, "processing", &s->processing, &s->spool_bad);
        if (r == 0)
                r = lock_held(c->state_fd, "lock", &s->draining);
        if (r == 0)
                r = status_runs(c, s);
        if (r == 0)
                r = status_rates(c, s);
        if (r == 0)
                r = history_read(c->state_fd, status_outcome, &past, &s->audit_trouble, &lines);
        if (r >= 0)
                r = status_guard(c, s);
        if (r == 0)
                r = status_seal(c, s);
        if (r == 0)
                r = host_pause(c, &s->pause);
        return r < 0 ? r : status_disk(c, s);
}

int status_gather(const char *slug, int64_t now_ms, Status *ret) {
        CLEANUP(config_done) Config c = HOST_CONFIG_NULL;
        CLEANUP(status_done) Status s = STATUS_NULL;
        int r = str_dup(slug, &s.slug);

        if (r == 0)
                r = host_load(slug, &c, &s.trouble);
        if (r == 0)
                r = status_host(&c, now_ms, &s);
        if (r < 0)
                return r;
        *ret = s;
        s = STATUS_NULL;
        return 0;
}
