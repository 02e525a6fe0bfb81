/* Orders: what parses has what its kind needs, and formats to a line that parses to the same. */
#include "fuzz.h"

#include "base/hash.h"
#include "verb/table.h"
#include "wire/order.h"

static void fuzz_members(const Order *o) {
        bool runs = o->kind == ORDER_RUN || o->kind == ORDER_APPROVE;
        Name again;

        FUZZ_CHECK(name_parse(o->name.text, &again) == 0);
        FUZZ_CHECK(o->by && *o->by && o->at_ms >= 0);
        FUZZ_CHECK(runs == (o->verb != NULL));
        FUZZ_CHECK(!runs || (strcmp(o->verb, o->name.verb) == 0 &&
                             table_verb_shape(o->verb, strlen(o->verb))));
        FUZZ_CHECK(!o->arg || (runs && table_arg_shape(o->arg, strlen(o->arg))));
        FUZZ_CHECK((o->kind == ORDER_APPROVE) == (o->key && o->fingerprint));
        FUZZ_CHECK(!o->key || hash_is_hex(o->key, HASH_HEX_SIZE - 1));
        FUZZ_CHECK((o->kind == ORDER_NOTE) == (o->event != NULL));
        FUZZ_CHECK(!o->detail || (o->kind == ORDER_NOTE && !strchr(o->detail, '\n')));
        FUZZ_CHECK(runs || o->timeout_sec == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        CLEANUP(order_done) Order o = ORDER_NULL, again = ORDER_NULL;
        CLEANUP(str_freep) char *line = NULL;
        CLEANUP(str_freep) char *twice = NULL;
        int r = order_parse(size ? (const char *)data : "", size, &o);

        FUZZ_CHECK(r == 0 || r == ORDER_E_INVALID);
        if (r > 0) {
                FUZZ_CHECK(!o.by && !o.verb);
                return 0;
        }
        fuzz_members(&o);
        FUZZ_CHECK(order_format(&o, &line) == 0);
        FUZZ_CHECK(order_parse(line, strlen(line), &again) == 0);
        FUZZ_CHECK(order_format(&again, &twice) == 0 && strcmp(line, twice) == 0);
        return 0;
}
