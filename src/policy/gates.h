/* policy/gates.h - may this run? The gates in the order of design section 4; the first that refuses
 * decides
 *
 * Pure but for the probes: facts that cost something (ledger, MAC, counters, integrity) are asked
 * for by function pointer, each only when every gate before it has passed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "policy/policy.h"
#include "verb/table.h"
#include "wire/reason.h"
#include "wire/request.h"

/* A probe gives 0 and its answer; negative errno is host trouble and becomes the verdict
 * host-error. */
typedef struct GateProbes {
        void *userdata;
        /* replay or conflict: *ret_reason REASON_NONE (go on) or key-conflict, or *ret_replay true
         * when a stored answer stands. NULL: no ledger. */
        int (*replay)(void *userdata, const Request *r, bool mutating, Reason *ret_reason,
                      bool *ret_replay);
        int (*mac)(void *userdata, const Request *r, bool *ret_ok); /* NULL: no MAC is asked */
        /* counts this run and gives 0 in *ret_retry_sec, or counts nothing and gives the seconds
         * until one is free */
        int (*rate)(void *userdata, VerbCall call, int64_t *ret_retry_sec);
        /* *ret_reason REASON_NONE or one of integrity-*. NULL: no gate (read-only verbs never ask)
         */
        int (*integrity)(void *userdata, Reason *ret_reason);
} GateProbes;

typedef enum GateSource {
        GATE_AGENT,
        GATE_OPERATOR /* by hand: policy mode and rate are not asked */
} GateSource;

typedef struct GateFacts {
        const VerbTable *table;
        const Policy *policy; /* NULL: the host's configuration is broken: host-config, after the
                                 name and hard-deny gates */
        bool own_broken; /* verbs.json is broken: an unknown verb is refused host-config instead of
                            unknown-verb */
        int64_t now_ms;
        bool paused; /* mutating verbs only; read-only ones go on */
        GateSource source;
        GateProbes probes;
} GateFacts;

typedef struct Grant Grant; /* only gates_judge makes one */
typedef struct Verdict {
        Reason reason;           /* REASON_NONE: granted, planned or replayed */
        bool replay;             /* answer from the ledger, run nothing */
        bool plan_only;          /* permission_scope plan: report the argv, run nothing */
        int64_t retry_after_sec; /* rate; < 0 elsewhere */
        const char *gate; /* the name of the gate that decided: "hard-deny" "verb" "arg" "clock"
                             "replay" "mac" "paused" "policy" "scope" "rate" "integrity" */
        VerbCall call;    /* verb: set once its gate has passed; arg: once its own has */
        Grant *grant; /* owned by the caller when reason is NONE and neither replay nor plan_only */
} Verdict;

/* Gives 0 with *ret_verdict always filled, or -ENOMEM. */
MUST_CHECK int gates_judge(const GateFacts *facts, const Request *r, Verdict *ret_verdict);

VerbCall grant_call(const Grant *g);
uint32_t grant_timeout_sec(const Grant *g); /* min of policy's and the request's */
Grant *grant_free(Grant *g);
void grant_freep(Grant **g);
