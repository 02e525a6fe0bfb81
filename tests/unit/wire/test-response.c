/* wire/response */
#include "../verb/fixture.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "wire/response.h"

static void formats(const Response *r, const char *want) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(response_format(r, &s), 0);
        ck_assert_str_eq(s.data, want);
        ck_assert_uint_eq(s.len, strlen(want));
}

START_TEST(format_all_null) {
        Response r = RESPONSE_NULL;

        formats(&r, "{\"v\":1,\"request\":null,\"state\":\"queued\",\"reason\":null,\"message\":"
                    "null,\"verb\":null,"
                    "\"arg\":null,\"exit\":null,\"signal\":null,\"started_at\":null,\"finished_"
                    "at\":null,"
                    "\"duration_ms\":null,\"output\":null,\"output_bytes\":null,\"truncated\":"
                    "false,\"log\":null,"
                    "\"replayed\":false,\"retry_after_sec\":null,\"ahead\":null}\n");
}
END_TEST

static Response full(void) {
        return (Response){
                .request = "20260102T030405Z-restart-0123456789abcdef.json",
                .state = STATE_FAILED,
                .reason = REASON_EXIT_NONZERO,
                .message = "it said \"no\"\nspoolgate audit",
                .verb = "restart",
                .arg = "web",
                .has_exit = true,
                .exit = 3,
                .has_signal = true,
                .signal = 9,
                .started_ms = 1767323045678,
                .finished_ms = 1767323046000,
                .duration_ms = 0,
                .output = "a\tb\\\r\n\x01\x7f\xc3\xa4",
                .output_len = 10,
                .output_bytes = 5000000000,
                .has_output = true,
                .truncated = true,
                .log = "archive/x.log",
                .replayed = true,
                .retry_after_sec = 0,
                .ahead = 12,
        };
}

#define FULL                                                                                       \
        "{\"v\":1,\"request\":\"20260102T030405Z-restart-0123456789abcdef.json\",\"state\":"       \
        "\"failed\","                                                                              \
        "\"reason\":\"exit-nonzero\",\"message\":\"it said \\\"no\\\"\\nspoolgate "                \
        "audit\",\"verb\":\"restart\","                                                            \
        "\"arg\":\"web\",\"exit\":3,\"signal\":9,\"started_at\":\"2026-01-02T03:04:05.678Z\","     \
        "\"finished_at\":\"2026-01-02T03:04:06.000Z\",\"duration_ms\":0,"                          \
        "\"output\":\"a\\tb\\\\\\r\\n\\u0001\\u007f\xc3\xa4\",\"output_bytes\":5000000000,"        \
        "\"truncated\":true,"                                                                      \
        "\"log\":\"archive/x.log\",\"replayed\":true,\"retry_after_sec\":0,\"ahead\":12}\n"

START_TEST(format_everything) {
        Response r = full();

        formats(&r, FULL);
}
END_TEST

START_TEST(format_replaces_what_was_there) {
        CLEANUP(str_done) Str s = STR_NULL;
        Response r = full();

        ck_assert_int_eq(str_adds(&s, "before"), 0);
        ck_assert_int_eq(response_format(&r, &s), 0);
        ck_assert_str_eq(s.data, FULL);
        r.verb = "\xff";
        ck_assert_int_eq(response_format(&r, &s), -EILSEQ);
        ck_assert_str_eq(s.data, FULL);
}
END_TEST

START_TEST(format_refuses_bad_text) {
        static const struct {
                const char *text;
                size_t len;
        } bad[] = {
                {"\xff", 1},
                {"\x80", 1},
                {"\xc0\xaf", 2},
                {"\xc1\xbf", 2},
                {"\xc3", 1},
                {"\xc3x", 2},
                {"\xe0\x9f\xbf", 3},
                {"\xed\xa0\x80", 3},
                {"\xe2\x80", 2},
                {"\xe2\x80x", 3},
                {"\xf0\x8f\xbf\xbf", 4},
                {"\xf4\x90\x80\x80", 4},
                {"\xf5\x80\x80\x80", 4},
                {"a\0b", 3},
                {"\xf0\x90\x80", 3},
        };
        CLEANUP(str_done) Str s = STR_NULL;
        Response r = RESPONSE_NULL;

        r.has_output = true;
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                r.output = bad[i].text;
                r.output_len = bad[i].len;
                ck_assert_int_eq(response_format(&r, &s), -EILSEQ);
        }
        r.output = "";
        r.output_len = RESPONSE_OUTPUT_MAX + 1;
        ck_assert_int_eq(response_format(&r, &s), -EINVAL);
        ck_assert_ptr_null(s.data);
}
END_TEST

