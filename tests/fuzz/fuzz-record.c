/* The host's own JSON: what parses is written as one line of ASCII and parses to the same; any
 * bytes as a value give such a line or are refused. */
#include "fuzz.h"

#include <errno.h>

#include "wire/record.h"

static void fuzz_line(const Record *r) {
        CLEANUP(record_freep) Record *again = NULL;
        CLEANUP(str_freep) char *line = NULL, *other = NULL, *pretty = NULL;
        RecordError e;

        FUZZ_CHECK(record_format(r, &line) == 0);
        for (const char *p = line; *p; p++)
                FUZZ_CHECK(*p >= 0x20 && *p < 0x7f);
        FUZZ_CHECK(record_parse(line, strlen(line), &again, &e) == 0);
        FUZZ_CHECK(record_format(again, &other) == 0);
        FUZZ_CHECK(strcmp(line, other) == 0);
        FUZZ_CHECK(record_format_pretty(r, &pretty) == 0);
        FUZZ_CHECK(pretty[strlen(pretty) - 1] == '\n');
}

static void fuzz_read(const Record *r) {
        const char *key;

        for (size_t i = 0; i < 64 && (key = record_key_at(r, i)); i++) {
                CLEANUP(strv_done) Strv v = STRV_NULL;
                int64_t number;
                bool truth;
                RecordType type = record_type(r, key);

                FUZZ_CHECK(record_has(r, key));
                FUZZ_CHECK((record_str(r, key) != NULL) == (type == RECORD_STR));
                FUZZ_CHECK(record_int(r, key, &number) == (type == RECORD_INT));
                FUZZ_CHECK(record_bool(r, key, &truth) == (type == RECORD_BOOL));
                FUZZ_CHECK((record_object(r, key) != NULL) == (type == RECORD_OBJECT));
                FUZZ_CHECK(record_strv(r, key, &v) >= 0);
                for (size_t k = 0; k < record_list_len(r, key); k++)
                        (void)record_list_at(r, key, k);
        }
        FUZZ_CHECK(record_unknown(r, (const char *const[]){NULL}) == record_key_at(r, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        CLEANUP(record_freep) Record *r = NULL, *made = NULL;
        const char *bytes = size ? (const char *)data : "";
        RecordError e = {.line = -1};
        int x = record_parse(bytes, size, &r, &e);

        FUZZ_CHECK(x == 0 || x == RECORD_E_SYNTAX || x == RECORD_E_TYPE);
        if (x == 0) {
                fuzz_line(r);
                fuzz_read(r);
        } else {
                FUZZ_CHECK(!r && memchr(e.text, '\0', sizeof(e.text)));
        }
        FUZZ_CHECK(record_new(&made) == 0);
        x = record_put_bytes(made, "value", bytes, size);
        FUZZ_CHECK(x == 0 || x == -EILSEQ);
        if (x == 0 && !memchr(bytes, '\0', size))
                fuzz_line(made);
        return 0;
}
