/* policy/policy */
#include "../verb/fixture.h"

#include <stdio.h>
#include <string.h>

#include "policy/policy.h"

static VerbTable *table; /* made before the forks */

static void setup(void) {
        OwnVerbs own = OWN_VERBS_NULL;
        VerbSetup s = fixture_setup("script");

        fixture_own_add(&own, fixture_own("reindex", NULL));
        ck_assert_int_eq(table_new(&s, &own, &table), 0);
        own_done(&own);
        setup_done(&s);
}

static void teardown(void) {
        table = table_free(table);
}

static Policy *parsed(const char *text) {
        CLEANUP(str_freep) char *message = NULL;
        Policy *p = NULL;

        ck_assert_msg(policy_parse(text, strlen(text), table, &p, &message) == 0, "%s: %s", text,
                      message);
        return p;
}

static void refused(const char *text, const char *want) {
        CLEANUP(str_freep) char *message = NULL;
        Policy *p = NULL;

        ck_assert_msg(policy_parse(text, strlen(text), table, &p, &message) == POLICY_E_INVALID,
                      "%s", text);
        ck_assert_str_eq(message, want);
        ck_assert_ptr_null(p);
}

static void is_default(const Policy *p) {
        for (size_t i = 0; table_at(table, i); i++) {
                const Verb *v = table_at(table, i);
                ck_assert_int_eq(policy_mode(p, v), POLICY_DENY);
                ck_assert_uint_eq(policy_timeout(p, v), v->timeout_sec);
        }
        ck_assert_uint_eq(policy_rate_verb(p).count, 6);
        ck_assert_uint_eq(policy_rate_verb(p).window_sec, 600);
        ck_assert_uint_eq(policy_rate_total(p).count, 20);
        ck_assert_uint_eq(policy_rate_total(p).window_sec, 600);
        ck_assert_uint_eq(policy_audit_refusals(p).count, 600);
        ck_assert_uint_eq(policy_audit_refusals(p).window_sec, 60);
        ck_assert_uint_eq(policy_max_age(p), 300);
        ck_assert_uint_eq(policy_queue_depth(p), 256);
        ck_assert_uint_eq(policy_linger_ms(p), 1000);
        ck_assert_uint_eq(policy_lanes_read(p), 3);
        ck_assert_uint_eq(policy_keep_days(p), 7);
        ck_assert_uint_eq(policy_keep_files(p), 1000);
        ck_assert_uint_eq(policy_keep_mib(p), 64);
        ck_assert_uint_eq(policy_keep_ledger(p), 100000);
        ck_assert_uint_eq(policy_audit_day(p), 20000);
        ck_assert_int_eq(policy_integrity(p), POLICY_BOTH);
        ck_assert_int_eq(policy_ceiling(p), VERB_SCOPE_FULL);
}

START_TEST(default_denies) {
        CLEANUP(policy_freep)
        Policy *p = NULL,
               *empty = parsed(""), *blank = parsed("\n\r\n# x = y\r\n#\n");

        ck_assert_int_eq(policy_default(table, &p), 0);
        is_default(p);
        is_default(empty);
        is_default(blank);
        ck_assert_ptr_null(policy_free(NULL));
}
END_TEST

