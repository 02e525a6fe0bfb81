/* policy/gates */
#include "../verb/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/gates.h"

#define NOW INT64_C(1767323045000) /* 2026-01-02T03:04:05Z */
#define ALL_AUTO                                                                                   \
        "MODE_ping=auto\nMODE_status=auto\nMODE_health=auto\nMODE_logs=auto\nMODE_up=auto\nMODE_"  \
        "down=auto\n"                                                                              \
        "MODE_restart=auto\nMODE_rebuild=auto\nMODE_init=auto\nMODE_join-network=auto\n"

/* What the probes answer, and in which order they were asked. */
typedef struct World {
        VerbTable *table;
        Policy *policy;
        GateFacts facts;
        char asked[64];
        int replay_r, mac_r, rate_r, integrity_r;
        Reason replay_reason, integrity_reason;
        bool replay, mac_ok, replay_mutating;
        int64_t retry;
        const char *rate_arg;
} World;

static void world_ask(World *w, const char *what) {
        (void)snprintf(w->asked + strlen(w->asked), sizeof(w->asked) - strlen(w->asked), "%s ",
                       what);
}

static int world_replay(void *userdata, const Request *r, bool mutating, Reason *ret_reason,
                        bool *ret_replay) {
        World *w = userdata;

        (void)r;
        world_ask(w, "replay");
        w->replay_mutating = mutating;
        if (w->replay_r == 0) {
                *ret_reason = w->replay_reason;
                *ret_replay = w->replay;
        }
        return w->replay_r;
}

static int world_mac(void *userdata, const Request *r, bool *ret_ok) {
        World *w = userdata;

        (void)r;
        world_ask(w, "mac");
        *ret_ok = w->mac_ok;
        return w->mac_r;
}

static int world_rate(void *userdata, VerbCall call, int64_t *ret_retry_sec) {
        World *w = userdata;

        world_ask(w, "rate");
        w->rate_arg = call.arg;
        *ret_retry_sec = w->retry;
        return w->rate_r;
}

static int world_integrity(void *userdata, Reason *ret_reason) {
        World *w = userdata;

        world_ask(w, "integrity");
        *ret_reason = w->integrity_reason;
        return w->integrity_r;
}

static void world_policy(World *w, const char *text) {
        CLEANUP(str_freep) char *message = NULL;

        w->policy = policy_free(w->policy);
        ck_assert_msg(policy_parse(text, strlen(text), w->table, &w->policy, &message) == 0, "%s",
                      message);
        w->facts.policy = w->policy;
}

static void world_init(World *w) {
        VerbSetup s = fixture_setup("script");

        *w = (World){.mac_ok = true};
        ck_assert_int_eq(table_new(&s, NULL, &w->table), 0);
        setup_done(&s);
        w->facts = (GateFacts){
                .table = w->table,
                .now_ms = NOW,
                .probes = {w, world_replay, world_mac, world_rate, world_integrity},
        };
        world_policy(w, ALL_AUTO);
}

static void world_done(World *w) {
        table_free(w->table);
        policy_free(w->policy);
}

/* Body keys after verb and requested_at. */
static Request *request_of(const char *verb, const char *extra) {
        char name[128], body[512];
        const char *detail = "";
        Reason reason;
        Request *q = NULL;
        Name n;

        (void)snprintf(name, sizeof(name), "20260102T030405Z-%s-0123456789abcdef.json", verb);
        ck_assert_int_eq(name_parse(name, &n), 0);
        (void)snprintf(body, sizeof(body),
                       "{\"verb\":\"%s\",\"requested_at\":\"2026-01-02T03:04:05Z\"%s}", verb,
                       extra);
        ck_assert_msg(request_parse(&n, body, strlen(body), &q, &reason, &detail) == 0, "%s",
                      detail);
        return q;
}

