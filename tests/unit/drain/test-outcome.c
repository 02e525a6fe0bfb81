/* drain/outcome */
#include <check.h>
#include <errno.h>
#include <signal.h>
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

START_TEST(interrupted_with_and_without_unit) {
        Outcome o = OUTCOME_NULL;

        expect(outcome_interrupted(&config, NULL, &o), &o, STATE_UNCERTAIN, REASON_INTERRUPTED,
               "the run was interrupted; whether it took effect is not known\nspoolgate audit -s "
               "demo");
        expect(outcome_interrupted(&config, "x.scope", &o), &o, STATE_UNCERTAIN, REASON_INTERRUPTED,
               "the run was interrupted; whether it took effect is not known (scope x.scope is "
               "gone)\nspoolgate audit -s demo");
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
        tcase_add_test(cases, interrupted_with_and_without_unit);
        tcase_add_test(cases, fill_response);
        suite_add_tcase(suite, cases);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
