/* verb/table */
#include "fixture.h"

#include <string.h>

static VerbTable *make(const char *stack, const OwnVerbs *own) {
        VerbSetup s = fixture_setup(stack);
        VerbTable *t = NULL;

        ck_assert_int_eq(table_new(&s, own, &t), 0);
        setup_done(&s);
        return t;
}

START_TEST(new_unknown_stack) {
        VerbSetup s = fixture_setup("kubernetes");
        VerbTable *t = NULL;

        ck_assert_int_eq(table_new(&s, NULL, &t), TABLE_E_STACK);
        ck_assert_ptr_null(t);
        s.stack = NULL;
        ck_assert_int_eq(table_new(&s, NULL, &t), TABLE_E_STACK);
        setup_done(&s);
}
END_TEST

START_TEST(new_copies_the_setup) {
        char project[] = "shop";
        VerbSetup s = fixture_setup("script");
        VerbTable *t = NULL;

        s.project = project;
        ck_assert_int_eq(table_new(&s, NULL, &t), 0);
        project[0] = 'X';
        setup_done(&s);
        ck_assert_str_eq(table_setup(t)->project, "shop");
        ck_assert_str_eq(table_setup(t)->checkout, "/home/u/my shop");
        ck_assert_uint_eq(table_setup(t)->services.len, 2);
        ck_assert_str_eq(table_project_label(t), "label=io.podman.compose.project=shop");
        ck_assert_str_eq(table_units(t)->items[1], "db_1.service");
        ck_assert_uint_eq(table_build_units(t)->len, 1);
        ck_assert_str_eq(table_build_units(t)->items[0], "web-build.service");
        ck_assert_str_eq(table_bin(t, "podman"), "/usr/bin/podman");
        ck_assert_ptr_null(table_bin(t, "pod"));
        table_free(t);
}
END_TEST

START_TEST(new_says_what_is_missing) {
        VerbSetup s = fixture_setup("script");
        VerbTable *t = NULL;

        LIST(&s.bins, "podman=/usr/bin/podman", "stack=relative");
        s.network = "";
        ck_assert_int_eq(table_new(&s, NULL, &t), 0);
        ck_assert_ptr_null(table_find(t, "ping")->missing);
        ck_assert_str_eq(table_find(t, "status")->missing, "stack was not found at install");
        ck_assert_str_eq(table_find(t, "join-network")->missing,
                         "no network and container to join are set");
        t = table_free(t);

        strv_done(&s.bins);
        s.network = "agents";
        ck_assert_int_eq(table_new(&s, NULL, &t), 0);
        ck_assert_str_eq(table_find(t, "join-network")->missing, "podman was not found at install");
        table_free(t);
        setup_done(&s);
}
END_TEST

START_TEST(new_compose_without_files_or_project) {
        VerbSetup s = fixture_setup("podman-compose");
        VerbTable *t = NULL;

        strv_done(&s.files);
        ck_assert_int_eq(table_new(&s, NULL, &t), 0);
        ck_assert_str_eq(table_find(t, "up")->missing, "no compose file is set");
        ck_assert_ptr_null(table_find(t, "health")->missing);
        t = table_free(t);
        s.project = NULL;
        ck_assert_int_eq(table_new(&s, NULL, &t), 0);
        ck_assert_str_eq(table_find(t, "health")->missing, "no project name is set");
        ck_assert_ptr_null(table_project_label(t));
        table_free(t);
        setup_done(&s);
}
END_TEST

START_TEST(new_quadlet_without_services_speaks_of_no_unit) {
        VerbSetup s = fixture_setup("quadlet");
        VerbTable *t = NULL;

        strv_done(&s.services);
        ck_assert_int_eq(table_new(&s, NULL, &t), 0);
        ck_assert_str_eq(table_find(t, "down")->missing, "no services are set");
        ck_assert_str_eq(table_find(t, "status")->missing, "no services are set");
        ck_assert_ptr_null(table_find(t, "restart")->missing); /* its enum is empty */
        table_free(t);
        setup_done(&s);
}
END_TEST

