#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "run/redact.h"

#define A36 "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"
#define B64 "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"

#define HEX32 "0123456789abcdef0123456789abcdef"
#define HEX64 HEX32 HEX32

/* Innocent whatever stands around. */
static const char *const survive[] = {
        "docker.io/library/nginx@sha256:" HEX64,
        "auth-service:latest@sha256:" HEX64,
        "Digest: sha256:" HEX64,
        "registry/token-service@sha256:" HEX64,
        "my-secret:1.2.3@sha256:" HEX64,
        "commit " HEX32 "01234567",
        "HEAD is now at 0123abc fix token refresh",
        HEX32 "01234567\trefs/heads/main",
        "writing image sha256:" HEX64 " done",
        "Author: Jane <jane@example.org>",
        "10.0.0.1 - - [01/Jan/2025:00:00:00 +0000] \"GET /session/new HTTP/1.1\" 200",
        "\x1b[32mauth-service-1  |\x1b[0m ready in 12ms",
        "",
};

static Redact *blank; /* the families alone */

static void setup(void) {
        ck_assert_int_eq(redact_new(&blank), 0);
        ck_assert_int_eq(redact_compile(blank), 0);
}

static void teardown(void) {
        redact_freep(&blank);
}

static void check_text(const Redact *r, const char *text, size_t len, const char *want) {
        CLEANUP(str_done) Str out = STR_NULL;

        ck_assert_int_eq(redact_text(r, text, len, &out), 0);
        ck_assert_msg(strcmp(out.data, want) == 0, "%.300s\nwanted\n%.300s", out.data, want);
        ck_assert_uint_eq(out.len, strlen(want));
}

static void check_split(const Redact *r, const char *text, size_t len, const char *want) {
        CLEANUP(redact_stream_freep) RedactStream *s = NULL;

        ck_assert_int_eq(redact_stream_new(r, &s), 0);
        for (size_t at = 0; at <= len; at++) {
                CLEANUP(str_done) Str out = STR_NULL;

                ck_assert_int_eq(redact_feed(s, text, at, &out), 0);
                ck_assert_int_eq(redact_feed(s, text + at, len - at, &out), 0);
                ck_assert_int_eq(redact_flush(s, &out), 0);
                ck_assert_msg(strcmp(out.data, want) == 0, "split at %zu: %s", at, out.data);
        }
}

START_TEST(redact_text_survivors) {
        for (size_t i = 0; i < sizeof(survive) / sizeof(survive[0]); i++)
                check_text(blank, survive[i], strlen(survive[i]), survive[i]);
}
END_TEST

START_TEST(redact_text_word_before_colour) {
        static const char text[] = "token\x1b[0mgh"
                                   "p_" A36 "\x1b[0mtail\n";

        check_text(blank, text, sizeof(text) - 1, "token\x1b[0m[redacted:github]\x1b[0mtail\n");
}
END_TEST

static const char key[] = "a\n  x -----BEGIN OPENSSH PRIVATE "
                          "KEY-----\r\n"
                          "  x b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\r\n"
                          "other | a line of another container\r\n"
                          "  x AAtzc2gtZWQyNTUxOQAAACB\x1b[0mmm\r\n"
                          "  x -----END OPENSSH PRIVATE KEY----- tail\r\nb\n";

START_TEST(redact_feed_key_over_lines) {
        check_split(blank, key, strlen(key), "a\n  x [redacted:private-key]\r\ntail\r\nb\n");
}
END_TEST

START_TEST(redact_feed_key_kinds) {
        static const char *const kinds[][2] = {{"-----BEGIN PGP PRIVATE "
                                                "KEY BLOCK-----",
                                                "-----END PGP PRIVATE KEY BLOCK-----"},
                                               {"-----BEGIN PRIVATE "
                                                "KEY-----",
                                                "-----END PRIVATE KEY-----"},
                                               {"---- BEGIN SSH2 ENCRYPTED PRIVATE "
                                                "KEY ----",
                                                "---- END SSH2 ENCRYPTED PRIVATE KEY ----"}};

        for (size_t i = 0; i < 3; i++) {
                CLEANUP(str_done) Str text = STR_NULL;

                ck_assert_int_eq(str_addf(&text, "%s\nComment: x\n\n" B64 "\n=aB3d\n%s\nafter\n",
                                          kinds[i][0], kinds[i][1]),
                                 0);
                check_text(blank, text.data, text.len, "[redacted:private-key]\nafter\n");
        }
}
END_TEST

