#include "drain/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "drain/outcome.h"
#include "drain/answer.h"
#include "drain/integrity.h"
#include "record/rate.h"
#include "wire/mac.h"

typedef struct JudgeFacts {
        Drain *drain;
        Job *job;
} JudgeFacts;

bool judge_paused(const Config *c) {
        struct stat st;

        return fstatat(c->state_fd, "paused", &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

int judge_blame(Drain *d, const char *key, int code) {
        Config *c = d->config;
        struct stat st;
        bool ended = fstatat(d->ledger.ended_fd, key, &st, AT_SYMLINK_NOFOLLOW) == 0;

        str_freep(&c->record_trouble);
        return str_printf(&c->record_trouble, "the ledger entry %s/ledger/%s/%s %s -s %s%s",
                          c->layout.state, ended ? "ended" : "begun", key,
                          code == LEDGER_E_NEWER
                                  ? "was written by a newer version\nspoolgate upgrade"
                                  : "is damaged\nspoolgate doctor",
                          c->layout.slug, ended && code != LEDGER_E_NEWER ? " --fix" : "");
}

/* Mutating requests and those with a key have a ledger entry; what the ledger can't tell refuses
 * mutating verbs only. */
static int judge_probe_replay(void *userdata, const Request *r, bool mutating, Reason *ret_reason,
                              bool *ret_replay) {
        const JudgeFacts *f = userdata;
        LedgerEntry e = LEDGER_ENTRY_NULL;
        bool same, lost; /* lost: begun, and recovery has not settled it: nothing to wait for,
                            nothing to tell */
        int x;

        *ret_reason = REASON_NONE;
        *ret_replay = false;
        if (!mutating && !r->idempotency_key)
                return 0;
        if (!f->drain->ledger_ok) {
                f->job->unkeyed = !mutating;
                *ret_reason = mutating ? REASON_HOST_ERROR : REASON_NONE;
                return 0;
        }
        x = ledger_find(&f->drain->ledger, f->job->key, &e);
        if (x == LEDGER_E_ABSENT)
                return 0;
        if (x != 0) {
                *ret_reason = mutating ? REASON_HOST_ERROR : REASON_NONE;
                f->job->unkeyed = !mutating;
                return x < 0 ? x : judge_blame(f->drain, f->job->key, x);
        }
        same = strcmp(e.fingerprint, f->job->fingerprint) == 0;
        lost = e.state == LEDGER_BEGUN && !drain_find_key(f->drain, f->job->key);
        ledger_entry_done(&e);
        *ret_reason = !same ? REASON_KEY_CONFLICT : lost ? REASON_HOST_ERROR : REASON_NONE;
        *ret_replay = same && !lost;
        return 0;
}

static int judge_probe_rate(void *userdata, VerbCall call, int64_t *ret_retry_sec) {
        const JudgeFacts *f = userdata;
        const Config *c = f->drain->config;
        PolicyRate verb = policy_rate_verb(c->policy), total = policy_rate_total(c->policy);
        PinRule rule = config_rule(c);
        CLEANUP(str_freep) char *key = NULL;
        int64_t retry_ms;
        int r;

        r = str_printf(&key, "%s%s%s", call.verb->name, call.arg ? "." : "",
                       call.arg ? call.arg : "");
        if (r < 0)
                return r;
        r = rate_take(c->state_fd, &rule, key,
                      (RateLimit){verb.count, (int64_t)verb.window_sec * 1000},
                      (RateLimit){total.count, (int64_t)total.window_sec * 1000}, clock_wall_ms(),
                      &retry_ms);
        if (r > 0)
                return err_new(EBADMSG);
        if (r < 0)
                return r;
        *ret_retry_sec = (retry_ms + 999) / 1000;
        return 0;
}

static int judge_probe_integrity(void *userdata, Reason *ret_reason) {
        const JudgeFacts *f = userdata;

        return integrity_check(f->drain, f->job, ret_reason);
}

/* Any of the keys: two are valid while one is renewed. Each is tried, so that the time tells
 * nothing. */
static int judge_probe_mac(void *userdata, const Request *r, bool *ret_ok) {
        const JudgeFacts *f = userdata;
        const Strv *keys = &f->drain->config->keys;
        bool any = false;

        for (size_t i = 0; i < keys->len; i++) {
                bool ok;
                int x = mac_ok(r, keys->items[i], &ok);
                if (x < 0)
                        return x;
                any = any || ok;
        }
        *ret_ok = any;
        return 0;
}

static int judge_words(Job *j, const Verdict *v) {
        int r = str_dup(v->call.verb->name, &j->verb);

        if (r >= 0)
                r = str_dup(v->call.arg, &j->arg);
        j->class = v->call.verb->class;
        return r;
}

int judge_request(Drain *d, Job *j, Verdict *ret) {
        JudgeFacts f = {d, j};
        Config *c = d->config;
        GateFacts facts = {
                .table = c->table,
                .policy = c->policy,
                .own_broken = c->own_trouble != NULL,
                .now_ms = clock_wall_ms(),
                .paused = judge_paused(c),
                .source = j->origin,
                .probes = {.userdata = &f,
                           .replay = judge_probe_replay,
                           .rate = judge_probe_rate,
                           .integrity = judge_probe_integrity},
        };
        int r;

        if (d->ledger_ok) /* else it is recovery's, and stays true */
                str_freep(&c->record_trouble);
        if (c->keys.len > 0 && j->origin == GATE_AGENT)
                facts.probes.mac = judge_probe_mac;
        if (j->origin == GATE_OPERATOR)
                facts.now_ms = j->request->requested_ms; /* an approved request is as old as it is;
                                                            the order's own age was looked at */
        if (!j->key[0]) { /* an approval brings those of the request that it approves */
                ledger_key(j->request->idempotency_key, j->name.text, j->key);
                request_fingerprint(j->request, j->fingerprint);
        }
        r = gates_judge(&facts, j->request, ret);
        if (r < 0 || !ret->call.verb)
                return r;
        j->grant = ret->grant;
        ret->grant = NULL;
        r = judge_words(j, ret);
        if (r < 0 || ret->reason != REASON_NONE || ret->replay ||
            ret->call.verb->launch == VERB_SELF)
                return r;
        return plan_new(c->table, ret->call, &j->plan);
}

int judge_replay(Drain *d, Job *j) {
        LedgerEntry e = LEDGER_ENTRY_NULL;
        int r = ledger_find(&d->ledger, j->key, &e);

        if (r > 0)
                return err_new(EBADMSG);
        if (r < 0)
                return r;
        r = answer_deliver(d, j, &e, true);
        ledger_entry_done(&e);
        return r;
}