START_TEST(hard_denied_names) {
        static const char *const yes[] = {"exec", "eval",     "shell",  "sh",
                                          "bash", "reset-db", "shell:", "shell:web"};
        static const char *const no[] = {"",   "ping",  "execute", "shells",
                                         "SH", "reset", "she",     "bash-it"};

        for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
                ck_assert_msg(table_hard_denied(yes[i]), "%s", yes[i]);
        for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
                ck_assert_msg(!table_hard_denied(no[i]), "%s", no[i]);
}
END_TEST

START_TEST(shapes) {
        const char long_arg[] = "a123456789b123456789c123456789d123456789e123456789f123456789g1234";

        ck_assert(table_verb_shape("ping", 4));
        ck_assert(table_verb_shape("join-network", 12));
        ck_assert(table_verb_shape("abcdefghijklmnopqrstuvwxyzabcdef", 32));
        ck_assert(!table_verb_shape("abcdefghijklmnopqrstuvwxyzabcdefg", 33));
        ck_assert(!table_verb_shape("", 0));
        ck_assert(!table_verb_shape("-ping", 5));
        ck_assert(!table_verb_shape("ping2", 5));
        ck_assert(!table_verb_shape("pi\0ng", 5));
        ck_assert(!table_verb_shape("p\xd1\x96ng", 5)); /* a Cyrillic i */
        ck_assert(table_arg_shape("web", 3));
        ck_assert(table_arg_shape("a", 1));
        ck_assert(table_arg_shape("db_1-x", 6));
        ck_assert_uint_eq(strlen(long_arg), 65);
        ck_assert(table_arg_shape(long_arg, 64));
        ck_assert(!table_arg_shape(long_arg, 65));
        ck_assert(!table_arg_shape("", 0));
        ck_assert(!table_arg_shape("1web", 4));
        ck_assert(!table_arg_shape("web\0", 4));
        ck_assert(!table_arg_shape("../web", 6));
}
END_TEST

START_TEST(shapes_every_byte) {
        for (int c = 0; c < 256; c++) {
                char one[1] = {(char)c}, two[2] = {'a', (char)c};
                bool lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';

                ck_assert_int_eq(table_verb_shape(one, 1), lower);
                ck_assert_int_eq(table_verb_shape(two, 2), lower || c == '-');
                ck_assert_int_eq(table_arg_shape(one, 1), lower);
                ck_assert_int_eq(table_arg_shape(two, 2), lower || digit || c == '-' || c == '_');
        }
}
END_TEST

START_TEST(call_every_refusal) {
        VerbTable *t = make("script", NULL);
        VerbCall call = {0};

        ck_assert_int_eq(table_call(t, table_find(t, "restart"), NULL, &call), TABLE_E_ARG_MISSING);
        ck_assert_int_eq(table_call(t, table_find(t, "status"), "web", &call),
                         TABLE_E_ARG_UNEXPECTED);
        ck_assert_int_eq(table_call(t, table_find(t, "ping"), "", &call), TABLE_E_ARG_UNEXPECTED);
        ck_assert_int_eq(table_call(t, table_find(t, "restart"), "", &call), TABLE_E_ARG_SHAPE);
        ck_assert_int_eq(table_call(t, table_find(t, "restart"), "-f", &call), TABLE_E_ARG_SHAPE);
        ck_assert_int_eq(table_call(t, table_find(t, "restart"), "web;id", &call),
                         TABLE_E_ARG_SHAPE);
        ck_assert_int_eq(table_call(t, table_find(t, "restart"), "cache", &call),
                         TABLE_E_ARG_NOT_LISTED);
        ck_assert_int_eq(table_call(t, table_find(t, "restart"), "we", &call),
                         TABLE_E_ARG_NOT_LISTED);
        ck_assert_int_eq(table_call(t, table_find(t, "rebuild"), "db_1", &call),
                         TABLE_E_ARG_NOT_LISTED);
        ck_assert_ptr_null(call.verb);
        table_free(t);
}
END_TEST

