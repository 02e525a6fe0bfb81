/* bridge.json: what parses is written back and parses to the same; and a table can be made of it.
 */
#include "fuzz.h"

#include "verb/argv.h"
#include "wire/bridge.h"

static void fuzz_use(const Bridge *b) {
        CLEANUP(setup_done) VerbSetup s = {.stack = NULL};
        CLEANUP(table_freep) VerbTable *t = NULL;
        const Verb *verb;

        FUZZ_CHECK(bridge_setup(b, &s) == 0);
        FUZZ_CHECK(table_new(&s, NULL, &t) == 0);
        for (size_t i = 0; (verb = table_at(t, i)); i++) {
                CLEANUP(plan_freep) Plan *p = NULL;
                CLEANUP(str_freep) char *row = NULL;
                const Strv *args = table_args(t, verb);
                VerbCall call;

                FUZZ_CHECK(argv_format_row(t, verb, &row) == 0);
                if (verb->missing || verb->launch == VERB_SELF || (args && args->len == 0))
                        continue;
                FUZZ_CHECK(table_call(t, verb, args ? args->items[0] : NULL, &call) == 0);
                FUZZ_CHECK(plan_new(t, call, &p) == 0);
                FUZZ_CHECK(plan_argv(p)[0][0] == '/');
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        CLEANUP(bridge_freep) Bridge *b = NULL, *again = NULL;
        CLEANUP(str_freep) char *message = NULL, *text = NULL, *other = NULL;
        int r = bridge_parse(size ? (const char *)data : "", size, &b, &message);

        FUZZ_CHECK(r == 0 || r == BRIDGE_E_INVALID);
        FUZZ_CHECK((r == 0) == (b != NULL) && (r == 0) == (message == NULL));
        if (r > 0) {
                FUZZ_CHECK(strncmp(message, "bridge.json:", 12) == 0 && !strchr(message, '\n'));
                return 0;
        }
        FUZZ_CHECK(bridge_format(b, &text) == 0);
        FUZZ_CHECK(bridge_parse(text, strlen(text), &again, &message) == 0);
        FUZZ_CHECK(bridge_format(again, &other) == 0);
        FUZZ_CHECK(strcmp(text, other) == 0);
        fuzz_use(b);
        return 0;
}
