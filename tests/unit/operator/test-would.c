/* operator/would */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/would.h"
#include "wire/reason.h"

static void add(Would *w, const char *text) {
        CLEANUP(record_freep) Record *r = NULL;
        RecordError e = {.line = 0};

        ck_assert_msg(record_parse(text, strlen(text), &r, &e) == 0, "%s: %s", text, e.text);
        ck_assert_int_eq(would_add(w, r), 0);
}

static void refused(Would *w, const char *reason, const char *verb, const char *arg, int second) {
        CLEANUP(str_freep) char *text = NULL;

        ck_assert_int_eq(str_printf(&text,
                                    "{\"ts\":\"2026-01-02T03:04:%02d.000Z\",\"event\":\"refused\","
                                    "\"reason\":\"%s\",\"verb\":\"%s\"%s%s%s}",
                                    second, reason, verb, arg ? ",\"arg\":\"" : "", arg ? arg : "",
                                    arg ? "\"" : ""),
                         0);
        add(w, text);
}

START_TEST(add_groups_by_setting_and_call) {
        CLEANUP(would_done) Would w = WOULD_NULL;
        CLEANUP(str_done) Str out = STR_NULL;

        refused(&w, "policy", "up", NULL, 1);
        refused(&w, "policy", "rebuild", "web", 2);
        refused(&w, "rate", "restart", "web", 3);
        refused(&w, "policy", "rebuild", "web", 4);
        refused(&w, "policy", "rebuild", "api", 5);
        add(&w, "{\"event\":\"end\",\"verb\":\"up\",\"reason\":\"exit-nonzero\"}");
        add(&w, "{\"event\":\"summed\",\"left_out\":9}");
        would_sort(&w);
        ck_assert_uint_eq(w.len, 4);
        ck_assert_str_eq(w.groups[0].setting, "MODE_rebuild=deny");
        ck_assert_str_eq(w.groups[0].what, "rebuild web");
        ck_assert_uint_eq(w.groups[0].count, 2);
        ck_assert_str_eq(w.groups[1].what, "rebuild api"); /* the latest first */
        ck_assert_str_eq(w.groups[2].setting, "RATE_PER_VERB, RATE_TOTAL");
        ck_assert_str_eq(w.groups[3].setting, "MODE_up=deny");
        ck_assert_uint_eq(w.left_out, 9);
        ck_assert_int_eq(would_format(&w, &out), 0);
        ck_assert_ptr_nonnull(strstr(out.data, "     2  MODE_rebuild=deny "));
        ck_assert_ptr_nonnull(strstr(out.data, "(last 2026-01-02 03:04:04Z)\n"));
        ck_assert_ptr_nonnull(strstr(out.data, "     9  lines more"));
}
END_TEST

START_TEST(format_of_nothing) {
        CLEANUP(str_done) Str out = STR_NULL;

        ck_assert_int_eq(would_format(&WOULD_NULL, &out), 0);
        ck_assert_str_eq(out.data, "nothing was refused\n");
}
END_TEST

/* Whatever a gate may say has a setting, and none is taken for the request's own fault by mistake.
 */
START_TEST(setting_of_each_reason) {
        for (Reason i = REASON_NONE + 1; i < REASON_COUNT; i++) {
                CLEANUP(str_freep) char *setting = NULL;
                bool own = i == REASON_MALFORMED || i == REASON_NAME_MISMATCH ||
                           i == REASON_UNKNOWN_KEY || i == REASON_ARG_MISSING ||
                           i == REASON_ARG_UNEXPECTED || i == REASON_ARG_SHAPE ||
                           i == REASON_KEY_CONFLICT || i >= REASON_EXIT_NONZERO;

                ck_assert_int_eq(would_setting(reason_name(i), "up", &setting), 0);
                ck_assert_msg(str_starts(setting, "the request itself: ") == own, "%s: %s",
                              reason_name(i), setting);
        }
        ck_assert_str_eq(would_remedy("policy"), "spoolgate policy --edit");
        ck_assert_str_eq(would_remedy("paused"), "spoolgate resume");
        ck_assert_str_eq(would_remedy("hard-denied"), "");
        ck_assert_str_eq(would_remedy(NULL), "");
}
END_TEST

RUN_TESTS("operator/would", add_groups_by_setting_and_call, format_of_nothing,
          setting_of_each_reason)