static Verdict judge(World *w, const char *verb, const char *extra) {
        CLEANUP(request_freep) Request *q = request_of(verb, extra);
        Verdict v = {.gate = NULL};

        w->asked[0] = '\0';
        ck_assert_int_eq(gates_judge(&w->facts, q, &v), 0);
        ck_assert_int_eq(v.grant != NULL, v.reason == REASON_NONE && !v.replay && !v.plan_only);
        if (v.reason != REASON_RATE)
                ck_assert_int_eq(v.retry_after_sec, -1);
        return v;
}

/* Refused: the reason, the gate, and which probes had been asked by then. */
static void refused(World *w, const char *verb, const char *extra, Reason reason, const char *gate,
                    const char *asked) {
        Verdict v = judge(w, verb, extra);

        ck_assert_msg(v.reason == reason, "%s%s: %s", verb, extra,
                      v.reason ? reason_name(v.reason) : "granted");
        ck_assert_str_eq(v.gate, gate);
        ck_assert_str_eq(w->asked, asked);
        ck_assert(!v.replay && !v.plan_only);
}

static void granted(World *w, const char *verb, const char *extra, const char *asked) {
        Verdict v = judge(w, verb, extra);

        ck_assert_msg(v.reason == REASON_NONE, "%s%s: %s", verb, extra,
                      v.reason ? reason_name(v.reason) : "");
        ck_assert_str_eq(w->asked, asked);
        ck_assert_ptr_eq(grant_call(v.grant).verb, table_find(w->table, verb));
        ck_assert_ptr_eq(grant_call(v.grant).arg, v.call.arg);
        grant_free(v.grant);
}

#define WORLD                                                                                      \
        CLEANUP(world_done) World w;                                                               \
        world_init(&w)

START_TEST(granted_asks_only_what_its_class_needs) {
        WORLD;

        granted(&w, "ping", "", "replay mac ");
        ck_assert(!w.replay_mutating);
        granted(&w, "logs", ",\"arg\":\"web\"", "replay mac ");
        granted(&w, "restart", ",\"arg\":\"db_1\"", "replay mac rate integrity ");
        ck_assert(w.replay_mutating);
        ck_assert_ptr_eq(w.rate_arg, table_setup(w.table)->services.items[1]);
        w.facts.probes = (GateProbes){.userdata = &w};
        granted(&w, "restart", ",\"arg\":\"db_1\"", "");
}
END_TEST

START_TEST(hard_deny_comes_before_everything) {
        static const char *const verbs[] = {"exec", "eval", "shell", "sh", "bash", "reset-db"};
        WORLD;

        for (size_t i = 0; i < 6; i++) {
                w.facts.policy = w.policy;
                w.facts.now_ms = NOW;
                refused(&w, verbs[i], "", REASON_HARD_DENIED, "hard-deny", "");
                w.facts.policy = NULL;
                w.facts.now_ms = 0;
                refused(&w, verbs[i], ",\"arg\":\"web\"", REASON_HARD_DENIED, "hard-deny", "");
        }
}
END_TEST

START_TEST(hard_deny_of_a_verb_with_a_colon) {
        CLEANUP(request_freep) Request *q = request_of("ping", "");
        Verdict v;
        WORLD;

        free(q->verb);
        ck_assert_int_eq(str_dup("shell:web", &q->verb), 0);
        ck_assert_int_eq(gates_judge(&w.facts, q, &v), 0);
        ck_assert_int_eq(v.reason, REASON_HARD_DENIED);
}
END_TEST

START_TEST(host_config) {
        VerbSetup s = fixture_setup("script");
        WORLD;

        w.facts.policy = NULL;
        refused(&w, "ping", "", REASON_HOST_CONFIG, "policy", "");
        refused(&w, "nonsense", "", REASON_HOST_CONFIG, "policy", "");
        w.facts.policy = w.policy;
        refused(&w, "nonsense", "", REASON_UNKNOWN_VERB, "verb", "");
        w.facts.own_broken = true;
        refused(&w, "nonsense", "", REASON_HOST_CONFIG, "verb", "");
        granted(&w, "ping", "", "replay mac ");
        w.table = table_free(w.table);
        strv_done(&s.bins);
        ck_assert_int_eq(table_new(&s, NULL, &w.table), 0);
        setup_done(&s);
        w.facts.table = w.table;
        w.facts.own_broken = false;
        refused(&w, "status", "", REASON_HOST_CONFIG, "verb", "");
        granted(&w, "ping", "", "replay mac ");
}
END_TEST

