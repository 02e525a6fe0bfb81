/* A VerbSetup with everything there, for tests. */
#pragma once
#include <check.h>
#include <stdlib.h>

#include "verb/own.h"
#include "verb/table.h"

__attribute__((unused)) static void fixture_list(Strv *v, const char *const *items) {
        strv_done(v);
        for (size_t i = 0; items[i]; i++)
                ck_assert_int_eq(strv_add(v, items[i]), 0);
}

#define LIST(v, ...) fixture_list(v, (const char *const[]){__VA_ARGS__, NULL})

__attribute__((unused)) static VerbSetup fixture_setup(const char *stack) {
        VerbSetup s = {
                .stack = stack,
                .checkout = "/home/u/my shop",
                .compose_dir = "/home/u/my shop/deploy",
                .project = "shop",
                .path = "/usr/bin:/bin",
                .home = "/home/u",
                .runtime_dir = "/run/user/1000",
                .network = "agents",
                .container = "sandbox",
        };

        LIST(&s.services, "web", "db_1");
        LIST(&s.buildable, "web");
        LIST(&s.files, "/home/u/my shop/compose.yaml", "/home/u/my shop/prod.yaml");
        LIST(&s.env_files, "/home/u/my shop/.env");
        LIST(&s.bins, "stack=/opt/stack", "podman-compose=/usr/bin/podman-compose",
             "podman=/usr/bin/podman", "docker=/usr/bin/docker", "systemctl=/usr/bin/systemctl",
             "journalctl=/usr/bin/journalctl");
        LIST(&s.env, "TZ=UTC");
        return s;
}

/* One own verb; the caller owns it. arg NULL: takes none. */
__attribute__((unused)) static OwnVerb fixture_own(const char *name, const char *arg) {
        OwnVerb v = {
                .class = VERB_MUTATING,
                .launch = VERB_SCOPE,
                .timeout_sec = 90,
                .needs = VERB_SCOPE_EDIT,
        };

        ck_assert_int_eq(str_dup(name, &v.name), 0);
        LIST(&v.argv, "/usr/bin/reindex", "--now");
        if (arg) {
                ck_assert_int_eq(strv_add(&v.argv, "{arg}"), 0);
                LIST(&v.args, arg);
        }
        return v;
}

__attribute__((unused)) static void fixture_own_add(OwnVerbs *list, OwnVerb v) {
        list->items = realloc(list->items, (list->len + 1) * sizeof(OwnVerb));
        ck_assert_ptr_nonnull(list->items);
        list->items[list->len++] = v;
}

#define RUN_TESTS(name_, ...)                                                                      \
        int main(void) {                                                                           \
                const TTest *const tests[] = {__VA_ARGS__};                                        \
                Suite *suite = suite_create(name_);                                                \
                TCase *tc = tcase_create("all");                                                   \
                SRunner *runner;                                                                   \
                int failed;                                                                        \
                for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                      \
                        tcase_add_test(tc, tests[i]);                                              \
                tcase_set_timeout(tc, 60);                                                         \
                suite_add_tcase(suite, tc);                                                        \
                runner = srunner_create(suite);                                                    \
                srunner_run_all(runner, CK_NORMAL);                                                \
                failed = srunner_ntests_failed(runner);                                            \
                srunner_free(runner);                                                              \
                return failed ? EXIT_FAILURE : EXIT_SUCCESS;                                       \
        }