START_TEST(redact_feed_key_without_end) {
        static const char text[] = "-----BEGIN PRIVATE "
                                   "KEY-----\n" B64 "\n1\n2\n3\n4\n5\n6\n7\n8\nshown again\n";

        check_text(blank, text, sizeof(text) - 1, "[redacted:private-key]\nshown again\n");
        check_text(blank, text, 60, "[redacted:private-key]\n");
}
END_TEST

START_TEST(redact_feed_key_of_4096_lines) {
        CLEANUP(str_done) Str text = STR_NULL, out = STR_NULL;

        ck_assert_int_eq(str_adds(&text, "-----BEGIN PRIVATE "
                                         "KEY-----\n"),
                         0);
        for (int i = 0; i < 5000; i++)
                ck_assert_int_eq(str_addf(&text, B64 "%d\n", i), 0);
        ck_assert_int_eq(redact_text(blank, text.data, text.len, &out), 0);
        ck_assert_ptr_null(strstr(out.data, B64 "4095\n"));
        ck_assert_ptr_nonnull(strstr(out.data, B64 "4096\n"));
}
END_TEST

/* 1 MB without a newline; secrets lie over each border of a window. */
START_TEST(redact_feed_long_line) {
        CLEANUP(str_done)
        Str text = STR_NULL, out = STR_NULL, again = STR_NULL, bytewise = STR_NULL;
        CLEANUP(redact_stream_freep) RedactStream *s = NULL;
        size_t markers = 0;

        for (int i = 0; i < 10000; i++)
                ck_assert_int_eq(str_addf(&text,
                                          "%.*s password=hunter%05d gh"
                                          "p_" A36 " end,",
                                          i % 17, "................", i),
                                 0);
        ck_assert_int_eq(redact_text(blank, text.data, text.len, &out), 0);
        ck_assert_ptr_null(strstr(out.data, "hunter"));
        ck_assert_ptr_null(strstr(out.data, "gh"
                                            "p_"));
        for (const char *at = out.data; (at = strstr(at, "[redacted:")); at++)
                markers++;
        ck_assert_uint_eq(markers, 20000);
        ck_assert_int_eq(redact_text(blank, out.data, out.len, &again), 0);
        ck_assert(strcmp(again.data, out.data) == 0);
        ck_assert_int_eq(redact_stream_new(blank, &s), 0);
        for (size_t at = 0; at < text.len; at += 7)
                ck_assert_int_eq(redact_feed(s, text.data + at,
                                             text.len - at < 7 ? text.len - at : 7, &bytewise),
                                 0);
        ck_assert_int_eq(redact_flush(s, &bytewise), 0);
        ck_assert(strcmp(bytewise.data, out.data) == 0);
}
END_TEST

START_TEST(redact_feed_token_longer_than_window) {
        CLEANUP(str_done) Str text = STR_NULL, out = STR_NULL;

        ck_assert_int_eq(str_adds(&text, "password="), 0);
        for (int i = 0; i < 30000; i++)
                ck_assert_int_eq(str_adds(&text, "Xy1#"), 0);
        ck_assert_int_eq(str_adds(&text, " end\nnext"), 0);
        ck_assert_int_eq(redact_text(blank, text.data, text.len, &out), 0);
        ck_assert_str_eq(out.data, "password=[redacted:value] end\nnext");
}
END_TEST

START_TEST(redact_feed_line_at_window_size) {
        for (size_t len = 64 * 1024 - 3; len <= 64 * 1024 + 2; len++) {
                CLEANUP(str_done) Str text = STR_NULL, want = STR_NULL;

                for (size_t i = 0; i + 16 < len; i++)
                        ck_assert_int_eq(str_addc(&text, i % 32 ? '.' : ' '), 0);
                ck_assert_int_eq(str_add(&want, text.data, text.len), 0);
                ck_assert_int_eq(str_adds(&text, "password=hunter\nx\n"), 0);
                ck_assert_int_eq(str_adds(&want, "password=[redacted:value]\nx\n"), 0);
                check_text(blank, text.data, text.len, want.data);
        }
}
END_TEST

