/* policy.conf: a policy within its bounds, or a message that names a line. */
#include "fuzz.h"

#include "policy/policy.h"

static void fuzz_bounds(const Policy *p) {
        PolicyRate rates[] = {policy_rate_verb(p), policy_rate_total(p), policy_audit_refusals(p)};

        for (size_t i = 0; i < 3; i++)
                FUZZ_CHECK(rates[i].count >= 1 && rates[i].count <= 100000 &&
                           rates[i].window_sec >= 1 && rates[i].window_sec <= 86400);
        FUZZ_CHECK(policy_max_age(p) >= 1 && policy_max_age(p) <= 86400);
        FUZZ_CHECK(policy_queue_depth(p) >= 1 && policy_queue_depth(p) <= 10000);
        FUZZ_CHECK(policy_linger_ms(p) >= 250 && policy_linger_ms(p) <= 60000);
        FUZZ_CHECK(policy_lanes_read(p) >= 1 && policy_lanes_read(p) <= 16);
        FUZZ_CHECK(policy_keep_days(p) >= 1 && policy_keep_days(p) <= 3650);
        FUZZ_CHECK(policy_keep_files(p) >= 10 && policy_keep_files(p) <= 1000000);
        FUZZ_CHECK(policy_keep_mib(p) >= 1 && policy_keep_mib(p) <= 102400);
        FUZZ_CHECK(policy_audit_day(p) >= 1000 && policy_audit_day(p) <= 10000000);
        FUZZ_CHECK(policy_keep_ledger(p) >= 100 && policy_keep_ledger(p) <= 10000000);
        FUZZ_CHECK(policy_integrity(p) == POLICY_BOTH || policy_integrity(p) == POLICY_SEAL ||
                   policy_integrity(p) == POLICY_HEAD);
        FUZZ_CHECK(policy_ceiling(p) >= VERB_SCOPE_READONLY &&
                   policy_ceiling(p) <= VERB_SCOPE_FULL);
}

/* A verb is auto only when the text has exactly that line. */
static void fuzz_modes(const Policy *p, const char *data, size_t size) {
        const Verb *verb;

        for (size_t i = 0; (verb = table_at(fuzz_table(), i)); i++) {
                char line[64];
                int len = snprintf(line, sizeof(line), "MODE_%s=auto", verb->name);

                FUZZ_CHECK(policy_timeout(p, verb) >= 1 &&
                           policy_timeout(p, verb) <= verb->timeout_cap_sec);
                if (policy_mode(p, verb) == POLICY_AUTO)
                        FUZZ_CHECK(memmem(data, size, line, (size_t)len));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *bytes = size ? (const char *)data : "";

        for (int k = 0; k < 2; k++) {
                CLEANUP(policy_freep) Policy *p = NULL;
                CLEANUP(str_freep) char *message = NULL;
                int r = k == 0 ? policy_parse(bytes, size, fuzz_table(), &p, &message)
                               : policy_parse_built_in(bytes, size, fuzz_table(), &p, &message);

                FUZZ_CHECK(r == 0 || r == POLICY_E_INVALID);
                FUZZ_CHECK((r == 0) == (p != NULL) && (r == 0) == (message == NULL));
                if (r > 0) {
                        FUZZ_CHECK(strncmp(message, "policy.conf:", 12) == 0 &&
                                   !strchr(message, '\n'));
                        continue;
                }
                fuzz_bounds(p);
                fuzz_modes(p, bytes, size);
        }
        return 0;
}
