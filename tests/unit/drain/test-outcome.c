/* drain/outcome */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drain/outcome.h"

static char slug[] = "demo", config_dir[] = "/home/o'neil/.config/spoolgate/demo";
static Config config = {.layout = {.slug = slug, .config = config_dir}};

static void expect(int r, Outcome *o, State state, Reason reason, const char *message) {
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(o->state, state);
        ck_assert_int_eq(o->reason, reason);
        ck_assert_str_eq(o->message.data, message);
        ck_assert_int_eq(o->retry_after_sec, -1);
        outcome_done(o);
}

START_TEST(refuse_every_reason) {
        for (Reason reason = REASON_NONE + 1; reason < REASON_COUNT; reason++) {
                CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;

                ck_assert_int_eq(outcome_refuse(&config, reason, NULL, &o), 0);
                ck_assert_int_eq(o.reason, reason);
                ck_assert_int_eq(o.state, reason_state(reason));
                ck_assert_uint_gt(o.message.len, 10);
        }
}
END_TEST

START_TEST(refuse_detail) {
        Outcome o = OUTCOME_NULL;

        expect(outcome_refuse(&config, REASON_MALFORMED, "the request is too big", &o), &o,
               STATE_DENIED, REASON_MALFORMED, "the request is too big");
}
END_TEST

/* The path is ready to paste whatever the home is called. */
START_TEST(refuse_redact_conf) {
        char trouble[] = "redact.conf:2: no pattern";
        Config c = config;
        Outcome o = OUTCOME_NULL;

        c.redact_trouble = trouble;
        expect(outcome_refuse(&c, REASON_HOST_CONFIG, NULL, &o), &o, STATE_DENIED,
               REASON_HOST_CONFIG,
               "the host's configuration of this bridge does not hold: redact.conf:2: no pattern\n"
               "vi '/home/o'\\''neil/.config/spoolgate/demo/redact.conf'");
}
END_TEST

START_TEST(of_result_each_kind) {
        const struct {
                RunResult result;
                State state;
                Reason reason;
                const char *message;
        } rows[] = {
                {{.kind = RESULT_EXIT}, STATE_DONE, REASON_NONE, "done"},
                {{.kind = RESULT_EXIT, .code = 3},
                 STATE_FAILED,
                 REASON_EXIT_NONZERO,
                 "the command failed with exit status 3"},
                {{.kind = RESULT_SIGNAL, .code = SIGTERM},
                 STATE_FAILED,
                 REASON_SIGNAL,
                 "the command was ended by a signal (SIGTERM)"},
                {{.kind = RESULT_SIGNAL, .code = 1000},
                 STATE_FAILED,
                 REASON_SIGNAL,
                 "the command was ended by a signal (SIG?)"},
                {{.kind = RESULT_TIMEOUT},
                 STATE_FAILED,
                 REASON_TIMEOUT,
                 "the command ran into its deadline and was stopped"},
                {{.kind = RESULT_CANCELLED},
                 STATE_FAILED,
                 REASON_CANCELLED,
                 "the run was cancelled"},
                {{.kind = RESULT_SPAWN, .code = ENOENT, .spawn_stage = "exec"},
                 STATE_FAILED,
                 REASON_SPAWN,
                 "the command could not be started: No such file or directory"},
                {{.kind = RESULT_SPAWN, .spawn_stage = "bus"},
                 STATE_FAILED,
                 REASON_SPAWN,
                 "the command could not be started: the user manager could not be "
                 "reached\nsystemctl --user status"},
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                Outcome o = OUTCOME_NULL;
                expect(outcome_of_result(&rows[i].result, NULL, &o), &o, rows[i].state,
                       rows[i].reason, rows[i].message);
        }
}
END_TEST

#define RESOLVE                                                                                    \
        "\nspoolgate resolve -s demo X.json retry\nspoolgate resolve -s demo X.json done"          \
        "\nspoolgate resolve -s demo X.json failed"

START_TEST(interrupted_what_is_known) {
        const struct {
                Interrupted what;
                const char *message;
        } rows[] = {
                {{.request = "X.json"}, RESOLVE},
                {{.request = "X.json", .unit = "x.scope"},
                 " (scope x.scope can't be asked after)" RESOLVE},
                {{.request = "X.json", .unit = "x.scope", .scope = SCOPE_SAID_GONE, .log = true},
                 " (scope x.scope is gone); its log is empty" RESOLVE},
                {{.request = "X.json", .unit = "x.scope", .scope = SCOPE_SAID_ACTIVE},
                 " (scope x.scope is still active)\nsystemctl --user stop x.scope" RESOLVE},
                {{.request = "X.json", .log = true, .log_shown = true, .probe = "look"},
                 "; its probe look failed, see the output; the log so far is not verified, the "
                 "agent can write it" RESOLVE},
                {{.request = "X.json", .probe = "look", .probe_ok = true},
                 "; its probe look was run, see the output" RESOLVE},
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                char text[512];
                Outcome o = OUTCOME_NULL;

                (void)snprintf(text, sizeof(text),
                               "the run was interrupted; whether it took effect is not known%s",
                               rows[i].message);
                expect(outcome_interrupted(&config, &rows[i].what, &o), &o, STATE_UNCERTAIN,
                       REASON_INTERRUPTED, text);
        }
}
END_TEST

/* A refusal for the records ends in what mends them. */
START_TEST(refuse_host_error) {
        char state[] = "the ledger entry /x is damaged\nspoolgate doctor -s demo --fix";
        Config c = config;
        Outcome o = OUTCOME_NULL;

        expect(outcome_refuse(&c, REASON_HOST_ERROR, NULL, &o), &o, STATE_DENIED, REASON_HOST_ERROR,
               "the host could not record the run, so nothing was started\nspoolgate doctor -s "
               "demo");
        c.record_trouble = state;
        expect(outcome_refuse(&c, REASON_HOST_ERROR, NULL, &o), &o, STATE_DENIED, REASON_HOST_ERROR,
               "the host could not record the run, so nothing was started: the ledger entry /x is "
               "damaged\nspoolgate doctor -s demo --fix");
}
END_TEST

START_TEST(fill_response) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        Response r = RESPONSE_NULL;

        ck_assert_int_eq(outcome_refuse(&config, REASON_QUEUE_FULL, NULL, &o), 0);
        o.retry_after_sec = 30;
        outcome_fill(&o, &r);
        ck_assert_int_eq(r.state, STATE_DENIED);
        ck_assert_int_eq(r.reason, REASON_QUEUE_FULL);
        ck_assert_str_eq(r.message, "too many requests are waiting");
        ck_assert_int_eq(r.retry_after_sec, 30);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("drain/outcome");
        TCase *cases = tcase_create("outcome");
        SRunner *runner = srunner_create(suite);
        int failed;

        tcase_add_test(cases, refuse_every_reason);
        tcase_add_test(cases, refuse_detail);
        tcase_add_test(cases, refuse_redact_conf);
        tcase_add_test(cases, of_result_each_kind);
        tcase_add_test(cases, interrupted_what_is_known);
        tcase_add_test(cases, refuse_host_error);
        tcase_add_test(cases, fill_response);
        suite_add_tcase(suite, cases);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
