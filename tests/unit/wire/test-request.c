/* wire/request */
#include "../verb/fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "wire/request.h"

#define AT "\"requested_at\":\"2026-01-02T03:04:05Z\""
#define PING "\"verb\":\"ping\"," AT

static Name name_of(const char *verb) {
        char text[128];
        Name n;

        (void)snprintf(text, sizeof(text), "20260102T030405Z-%s-0123456789abcdef.json", verb);
        ck_assert_int_eq(name_parse(text, &n), 0);
        return n;
}

static Request *parsed(const char *verb, const char *body) {
        Name n = name_of(verb);
        const char *detail = NULL;
        Reason reason = REASON_NONE;
        Request *q = NULL;
        int r = request_parse(&n, body, strlen(body), &q, &reason, &detail);

        ck_assert_msg(r == 0, "%s: %s", body, detail);
        return q;
}

static void refused_bytes(const char *body, size_t len, Reason want, const char *says) {
        Name n = name_of("ping");
        const char *detail = NULL;
        Reason reason = REASON_NONE;
        Request *q = NULL;

        ck_assert_msg(request_parse(&n, body, len, &q, &reason, &detail) == REQUEST_E_REFUSED, "%s",
                      body);
        ck_assert_msg(reason == want, "%s: %s", body, reason_name(reason));
        ck_assert_msg(strstr(detail, says) != NULL, "%s: %s", body, detail);
        ck_assert_ptr_null(q);
}

static void refused(const char *body, Reason want, const char *says) {
        refused_bytes(body, strlen(body), want, says);
}

START_TEST(parse_the_least) {
        CLEANUP(request_freep) Request *q = parsed("ping", "{" PING "}");

        ck_assert_str_eq(q->verb, "ping");
        ck_assert_str_eq(q->name.nonce, "0123456789abcdef");
        ck_assert_int_eq(q->requested_ms, 1767323045000);
        ck_assert_ptr_null(q->arg);
        ck_assert_ptr_null(q->idempotency_key);
        ck_assert_ptr_null(q->mac);
        ck_assert_uint_eq(q->max_age_sec, 0);
        ck_assert_uint_eq(q->timeout_sec, 0);
        ck_assert(!q->has_scope);
}
END_TEST

START_TEST(parse_everything) {
        CLEANUP(request_freep)
        Request *q = parsed(
                "restart",
                " {\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"2026-01-02T03:05:04."
                "9Z\","
                "\"idempotency_key\":\"A.b_c:d-9\",\"max_age_sec\":1,\"timeout_sec\":4294967295,"
                "\"permission_scope\":\"edit\","
                "\"mac\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}\n");

        ck_assert_str_eq(q->arg, "web");
        ck_assert_int_eq(q->requested_ms, 1767323104900);
        ck_assert_str_eq(q->idempotency_key, "A.b_c:d-9");
        ck_assert_uint_eq(q->max_age_sec, 1);
        ck_assert_uint_eq(q->timeout_sec, UINT32_MAX);
        ck_assert(q->has_scope);
        ck_assert_int_eq(q->scope, VERB_SCOPE_EDIT);
        ck_assert_uint_eq(strlen(q->mac), 64);
}
END_TEST

START_TEST(parse_leaves_the_arg_to_the_gates) {
        CLEANUP(request_freep)
        Request *q = parsed("ping", "{" PING ",\"arg\":\"--help \\u001b\\u009b\\u202e;\"}");

        ck_assert_str_eq(q->arg, "--help \x1b\xc2\x9b\xe2\x80\xae;");
}
END_TEST

START_TEST(parse_not_an_object) {
        static const char *const bodies[] = {"",
                                             " ",
                                             "[]",
                                             "[{}]",
                                             "\"ping\"",
                                             "1",
                                             "null",
                                             "{",
                                             "{}x",
                                             "{}{}",
                                             "{,}",
                                             "{" PING ",}",
                                             "{'verb':'ping'}",
                                             "\xef\xbb\xbf{" PING "}",
                                             "{" PING "}\0"};

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]) - 1; i++)
                refused(bodies[i], REASON_MALFORMED, "");
        refused("[]", REASON_MALFORMED, "one JSON object");
        refused("{" PING "}}", REASON_MALFORMED, "not valid JSON");
}
END_TEST