START_TEST(arg_gate) {
        Verdict v;
        WORLD;

        refused(&w, "restart", "", REASON_ARG_MISSING, "arg", "");
        refused(&w, "ping", ",\"arg\":\"web\"", REASON_ARG_UNEXPECTED, "arg", "");
        refused(&w, "restart", ",\"arg\":\"--help\"", REASON_ARG_SHAPE, "arg", "");
        refused(&w, "restart", ",\"arg\":\"w\\u0435b\"", REASON_ARG_SHAPE, "arg", "");
        refused(&w, "restart", ",\"arg\":\"cache\"", REASON_ARG_NOT_LISTED, "arg", "");
        refused(&w, "rebuild", ",\"arg\":\"db_1\"", REASON_ARG_NOT_LISTED, "arg", "");
        v = judge(&w, "restart", "");
        ck_assert_ptr_eq(v.call.verb, table_find(w.table, "restart"));
        ck_assert_ptr_null(v.call.arg);
        v = judge(&w, "nonsense", "");
        ck_assert_ptr_null(v.call.verb);
        w.facts.now_ms = 0;
        v = judge(&w, "restart", ",\"arg\":\"web\"");
        ck_assert_ptr_eq(v.call.verb, table_find(w.table, "restart"));
        ck_assert_ptr_eq(v.call.arg, table_setup(w.table)->services.items[0]);
}
END_TEST

START_TEST(clock_gate) {
        WORLD;

        w.facts.now_ms = NOW + 300000;
        granted(&w, "ping", "", "replay mac ");
        w.facts.now_ms = NOW + 300001;
        refused(&w, "ping", "", REASON_EXPIRED, "clock", "");
        refused(&w, "ping", ",\"max_age_sec\":4000000000", REASON_EXPIRED, "clock", "");
        w.facts.now_ms = NOW + 5000;
        granted(&w, "ping", ",\"max_age_sec\":5", "replay mac ");
        w.facts.now_ms = NOW + 5001;
        refused(&w, "ping", ",\"max_age_sec\":5", REASON_EXPIRED, "clock", "");
        w.facts.now_ms = NOW - 60000;
        granted(&w, "ping", "", "replay mac ");
        w.facts.now_ms = NOW - 60001;
        refused(&w, "ping", "", REASON_FUTURE_DATED, "clock", "");
        w.facts.now_ms = 0;
        refused(&w, "ping", "", REASON_FUTURE_DATED, "clock", "");
        world_policy(&w, ALL_AUTO "MAX_AGE=86400\n");
        w.facts.now_ms = NOW + 86400000;
        granted(&w, "ping", "", "replay mac ");
}
END_TEST

START_TEST(replay_gate) {
        Verdict v;
        WORLD;

        w.replay_reason = REASON_KEY_CONFLICT;
        refused(&w, "up", "", REASON_KEY_CONFLICT, "replay", "replay ");
        w.replay = true; /* a conflict is no replay, whatever the probe says */
        refused(&w, "up", "", REASON_KEY_CONFLICT, "replay", "replay ");
        w.replay_reason = REASON_NONE;
        v = judge(&w, "up", "");
        ck_assert(v.replay);
        ck_assert_int_eq(v.reason, REASON_NONE);
        ck_assert_str_eq(v.gate, "replay");
        ck_assert_str_eq(w.asked, "replay ");
        w.replay_r = -EIO;
        refused(&w, "up", "", REASON_HOST_ERROR, "replay", "replay ");
}
END_TEST

START_TEST(mac_gate) {
        WORLD;

        w.mac_ok = false;
        refused(&w, "ping", "", REASON_BAD_MAC, "mac", "replay mac ");
        w.mac_ok = true;
        w.mac_r = -EIO;
        refused(&w, "ping", "", REASON_HOST_ERROR, "mac", "replay mac ");
}
END_TEST

