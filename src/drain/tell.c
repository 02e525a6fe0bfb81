#include "drain/tell.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "drain/orders.h"
#include "spool/retire.h"
#include "verb/table.h"
#include "wire/record.h"

/* A field of an audit line: escaped, so that one record is one line whatever the bytes were. */
static int tell_put(Record *r, const char *key, const char *value, size_t max) {
        CLEANUP(str_done) Str text = STR_NULL;
        int e;

        if (!value)
                return 0;
        e = str_add_escaped(&text, value, strnlen(value, max), false);
        if (e < 0)
                return e;
        return record_put_bytes(r, key, text.data ? text.data : "", text.len);
}

static int tell_body(const TellEvent *e, Record *r, char **ret) {
        char now[CLOCK_TEXT_SIZE];
        int x;

        clock_format(clock_wall_ms(), now);
        x = record_put_str(r, "ts", now);
        if (x >= 0)
                x = record_put_str(r, "event", e->event);
        if (x >= 0)
                x = tell_put(r, "request", e->request, 256);
        if (x >= 0)
                x = tell_put(r, "verb", e->verb, 64);
        if (x >= 0)
                x = tell_put(r, "arg", e->arg, 64);
        if (x >= 0 && e->has_state)
                x = record_put_str(r, "state", state_name(e->state));
        if (x >= 0 && e->reason != REASON_NONE)
                x = record_put_str(r, "reason", reason_name(e->reason));
        if (x >= 0)
                x = tell_put(r, "gate", e->gate, 32);
        if (x >= 0)
                x = tell_put(r, "detail", e->detail, 512);
        if (x >= 0 && e->has_exit)
                x = record_put_int(r, "exit", e->exit);
        if (x >= 0 && e->duration_ms >= 0)
                x = record_put_int(r, "duration_ms", e->duration_ms);
        if (x >= 0)
                x = tell_put(r, "argv", e->argv, 600);
        if (x >= 0)
                x = tell_put(r, "unit", e->unit, 128);
        if (x >= 0)
                x = tell_put(r, "key", e->key, 64);
        if (x >= 0)
                x = tell_put(r, "fingerprint", e->fingerprint, 64);
        if (x >= 0)
                x = tell_put(r, "by", e->by, 64);
        if (x >= 0)
                x = tell_put(r, "sha256", e->sha256, 64);
        return x < 0 ? x : record_format(r, ret);
}

static void tell_journal(const Drain *d, const TellEvent *e, JournalKind kind, const char *hash) {
        CLEANUP(str_done) Str name = STR_NULL, text = STR_NULL;
        const char *outcome = e->has_state ? state_name(e->state) : NULL;

        if (e->request && str_add_escaped(&name, e->request, strlen(e->request), false) < 0)
                return; /* the journal is a copy: out of memory leaves the audit line */
        if (str_addf(&text, "%s: %s %s%s%s%s%s%s%s", e->event, name.len ? name.data : "-",
                     e->verb ? e->verb : "", e->arg ? " " : "", e->arg ? e->arg : "",
                     outcome ? ": " : "", outcome ? outcome : "",
                     e->reason != REASON_NONE ? ": " : "",
                     e->reason != REASON_NONE ? reason_name(e->reason) : "") < 0)
                return;
        journal_send(&(JournalEntry){
                .kind = kind,
                .message = text.data,
                .project = d->config->layout.slug,
                .request = name.data,
                .verb = e->verb,
                .arg = e->arg,
                .outcome = outcome,
                .reason = reason_name(e->reason),
                .hash = hash,
        });
}

