/* verb/stacks: the shipped tables, row by row */
#include "fixture.h"

#include <string.h>

#include "verb/argv.h"
#include "verb/stacks.h"

static const struct {
        const char *verb, *arg, *argv; /* one line, an element a word */
} expected[4][9] = {
        {
                {"status", NULL, "/opt/stack status"},
                {"health", NULL, "/opt/stack health"},
                {"logs", "web", "/opt/stack logs web"},
                {"up", NULL, "/opt/stack start"},
                {"down", NULL, "/opt/stack stop"},
                {"restart", "db_1", "/opt/stack restart db_1"},
                {"rebuild", "web", "/opt/stack build web"},
                {"init", NULL, "/opt/stack init"},
                {"join-network", NULL, "/usr/bin/podman network connect agents sandbox"},
        },
#define PC                                                                                         \
        "/usr/bin/podman-compose -f '/home/u/my shop/compose.yaml' -f '/home/u/my "                \
        "shop/prod.yaml' -p shop "
        {
                {"status", NULL, PC "ps"},
                {"health", NULL,
                 "/usr/bin/podman ps --all --filter label=io.podman.compose.project=shop --format "
                 "'{{.Names}}  {{.Status}}'"},
                {"logs", "web", PC "logs --tail 200 web"},
                {"up", NULL, PC "up -d"},
                {"down", NULL, PC "down"},
                {"restart", "db_1", PC "restart db_1"},
                {"rebuild", "web", PC "build web"},
                {"init", NULL, PC "up --no-start"},
                {"join-network", NULL, "/usr/bin/podman network connect agents sandbox"},
        },
#define DC                                                                                         \
        "/usr/bin/docker compose -f '/home/u/my shop/compose.yaml' -f '/home/u/my "                \
        "shop/prod.yaml' -p shop "                                                                 \
        "--project-directory '/home/u/my shop/deploy' --env-file '/home/u/my shop/.env' "
        {
                {"status", NULL, DC "ps --all"},
                {"health", NULL, DC "ps --all --format json"},
                {"logs", "web", DC "logs --no-color --tail 200 web"},
                {"up", NULL, DC "up --detach"},
                {"down", NULL, DC "down"},
                {"restart", "db_1", DC "restart db_1"},
                {"rebuild", "web", DC "build web"},
                {"init", NULL, DC "up --no-start"},
                {"join-network", NULL, "/usr/bin/docker network connect agents sandbox"},
        },
#define SC "/usr/bin/systemctl --user "
        {
                {"status", NULL, SC "--no-pager status web.service db_1.service"},
                {"health", NULL,
                 SC "--no-pager show --property=Id,LoadState,ActiveState,SubState,Result,NRestarts "
                    "web.service "
                    "db_1.service"},
                {"logs", "web", "/usr/bin/journalctl --user -u web.service -n 200 --no-pager"},
                {"up", NULL, SC "start web.service db_1.service"},
                {"down", NULL, SC "stop web.service db_1.service"},
                {"restart", "db_1", SC "restart db_1.service"},
                {"rebuild", "web", SC "restart web-build.service"},
                {"init", NULL, SC "daemon-reload"},
                {"join-network", NULL, "/usr/bin/podman network connect agents sandbox"},
        },
};

START_TEST(find_and_at) {
        static const char *const names[] = {"script", "podman-compose", "docker-compose",
                                            "quadlet"};

        for (size_t i = 0; i < 4; i++) {
                ck_assert_str_eq(stacks_at(i)->name, names[i]);
                ck_assert_ptr_eq(stacks_find(names[i]), stacks_at(i));
                ck_assert_ptr_nonnull(stacks_at(i)->bins[0]);
        }
        ck_assert_ptr_null(stacks_at(4));
        ck_assert_ptr_null(stacks_find(""));
        ck_assert_ptr_null(stacks_find(NULL));
        ck_assert(stacks_find("docker-compose")->runs_copies);
        ck_assert(!stacks_find("podman-compose")->runs_copies);
}
END_TEST

START_TEST(every_argv) {
        for (size_t i = 0; i < 4; i++) {
                VerbSetup s = fixture_setup(stacks_at(i)->name);
                CLEANUP(table_freep) VerbTable *t = NULL;

                ck_assert_int_eq(table_new(&s, NULL, &t), 0);
                setup_done(&s);
                ck_assert_uint_eq(sizeof(expected[i]) / sizeof(expected[i][0]), 9);
                for (size_t k = 0; k < 9; k++) {
                        CLEANUP(plan_freep) Plan *p = NULL;
                        CLEANUP(str_freep) char *line = NULL;
                        VerbCall call;
                        const Verb *v = table_find(t, expected[i][k].verb);

                        ck_assert_ptr_nonnull(v);
                        ck_assert_int_eq(table_call(t, v, expected[i][k].arg, &call), 0);
                        ck_assert_int_eq(plan_new(t, call, &p), 0);
                        ck_assert_int_eq(plan_format(p, &line), 0);
                        ck_assert_str_eq(line, expected[i][k].argv);
                }
        }
}
END_TEST