START_TEST(redact_add_env_forms) {
        static const char env[] =
                "# comment=notavalue1\nexport A_KEY=alphabravo # why\nB='sin gle "
                "\"q\"'\nC=\"dou\\\"ble/x\\n2\"\nSHORT=abc\n"
                "D: yamlvalue1\nE=\"multi "
                "line\nsecondline\"\nURL=amqp://u:urlpassword@h/\nAPP_ENV=production\n"
                "PORTS=1234567890\nHOME_DIR=/var/lib/app\nF=\"never closed1\nG=tail-value-9";
        static const char *const hidden[] = {
                "alphabravo",      "sin gle \"q\"", "sin gle \\\"q\\\"", "sin%20gle%20%22q%22",
                "sin+gle+%22q%22", "dou\"ble/x",    "dou\\\"ble/x\\n2",  "dou\\\"ble\\/x\\n2",
                "yamlvalue1",      "multi line",    "secondline",        "urlpassword",
                "never closed1",   "tail-value-9",  "YWxwaGFicmF2bw==",  "dGFpbC12YWx1ZS05"};
        static const char *const shown[] = {"abc",          "production", "1234567890",
                                            "/var/lib/app", "notavalue1", "alphabrav",
                                            "multi_line"};
        CLEANUP(redact_freep) Redact *r = NULL;

        ck_assert_int_eq(redact_new(&r), 0);
        ck_assert_int_eq(redact_add_env(r, env, sizeof(env) - 1), 0);
        ck_assert_int_eq(redact_compile(r), 0);
        for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
                check_text(r, hidden[i], strlen(hidden[i]), "[redacted:env]");
        for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
                check_text(r, shown[i], strlen(shown[i]), shown[i]);
}
END_TEST

/* The value within a longer base64 text at each alignment; base64 of "", "u", "uu", ... +
 * "my-s3cret!" + ":tail". */
START_TEST(redact_add_value_base64_alignments) {
        static const char *const coded[] = {"bXktczNjcmV0IQ==",
                                            "dW15LXMzY3JldCE=",
                                            "dXVteS1zM2NyZXQh",
                                            "dXV1bXktczNjcmV0ITp0YWls",
                                            "dXV1dW15LXMzY3JldCE6dGFpbA==",
                                            "dXV1dXVteS1zM2NyZXQhOnRhaWw="};
        CLEANUP(redact_freep) Redact *r = NULL;

        ck_assert_int_eq(redact_new(&r), 0);
        ck_assert_int_eq(redact_add_value(r, "my-s3cret!"), 0);
        ck_assert_int_eq(redact_add_value(r, "seven77"), 0);
        ck_assert_int_eq(redact_compile(r), 0);
        for (size_t i = 0; i < sizeof(coded) / sizeof(coded[0]); i++) {
                CLEANUP(str_done) Str text = STR_NULL;

                ck_assert_int_eq(str_addf(&text, "<%s> my-s3cret!, my-s3\x1b[1mcret!", coded[i]),
                                 0);
                check_split(r, text.data, text.len,
                            "<[redacted:env]> [redacted:env], [redacted:env]");
        }
        check_text(r, "seven77", 7, "seven77");
        check_text(r, "bXktczNjcmV1IQ==", 16, "bXktczNjcmV1IQ==");
}
END_TEST

/* A value made of our own words must not make markers grow. */
START_TEST(redact_add_value_like_a_marker) {
        CLEANUP(redact_freep) Redact *r = NULL;

        ck_assert_int_eq(redact_new(&r), 0);
        ck_assert_int_eq(redact_add_value(r, "redacted"), 0);
        ck_assert_int_eq(redact_compile(r), 0);
        check_text(r, "it was redacted", 15, "it was [redacted:env]");
        check_text(r, "it was [redacted:env]", 21, "it was [redacted:env]");
        check_text(r, "[redacted:nobody]", 17, "[[redacted:env]:nobody]");
}
END_TEST

START_TEST(redact_add_conf_patterns) {
        static const char conf[] =
                "# ours\n\n  acme-id ACME-[0-9]{4}\r\nslow (x+x+)+[yz]\nrest (?i)badge (\\d+)\n";
        CLEANUP(redact_freep) Redact *r = NULL;
        CLEANUP(str_done) Str line = STR_NULL;
        char *message = NULL;

        ck_assert_int_eq(redact_new(&r), 0);
        ck_assert_int_eq(redact_add_conf(r, conf, sizeof(conf) - 1, &message), 0);
        ck_assert_ptr_null(message);
        ck_assert_int_eq(redact_compile(r), 0);
        check_text(r, "a ACME-1234\nACME-12\nBadge 7", 27,
                   "a [redacted:acme-id]\nACME-12\n[redacted:rest]");
        /* At the match limit the line is withheld, and only that line. */
        ck_assert_int_eq(str_adds(&line, "before\n"), 0);
        for (int i = 0; i < 200; i++)
                ck_assert_int_eq(str_addc(&line, 'x'), 0);
        ck_assert_int_eq(str_adds(&line, "\r\nafter\n"), 0);
        check_split(r, line.data, line.len, "before\n[redacted:line]\r\nafter\n");
}
END_TEST

