/* verb/own */
#include "fixture.h"

#include <string.h>

static void refused(OwnVerbs *own, const char *checkout, const char *says) {
        CLEANUP(str_freep) char *message = NULL;

        ck_assert_int_eq(own_check(own, checkout, &message), OWN_E_INVALID);
        ck_assert_msg(strstr(message, says) != NULL, "%s", message);
}

static OwnVerbs one(const char *name, const char *arg) {
        OwnVerbs own = OWN_VERBS_NULL;

        fixture_own_add(&own, fixture_own(name, arg));
        return own;
}

START_TEST(check_accepts) {
        OwnVerbs own = one("reindex", "orders");
        char *message = NULL;

        fixture_own_add(&own, fixture_own("peek", NULL));
        own.items[1].class = VERB_READONLY;
        own.items[1].needs = VERB_SCOPE_READONLY;
        own.items[1].launch = VERB_DIRECT;
        ck_assert_int_eq(str_dup("peek", &own.items[0].probe), 0);
        LIST(&own.items[0].env, "MODE=fast", "_X1=");
        ck_assert_int_eq(own_check(&own, "/home/u/shop", &message), 0);
        ck_assert_int_eq(own_check(&own, NULL, &message), 0);
        ck_assert_int_eq(own_check(&OWN_VERBS_NULL, NULL, &message), 0);
        ck_assert_ptr_null(message);
        own_done(&own);
        ck_assert_ptr_null(own.items);
}
END_TEST

START_TEST(check_names) {
        static const struct {
                const char *name, *says;
        } cases[] = {
                {"Reindex", "[a-z]"},
                {"", "[a-z]"},
                {"a_b", "[a-z]"},
                {"exec", "hard deny"},
                {"reset-db", "hard deny"},
                {"ping", "built-in"},
                {"join-network", "built-in"},
                {"shell:web", "[a-z]"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                OwnVerbs own = one(cases[i].name, NULL);
                refused(&own, NULL, cases[i].says);
                own_done(&own);
        }
}
END_TEST

START_TEST(check_message_names_the_verb) {
        OwnVerbs own = one("warm", NULL);

        fixture_own_add(&own, fixture_own("a\033b", NULL));
        refused(&own, NULL, "verb a\\x1bb: ");
        str_freep(&own.items[1].name);
        refused(&own, NULL, "verb number 2: ");
        ck_assert_int_eq(str_dup("warm", &own.items[1].name), 0);
        refused(&own, NULL, "verb warm: this name is there twice");
        own_done(&own);
}
END_TEST

START_TEST(check_argv) {
        static const struct {
                const char *argv0, *argv1, *says;
        } cases[] = {
                {"reindex", "x", "absolute"},
                {"/", "x", "absolute"},
                {"/usr/../bin/x", "x", "absolute"},
                {"/usr//x", "x", "absolute"},
                {"/usr/./x", "x", "absolute"},
                {"/usr/x/", "x", "absolute"},
                {"/home/u/shop/tool", "x", "outside the checkout"},
                {"/home/u/shop", "x", "outside the checkout"},
                {"/bin/{arg}", "x", "braces"},
                {"{arg}", "x", "absolute"},
                {"/bin/x", "--n={arg}", "braces"},
                {"/bin/x", "{other}", "braces"},
                {"/bin/x", "{arg}", "no arg enum"},
                {"/bin/x", "}", "braces"},
        };
        OwnVerbs own = one("warm", NULL);

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                LIST(&own.items[0].argv, cases[i].argv0, cases[i].argv1);
                refused(&own, "/home/u/shop/", cases[i].says);
        }
        strv_done(&own.items[0].argv);
        refused(&own, NULL, "1 to 30");
        for (int i = 0; i < 31; i++)
                ck_assert_int_eq(strv_add(&own.items[0].argv, "/bin/x"), 0);
        refused(&own, NULL, "1 to 30");
        LIST(&own.items[0].argv, "/home/u/shop2/tool");
        ck_assert_int_eq(own_check(&own, "/home/u/shop", &(char *){NULL}), 0);
        own_done(&own);
}
END_TEST

START_TEST(check_args) {
        OwnVerbs own = one("reindex", "orders");

        LIST(&own.items[0].args, "orders", "Bad");
        refused(&own, NULL, "an arg must be");
        LIST(&own.items[0].args, "orders", "--help");
        refused(&own, NULL, "an arg must be");
        LIST(&own.items[0].args, "orders", "orders");
        refused(&own, NULL, "twice");
        LIST(&own.items[0].args, "orders");
        LIST(&own.items[0].argv, "/bin/x");
        refused(&own, NULL, "has no {arg}");
        own_done(&own);
}
END_TEST

START_TEST(check_env) {
        static const char *const bad[] = {
                "PATH=/x",
                "LD_PRELOAD=x",
                "LD_=x",
                "GIT_DIR=x",
                "BASH_ENV=x",
                "ENV=x",
                "HOME=/",
                "XDG_RUNTIME_DIR=/",
                "DBUS_SESSION_BUS_ADDRESS=x",
                "lower=x",
                "1X=x",
                "=x",
                "NOEQ",
                "",
                "A-B=x",
        };
        OwnVerbs own = one("warm", NULL);

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                ck_assert_msg(!own_env_allowed(bad[i]), "%s", bad[i]);
                LIST(&own.items[0].env, "OK=1", bad[i]);
                refused(&own, NULL, "an env name");
        }
        ck_assert(own_env_allowed("PATHS=1"));
        ck_assert(own_env_allowed("HOM=1"));
        ck_assert(own_env_allowed("A="));
        own_done(&own);
}
END_TEST

START_TEST(check_class_and_time) {
        OwnVerbs own = one("warm", NULL);
        OwnVerb *v = &own.items[0];

        v->timeout_sec = 0;
        refused(&own, NULL, "1 to 7200");
        v->timeout_sec = 7201;
        refused(&own, NULL, "1 to 7200");
        v->timeout_sec = 7200;
        v->needs = VERB_SCOPE_READONLY;
        refused(&own, NULL, "edit or full");
        v->class = VERB_READONLY;
        v->needs = VERB_SCOPE_EDIT;
        refused(&own, NULL, "no permission_scope");
        v->needs = VERB_SCOPE_READONLY;
        v->launch = VERB_SELF;
        refused(&own, NULL, "direct or scope");
        own_done(&own);
}
END_TEST

START_TEST(check_probe) {
        static const char *const bad[] = {"ping", "logs", "restart", "nothing", "warm", "look"};
        OwnVerbs own = one("warm", NULL);

        fixture_own_add(&own, fixture_own("look", "orders"));
        own.items[1].class = VERB_READONLY;
        own.items[1].needs = VERB_SCOPE_READONLY;
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                str_freep(&own.items[0].probe);
                ck_assert_int_eq(str_dup(bad[i], &own.items[0].probe), 0);
                refused(&own, NULL, "verb warm: its probe");
        }
        str_freep(&own.items[0].probe);
        ck_assert_int_eq(str_dup("health", &own.items[0].probe), 0);
        ck_assert_int_eq(own_check(&own, NULL, &(char *){NULL}), 0);
        own_done(&own);
}
END_TEST

RUN_TESTS("verb/own", check_accepts, check_names, check_message_names_the_verb, check_argv,
          check_args, check_env, check_class_and_time, check_probe)