/* A flood of claims and refusals (or pings) is counted; one line sums up what was left out. */
static int tell_counted(Drain *d, bool *ret_write) {
        PolicyRate limit = {600, 60};
        RefusalsBudget budget = {.day = 20000};
        CLEANUP(record_freep) Record *r = NULL;
        CLEANUP(str_freep) char *body = NULL;
        char now[CLOCK_TEXT_SIZE], hash[HASH_HEX_SIZE];
        uint64_t summed;
        int x;

        if (d->config->policy) {
                limit = policy_audit_refusals(d->config->policy);
                budget.day = policy_audit_day(d->config->policy);
        }
        budget.count = limit.count;
        budget.window_ms = (int64_t)limit.window_sec * 1000;
        x = audit_refusal(d->audit, &budget, clock_wall_ms(), ret_write, &summed);
        if (x != 0 || summed == 0)
                return x;
        clock_format(clock_wall_ms(), now);
        x = record_new(&r);
        if (x >= 0)
                x = record_put_str(r, "ts", now);
        if (x >= 0)
                x = record_put_str(r, "event", "summed");
        if (x >= 0)
                x = record_put_int(r, "left_out", (int64_t)summed);
        if (x >= 0)
                x = record_format(r, &body);
        if (x < 0)
                return x;
        x = audit_append(d->audit, body, false, hash);
        if (x == 0)
                tell_journal(d, &(TellEvent){.event = "summed", .duration_ms = -1}, JOURNAL_SUMMED,
                             hash);
        return x > 0 ? err_new(EMSGSIZE) : x;
}

int tell_audit(Drain *d, const TellEvent *e, JournalKind kind) {
        CLEANUP(record_freep) Record *r = NULL;
        CLEANUP(str_freep) char *body = NULL;
        char hash[HASH_HEX_SIZE];
        bool wanted = true;
        int x;

        if (!d->audit)
                return err_new(EROFS);
        if (e->counted) {
                x = tell_counted(d, &wanted);
                if (x != 0 || !wanted)
                        return x > 0 ? err_new(EIO) : x;
        }
        x = record_new(&r);
        if (x >= 0)
                x = tell_body(e, r, &body);
        if (x < 0)
                return x;
        x = audit_append(d->audit, body, e->sync, hash);
        if (x > 0)
                return err_new(EMSGSIZE);
        if (x < 0)
                return x;
        tell_journal(d, e, kind, hash);
        return 0;
}

int tell_line(Drain *d, const Job *j, const Response *r, const Str *line, bool sync) {
        int x = retire_respond(&d->spool, j->name.text, line->data, line->len, sync);

        if (x >= 0 && j->order[0] && state_terminal(r->state))
                x = orders_answer(d, j->order, line);
        return x < 0 ? x : 0;
}

int tell_response(Drain *d, const Job *j, Response *r, bool sync) {
        CLEANUP(str_done) Str line = STR_NULL;
        int x;

        r->request = j->name.text;
        x = response_format(r, &line);
        return x < 0 ? x : tell_line(d, j, r, &line, sync);
}

static int tell_verb(const Drain *d, const Verb *v, Record *list) {
        CLEANUP(record_freep) Record *r = NULL;
        const Policy *p = d->config->policy;
        const Strv *args = table_args(d->config->table, v);
        int x = record_new(&r);

        if (x >= 0)
                x = record_put_str(r, "verb", v->name);
        if (x >= 0)
                x = record_put_str(r, "class", verb_class_name(v->class));
        if (x >= 0)
                x = record_put_str(r, "mode",
                                   p && policy_mode(p, v) == POLICY_AUTO ? "auto" : "deny");
        if (x >= 0)
                x = args ? record_put_strv(r, "arg", args) : record_put_null(r, "arg");
        if (x >= 0)
                x = record_put_int(r, "timeout_sec", p ? policy_timeout(p, v) : v->timeout_sec);
        if (x >= 0)
                x = record_put_bool(r, "available", !v->missing);
        return x < 0 ? x : record_append_take(list, "verbs", &r);
}

static int tell_limit(Record *r, const char *key, PolicyRate rate) {
        CLEANUP(str_freep) char *text = NULL;
        int x = str_printf(&text, "%u/%u", rate.count, rate.window_sec);

        return x < 0 ? x : record_put_str(r, key, text);
}