START_TEST(parse_size) {
        CLEANUP(str_done) Str s = STR_NULL;
        Name n = name_of("ping");
        const char *detail;
        Reason reason;
        Request *q = NULL;

        ck_assert_int_eq(str_adds(&s, "{" PING "}"), 0);
        while (s.len < REQUEST_MAX_BYTES)
                ck_assert_int_eq(str_addc(&s, ' '), 0);
        ck_assert_int_eq(request_parse(&n, s.data, s.len, &q, &reason, &detail), 0);
        q = request_free(q);
        ck_assert_int_eq(str_addc(&s, ' '), 0);
        refused_bytes(s.data, s.len, REASON_MALFORMED, "larger than 64 KiB");
}
END_TEST

START_TEST(parse_depth) {
        static char deep[REQUEST_MAX_BYTES];

        memset(deep, '[', sizeof(deep));
        refused_bytes(deep, sizeof(deep), REASON_MALFORMED, "nests deeper than 4");
        memset(deep, '{', sizeof(deep));
        refused_bytes(deep, sizeof(deep), REASON_MALFORMED, "nests deeper than 4");
        refused("{" PING ",\"arg\":[[[[]]]]}", REASON_MALFORMED, "nests deeper than 4");
        refused("{" PING ",\"arg\":[[[]]]}", REASON_MALFORMED, "arg must be a string");
        request_free(parsed("ping", "{" PING ",\"arg\":\"[[[[[[{{{{\\\"[[[[[\"}"));
        refused("{" PING ",\"arg\":\"\\", REASON_MALFORMED, "not valid JSON");
}
END_TEST

START_TEST(parse_keys) {
        CLEANUP(str_done) Str s = STR_NULL;

        refused("{" PING ",\"Arg\":\"x\"}", REASON_UNKNOWN_KEY, "does not know");
        refused("{" PING ",\"\":1}", REASON_UNKNOWN_KEY, "does not know");
        refused("{" PING ",\"verb\":\"ping\"}", REASON_MALFORMED, "key twice");
        refused("{" PING ",\"\\u0076erb\":\"down\"}", REASON_MALFORMED, "key twice");
        ck_assert_int_eq(str_adds(&s, "{" PING), 0);
        for (int i = 2; i < 16; i++)
                ck_assert_int_eq(str_addf(&s, ",\"k%d\":%d", i, i), 0);
        ck_assert_int_eq(str_addc(&s, '}'), 0);
        refused(s.data, REASON_UNKNOWN_KEY, "does not know");
        s.len--;
        ck_assert_int_eq(str_adds(&s, ",\"k16\":1}"), 0);
        refused(s.data, REASON_MALFORMED, "more than 16 keys");
}
END_TEST

START_TEST(parse_nul_and_bad_utf8) {
        static const char *const bad[] = {
                "\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                "\xc3", "\x80",
        };
        char body[256];

        refused("{" PING ",\"arg\":\"a\\u0000b\"}", REASON_MALFORMED, "NUL");
        refused("{" PING ",\"a\\u0000\":\"b\"}", REASON_MALFORMED, "NUL");
        refused_bytes("{" PING ",\"arg\":\"a\0b\"}", sizeof("{" PING ",\"arg\":\"a\0b\"}") - 1,
                      REASON_MALFORMED, "");
        refused_bytes("{" PING "}\0", sizeof("{" PING "}\0") - 1, REASON_MALFORMED, "");
        refused("{" PING ",\"arg\":\"\\ud800\"}", REASON_MALFORMED, "");
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                (void)snprintf(body, sizeof(body), "{" PING ",\"arg\":\"%s\"}", bad[i]);
                refused(body, REASON_MALFORMED, "UTF-8");
        }
}
END_TEST

START_TEST(parse_verb) {
        refused("{" AT "}", REASON_MALFORMED, "verb is missing");
        refused("{\"verb\":1," AT "}", REASON_MALFORMED, "verb must be a string");
        refused("{\"verb\":null," AT "}", REASON_MALFORMED, "verb must be a string");
        refused("{\"verb\":[\"ping\"]," AT "}", REASON_MALFORMED, "verb must be a string");
        refused("{\"verb\":\"down\"," AT "}", REASON_NAME_MISMATCH, "verb");
        refused("{\"verb\":\"\"," AT "}", REASON_NAME_MISMATCH, "verb");
        refused("{\"verb\":\"ping \"," AT "}", REASON_NAME_MISMATCH, "verb");
        refused("{\"verb\":\"shell:web\"," AT "}", REASON_NAME_MISMATCH, "verb");
        refused("{\"verb\":\"p\xd1\x96ng\"," AT "}", REASON_NAME_MISMATCH, "verb");
}
END_TEST

