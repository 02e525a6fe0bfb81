/* The redactor on any bytes. Input: a byte for the piece size, a .env up to the first NUL, then the
 * text. Must hold: pieces give what the whole gives; a line shorter than a window is a fixed point;
 * no value of the .env that is of letters only is left. */
#include "fuzz.h"

#include "run/redact.h"

static void feed_pieces(const Redact *r, const char *text, size_t len, size_t piece, Str *out) {
        CLEANUP(redact_stream_freep) RedactStream *s = NULL;

        FUZZ_CHECK(redact_stream_new(r, &s) == 0);
        for (size_t at = 0; at < len; at += piece)
                FUZZ_CHECK(redact_feed(s, text + at, len - at < piece ? len - at : piece, out) ==
                           0);
        FUZZ_CHECK(redact_flush(s, out) == 0);
}

static bool all_letters(const char *s, size_t len) {
        for (size_t i = 0; i < len; i++)
                if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z')))
                        return false;
        return true;
}

/* The .env's "SECRET=letters" lines, found by a rule of our own. */
static void check_values(const char *env, size_t len, const Str *out) {
        const char *end = env + len;

        for (const char *at = env; at < end;) {
                const char *nl = memchr(at, '\n', (size_t)(end - at)), *stop = nl ? nl : end;
                size_t n = stop - at > 7 && memcmp(at, "SECRET=", 7) == 0 ? (size_t)(stop - at - 7)
                                                                          : 0;

                if (n >= 8 && all_letters(at + 7, n) && n < 64) {
                        const char *hit = memmem(out->data, out->len, at + 7, n);

                        while (hit && hit > out->data && *hit != '[')
                                hit--;
                        FUZZ_CHECK(!hit ||
                                   strncmp(hit, "[redacted:", 10) == 0); /* a marker's own words */
                }
                at = nl ? nl + 1 : end;
        }
}

static void check_text(const Redact *r, const char *text, size_t len, size_t piece, Str *whole) {
        CLEANUP(str_done) Str pieces = STR_NULL, again = STR_NULL;

        FUZZ_CHECK(redact_text(r, text, len, whole) == 0);
        feed_pieces(r, text, len, piece, &pieces);
        FUZZ_CHECK(pieces.len == whole->len && memcmp(pieces.data, whole->data, whole->len) == 0);
        if (whole->len >= (size_t)32 * 1024)
                return;
        FUZZ_CHECK(redact_text(r, whole->data, whole->len, &again) == 0);
        FUZZ_CHECK(again.len == whole->len && memcmp(again.data, whole->data, whole->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static Redact *blank; /* without values: made once */
        CLEANUP(redact_freep) Redact *own = NULL;
        CLEANUP(str_done) Str whole = STR_NULL;
        const char *env = (const char *)data + 1, *nul;
        size_t env_len, piece;

        if (size < 2)
                return 0;
        nul = memchr(env, '\0', size - 1);
        env_len = nul ? (size_t)(nul - env) : 0;
        piece = data[0] % 64 + 1;
        if (!blank) {
                FUZZ_CHECK(redact_new(&blank) == 0);
                FUZZ_CHECK(redact_compile(blank) == 0);
        }
        if (env_len == 0) {
                check_text(blank, nul ? nul + 1 : env, nul ? size - 2 : size - 1, piece, &whole);
                return 0;
        }
        FUZZ_CHECK(redact_new(&own) == 0);
        FUZZ_CHECK(redact_add_env(own, env, env_len) == 0);
        FUZZ_CHECK(redact_compile(own) == 0);
        check_text(own, nul + 1, size - 2 - env_len, piece, &whole);
        check_values(env, env_len, &whole);
        return 0;
}
