/* verbs.json: what passes the lint makes a table in which each own verb keeps every rule. */
#include "fuzz.h"

#include "verb/argv.h"
#include "wire/verbs.h"

static void fuzz_verb(const VerbTable *t, const Verb *verb) {
        CLEANUP(plan_freep) Plan *p = NULL;
        CLEANUP(str_freep) char *line = NULL;
        const Strv *args = table_args(t, verb);
        VerbCall call;

        FUZZ_CHECK(!table_hard_denied(verb->name) &&
                   table_verb_shape(verb->name, strlen(verb->name)));
        FUZZ_CHECK(table_find(t, verb->name) == verb);
        FUZZ_CHECK(verb->timeout_sec >= 1 && verb->timeout_sec <= verb->timeout_cap_sec);
        FUZZ_CHECK(verb->launch == VERB_DIRECT || verb->launch == VERB_SCOPE);
        FUZZ_CHECK((verb->class == VERB_READONLY) == (verb->needs == VERB_SCOPE_READONLY));
        FUZZ_CHECK(table_call(t, verb, args ? args->items[args->len - 1] : NULL, &call) == 0);
        FUZZ_CHECK(plan_new(t, call, &p) == 0);
        FUZZ_CHECK(plan_argv(p)[0][0] == '/' && strncmp(plan_argv(p)[0], "/home/u/shop/", 13) != 0);
        FUZZ_CHECK(strcmp(plan_envp(p)[0], "PATH=/usr/bin:/bin") == 0);
        FUZZ_CHECK(plan_format(p, &line) == 0);
}

static void fuzz_own(const OwnVerbs *own) {
        CLEANUP(table_freep) VerbTable *t = NULL;
        VerbSetup s = {.stack = "script",
                       .checkout = "/home/u/shop",
                       .path = "/usr/bin:/bin",
                       .home = "/home/u"};
        const Verb *verb;
        size_t n = 0;

        FUZZ_CHECK(table_new(&s, own, &t) == 0);
        for (size_t i = 0; (verb = table_at(t, i)); i++)
                if (verb->own) {
                        fuzz_verb(t, verb);
                        n++;
                }
        FUZZ_CHECK(n == own->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        CLEANUP(own_done) OwnVerbs own = OWN_VERBS_NULL;
        CLEANUP(str_freep) char *message = NULL;
        int r = verbs_parse(size ? (const char *)data : "", size, "/home/u/shop", &own, &message);

        FUZZ_CHECK(r == 0 || r == VERBS_E_INVALID);
        FUZZ_CHECK((r == 0) == (message == NULL));
        if (r > 0) {
                FUZZ_CHECK(!own.items && strncmp(message, "verbs.json:", 11) == 0 &&
                           !strchr(message, '\n'));
                return 0;
        }
        fuzz_own(&own);
        return 0;
}