START_TEST(parse_everything) {
        CLEANUP(policy_freep)
        Policy *p = parsed("RATE_PER_VERB=1/2\nRATE_TOTAL=3/4\r\nAUDIT_REFUSALS=5/"
                           "6\nMAX_AGE=7\nTIMEOUT_up=8\nQUEUE_DEPTH=9\n"
                           "LINGER_MS=250\nLANES_READ=16\nKEEP_DAYS=10\nKEEP_FILES=11\nKEEP_MIB="
                           "12\nKEEP_LEDGER=113\nAUDIT_DAY=1114\n"
                           "INTEGRITY=seal\nSCOPE_CEILING=edit\nMODE_join-network=auto\nMODE_ping="
                           "deny\nMODE_reindex=auto\n"
                           "TIMEOUT_reindex=7200");

        ck_assert_uint_eq(policy_rate_verb(p).count, 1);
        ck_assert_uint_eq(policy_rate_verb(p).window_sec, 2);
        ck_assert_uint_eq(policy_rate_total(p).count, 3);
        ck_assert_uint_eq(policy_audit_refusals(p).window_sec, 6);
        ck_assert_uint_eq(policy_max_age(p), 7);
        ck_assert_uint_eq(policy_timeout(p, table_find(table, "up")), 8);
        ck_assert_uint_eq(policy_timeout(p, table_find(table, "down")), 300);
        ck_assert_uint_eq(policy_queue_depth(p), 9);
        ck_assert_uint_eq(policy_linger_ms(p), 250);
        ck_assert_uint_eq(policy_lanes_read(p), 16);
        ck_assert_uint_eq(policy_keep_days(p), 10);
        ck_assert_uint_eq(policy_keep_files(p), 11);
        ck_assert_uint_eq(policy_keep_mib(p), 12);
        ck_assert_uint_eq(policy_keep_ledger(p), 113);
        ck_assert_uint_eq(policy_audit_day(p), 1114);
        ck_assert_int_eq(policy_integrity(p), POLICY_SEAL);
        ck_assert_int_eq(policy_ceiling(p), VERB_SCOPE_EDIT);
        ck_assert_int_eq(policy_mode(p, table_find(table, "join-network")), POLICY_AUTO);
        ck_assert_int_eq(policy_mode(p, table_find(table, "ping")), POLICY_DENY);
        ck_assert_int_eq(policy_mode(p, table_find(table, "up")), POLICY_DENY);
        ck_assert_int_eq(policy_mode(p, table_find(table, "reindex")), POLICY_AUTO);
        ck_assert_uint_eq(policy_timeout(p, table_find(table, "reindex")), 7200);
}
END_TEST

START_TEST(parse_names_the_line) {
        refused("MODE_up=auto\n\n# x\nMODE_down=Auto\n",
                "policy.conf:4: MODE_down: must be auto or deny");
        refused("MODE_up=ask", "policy.conf:1: MODE_up: must be auto or deny");
        refused("MODE_up=", "policy.conf:1: MODE_up: must be auto or deny");
        refused("MODE_up=auto # yes", "policy.conf:1: MODE_up: must be auto or deny");
        refused("MODE_up=auto\rMODE_down=auto", "policy.conf:1: MODE_up: must be auto or deny");
        refused("MODE_exec=auto\n", "policy.conf:1: MODE_exec: there is no such verb");
        refused("MODE_=auto\n", "policy.conf:1: MODE_: there is no such verb");
        refused("TIMEOUT_exec=1\n", "policy.conf:1: TIMEOUT_exec: there is no such verb");
        refused("\n\nMODE_up=deny\r\nMODE_up=deny",
                "policy.conf:4: MODE_up: this key has a line already");
        refused("UNKNOWN=1", "policy.conf:1: UNKNOWN: unknown key");
        refused("max_age=1", "policy.conf:1: max_age: unknown key");
        refused(" MAX_AGE=1", "policy.conf:1:  MAX_AGE: unknown key");
        refused("MAX_AGE =1", "policy.conf:1: MAX_AGE : unknown key");
        refused("export MAX_AGE=1", "policy.conf:1: export MAX_AGE: unknown key");
        refused("\xef\xbb\xbfMAX_AGE=1", "policy.conf:1: \\xef\\xbb\\xbfMAX_AGE: unknown key");
        refused("A\x1b[2J=1", "policy.conf:1: A\\x1b[2J: unknown key");
        refused("MAX_AGE", "policy.conf:1: must be KEY=value");
        refused("=1", "policy.conf:1: must be KEY=value");
        refused(" ", "policy.conf:1: must be KEY=value");
        refused("\t# x", "policy.conf:1: must be KEY=value");
        refused("INTEGRITY=none", "policy.conf:1: INTEGRITY: must be both, seal or head");
        refused("INTEGRITY=both\nINTEGRITY=both",
                "policy.conf:2: INTEGRITY: this key has a line already");
        refused("SCOPE_CEILING=plan",
                "policy.conf:1: SCOPE_CEILING: must be readonly, edit or full");
        refused("SCOPE_CEILING=", "policy.conf:1: SCOPE_CEILING: must be readonly, edit or full");
        refused("SCOPE_CEILING=full\nSCOPE_CEILING=full",
                "policy.conf:2: SCOPE_CEILING: this key has a line already");
}
END_TEST

