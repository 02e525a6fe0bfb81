/* operator/gatelist */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/gatelist.h"

static void before(const char *gate, bool mutating, const char *want) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(gatelist_before(gate, mutating, &s), 0);
        ck_assert_str_eq(s.data ? s.data : "", want);
}

START_TEST(before_each) {
        before("hard-deny", true, "");
        before("verb", true, "hard-deny");
        before("scope", true, "hard-deny, verb, arg, clock, replay, mac, paused, policy");
        before("scope", false, "hard-deny, verb, arg, clock, replay, mac, policy");
        before(NULL, true,
               "hard-deny, verb, arg, clock, replay, mac, paused, policy, scope, rate, integrity");
        before(NULL, false, "hard-deny, verb, arg, clock, replay, mac, policy, scope");
        before("queue", true, "");
}
END_TEST

START_TEST(about_each) {
        static const char *const gates[] = {"hard-deny", "verb", "arg",      "clock",
                                            "replay",    "mac",  "paused",   "policy",
                                            "scope",     "rate", "integrity"};

        for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++)
                ck_assert_ptr_nonnull(gatelist_about(gates[i]));
        ck_assert_ptr_null(gatelist_about("queue"));
        ck_assert_ptr_null(gatelist_about(NULL));
}
END_TEST

RUN_TESTS("operator/gatelist", before_each, about_each)
