#include "policy/gates.h"

#include <errno.h>
#include <stdlib.h>

enum { GATES_FUTURE_MS = 60 * 1000, GATES_SEC_MS = 1000 };

struct Grant {
        VerbCall call;
        uint32_t timeout_sec;
};

typedef struct Gate {
        const char *name;
        /* Looks at what the gates before have put into v; the gate passes when v->reason stays
         * REASON_NONE. */
        void (*judge)(const GateFacts *facts, const Request *r, Verdict *v);
} Gate;

static bool gates_mutating(const Verdict *v) {
        return v->call.verb->class == VERB_MUTATING;
}

static void gates_hard_deny(const GateFacts *facts, const Request *r, Verdict *v) {
        (void)facts; /* no file and no table can lift this one */
        if (table_hard_denied(r->verb))
                v->reason = REASON_HARD_DENIED;
}

static void gates_host_config(const GateFacts *facts, const Request *r, Verdict *v) {
        (void)r;
        if (!facts->policy)
                v->reason = REASON_HOST_CONFIG;
}

static void gates_verb(const GateFacts *facts, const Request *r, Verdict *v) {
        const Verb *verb = table_find(facts->table, r->verb);

        if (!verb)
                v->reason = facts->own_broken ? REASON_HOST_CONFIG : REASON_UNKNOWN_VERB;
        else if (verb->missing)
                v->reason = REASON_HOST_CONFIG;
        else
                v->call.verb = verb;
}

static void gates_arg(const GateFacts *facts, const Request *r, Verdict *v) {
        const Verb *verb = v->call.verb;

        switch (table_call(facts->table, verb, r->arg,
                           &v->call)) { /* a refused arg leaves the verb alone behind */
        case 0:
                return;
        case TABLE_E_ARG_MISSING:
                v->reason = REASON_ARG_MISSING;
                return;
        case TABLE_E_ARG_UNEXPECTED:
                v->reason = REASON_ARG_UNEXPECTED;
                return;
        case TABLE_E_ARG_SHAPE:
                v->reason = REASON_ARG_SHAPE;
                return;
        case TABLE_E_ARG_NOT_LISTED:
                v->reason = REASON_ARG_NOT_LISTED;
                return;
        default:
                v->reason = REASON_HOST_ERROR;
        }
}

static void gates_clock(const GateFacts *facts, const Request *r, Verdict *v) {
        int64_t max_age_sec = policy_max_age(facts->policy);

        if (r->max_age_sec > 0 && r->max_age_sec < max_age_sec)
                max_age_sec = r->max_age_sec;
        if (r->requested_ms > facts->now_ms + GATES_FUTURE_MS)
                v->reason = REASON_FUTURE_DATED;
        else if (facts->now_ms - r->requested_ms > max_age_sec * GATES_SEC_MS)
                v->reason = REASON_EXPIRED;
}

static void gates_replay(const GateFacts *facts, const Request *r, Verdict *v) {
        const GateProbes *p = &facts->probes;
        Reason reason = REASON_NONE;
        bool replay = false;

        if (!p->replay)
                return;
        if (p->replay(p->userdata, r, gates_mutating(v), &reason, &replay) < 0)
                reason = REASON_HOST_ERROR;
        v->reason = reason;
        v->replay = reason == REASON_NONE && replay;
}

static void gates_mac(const GateFacts *facts, const Request *r, Verdict *v) {
        const GateProbes *p = &facts->probes;
        bool ok = false;

        if (!p->mac)
                return;
        if (p->mac(p->userdata, r, &ok) < 0)
                v->reason = REASON_HOST_ERROR;
        else if (!ok)
                v->reason = REASON_BAD_MAC;
}

static void gates_paused(const GateFacts *facts, const Request *r, Verdict *v) {
        (void)r;
        if (facts->paused && gates_mutating(v))
                v->reason = REASON_PAUSED;
}

static void gates_policy(const GateFacts *facts, const Request *r, Verdict *v) {
        (void)r;
        if (facts->source == GATE_AGENT && policy_mode(facts->policy, v->call.verb) != POLICY_AUTO)
                v->reason = REASON_POLICY;
}

static void gates_scope(const GateFacts *facts, const Request *r, Verdict *v) {
        VerbScope limit = policy_ceiling(facts->policy);

        v->plan_only =
                r->has_scope &&
                r->scope == VERB_SCOPE_PLAN; /* a plan runs nothing: only the ceiling binds it */
        if (r->has_scope && !v->plan_only && r->scope < limit)
                limit = r->scope;
        if (v->call.verb->needs > limit) {
                v->reason = REASON_SCOPE;
                v->plan_only = false;
        }
}

static void gates_rate(const GateFacts *facts, const Request *r, Verdict *v) {
        const GateProbes *p = &facts->probes;
        int64_t retry = 0;

        (void)r;
        if (!p->rate || !gates_mutating(v) || facts->source == GATE_OPERATOR)
                return;
        if (p->rate(p->userdata, v->call, &retry) < 0) {
                v->reason = REASON_HOST_ERROR;
        } else if (retry > 0) {
                v->reason = REASON_RATE;
                v->retry_after_sec = retry;
        }
}

static void gates_integrity(const GateFacts *facts, const Request *r, Verdict *v) {
        const GateProbes *p = &facts->probes;
        Reason reason = REASON_NONE;

        (void)r;
        if (!p->integrity || !gates_mutating(v))
                return;
        if (p->integrity(p->userdata, &reason) < 0)
                reason = REASON_HOST_ERROR;
        v->reason = reason;
}

static const Gate gates[] = {
        /* the order is the contract */
        {"hard-deny", gates_hard_deny},
        {"policy", gates_host_config},
        {"verb", gates_verb},
        {"arg", gates_arg},
        {"clock", gates_clock},
        {"replay", gates_replay},
        {"mac", gates_mac},
        {"paused", gates_paused},
        {"policy", gates_policy},
        {"scope", gates_scope},
        {"rate", gates_rate},
        {"integrity", gates_integrity},
};

static int gates_grant(const GateFacts *facts, const Request *r, VerbCall call, Grant **ret) {
        Grant *g = calloc(1, sizeof(*g));

        if (!g)
                return err_new(ENOMEM);
        g->call = call;
        g->timeout_sec = policy_timeout(facts->policy, call.verb);
        if (r->timeout_sec > 0 && r->timeout_sec < g->timeout_sec)
                g->timeout_sec = r->timeout_sec;
        *ret = g;
        return 0;
}

int gates_judge(const GateFacts *facts, const Request *r, Verdict *ret_verdict) {
        Verdict v = {.reason = REASON_NONE, .retry_after_sec = -1};

        for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
                v.gate = gates[i].name;
                gates[i].judge(facts, r, &v);
                if (v.reason != REASON_NONE || v.replay || v.plan_only)
                        break;
        }
        if (v.reason == REASON_NONE && !v.replay && !v.plan_only) {
                int e = gates_grant(facts, r, v.call, &v.grant);
                if (e < 0)
                        return e;
        }
        *ret_verdict = v;
        return 0;
}

VerbCall grant_call(const Grant *g) {
        return g->call;
}

uint32_t grant_timeout_sec(const Grant *g) {
        return g->timeout_sec;
}

Grant *grant_free(Grant *g) {
        free(g);
        return NULL;
}

void grant_freep(Grant **g) {
        *g = grant_free(*g);
}