START_TEST(format_edges_of_utf8) {
        static const char *const good[] = {"\xc2\x80",         "\xdf\xbf",        "\xe0\xa0\x80",
                                           "\xed\x9f\xbf",     "\xee\x80\x80",    "\xef\xbf\xbf",
                                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                CLEANUP(str_done) Str s = STR_NULL;
                CLEANUP(response_freep) ResponseDoc *d = NULL;
                Response r = RESPONSE_NULL;

                r.message = good[i];
                ck_assert_int_eq(response_format(&r, &s), 0);
                ck_assert_int_eq(response_parse(s.data, s.len, &d), 0);
                ck_assert_str_eq(response_of(d)->message, good[i]);
        }
}
END_TEST

START_TEST(format_every_ascii_byte_parses_back) {
        CLEANUP(str_done) Str s = STR_NULL;
        CLEANUP(response_freep) ResponseDoc *d = NULL;
        char out[127];
        Response r = RESPONSE_NULL;

        for (int i = 0; i < 127; i++)
                out[i] = (char)(i + 1);
        r.has_output = true;
        r.output = out;
        r.output_len = sizeof(out);
        ck_assert_int_eq(response_format(&r, &s), 0);
        for (size_t i = 0; i < s.len - 1; i++)
                ck_assert_msg(s.data[i] >= 0x20 && s.data[i] < 0x7f, "raw byte %d", s.data[i]);
        ck_assert_int_eq(response_parse(s.data, s.len, &d), 0);
        ck_assert_uint_eq(response_of(d)->output_len, sizeof(out));
        ck_assert_mem_eq(response_of(d)->output, out, sizeof(out));
}
END_TEST

START_TEST(format_64_KiB_is_fast) {
        CLEANUP(str_done) Str s = STR_NULL;
        char *out = malloc(RESPONSE_OUTPUT_MAX);
        Response r = RESPONSE_NULL;
        int64_t start;

        ck_assert_ptr_nonnull(out);
        for (size_t i = 0; i < RESPONSE_OUTPUT_MAX; i++)
                out[i] = i % 80 == 79 ? '\n' : 'x';
        r.has_output = true;
        r.output = out;
        r.output_len = RESPONSE_OUTPUT_MAX;
        start = clock_mono_ms();
        for (int i = 0; i < 100; i++)
                ck_assert_int_eq(response_format(&r, &s), 0);
        ck_assert_int_lt(clock_mono_ms() - start,
                         5000); /* 0.1 ms each when plain; sanitized and loaded, far more */
        free(out);
}
END_TEST

START_TEST(parse_reads_what_format_wrote) {
        CLEANUP(response_freep) ResponseDoc *d = NULL;
        const Response *r;

        ck_assert_int_eq(response_parse(FULL, strlen(FULL), &d), 0);
        r = response_of(d);
        formats(r, FULL);
        ck_assert_int_eq(r->state, STATE_FAILED);
        ck_assert_int_eq(r->reason, REASON_EXIT_NONZERO);
        ck_assert_int_eq(r->started_ms, 1767323045678);
        ck_assert_uint_eq(r->output_bytes, 5000000000);
        ck_assert_ptr_null(response_free(NULL));
}
END_TEST