START_TEST(paused_gate) {
        WORLD;

        w.facts.paused = true;
        refused(&w, "up", "", REASON_PAUSED, "paused", "replay mac ");
        w.facts.source = GATE_OPERATOR;
        refused(&w, "up", "", REASON_PAUSED, "paused", "replay mac ");
        granted(&w, "status", "", "replay mac ");
}
END_TEST

START_TEST(policy_gate) {
        WORLD;

        world_policy(&w, "MODE_up=deny\nMODE_status=auto\n");
        refused(&w, "up", "", REASON_POLICY, "policy", "replay mac ");
        refused(&w, "down", "", REASON_POLICY, "policy", "replay mac ");
        refused(&w, "ping", "", REASON_POLICY, "policy", "replay mac ");
        granted(&w, "status", "", "replay mac ");
        w.facts.source = GATE_OPERATOR;
        granted(&w, "up", "", "replay mac integrity ");
}
END_TEST

START_TEST(scope_gate) {
        static const struct {
                const char *ceiling, *scope;
                bool look, edit, full;
        } rows[] = {
                {"full", "", true, true, true},           {"full", "full", true, true, true},
                {"full", "edit", true, true, false},      {"full", "readonly", true, false, false},
                {"edit", "", true, true, false},          {"edit", "full", true, true, false},
                {"edit", "readonly", true, false, false}, {"readonly", "", true, false, false},
                {"readonly", "full", true, false, false},
        };
        WORLD;

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                char policy[512], extra[64] = "";

                (void)snprintf(policy, sizeof(policy), ALL_AUTO "SCOPE_CEILING=%s\n",
                               rows[i].ceiling);
                world_policy(&w, policy);
                if (rows[i].scope[0])
                        (void)snprintf(extra, sizeof(extra), ",\"permission_scope\":\"%s\"",
                                       rows[i].scope);
                for (int k = 0; k < 3; k++) {
                        const char *verb = k == 0 ? "status" : k == 1 ? "up" : "init";
                        bool may = k == 0 ? rows[i].look : k == 1 ? rows[i].edit : rows[i].full;

                        if (may)
                                granted(&w, verb, extra,
                                        k == 0 ? "replay mac " : "replay mac rate integrity ");
                        else
                                refused(&w, verb, extra, REASON_SCOPE, "scope", "replay mac ");
                }
        }
}
END_TEST

START_TEST(plan_stops_before_anything_is_counted) {
        Verdict v;
        WORLD;

        w.retry = 60;
        w.integrity_reason = REASON_INTEGRITY_MODIFIED;
        v = judge(&w, "init", ",\"permission_scope\":\"plan\"");
        ck_assert_int_eq(v.reason, REASON_NONE);
        ck_assert(v.plan_only);
        ck_assert_str_eq(v.call.verb->name, "init");
        ck_assert_str_eq(w.asked, "replay mac ");
        world_policy(&w, ALL_AUTO "SCOPE_CEILING=edit\n");
        refused(&w, "init", ",\"permission_scope\":\"plan\"", REASON_SCOPE, "scope", "replay mac ");
        world_policy(&w, "");
        refused(&w, "init", ",\"permission_scope\":\"plan\"", REASON_POLICY, "policy",
                "replay mac ");
        v = judge(&w, "restart", ",\"permission_scope\":\"plan\",\"arg\":\"nope\"");
        ck_assert_int_eq(v.reason, REASON_ARG_NOT_LISTED);
}
END_TEST

START_TEST(rate_gate) {
        Verdict v;
        WORLD;

        w.retry = 42;
        v = judge(&w, "restart", ",\"arg\":\"web\"");
        ck_assert_int_eq(v.reason, REASON_RATE);
        ck_assert_int_eq(v.retry_after_sec, 42);
        ck_assert_str_eq(v.gate, "rate");
        ck_assert_str_eq(w.asked, "replay mac rate ");
        granted(&w, "status", "", "replay mac ");
        w.facts.source = GATE_OPERATOR;
        granted(&w, "restart", ",\"arg\":\"web\"", "replay mac integrity ");
        w.facts.source = GATE_AGENT;
        w.rate_r = -EIO;
        refused(&w, "restart", ",\"arg\":\"web\"", REASON_HOST_ERROR, "rate", "replay mac rate ");
}
END_TEST

