/* wire/reason */
#include "../verb/fixture.h"

#include <string.h>

#include "wire/reason.h"

START_TEST(states) {
        static const char *const names[] = {"queued",    "running", "done",   "failed",
                                            "uncertain", "denied",  "expired"};
        State s = STATE_QUEUED;

        for (int i = 0; i < 7; i++) {
                ck_assert_str_eq(state_name((State)i), names[i]);
                ck_assert(state_parse(names[i], &s));
                ck_assert_int_eq(s, i);
                ck_assert_int_eq(state_terminal(s), i >= 2);
        }
        ck_assert(!state_parse("Done", &s));
        ck_assert(!state_parse("", &s));
        ck_assert_int_eq(s, STATE_EXPIRED);
}
END_TEST

START_TEST(reasons_round_trip) {
        Reason r = REASON_NONE;

        ck_assert_ptr_null(reason_name(REASON_NONE));
        for (Reason i = REASON_MALFORMED; i < REASON_COUNT; i++) {
                ck_assert_ptr_nonnull(reason_name(i));
                ck_assert(reason_parse(reason_name(i), &r));
                ck_assert_int_eq(r, i);
                ck_assert_uint_eq(strspn(reason_name(i), "abcdefghijklmnopqrstuvwxyz-"),
                                  strlen(reason_name(i)));
        }
        ck_assert(!reason_parse("", &r));
        ck_assert(!reason_parse("none", &r));
        ck_assert_int_eq(r, REASON_COUNT - 1);
}
END_TEST

START_TEST(reason_states) {
        static const char *const failed[] = {"exit-nonzero", "signal", "timeout", "spawn",
                                             "cancelled"};
        static const char *const denied[] = {
                "malformed",
                "name-mismatch",
                "unknown-key",
                "hard-denied",
                "unknown-verb",
                "arg-missing",
                "arg-unexpected",
                "arg-shape",
                "arg-not-listed",
                "policy",
                "scope",
                "paused",
                "bad-mac",
                "rate",
                "queue-full",
                "integrity-modified",
                "integrity-unsealed",
                "integrity-env",
                "integrity-error",
                "future-dated",
                "key-conflict",
                "host-config",
                "host-error",
        };
        Reason r;

        for (size_t i = 0; i < sizeof(failed) / sizeof(failed[0]); i++) {
                ck_assert(reason_parse(failed[i], &r));
                ck_assert_int_eq(reason_state(r), STATE_FAILED);
        }
        for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
                ck_assert_msg(reason_parse(denied[i], &r), "%s", denied[i]);
                ck_assert_int_eq(reason_state(r), STATE_DENIED);
        }
        ck_assert_int_eq(reason_state(REASON_EXPIRED), STATE_EXPIRED);
        ck_assert_int_eq(reason_state(REASON_INTERRUPTED), STATE_UNCERTAIN);
        ck_assert_int_eq(reason_state(REASON_NONE), STATE_DONE);
        ck_assert_int_eq(REASON_COUNT, 1 + 5 + 23 + 2);
}
END_TEST

RUN_TESTS("wire/reason", states, reasons_round_trip, reason_states)