START_TEST(call_holds_the_enums_memory) {
        VerbTable *t = make("script", NULL);
        char arg[] = "db_1";
        VerbCall call;

        ck_assert_int_eq(table_call(t, table_find(t, "restart"), arg, &call), 0);
        ck_assert_ptr_eq(call.arg, table_setup(t)->services.items[1]);
        ck_assert_int_eq(table_call(t, table_find(t, "rebuild"), "web", &call), 0);
        ck_assert_ptr_eq(call.arg, table_setup(t)->buildable.items[0]);
        ck_assert_int_eq(table_call(t, table_find(t, "up"), NULL, &call), 0);
        ck_assert_ptr_null(call.arg);
        ck_assert_ptr_eq(call.verb, table_find(t, "up"));
        table_free(t);
}
END_TEST

START_TEST(own_verbs_come_last_and_are_copied) {
        OwnVerbs own = OWN_VERBS_NULL;
        VerbTable *t;
        VerbCall call;
        const Verb *v;

        fixture_own_add(&own, fixture_own("reindex", "orders"));
        fixture_own_add(&own, fixture_own("warm", NULL));
        ck_assert_int_eq(str_dup("status", &own.items[1].probe), 0);
        LIST(&own.items[1].env, "A=1");
        t = make("script", &own);
        own_done(&own);
        ck_assert_str_eq(table_at(t, 0)->name, "ping");
        ck_assert_str_eq(table_at(t, 11)->name, "reindex");
        ck_assert_str_eq(table_at(t, 12)->name, "warm");
        ck_assert_ptr_null(table_at(t, 13));
        v = table_find(t, "reindex");
        ck_assert(v->own);
        ck_assert_int_eq(v->arg, VERB_ARG_OWN);
        ck_assert_uint_eq(v->timeout_sec, 90);
        ck_assert_uint_eq(v->timeout_cap_sec, 7200);
        ck_assert_int_eq(table_call(t, v, "orders", &call), 0);
        ck_assert_ptr_eq(call.arg, table_args(t, v)->items[0]);
        ck_assert_int_eq(table_call(t, v, "web", &call), TABLE_E_ARG_NOT_LISTED);
        v = table_find(t, "warm");
        ck_assert_str_eq(v->probe, "status");
        ck_assert_str_eq(v->env[0], "A=1");
        ck_assert_int_eq(table_call(t, v, "web", &call), TABLE_E_ARG_UNEXPECTED);
        table_free(t);
}
END_TEST

START_TEST(words) {
        VerbScope scope = VERB_SCOPE_PLAN;

        ck_assert_str_eq(verb_class_name(VERB_READONLY), "read-only");
        ck_assert_str_eq(verb_class_name(VERB_MUTATING), "mutating");
        for (VerbScope s = VERB_SCOPE_PLAN; s <= VERB_SCOPE_FULL; s++) {
                ck_assert(verb_scope_parse(verb_scope_name(s), &scope));
                ck_assert_int_eq(scope, s);
        }
        ck_assert(!verb_scope_parse("", &scope));
        ck_assert(!verb_scope_parse("Full", &scope));
        ck_assert_int_eq(scope, VERB_SCOPE_FULL);
        ck_assert_ptr_null(table_free(NULL));
}
END_TEST

RUN_TESTS("verb/table", new_unknown_stack, new_copies_the_setup, new_says_what_is_missing,
          new_compose_without_files_or_project, new_quadlet_without_services_speaks_of_no_unit,
          hard_denied_names, shapes, shapes_every_byte, call_every_refusal,
          call_holds_the_enums_memory, own_verbs_come_last_and_are_copied, words)