START_TEST(integrity_gate) {
        static const Reason reasons[] = {REASON_INTEGRITY_MODIFIED, REASON_INTEGRITY_UNSEALED,
                                         REASON_INTEGRITY_ENV, REASON_INTEGRITY_ERROR};
        WORLD;

        for (size_t i = 0; i < 4; i++) {
                w.integrity_reason = reasons[i];
                refused(&w, "up", "", reasons[i], "integrity", "replay mac rate integrity ");
        }
        granted(&w, "status", "", "replay mac ");
        w.integrity_reason = REASON_NONE;
        w.integrity_r = -EIO;
        refused(&w, "up", "", REASON_HOST_ERROR, "integrity", "replay mac rate integrity ");
}
END_TEST

/* Each gate fails together with every later one: the earlier decides. */
START_TEST(order_is_the_designs) {
        static const Reason order[] = {REASON_UNKNOWN_VERB, REASON_ARG_NOT_LISTED, REASON_EXPIRED,
                                       REASON_KEY_CONFLICT, REASON_BAD_MAC,        REASON_PAUSED,
                                       REASON_POLICY,       REASON_SCOPE,          REASON_RATE,
                                       REASON_INTEGRITY_ENV};
        const char *scope = ",\"permission_scope\":\"readonly\"";
        WORLD;

        for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
                char extra[128];
                Verdict v;

                (void)snprintf(extra, sizeof(extra), ",\"arg\":\"%s\"%s", i <= 1 ? "nope" : "web",
                               i <= 7 ? scope : "");
                w.facts.now_ms = i <= 2 ? NOW + 900000 : NOW;
                w.replay_reason = i <= 3 ? REASON_KEY_CONFLICT : REASON_NONE;
                w.mac_ok = i > 4;
                w.facts.paused = i <= 5;
                world_policy(&w, i <= 6 ? "" : ALL_AUTO);
                w.retry = i <= 8 ? 9 : 0;
                w.integrity_reason = REASON_INTEGRITY_ENV;
                v = judge(&w, i == 0 ? "nonsense" : "restart", extra);
                ck_assert_msg(v.reason == order[i], "%zu: %s", i,
                              v.reason ? reason_name(v.reason) : "granted");
        }
}
END_TEST

START_TEST(grant_timeout_only_tightens) {
        Verdict v;
        WORLD;

        v = judge(&w, "up", "");
        ck_assert_uint_eq(grant_timeout_sec(v.grant), 600);
        v.grant = grant_free(v.grant);
        v = judge(&w, "up", ",\"timeout_sec\":5");
        ck_assert_uint_eq(grant_timeout_sec(v.grant), 5);
        v.grant = grant_free(v.grant);
        v = judge(&w, "up", ",\"timeout_sec\":4000000000");
        ck_assert_uint_eq(grant_timeout_sec(v.grant), 600);
        v.grant = grant_free(v.grant);
        world_policy(&w, ALL_AUTO "TIMEOUT_up=60\n");
        v = judge(&w, "up", ",\"timeout_sec\":61");
        ck_assert_uint_eq(grant_timeout_sec(v.grant), 60);
        grant_freep(&v.grant);
        ck_assert_ptr_null(v.grant);
}
END_TEST

RUN_TESTS("policy/gates", granted_asks_only_what_its_class_needs, hard_deny_comes_before_everything,
          hard_deny_of_a_verb_with_a_colon, host_config, arg_gate, clock_gate, replay_gate,
          mac_gate, paused_gate, policy_gate, scope_gate, plan_stops_before_anything_is_counted,
          rate_gate, integrity_gate, order_is_the_designs, grant_timeout_only_tightens)