START_TEST(redact_add_conf_limit_in_long_line) {
        CLEANUP(redact_freep) Redact *r = NULL;
        CLEANUP(str_done) Str line = STR_NULL;
        char *message = NULL;

        ck_assert_int_eq(redact_new(&r), 0);
        ck_assert_int_eq(redact_add_conf(r, "slow (x+x+)+[yz]", 16, &message), 0);
        ck_assert_int_eq(redact_compile(r), 0);
        for (int i = 0; i < 200000; i++)
                ck_assert_int_eq(str_addc(&line, 'x'), 0);
        ck_assert_int_eq(str_adds(&line, "\nafter\n"), 0);
        check_text(r, line.data, line.len, "[redacted:line]\nafter\n");
}
END_TEST

START_TEST(redact_add_conf_refusals) {
        static const struct {
                const char *conf, *message;
        } bad[] = {
                {"ok a\nname (",
                 "redact.conf:2: missing closing parenthesis at offset 1 of the pattern"},
                {"# x\nname a*", "redact.conf:2: the pattern matches the empty string"},
                {"name (?=x)", "redact.conf:1: the pattern matches the empty string"},
                {"name", "redact.conf:1: a pattern must follow the name"},
                {"name  \t", "redact.conf:1: a pattern must follow the name"},
                {"Name x", "redact.conf:1: the name must be [a-z][a-z0-9-]{0,30}"},
                {"abcdefghijabcdefghijabcdefghijab x",
                 "redact.conf:1: the name must be [a-z][a-z0-9-]{0,30}"},
                {"name (*UTF)x", "redact.conf:1: using UTF is disabled by the application at "
                                 "offset 6 of the pattern"},
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                CLEANUP(redact_freep) Redact *r = NULL;
                CLEANUP(str_freep) char *message = NULL;

                ck_assert_int_eq(redact_new(&r), 0);
                ck_assert_int_eq(redact_add_conf(r, bad[i].conf, strlen(bad[i].conf), &message),
                                 REDACT_E_PATTERN);
                ck_assert_str_eq(message, bad[i].message);
        }
}
END_TEST

START_TEST(redact_add_conf_nul_and_long) {
        CLEANUP(redact_freep) Redact *r = NULL;
        CLEANUP(str_freep) char *message = NULL, *longer = NULL;
        CLEANUP(str_done) Str line = STR_NULL;

        ck_assert_int_eq(redact_new(&r), 0);
        ck_assert_int_eq(redact_add_conf(r, "name a\0b", 8, &message), REDACT_E_PATTERN);
        ck_assert_str_eq(message, "redact.conf:1: a NUL byte");
        ck_assert_int_eq(str_adds(&line, "name "), 0);
        while (line.len < 4096)
                ck_assert_int_eq(str_addc(&line, 'x'), 0);
        ck_assert_int_eq(redact_add_conf(r, line.data, line.len, &longer), 0);
        ck_assert_int_eq(str_addc(&line, 'x'), 0);
        ck_assert_int_eq(redact_add_conf(r, line.data, line.len, &longer), REDACT_E_PATTERN);
        ck_assert_str_eq(longer, "redact.conf:1: the line is longer than 4096 bytes");
}
END_TEST

int main(void) {
        Suite *suite = suite_create("redact-stream");
        TCase *t = tcase_create("redact-stream");
        SRunner *runner = srunner_create(suite);
        int failed;

        tcase_set_timeout(t, 60);
        tcase_add_unchecked_fixture(t, setup, teardown);
        tcase_add_test(t, redact_text_survivors);
        tcase_add_test(t, redact_text_word_before_colour);
        tcase_add_test(t, redact_feed_key_over_lines);
        tcase_add_test(t, redact_feed_key_kinds);
        tcase_add_test(t, redact_feed_key_without_end);
        tcase_add_test(t, redact_feed_key_of_4096_lines);
        tcase_add_test(t, redact_feed_long_line);
        tcase_add_test(t, redact_feed_token_longer_than_window);
        tcase_add_test(t, redact_feed_line_at_window_size);
        tcase_add_test(t, redact_add_env_forms);
        tcase_add_test(t, redact_add_value_base64_alignments);
        tcase_add_test(t, redact_add_value_like_a_marker);
        tcase_add_test(t, redact_add_conf_patterns);
        tcase_add_test(t, redact_add_conf_limit_in_long_line);
        tcase_add_test(t, redact_add_conf_refusals);
        tcase_add_test(t, redact_add_conf_nul_and_long);
        suite_add_tcase(suite, t);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed > 0;
}