/* The same verbs of the same class, scope and time everywhere: a stack changes how, never what
 * is allowed. */
START_TEST(every_row_is_as_the_design_says) {
        static const struct {
                const char *name;
                VerbClass class;
                VerbLaunch launch;
                VerbArg arg;
                VerbScope needs;
                uint32_t sec, cap;
        } rows[] = {
                {"ping", VERB_READONLY, VERB_SELF, VERB_ARG_NONE, VERB_SCOPE_READONLY, 60, 600},
                {"cancel", VERB_READONLY, VERB_SELF, VERB_ARG_NONE, VERB_SCOPE_READONLY, 60, 600},
                {"status", VERB_READONLY, VERB_DIRECT, VERB_ARG_NONE, VERB_SCOPE_READONLY, 60, 600},
                {"health", VERB_READONLY, VERB_DIRECT, VERB_ARG_NONE, VERB_SCOPE_READONLY, 60, 600},
                {"logs", VERB_READONLY, VERB_DIRECT, VERB_ARG_SERVICE, VERB_SCOPE_READONLY, 60,
                 600},
                {"up", VERB_MUTATING, VERB_SCOPE, VERB_ARG_NONE, VERB_SCOPE_EDIT, 600, 3600},
                {"down", VERB_MUTATING, VERB_SCOPE, VERB_ARG_NONE, VERB_SCOPE_EDIT, 300, 1800},
                {"restart", VERB_MUTATING, VERB_SCOPE, VERB_ARG_SERVICE, VERB_SCOPE_EDIT, 300,
                 1800},
                {"rebuild", VERB_MUTATING, VERB_SCOPE, VERB_ARG_BUILDABLE, VERB_SCOPE_EDIT, 1800,
                 7200},
                {"init", VERB_MUTATING, VERB_SCOPE, VERB_ARG_NONE, VERB_SCOPE_FULL, 1800, 7200},
                {"join-network", VERB_MUTATING, VERB_SCOPE, VERB_ARG_NONE, VERB_SCOPE_EDIT, 60,
                 300},
        };

        for (size_t i = 0; stacks_at(i); i++) {
                const Verb *v = stacks_at(i)->verbs;

                for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++, v++) {
                        ck_assert_str_eq(v->name, rows[k].name);
                        ck_assert_int_eq(v->class, rows[k].class);
                        ck_assert_int_eq(v->launch, rows[k].launch);
                        ck_assert_int_eq(v->arg, rows[k].arg);
                        ck_assert_int_eq(v->needs, rows[k].needs);
                        ck_assert_uint_eq(v->timeout_sec, rows[k].sec);
                        ck_assert_uint_eq(v->timeout_cap_sec, rows[k].cap);
                        ck_assert_int_eq(v->cwd, VERB_CWD_HOST);
                        ck_assert(!v->own && !v->missing);
                        ck_assert(!table_hard_denied(v->name));
                }
                ck_assert_ptr_null(v->name);
        }
}
END_TEST

/* A row uses only the bins which its stack names, and its placeholder stands exactly when it takes
 * an arg. */
START_TEST(every_row_is_consistent) {
        for (size_t i = 0; stacks_at(i); i++)
                for (const Verb *v = stacks_at(i)->verbs; v->name; v++) {
                        size_t n = 0, args = 0;

                        if (v->launch == VERB_SELF) {
                                ck_assert_ptr_null(v->argv);
                                continue;
                        }
                        ck_assert_int_eq(v->argv[0].kind, ELEM_BIN);
                        for (const Elem *e = v->argv; e->kind != ELEM_LITERAL || e->text;
                             e++, n++) {
                                bool found = e->kind != ELEM_BIN;

                                args += e->kind == ELEM_ARG || e->kind == ELEM_UNIT ||
                                        e->kind == ELEM_BUILD_UNIT;
                                for (size_t k = 0; stacks_at(i)->bins[k]; k++)
                                        found = found ||
                                                strcmp(stacks_at(i)->bins[k], e->text) == 0;
                                ck_assert(found);
                        }
                        ck_assert_uint_lt(n, VERB_ARGV_MAX);
                        ck_assert_uint_eq(args, v->arg == VERB_ARG_NONE ? 0 : 1);
                }
}
END_TEST

/* Only podman-compose needs its output read for the status, unbuffered. */
START_TEST(exit_lines_of_podman_compose_alone) {
        for (size_t i = 0; stacks_at(i); i++)
                for (const Verb *v = stacks_at(i)->verbs; v->name; v++) {
                        bool said = strcmp(stacks_at(i)->name, "podman-compose") == 0 &&
                                    v->launch != VERB_SELF;

                        ck_assert_int_eq(v->exit_lines, said);
                        ck_assert_int_eq(v->env != NULL, said);
                        if (said) {
                                ck_assert_str_eq(v->env[0], "PYTHONUNBUFFERED=1");
                                ck_assert_ptr_null(v->env[1]);
                        }
                }
}
END_TEST

RUN_TESTS("verb/stacks", exit_lines_of_podman_compose_alone, find_and_at, every_argv,
          every_row_is_as_the_design_says, every_row_is_consistent)
