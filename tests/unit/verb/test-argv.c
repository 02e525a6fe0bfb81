/* verb/argv */
#include "fixture.h"

#include <errno.h>
#include <string.h>

#include "verb/argv.h"

static VerbTable *make(VerbSetup s, const OwnVerbs *own) {
        VerbTable *t = NULL;

        ck_assert_int_eq(table_new(&s, own, &t), 0);
        setup_done(&s);
        return t;
}

static Plan *plan(const VerbTable *t, const char *verb, const char *arg) {
        VerbCall call;
        Plan *p = NULL;

        ck_assert_int_eq(table_call(t, table_find(t, verb), arg, &call), 0);
        ck_assert_int_eq(plan_new(t, call, &p), 0);
        ck_assert_ptr_eq(plan_verb(p), call.verb);
        return p;
}

static void env_is(const Plan *p, const char *const *want) {
        const char *const *env = plan_envp(p);
        size_t i;

        for (i = 0; want[i]; i++) {
                ck_assert_ptr_nonnull(env[i]);
                ck_assert_str_eq(env[i], want[i]);
        }
        ck_assert_ptr_null(env[i]);
}

START_TEST(new_the_whole_environment) {
        CLEANUP(table_freep) VerbTable *t = make(fixture_setup("script"), NULL);
        CLEANUP(plan_freep) Plan *p = plan(t, "status", NULL);

        ck_assert_int_eq(setenv("LD_PRELOAD_PROBE", "leak", 1), 0);
        env_is(p, (const char *const[]){
                          "PATH=/usr/bin:/bin", "HOME=/home/u", "XDG_RUNTIME_DIR=/run/user/1000",
                          "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus", "LANG=C.UTF-8",
                          "GIT_DIR=/nonexistent", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
                          "BUILDX_GIT_INFO=false", "SPOOLGATE_CHECKOUT=/home/u/my shop", "TZ=UTC",
                          NULL});
        ck_assert_str_eq(plan_cwd(p), "/");
}
END_TEST

START_TEST(new_without_runtime_dir_and_with_an_odd_one) {
        VerbSetup s = fixture_setup("quadlet");
        CLEANUP(table_freep) VerbTable *none = NULL, *odd = NULL;
        CLEANUP(plan_freep) Plan *p = NULL, *q = NULL;

        s.runtime_dir = NULL;
        ck_assert_int_eq(table_new(&s, NULL, &none), 0);
        p = plan(none, "status", NULL);
        env_is(p, (const char *const[]){"PATH=/usr/bin:/bin", "HOME=/home/u", "LANG=C.UTF-8",
                                        "GIT_DIR=/nonexistent", "GIT_NO_LAZY_FETCH=1",
                                        "GIT_ALLOW_PROTOCOL=none", "BUILDX_GIT_INFO=false",
                                        "TZ=UTC", NULL});
        s.runtime_dir = "/run/a b;c,d";
        odd = make(s, NULL);
        q = plan(odd, "status", NULL);
        ck_assert_str_eq(plan_envp(q)[3],
                         "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/a%20b%3bc%2cd/bus");
}
END_TEST

START_TEST(new_own_env_wins_and_no_name_is_there_twice) {
        OwnVerbs own = OWN_VERBS_NULL;
        CLEANUP(table_freep) VerbTable *t = NULL;
        CLEANUP(plan_freep) Plan *p = NULL;
        size_t tz = 0;

        fixture_own_add(&own, fixture_own("warm", NULL));
        own.items[0].cwd = VERB_CWD_CHECKOUT;
        LIST(&own.items[0].env, "TZ=CET", "LANG=de", "T=1");
        t = make(fixture_setup("script"), &own);
        own_done(&own);
        p = plan(t, "warm", NULL);
        ck_assert_str_eq(plan_cwd(p), "/home/u/my shop");
        for (const char *const *e = plan_envp(p); *e; e++) {
                tz += strncmp(*e, "TZ=", 3) == 0;
                if (strncmp(*e, "TZ=", 3) == 0)
                        ck_assert_str_eq(*e, "TZ=CET");
                if (strncmp(*e, "LANG=", 5) == 0)
                        ck_assert_str_eq(*e, "LANG=de");
        }
        ck_assert_uint_eq(tz, 1);
}
END_TEST