START_TEST(parse_bounds) {
        static const struct {
                const char *key;
                unsigned min, max;
        } numbers[] = {
                {"MAX_AGE", 1, 86400},        {"QUEUE_DEPTH", 1, 10000},
                {"LINGER_MS", 250, 60000},    {"LANES_READ", 1, 16},
                {"KEEP_DAYS", 1, 3650},       {"KEEP_FILES", 10, 1000000},
                {"KEEP_MIB", 1, 102400},      {"KEEP_LEDGER", 100, 10000000},
                {"AUDIT_DAY", 1000, 10000000},
                {"TIMEOUT_status", 1, 600},   {"TIMEOUT_up", 1, 3600},
                {"TIMEOUT_rebuild", 1, 7200}, {"TIMEOUT_join-network", 1, 300},
        };
        static const char *const words[] = {
                "", "x", "-1", "+5", "1.0", "0x10", " 5", "5 ", "18446744073709551617", "5/6"};
        char line[128];

        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
                CLEANUP(str_freep) char *message = NULL;
                Policy *p = NULL;

                (void)snprintf(line, sizeof(line), "%s=%u", numbers[i].key, numbers[i].min);
                policy_free(parsed(line));
                (void)snprintf(line, sizeof(line), "%s=%u", numbers[i].key, numbers[i].max);
                policy_free(parsed(line));
                (void)snprintf(line, sizeof(line), "%s=%u", numbers[i].key, numbers[i].min - 1);
                ck_assert_int_eq(policy_parse(line, strlen(line), table, &p, &message),
                                 POLICY_E_INVALID);
                str_freep(&message);
                (void)snprintf(line, sizeof(line), "%s=%u", numbers[i].key, numbers[i].max + 1);
                ck_assert_int_eq(policy_parse(line, strlen(line), table, &p, &message),
                                 POLICY_E_INVALID);
                for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
                        str_freep(&message);
                        (void)snprintf(line, sizeof(line), "%s=%s", numbers[i].key, words[k]);
                        ck_assert_msg(policy_parse(line, strlen(line), table, &p, &message) ==
                                              POLICY_E_INVALID,
                                      "%s", line);
                }
                str_freep(&message);
                (void)snprintf(line, sizeof(line), "%s=%u\n%s=%u", numbers[i].key, numbers[i].min,
                               numbers[i].key, numbers[i].min);
                ck_assert_int_eq(policy_parse(line, strlen(line), table, &p, &message),
                                 POLICY_E_INVALID);
                ck_assert_ptr_nonnull(strstr(message, "policy.conf:2: "));
        }
}
END_TEST

START_TEST(parse_rates) {
        static const char *const keys[] = {"RATE_PER_VERB", "RATE_TOTAL", "AUDIT_REFUSALS"};
        static const char *const good[] = {"1/1", "100000/86400"};
        static const char *const bad[] = {"",        "6",       "6/",         "/600",
                                          "0/600",   "6/0",     "100001/600", "6/86401",
                                          "6/600/1", "6 / 600", "-6/600",     "6/600s"};
        char line[128];

        for (size_t k = 0; k < 3; k++) {
                for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                        (void)snprintf(line, sizeof(line), "%s=%s", keys[k], good[i]);
                        policy_free(parsed(line));
                }
                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                        char want[128];

                        (void)snprintf(line, sizeof(line), "%s=%s", keys[k], bad[i]);
                        (void)snprintf(want, sizeof(want),
                                       "policy.conf:1: %s: must be COUNT/SECONDS within its bounds",
                                       keys[k]);
                        refused(line, want);
                }
                (void)snprintf(line, sizeof(line), "%s=1/1\n%s=1/1", keys[k], keys[k]);
                {
                        char want[128];

                        (void)snprintf(want, sizeof(want),
                                       "policy.conf:2: %s: this key has a line already", keys[k]);
                        refused(line, want);
                }
        }
}
END_TEST

START_TEST(parse_nul_and_size) {
        CLEANUP(str_freep) char *message = NULL;
        CLEANUP(str_done) Str s = STR_NULL;
        Policy *p = NULL;

        ck_assert_int_eq(policy_parse("MODE_up=auto\0\n", 14, table, &p, &message),
                         POLICY_E_INVALID);
        ck_assert_str_eq(message, "policy.conf:1: has a NUL byte");
        str_freep(&message);
        ck_assert_int_eq(policy_parse("\n# a\0b\n", 7, table, &p, &message), POLICY_E_INVALID);
        ck_assert_str_eq(message, "policy.conf:2: has a NUL byte");
        str_freep(&message);
        while (s.len < POLICY_MAX_BYTES)
                ck_assert_int_eq(str_adds(&s, "#\n"), 0);
        ck_assert_int_eq(policy_parse(s.data, s.len, table, &p, &message), 0);
        p = policy_free(p);
        ck_assert_int_eq(str_addc(&s, '#'), 0);
        ck_assert_int_eq(policy_parse(s.data, s.len, table, &p, &message), POLICY_E_INVALID);
        ck_assert_str_eq(message, "policy.conf:1: the file is larger than 64 KiB");
}
END_TEST

