/* operator/unitstate: what systemctl prints */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/unitstate.h"

static const char good[] =
        "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nResult=success\n"
        "NeedDaemonReload=no\nStartLimitIntervalUSec=0\n\n"
        "Result=success\nLoadState=loaded\nActiveState=inactive\nUnitFileState=static\n\n"
        "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nResult=success\n\n"
        "LoadState=loaded\nActiveState=inactive\nUnitFileState=static\nResult=success\n";

static void word(const UnitState *u, const char *want) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(unitstate_word(u, &s), 0);
        ck_assert_str_eq(s.data, want);
}

START_TEST(parse_four_blocks) {
        CLEANUP(unitstates_done) UnitStates s = {0};

        ck_assert_int_eq(unitstates_parse(good, &s), 0);
        ck_assert_str_eq(s.units[0].active, "active");
        ck_assert_str_eq(s.units[0].reload, "no");
        ck_assert_str_eq(s.units[0].limit, "0");
        ck_assert_str_eq(s.units[1].active, "inactive");
        ck_assert_str_eq(s.units[1].limit, "");
        ck_assert_str_eq(s.units[3].result, "success");
        ck_assert(unitstates_good(&s));
        word(&s.units[0], "active");
}
END_TEST

START_TEST(good_only_when_all_is) {
        static const struct {
                const char *from, *to;
        } faults[] = {{"ActiveState=active", "ActiveState=failed"},
                      {"UnitFileState=enabled", "UnitFileState=disabled"},
                      {"LoadState=loaded", "LoadState=not-found"},
                      {"ActiveState=inactive", "ActiveState=failed"}};

        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
                CLEANUP(unitstates_done) UnitStates s = {0};
                CLEANUP(str_freep) char *text = NULL;
                const char *at = strstr(good, faults[i].from);

                ck_assert_int_eq(str_printf(&text, "%.*s%s%s", (int)(at - good), good, faults[i].to,
                                            at + strlen(faults[i].from)),
                                 0);
                ck_assert_int_eq(unitstates_parse(text, &s), 0);
                ck_assert_msg(!unitstates_good(&s), "%s", faults[i].to);
        }
}
END_TEST

START_TEST(parse_of_less_and_more) {
        CLEANUP(unitstates_done) UnitStates none = {0};
        CLEANUP(unitstates_done) UnitStates odd = {0};

        ck_assert_int_eq(unitstates_parse("", &none), 0);
        ck_assert_str_eq(none.units[3].load, "");
        ck_assert(!unitstates_good(&none));
        word(&none.units[0], "unknown");
        ck_assert_int_eq(
                unitstates_parse("LoadState=not-found\n\n\n\n\n\nActiveState=active\n", &odd), 0);
        word(&odd.units[0], "not installed");
}
END_TEST

START_TEST(word_of_a_failure) {
        CLEANUP(unitstates_done) UnitStates s = {0};

        ck_assert_int_eq(unitstates_parse("LoadState=loaded\nActiveState=failed\n"
                                          "Result=unit-start-limit-hit\n",
                                          &s),
                         0);
        word(&s.units[0], "failed: unit-start-limit-hit");
}
END_TEST

RUN_TESTS("operator/unitstate", parse_four_blocks, good_only_when_all_is, parse_of_less_and_more,
          word_of_a_failure)