static int tell_limits(const Drain *d, Record *all) {
        CLEANUP(record_freep) Record *r = NULL;
        const Policy *p = d->config->policy;
        int x = record_new(&r);

        if (x >= 0)
                x = tell_limit(r, "rate_per_verb", policy_rate_verb(p));
        if (x >= 0)
                x = tell_limit(r, "rate_total", policy_rate_total(p));
        if (x >= 0)
                x = record_put_int(r, "max_age_sec", policy_max_age(p));
        if (x >= 0)
                x = record_put_int(r, "queue_depth", policy_queue_depth(p));
        if (x >= 0)
                x = record_put_str(r, "scope_ceiling", verb_scope_name(policy_ceiling(p)));
        return x < 0 ? x : record_put_take(all, "limits", &r);
}

int tell_diagnostic(Drain *d, const char *name, const Record *r) {
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_done) Str line = STR_NULL;
        int x = record_format(r, &text);

        if (x >= 0)
                x = str_addf(&line, "%s\n", text);
        if (x < 0)
                return x;
        x = retire_diagnostic(&d->spool, name, line.data, line.len);
        return x == -ENOMEM ? x : 0; /* advisory: no room for it stops nobody */
}

int tell_capabilities(Drain *d) {
        CLEANUP(record_freep) Record *r = NULL;
        char now[CLOCK_TEXT_SIZE];
        int x = record_new(&r);

        clock_format(clock_wall_ms(), now);
        if (x >= 0)
                x = record_put_int(r, "v", 1);
        if (x >= 0)
                x = record_put_str(r, "slug", d->config->layout.slug);
        if (x >= 0)
                x = record_put_str(r, "stack", d->config->bridge->stack);
        if (x >= 0)
                x = record_put_str(r, "generated_at", now);
        if (x >= 0)
                x = record_put_list(r, "verbs");
        for (size_t i = 0; x >= 0; i++) {
                const Verb *v = table_at(d->config->table, i);
                if (!v)
                        break;
                x = tell_verb(d, v, r);
        }
        if (x >= 0 && d->config->policy)
                x = tell_limits(d, r);
        return x < 0 ? x : tell_diagnostic(d, "capabilities.json", r);
}

static int tell_running(const Drain *d, Record *r) {
        int x = record_put_list(r, "running");

        for (const Job *j = d->jobs; x >= 0 && j; j = j->next) {
                CLEANUP(record_freep) Record *one = NULL;
                if (j->phase == JOB_FOLLOWER)
                        continue;
                x = record_new(&one);
                if (x >= 0)
                        x = record_put_str(one, "request", j->name.text);
                if (x >= 0)
                        x = record_put_str(one, "verb", j->verb);
                if (x >= 0)
                        x = record_put_str(one, "arg", j->arg);
                if (x >= 0)
                        x = record_append_take(r, "running", &one);
        }
        return x;
}

int tell_heartbeat(Drain *d) {
        CLEANUP(record_freep) Record *r = NULL;
        char now[CLOCK_TEXT_SIZE];
        int x = record_new(&r);

        clock_format(clock_wall_ms(), now);
        if (x >= 0)
                x = record_put_int(r, "v", 1);
        if (x >= 0)
                x = record_put_str(r, "at", now);
        if (x >= 0)
                x = record_put_int(r, "completed", (int64_t)d->completed);
        if (x >= 0)
                x = record_put_int(r, "waiting_read_only", (int64_t)d->waiting_read);
        if (x >= 0)
                x = record_put_int(r, "waiting_mutating", (int64_t)d->waiting_mutating);
        if (x >= 0)
                x = tell_running(d, r);
        if (x < 0)
                return x;
        d->beat = d->completed;
        d->beat_ms = clock_mono_ms();
        return tell_diagnostic(d, "heartbeat.json", r);
}
