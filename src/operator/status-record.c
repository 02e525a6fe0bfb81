/* status_record: a Status for programs */
#include "base/clock.h"
#include "operator/status.h"

static int status_put_time(Record *r, const char *key, int64_t ms) {
        char text[CLOCK_TEXT_SIZE];

        clock_format(ms, text);
        return record_put_str(r, key, text);
}

static int status_put_units(const Status *s, Record *root) {
        int r = s->has_units ? record_put_list(root, "units") : record_put_null(root, "units");

        for (size_t i = 0; r == 0 && s->has_units && i < UNITS_COUNT; i++) {
                CLEANUP(record_freep) Record *one = NULL;
                const UnitState *u = &s->units.units[i];

                r = record_new(&one);
                if (r == 0)
                        r = record_put_str(one, "name", u->name);
                if (r == 0)
                        r = record_put_str(one, "load", u->load);
                if (r == 0)
                        r = record_put_str(one, "active", u->active);
                if (r == 0)
                        r = record_put_str(one, "enabled", u->enabled);
                if (r == 0)
                        r = record_put_str(one, "result", u->result);
                if (r == 0)
                        r = record_append_take(root, "units", &one);
        }
        return r < 0 ? r : record_put_bool(root, "linger", s->linger);
}

static int status_put_runs(const Status *s, Record *root) {
        int r = record_put_list(root, "begun");

        for (size_t i = 0; r == 0 && i < s->runs_len; i++) {
                CLEANUP(record_freep) Record *one = NULL;

                r = record_new(&one);
                if (r == 0)
                        r = record_put_str(one, "request", s->runs[i].name);
                if (r == 0)
                        r = record_put_str(one, "verb", s->runs[i].verb);
                if (r == 0)
                        r = record_put_str(one, "arg", s->runs[i].arg);
                if (r == 0)
                        r = status_put_time(one, "began", s->runs[i].began_ms);
                if (r == 0)
                        r = record_put_bool(one, "running", s->runs[i].alive);
                if (r == 0)
                        r = record_append_take(root, "begun", &one);
        }
        return r;
}

static int status_put_queue(const Status *s, Record *root) {
        int r = record_put_int(root, "waiting", (int64_t)s->waiting);

        if (r == 0)
                r = record_put_int(root, "processing", (int64_t)s->processing);
        if (r == 0)
                r = record_put_int(root, "reading", (int64_t)s->reading);
        if (r == 0)
                r = record_put_bool(root, "draining", s->draining);
        return r == 0 ? status_put_runs(s, root) : r;
}

static int status_put_rates(const Status *s, Record *root) {
        CLEANUP(record_freep) Record *rate = NULL;
        int r = record_new(&rate);

        if (r == 0)
                r = record_put_bool(rate, "broken", s->rate_broken);
        if (r == 0)
                r = record_put_int(rate, "used", s->rate_used);
        if (r == 0)
                r = record_put_int(rate, "limit", s->rate_limit);
        if (r == 0)
                r = record_put_int(rate, "window_sec", s->rate_window_sec);
        if (r == 0)
                r = record_put_int(rate, "audit_used", s->audit_used);
        if (r == 0)
                r = record_put_int(rate, "audit_day", s->audit_day);
        if (r == 0)
                r = record_put_list(rate, "verbs");
        for (size_t i = 0; r == 0 && i < s->rates_len; i++) {
                CLEANUP(record_freep) Record *one = NULL;

                r = record_new(&one);
                if (r == 0)
                        r = record_put_str(one, "what", s->rates[i].what);
                if (r == 0)
                        r = record_put_int(one, "used", s->rates[i].used);
                if (r == 0)
                        r = record_put_int(one, "limit", s->rates[i].limit);
                if (r == 0)
                        r = record_put_int(one, "free_in_ms", s->rates[i].retry_ms);
                if (r == 0)
                        r = record_append_take(rate, "verbs", &one);
        }
        return r < 0 ? r : record_put_take(root, "rate", &rate);
}

static int status_put_past(const Status *s, Record *root) {
        CLEANUP(record_freep) Record *day = NULL;
        int r = record_new(&day);

        for (State i = STATE_DONE; r == 0 && i <= STATE_EXPIRED; i++)
                r = record_put_int(day, state_name(i), (int64_t)s->day[i]);
        if (r == 0)
                r = record_put_take(root, "last_day", &day);
        if (r == 0)
                r = record_put_list(root, "latest");
        for (size_t i = 0; r == 0 && i < s->last_len; i++) {
                CLEANUP(record_freep) Record *one = NULL;

                r = record_new(&one);
                if (r == 0)
                        r = record_put_str(one, "what", s->last[i].what);
                if (r == 0)
                        r = record_put_str(one, "state", state_name(s->last[i].state));
                if (r == 0)
                        r = record_put_str(one, "reason", s->last[i].reason);
                if (r == 0)
                        r = status_put_time(one, "at", s->last[i].at_ms);
                if (r == 0)
                        r = record_append_take(root, "latest", &one);
        }
        return r < 0 ? r : record_put_str(root, "audit_trouble", s->audit_trouble.data);
}

static int status_put_guard(const Status *s, Record *root) {
        int r = record_put_str(root, "integrity", guard_name(s->guard));

        if (r == 0)
                r = record_put_str(root, "integrity_message", s->guard_text.data);
        if (r == 0)
                r = s->sealed ? status_put_time(root, "sealed_at", s->seal_ms)
                              : record_put_null(root, "sealed_at");
        if (r == 0)
                r = record_put_str(root, "sealed_by", s->seal_by);
        if (r == 0)
                r = record_put_str(root, "sealed_commit", s->seal_commit);
        if (r == 0)
                r = record_put_bool(root, "paused", s->pause.paused);
        if (r == 0)
                r = record_put_str(root, "paused_at", s->pause.at);
        if (r == 0)
                r = record_put_str(root, "paused_by", s->pause.by);
        return r < 0 ? r : record_put_str(root, "paused_reason", s->pause.reason);
}

static int status_put_disk(const Status *s, Record *root) {
        int r = record_put_int(root, "spool_bytes", (int64_t)s->spool.bytes);

        if (r == 0)
                r = record_put_int(root, "state_bytes", (int64_t)s->state.bytes);
        return r < 0 ? r : record_put_int(root, "free_bytes", (int64_t)s->state.free_bytes);
}

int status_record(const Status *s, Record **ret) {
        CLEANUP(record_freep) Record *root = NULL;
        int r = record_new(&root);

        if (r == 0)
                r = record_put_str(root, "project", s->slug);
        if (r == 0)
                r = record_put_bool(root, "bad", status_bad(s));
        if (r == 0)
                r = record_put_str(root, "trouble", s->trouble.data);
        if (r == 0 && s->trouble.len == 0) {
                r = record_put_str(root, "checkout", s->checkout);
                if (r == 0)
                        r = record_put_str(root, "stack", s->stack);
                if (r == 0)
                        r = record_put_str(root, "launch", s->launch);
                if (r == 0)
                        r = record_put_str(root, "policy_trouble", s->policy_trouble);
                if (r == 0)
                        r = record_put_str(root, "verbs_trouble", s->own_trouble);
                if (r == 0)
                        r = status_put_units(s, root);
                if (r == 0)
                        r = status_put_queue(s, root);
                if (r == 0)
                        r = status_put_rates(s, root);
                if (r == 0)
                        r = status_put_past(s, root);
                if (r == 0)
                        r = status_put_guard(s, root);
                if (r == 0)
                        r = status_put_disk(s, root);
        }
        if (r < 0)
                return r;
        *ret = root;
        root = NULL;
        return 0;
}
