/* A request as the agent writes it: the first line is the file's name, the rest its body. Whatever
 * it holds, the parser gives a verdict, and what the gates let through is a row of the table with
 * nothing of the request in its argv. */
#include "fuzz.h"

#include "base/str.h"
#include "policy/gates.h"
#include "verb/argv.h"
#include "wire/request.h"

#define FUZZ_POLICY                                                                                \
        "MODE_ping=auto\nMODE_status=auto\nMODE_health=auto\nMODE_logs=auto\nMODE_up=auto\nMODE_"  \
        "down=auto\n"                                                                              \
        "MODE_restart=auto\nMODE_rebuild=auto\nMODE_init=auto\nMODE_join-network=auto\nMAX_AGE="   \
        "86400\n"

static const Policy *fuzz_policy(void) {
        static Policy *policy;
        char *message = NULL;

        if (!policy)
                FUZZ_CHECK(policy_parse(FUZZ_POLICY, strlen(FUZZ_POLICY), fuzz_table(), &policy,
                                        &message) == 0);
        return policy;
}

static void fuzz_format(const Request *q) {
        CLEANUP(str_freep) char *body = NULL, *other = NULL;
        CLEANUP(request_freep) Request *again = NULL;
        char a[65], b[65];
        const char *detail;
        Reason reason;

        FUZZ_CHECK(request_format(q, &body) == 0);
        if (strlen(body) > REQUEST_MAX_BYTES) /* escapes may be longer than what they stand for */
                return;
        FUZZ_CHECK(request_parse(&q->name, body, strlen(body), &again, &reason, &detail) == 0);
        FUZZ_CHECK(request_format(again, &other) == 0);
        FUZZ_CHECK(strcmp(body, other) == 0);
        request_fingerprint(q, a);
        request_fingerprint(again, b);
        FUZZ_CHECK(strcmp(a, b) == 0);
}

static void fuzz_plan(const Grant *g) {
        CLEANUP(plan_freep) Plan *p = NULL;
        VerbCall call = grant_call(g);

        FUZZ_CHECK(table_find(fuzz_table(), call.verb->name) == call.verb);
        FUZZ_CHECK(!call.arg ||
                   strv_find(table_args(fuzz_table(), call.verb), call.arg) == call.arg);
        FUZZ_CHECK(grant_timeout_sec(g) >= 1 && grant_timeout_sec(g) <= call.verb->timeout_cap_sec);
        if (call.verb->launch == VERB_SELF)
                return;
        FUZZ_CHECK(plan_new(fuzz_table(), call, &p) == 0);
        FUZZ_CHECK(strcmp(plan_argv(p)[0], "/usr/bin/docker") == 0);
        FUZZ_CHECK(strcmp(plan_cwd(p), "/") == 0);
}

static void fuzz_judge(const Request *q) {
        GateFacts facts = {
                .table = fuzz_table(), .policy = fuzz_policy(), .now_ms = q->requested_ms};
        Verdict v = {.gate = NULL};

        FUZZ_CHECK(gates_judge(&facts, q, &v) == 0);
        FUZZ_CHECK(v.gate && !v.replay);
        FUZZ_CHECK((v.grant != NULL) == (v.reason == REASON_NONE && !v.plan_only));
        FUZZ_CHECK(!table_hard_denied(q->verb) || v.reason == REASON_HARD_DENIED);
        if (v.grant)
                fuzz_plan(v.grant);
        v.grant = grant_free(v.grant);
}

static void fuzz_name(const char *text, Name *ret) {
        const char *fixed = "20260102T030405Z-restart-0123456789abcdef.json";

        if (name_parse(text, ret) == 0) {
                FUZZ_CHECK(strcmp(ret->text, text) == 0);
                FUZZ_CHECK(strstr(text, ret->verb) && strstr(text, ret->nonce));
                return;
        }
        FUZZ_CHECK(name_parse(fixed, ret) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        CLEANUP(request_freep) Request *q = NULL;
        const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
        size_t head = end ? (size_t)(end - data) : 0, skip = end ? head + 1 : 0;
        const char *detail = NULL;
        Reason reason = REASON_NONE;
        char text[256] = "";
        Name name;
        int r;

        memcpy(text, data, head < sizeof(text) ? head : sizeof(text) - 1);
        fuzz_name(text, &name);
        r = request_parse(&name, (const char *)data + skip, size - skip, &q, &reason, &detail);
        FUZZ_CHECK(r == 0 || r == REQUEST_E_REFUSED);
        if (r > 0) {
                FUZZ_CHECK(!q && detail);
                FUZZ_CHECK(reason == REASON_MALFORMED || reason == REASON_UNKNOWN_KEY ||
                           reason == REASON_NAME_MISMATCH);
                return 0;
        }
        FUZZ_CHECK(strcmp(q->verb, name.verb) == 0);
        FUZZ_CHECK(q->requested_ms - name.stamp_ms <= 60000 &&
                   name.stamp_ms - q->requested_ms <= 60000);
        fuzz_format(q);
        fuzz_judge(q);
        return 0;
}