/* attacks.md row 108 */
START_TEST(new_argv_is_the_tables_memory) {
        CLEANUP(table_freep) VerbTable *t = make(fixture_setup("script"), NULL);
        char arg[] = "web";
        CLEANUP(plan_freep) Plan *p = plan(t, "restart", arg);
        const char *const *argv = plan_argv(p);

        memset(arg, 'X', sizeof(arg) - 1);
        ck_assert_ptr_eq(argv[0], table_bin(t, "stack"));
        ck_assert_str_eq(argv[1], "restart");
        ck_assert_ptr_eq(argv[2], table_setup(t)->services.items[0]);
        ck_assert_ptr_null(argv[3]);
}
END_TEST

START_TEST(new_refuses_what_cannot_run) {
        VerbSetup s = fixture_setup("script");
        CLEANUP(table_freep) VerbTable *t = NULL;
        Plan *p = NULL;

        strv_done(&s.bins);
        t = make(s, NULL);
        ck_assert_int_eq(plan_new(t, (VerbCall){.verb = table_find(t, "ping")}, &p), -EINVAL);
        ck_assert_int_eq(plan_new(t, (VerbCall){.verb = table_find(t, "status")}, &p), -EINVAL);
        ck_assert_int_eq(plan_new(t, (VerbCall){.verb = NULL}, &p), -EINVAL);
        ck_assert_ptr_null(p);
        ck_assert_ptr_null(plan_free(NULL));
}
END_TEST

START_TEST(new_refuses_an_arg_that_is_not_there) {
        CLEANUP(table_freep) VerbTable *t = make(fixture_setup("quadlet"), NULL);
        Plan *p = NULL;

        ck_assert_int_eq(plan_new(t, (VerbCall){.verb = table_find(t, "logs")}, &p), -EINVAL);
        ck_assert_int_eq(plan_new(t, (VerbCall){.verb = table_find(t, "logs"), .arg = "other"}, &p),
                         -EINVAL);
        ck_assert_ptr_null(p);
}
END_TEST

START_TEST(format_quotes) {
        OwnVerbs own = OWN_VERBS_NULL;
        CLEANUP(table_freep) VerbTable *t = NULL;
        CLEANUP(plan_freep) Plan *p = NULL;
        CLEANUP(str_freep) char *line = NULL;

        fixture_own_add(&own, fixture_own("warm", NULL));
        LIST(&own.items[0].argv, "/bin/x", "", "a b", "it's", "$(id)", "<arg>", "tab\there",
             "A1_./:=@%+,-", "\xc3\xa4");
        t = make(fixture_setup("script"), &own);
        own_done(&own);
        p = plan(t, "warm", NULL);
        ck_assert_int_eq(plan_format(p, &line), 0);
        ck_assert_str_eq(line, "/bin/x '' 'a b' 'it'\\''s' '$(id)' '<arg>' 'tab\\x09here' "
                               "A1_./:=@%+,- '\xc3\xa4'");
}
END_TEST

static void row_is(const VerbTable *t, const char *verb, const char *want) {
        CLEANUP(str_freep) char *line = NULL;

        ck_assert_int_eq(argv_format_row(t, table_find(t, verb), &line), 0);
        ck_assert_str_eq(line, want);
}

START_TEST(format_row_shows_placeholders) {
        VerbSetup s = fixture_setup("quadlet");
        OwnVerbs own = OWN_VERBS_NULL;
        CLEANUP(table_freep) VerbTable *t = NULL;

        fixture_own_add(&own, fixture_own("reindex", "orders"));
        LIST(&s.bins, "journalctl=/usr/bin/journalctl");
        s.network = NULL;
        t = make(s, &own);
        own_done(&own);
        row_is(t, "ping", "(answered by the drain)");
        row_is(t, "logs", "/usr/bin/journalctl --user -u <arg>.service -n 200 --no-pager");
        row_is(t, "rebuild", "systemctl --user restart <arg>-build.service");
        row_is(t, "up", "systemctl --user start web.service db_1.service");
        row_is(t, "join-network", "podman network connect <network> sandbox");
        row_is(t, "reindex", "/usr/bin/reindex --now <arg>");
}
END_TEST

RUN_TESTS("verb/argv", new_the_whole_environment, new_without_runtime_dir_and_with_an_odd_one,
          new_own_env_wins_and_no_name_is_there_twice, new_argv_is_the_tables_memory,
          new_refuses_what_cannot_run, new_refuses_an_arg_that_is_not_there, format_quotes,
          format_row_shows_placeholders)