START_TEST(parse_requested_at) {
        static const char *const good[] = {"2026-01-02T03:05:05Z", "2026-01-02T03:03:05Z",
                                           "2026-01-02T03:05:05.000Z"};
        static const char *const far[] = {"2026-01-02T03:05:05.001Z", "2026-01-02T03:03:04.999Z",
                                          "2027-01-02T03:04:05Z", "1970-01-01T00:00:00Z"};
        static const char *const bad[] = {"",
                                          "now",
                                          "2026-01-02",
                                          "2026-01-02T03:04:05",
                                          "2026-01-02T03:04:05+00:00",
                                          "2026-02-30T03:04:05Z",
                                          "2026-01-02 03:04:05Z",
                                          "2026-01-02t03:04:05z",
                                          "1767323045"};
        char body[256];

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                (void)snprintf(body, sizeof(body), "{\"verb\":\"ping\",\"requested_at\":\"%s\"}",
                               good[i]);
                request_free(parsed("ping", body));
        }
        for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
                (void)snprintf(body, sizeof(body), "{\"verb\":\"ping\",\"requested_at\":\"%s\"}",
                               far[i]);
                refused(body, REASON_NAME_MISMATCH, "60 seconds");
        }
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                (void)snprintf(body, sizeof(body), "{\"verb\":\"ping\",\"requested_at\":\"%s\"}",
                               bad[i]);
                refused(body, REASON_MALFORMED, "RFC 3339");
        }
        refused("{\"verb\":\"ping\",\"requested_at\":\"1969-12-31T23:59:59Z\"}", REASON_MALFORMED,
                "RFC 3339");
        refused("{\"verb\":\"ping\"}", REASON_MALFORMED, "requested_at is missing");
        refused("{\"verb\":\"ping\",\"requested_at\":1767323045}", REASON_MALFORMED,
                "must be a string");
}
END_TEST

START_TEST(parse_numbers) {
        static const char *const bad[] = {
                "0",      "-1",   "-0",   "30.0", "1e2", "4294967296", "9223372036854775807",
                "\"30\"", "true", "null", "[]"};
        static const char *const keys[] = {"max_age_sec", "timeout_sec"};
        char body[256];

        for (size_t k = 0; k < 2; k++)
                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                        (void)snprintf(body, sizeof(body), "{" PING ",\"%s\":%s}", keys[k], bad[i]);
                        refused(body, REASON_MALFORMED, keys[k]);
                }
        refused("{" PING ",\"max_age_sec\":9223372036854775808}", REASON_MALFORMED, "out of range");
        refused("{" PING ",\"max_age_sec\":1e400}", REASON_MALFORMED, "out of range");
        refused("{" PING ",\"max_age_sec\":01}", REASON_MALFORMED, "not valid JSON");
        refused("{" PING ",\"max_age_sec\":NaN}", REASON_MALFORMED, "not valid JSON");
}
END_TEST

START_TEST(parse_texts) {
        static const char *const keys[] = {"", " ", "a b", "../x", "a/b", "a\\u00e9", "k\\n"};
        static const char *const macs[] = {
                "", "00", "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"};
        static const char *const scopes[] = {"", "Plan", "admin", "full "};
        char body[512];

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
                (void)snprintf(body, sizeof(body), "{" PING ",\"idempotency_key\":\"%s\"}",
                               keys[i]);
                refused(body, REASON_MALFORMED, "idempotency_key must be 1 to 128");
        }
        for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
                (void)snprintf(body, sizeof(body), "{" PING ",\"mac\":\"%s\"}", macs[i]);
                refused(body, REASON_MALFORMED, "mac must be 64");
        }
        for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
                (void)snprintf(body, sizeof(body), "{" PING ",\"permission_scope\":\"%s\"}",
                               scopes[i]);
                refused(body, REASON_MALFORMED, "permission_scope must be plan");
        }
        refused("{" PING ",\"idempotency_key\":5}", REASON_MALFORMED,
                "idempotency_key must be a string");
        refused("{" PING ",\"mac\":5}", REASON_MALFORMED, "mac must be a string");
        refused("{" PING ",\"permission_scope\":5}", REASON_MALFORMED,
                "permission_scope must be a string");
        refused("{" PING ",\"arg\":null}", REASON_MALFORMED, "arg must be a string");
}
END_TEST