START_TEST(peek) {
        static const char *const name = "20260102T030405Z-restart-0123456789abcdef.json";
        static const char *const others[] = {
                "", "{", "{\"v\":1,\"request\":\"x\",\"state\":\"done\"}", "{\"v\":1,\"request\":null,\"state\":\"done\"}",
                "{\"v\":1,\"request\":\"20260102T030405Z-restart-0123456789abcdef.json\",\"state\":\"odd\",",
                "{\"v\":1,\"request\":\"20260102T030405Z-restart-0123456789abcdef.json\",\"state\":\"donedonedonedonedone\",",
                "{\"v\":1,\"request\":\"20260102T030405Z-restart-0123456789abcdef.json\",\"state\":\"done",
                "{\"v\":2,\"request\":\"20260102T030405Z-restart-0123456789abcdef.json\",\"state\":\"done\",",
        };
        static const State states[] = { STATE_QUEUED, STATE_RUNNING, STATE_DONE, STATE_FAILED, STATE_UNCERTAIN, STATE_DENIED, STATE_EXPIRED };
        char longest[NAME_MAX_LEN + 1];
        State state;

        for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
                CLEANUP(str_done) Str s = STR_NULL;
                Response r = RESPONSE_NULL;

                r.request = name;
                r.state = states[i];
                ck_assert_int_eq(response_format(&r, &s), 0);
                ck_assert(response_peek(s.data, s.len < RESPONSE_HEAD_MAX ? s.len : RESPONSE_HEAD_MAX, name, &state));
                ck_assert_int_eq(state, states[i]);
                memset(longest, 'x', NAME_MAX_LEN);
                longest[NAME_MAX_LEN] = '\0';
                r.request = longest;
                str_clear(&s);
                ck_assert_int_eq(response_format(&r, &s), 0);
                ck_assert(response_peek(s.data, RESPONSE_HEAD_MAX, longest, &state));
                ck_assert(!response_peek(s.data, RESPONSE_HEAD_MAX, name, &state));
        }
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                ck_assert_msg(!response_peek(others[i], strlen(others[i]), name, &state), "%s", others[i]);
}
END_TEST

START_TEST(parse_refuses) {
        static const struct {
                const char *from, *to;
        } bends[] = {
                {"\"v\":1", "\"v\":2"},
                {"\"v\":1", "\"v\":\"1\""},
                {"\"failed\"", "\"lost\""},
                {"\"failed\"", "null"},
                {"exit-nonzero", "whim"},
                {"\"exit\":3", "\"exit\":256"},
                {"\"exit\":3", "\"exit\":-1"},
                {"\"exit\":3", "\"exit\":3.0"},
                {"\"signal\":9", "\"signal\":0"},
                {"\"web\"", "7"},
                {"2026-01-02T03:04:06.000Z", "yesterday"},
                {"2026-01-02T03:04:06.000Z", "1969-12-31T23:59:59Z"},
                {"\"ahead\":12", "\"ahead\":-2"},
                {"\"ahead\":12", "\"ahaed\":12"},
                {"\"ahead\":12", "\"ahead\":12,\"more\":1"},
                {",\"ahead\":12", ""},
                {"\"truncated\":true", "\"truncated\":null"},
                {"\"ahead\":12", "\"v\":1"},
                {"\"output_bytes\":5000000000", "\"output_bytes\":null"},
                {"}\n", "}x"},
        };

        for (size_t i = 0; i < sizeof(bends) / sizeof(bends[0]); i++) {
                CLEANUP(str_done) Str s = STR_NULL;
                ResponseDoc *d = NULL;
                const char *at = strstr(FULL, bends[i].from);

                ck_assert_ptr_nonnull(at);
                ck_assert_int_eq(str_add(&s, FULL, strlen(FULL) - strlen(at)), 0);
                ck_assert_int_eq(str_adds(&s, bends[i].to), 0);
                ck_assert_int_eq(str_adds(&s, at + strlen(bends[i].from)), 0);
                ck_assert_msg(response_parse(s.data, s.len, &d) == RESPONSE_E_SYNTAX, "%s",
                              bends[i].to);
                ck_assert_ptr_null(d);
        }
        for (size_t i = 0; i < strlen(FULL) - 1; i++) {
                ResponseDoc *d = NULL;
                ck_assert_int_eq(response_parse(FULL, i, &d), RESPONSE_E_SYNTAX);
        }
}
END_TEST

RUN_TESTS("wire/response", format_all_null, format_everything, format_replaces_what_was_there,
          format_refuses_bad_text, format_edges_of_utf8, format_every_ascii_byte_parses_back,
          format_64_KiB_is_fast, parse_reads_what_format_wrote, peek, parse_refuses)