START_TEST(parse_built_in_passes_over_absent_own_verbs) {
        const char text[] = "MODE_gone=auto\nTIMEOUT_gone=99999\nMODE_status=auto\n";
        CLEANUP(str_freep) char *message = NULL;
        CLEANUP(policy_freep) Policy *p = NULL;

        refused(text, "policy.conf:1: MODE_gone: there is no such verb");
        ck_assert_int_eq(policy_parse_built_in(text, strlen(text), table, &p, &message), 0);
        ck_assert_int_eq(policy_mode(p, table_find(table, "status")), POLICY_AUTO);
        ck_assert_int_eq(policy_parse_built_in("MODE_gone=maybe", 15, table, &p, &message),
                         POLICY_E_INVALID);
        str_freep(&message);
        ck_assert_int_eq(policy_parse_built_in("MODE_Bad=auto", 13, table, &p, &message),
                         POLICY_E_INVALID);
        str_freep(&message);
        ck_assert_int_eq(policy_parse_built_in("TIMEOUT_=1", 10, table, &p, &message),
                         POLICY_E_INVALID);
        str_freep(&message);
        ck_assert_int_eq(policy_parse_built_in("X=1", 3, table, &p, &message), POLICY_E_INVALID);
}
END_TEST

START_TEST(mode_of_a_verb_of_another_table) {
        CLEANUP(policy_freep) Policy *p = parsed("MODE_ping=auto");
        const Verb other = {.name = "other", .timeout_sec = 5};

        ck_assert_int_eq(policy_mode(p, &other), POLICY_DENY);
        ck_assert_uint_eq(policy_timeout(p, &other), 5);
}
END_TEST

/* The shipped file: read-only verbs and restart run, the rest is denied, and each comment says a
 * true default. */
START_TEST(shipped_file) {
        static const char *const runs[] = {"ping", "status", "health", "logs", "restart"};
        FILE *f = fopen(POLICY_TEMPLATE, "re");
        CLEANUP(str_done) Str plain = STR_NULL, all = STR_NULL;
        CLEANUP(policy_freep) Policy *p = NULL, *q = NULL;
        char line[256];
        size_t autos = 0, keys = 0;

        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof(line), f)) {
                ck_assert_int_eq(str_adds(&plain, line), 0);
                if (line[0] == '#' && line[1] >= 'A' && line[1] <= 'Z' && strchr(line, '=')) {
                        ck_assert_int_eq(str_adds(&all, line + 1), 0);
                        keys++;
                }
        }
        ck_assert_int_eq(fclose(f), 0);
        p = parsed(plain.data);
        for (size_t i = 0; table_at(table, i); i++)
                autos += policy_mode(p, table_at(table, i)) == POLICY_AUTO;
        ck_assert_uint_eq(autos, 6);
        for (size_t i = 0; i < 5; i++)
                ck_assert_int_eq(policy_mode(p, table_find(table, runs[i])), POLICY_AUTO);
        for (const Verb *v = table_at(table, 0); v && !v->own;
             v = table_at(table, (size_t)(v - table_at(table, 0)) + 1)) {
                CLEANUP(str_freep) char *mode = NULL;
                ck_assert_int_eq(str_printf(&mode, "MODE_%s=", v->name), 0);
                ck_assert_ptr_nonnull(strstr(plain.data, mode));
        }
        ck_assert_uint_eq(keys, 14 + 9); /* every key of policy.h, and a TIMEOUT_ for each verb that
                                            runs something */
        q = parsed(all.data);
        is_default(q);
}
END_TEST

int main(void) {
        const TTest *const tests[] = {
                default_denies,
                parse_everything,
                parse_names_the_line,
                parse_bounds,
                parse_rates,
                parse_nul_and_size,
                parse_built_in_passes_over_absent_own_verbs,
                mode_of_a_verb_of_another_table,
                shipped_file,
        };
        Suite *suite = suite_create("policy/policy");
        TCase *tc = tcase_create("all");
        SRunner *runner;
        int failed;

        tcase_add_checked_fixture(tc, setup, teardown);
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
                tcase_add_test(tc, tests[i]);
        tcase_set_timeout(tc, 60);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