START_TEST(parse_key_of_128) {
        CLEANUP(str_done) Str s = STR_NULL;
        CLEANUP(request_freep) Request *q = NULL;

        ck_assert_int_eq(str_adds(&s, "{" PING ",\"idempotency_key\":\""), 0);
        for (int i = 0; i < 128; i++)
                ck_assert_int_eq(str_addc(&s, 'k'), 0);
        ck_assert_int_eq(str_adds(&s, "\"}"), 0);
        q = parsed("ping", s.data);
        ck_assert_uint_eq(strlen(q->idempotency_key), 128);
        s.len -= 2;
        ck_assert_int_eq(str_adds(&s, "k\"}"), 0);
        refused(s.data, REASON_MALFORMED, "1 to 128");
}
END_TEST

static void print_of(const char *extra, char hex[65]) {
        char body[256];
        Request *q;

        (void)snprintf(body, sizeof(body), "{" PING "%s}", extra);
        q = parsed("ping", body);
        request_fingerprint(q, hex);
        request_free(q);
}

START_TEST(fingerprint_sees_what_changes_the_run) {
        static const char *const differ[] = {
                "",
                ",\"arg\":\"\"",
                ",\"arg\":\"web\"",
                ",\"arg\":\"we\"",
                ",\"permission_scope\":\"plan\"",
                ",\"permission_scope\":\"full\"",
                ",\"timeout_sec\":5",
                ",\"max_age_sec\":5",
                ",\"arg\":\"-\"",
        };
        static const char *const same[] = {
                ",\"idempotency_key\":\"k\"",
                ",\"mac\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"",
        };
        enum { N = sizeof(differ) / sizeof(differ[0]) };
        char hex[N][65], other[65];

        for (size_t i = 0; i < N; i++) {
                print_of(differ[i], hex[i]);
                ck_assert(hash_is_hex(hex[i], 64));
                for (size_t k = 0; k < i; k++)
                        ck_assert_str_ne(hex[k], hex[i]);
                print_of(differ[i], other);
                ck_assert_str_eq(hex[i], other);
        }
        for (size_t i = 0; i < 2; i++) {
                print_of(same[i], other);
                ck_assert_str_eq(hex[0], other);
        }
}
END_TEST

START_TEST(format_parses_back) {
        CLEANUP(request_freep)
        Request *q = parsed(
                "restart",
                "{\"verb\":\"restart\",\"arg\":\"we\\\"b\",\"requested_at\":\"2026-01-02T03:04:05."
                "678Z\","
                "\"idempotency_key\":\"k\",\"max_age_sec\":7,\"timeout_sec\":8,\"permission_"
                "scope\":\"plan\","
                "\"mac\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}");
        CLEANUP(request_freep) Request *least = parsed("ping", "{" PING "}");
        CLEANUP(request_freep) Request *again = NULL;
        CLEANUP(str_freep) char *body = NULL, *other = NULL;

        ck_assert_int_eq(request_format(q, &body), 0);
        again = parsed("restart", body);
        ck_assert_str_eq(again->arg, "we\"b");
        ck_assert_int_eq(again->requested_ms, q->requested_ms);
        ck_assert_str_eq(again->mac, q->mac);
        ck_assert_int_eq(request_format(again, &other), 0);
        ck_assert_str_eq(body, other);
        str_freep(&other);
        ck_assert_int_eq(request_format(least, &other), 0);
        ck_assert_str_eq(other,
                         "{\"verb\":\"ping\",\"requested_at\":\"2026-01-02T03:04:05.000Z\"}");
        ck_assert_ptr_null(request_free(NULL));
}
END_TEST

RUN_TESTS("wire/request", parse_the_least, parse_everything, parse_leaves_the_arg_to_the_gates,
          parse_not_an_object, parse_size, parse_depth, parse_keys, parse_nul_and_bad_utf8,
          parse_verb, parse_requested_at, parse_numbers, parse_texts, parse_key_of_128,
          fingerprint_sees_what_changes_the_run, format_parses_back)
