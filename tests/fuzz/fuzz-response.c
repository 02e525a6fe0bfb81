/* A response two ways: the input as a response file, which is written back and read again; and the
 * input as a child's output and a message, which must give one line of JSON whatever bytes they
 * are. */
#include "fuzz.h"

#include <errno.h>

#include "wire/record.h"
#include "wire/response.h"

static void fuzz_line(const Str *s) {
        CLEANUP(record_freep) Record *r = NULL;
        RecordError e;

        FUZZ_CHECK(s->len > 0 && memchr(s->data, '\n', s->len) == s->data + s->len - 1);
        for (size_t i = 0; i + 1 < s->len; i++)
                FUZZ_CHECK((unsigned char)s->data[i] >= 0x20 && s->data[i] != 0x7f);
        FUZZ_CHECK(record_parse(s->data, s->len, &r, &e) == 0);
        FUZZ_CHECK(strcmp(record_key_at(r, 0), "v") == 0 &&
                   strcmp(record_key_at(r, 18), "ahead") == 0);
        FUZZ_CHECK(!record_key_at(r, 19));
}

static void fuzz_back(const Response *from, Str *s) {
        CLEANUP(response_freep) ResponseDoc *d = NULL;
        CLEANUP(str_done) Str other = STR_NULL;

        FUZZ_CHECK(response_format(from, s) == 0);
        fuzz_line(s);
        FUZZ_CHECK(response_parse(s->data, s->len, &d) == 0);
        FUZZ_CHECK(response_format(response_of(d), &other) == 0);
        FUZZ_CHECK(other.len == s->len && memcmp(other.data, s->data, s->len) == 0);
}

static void fuzz_as_file(const char *bytes, size_t size) {
        CLEANUP(response_freep) ResponseDoc *d = NULL;
        CLEANUP(str_done) Str s = STR_NULL;
        int r = response_parse(bytes, size, &d);

        FUZZ_CHECK(r == 0 || r == RESPONSE_E_SYNTAX);
        if (r == 0)
                fuzz_back(response_of(d), &s);
}

static void fuzz_as_output(const char *bytes, size_t size) {
        CLEANUP(str_done) Str s = STR_NULL, escaped = STR_NULL;
        Response p = RESPONSE_NULL;
        int r;

        if (size > RESPONSE_OUTPUT_MAX)
                return;
        p.has_output = true;
        p.output = bytes;
        p.output_len = size;
        r = response_format(&p, &s);
        FUZZ_CHECK(r == 0 || r == -EILSEQ);
        if (r == 0)
                fuzz_back(&p, &s);
        FUZZ_CHECK(str_add_escaped(&escaped, bytes, size, true) == 0);
        p.message = escaped.len ? escaped.data : "";
        p.output = p.message;
        p.output_len = strlen(p.message);
        if (p.output_len <= RESPONSE_OUTPUT_MAX)
                fuzz_back(&p, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *bytes = size ? (const char *)data : "";

        fuzz_as_file(bytes, size);
        fuzz_as_output(bytes, size);
        return 0;
}
