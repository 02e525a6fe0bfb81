#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "run/redact.h"

/* `before` and `after` stay, `secret` becomes [redacted:FAMILY]; the look-alikes stay as they are.
 * The words are split so that nobody's scanner takes them for real ones. */
typedef struct Row {
        const char *family, *before, *secret, *after;
        const char *alike[5];
} Row;

#define A20 "abcdefghij0123456789"
#define A34 "aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"
#define A36 A34 "89"
#define HEX32 "0123456789abcdef0123456789abcdef"
#define HEX64 HEX32 HEX32
#define B64 "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"

static const Row rows[] = {
        {"aws",
         "id ",
         "AK"
         "IAABCDEFGHIJKLMN23",
         " used",
         {"AK"
          "IAABCDEFGHIJKLMN2",
          "AK"
          "IAabcdefghijklmn23",
          "XAK"
          "IAABCDEFGHIJKLMN23"}},
        {"github",
         "clone with ",
         "gh"
         "p_" A36,
         "",
         {"ghp_short", "ghx_" A36,
          "high"
          "p_level_name"}},
        {"github",
         "",
         "github"
         "_pat_" A20 "ab_" A36,
         ".",
         {"github_pat_", "github_path_" A36}},
        {"gitlab",
         "at ",
         "gl"
         "pat-" A20,
         "",
         {"glpat-short", "glob-" A20}},
        {"slack",
         "",
         "xox"
         "b-1234567890-" A20,
         "!",
         {"xoxo-bye", "boxb-1234567890-" A20}},
        {"slack",
         "post https://hooks.slack.com/services/",
         "T00000000/B00000000/" A20,
         "",
         {"https://hooks.slack.com/services/",
          "https://slack.com/services/T00000000/B00000000/" A20}},
        {"stripe",
         "uses ",
         "sk"
         "_live_" A20,
         ",",
         {"pk_live_" A20, "sk_live_x", "task_live_" A20}},
        {"google",
         "",
         "AI"
         "za" A34 "8",
         " ",
         {"AI"
          "za" A34,
          "AI"
          "za" A36}},
        {"google",
         "",
         "GOC"
         "SPX-" A20 "abcdefgh",
         " ",
         {"GOCSPX-abc", "ya29.short"}},
        {"openai",
         "uses ",
         "s"
         "k-" A36,
         "",
         {"sk-learn-compatible-estimators-are-here", "task-" A36,
          "s"
          "k-" A20}},
        {"anthropic",
         "uses ",
         "s"
         "k-ant-api03-" A20,
         "",
         {"sk-ant-eater", "desk-ant-api03-" A20}},
        {"npm",
         "",
         "np"
         "m_" A36,
         " in .npmrc",
         {"npm_config_registry=https://registry.npmjs.org/", "npm_" A34}},
        {"pypi",
         "",
         "py"
         "pi-A" A34 A20,
         "",
         {"pypi-server is up", "pypi-A" A34}},
        {"docker",
         "",
         "dckr"
         "_pat_" A20 "1234567",
         "",
         {"dckr_pat_abc", "docker_pat_" A20 "1234567"}},
        {"digitalocean",
         "",
         "do"
         "p_v1_" HEX64,
         "",
         {"dop_v1_" HEX32, "dop_v2_" HEX64}},
        {"huggingface",
         "",
         "h"
         "f_" A34,
         "",
         {"hf_hub_download", "half_" A34, "hf_" A36}},
        {"sendgrid",
         "",
         "S"
         "G." A20 "ab." A34 "abcdefghi",
         "",
         {"SG.x.y", "MSG." A20 "ab." A34 "abcdefghi"}},
        {"twilio",
         "sid ",
         "A"
         "C" HEX32,
         " ",
         {"AC" HEX64, "ac" HEX32, "BACK" HEX32}},
        {"telegram",
         "bot",
         "123456789"
         ":A" A34,
         "/getMe",
         {"12:34:56", "123456789:A" A20, "2024:A" A34}},
        {"vault",
         "",
         "hv"
         "s." A20 "abcd",
         "",
         {"hvs.short", "chvs." A20 "abcd"}},
        {"terraform",
         "",
         "abcdefghij1234"
         ".atlasv1." A34 A34,
         "",
         {"x.atlasv1.y", "abcdefghij1234.atlasv2." A34 A34}},
        {"age",
         "",
         "AGE-SECRET-"
         "KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
         "",
         {"AGE-SECRET-KEY-", "age1qpzry9x8gf2tvdw0s3jn54khce6mua7lqpzry9x8gf2tvdw0s3jn54khce"}},
        {"azure",
         "AccountName=x;Account"
         "Key=",
         A36 A36 "ab==",
         ";EndpointSuffix=core",
         {"AccountKey=short", "Account=" A36 A36}},
        {"signature",
         "https://x.blob/y?sv=2020&sig=",
         A36 "%2B%3D",
         "&se=1",
         {"?sig=abc", "design=" A36 "%2B%3D"}},
        {"jwt",
         "got ",
         "ey"
         "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ",
         " back",
         {"eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.x.y",
          "keyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln"}},
        {"private-key",
         "",
         "LS0tLS1CRUdJTi"
         "BQUklWQVRFIEtFWS0tLS0t" B64 "==",
         " ",
         {"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t" B64, "LS0tLS1CRUdJTiBQVUJMSUMgS0VZ"}},
        {"private-key",
         "> ",
         "-----BEGIN RSA PRIVATE "
         "KEY-----\\n" B64 "\\n-----END RSA PRIVATE KEY-----",
         "\\n <",
         {"-----BEGIN CERTIFICATE-----" B64 "-----END CERTIFICATE-----",
          "-----BEGIN PUBLIC KEY-----", "BEGIN PRIVATE KEY"}},
        {"url",
         "postgres://app:",
         "P@ss/w0rd!",
         "@db:5432/x",
         {"http://host:8080/path?mail=a@b.com", "ssh://git@host:22/x", "https://u:${PW}@h/"}},
        {"url", "redis://:", "hunter2", "@cache", {"redis://:@cache", "redis://cache:6379"}},
        {"authorization",
         "> Authorization: Bearer ",
         "abc.def",
         "",
         {"> Authorization: Bearer ${X}", "authorization is required"}},
        {"authorization",
         "-H 'authorization: Basic ",
         "dXNlcjpwYXNz",
         "' x",
         {"-H 'authorization: '", "authorization: Basic <base64>"}},
        {"authorization",
         "Authorization: Digest ",
         "username=\"a\", response=\"b\"",
         "",
         {"digest of authorization", "Authorization: Digest ***"}},
        {"authorization", "sent bearer ", A20, " to it", {"bearer of bad news", "forbearer " A20}},
        {"cookie",
         "Set-Cookie: ",
         "sid=\"abc\"; Path=/",
         "",
         {"Cookie: none at all", "cookie jar = full"}},
        {"cookie", "curl -H 'Cookie: ", "a=b; c=d", "' http://x", {"'cookie: '", "'cookies: a=b'"}},
        {"header", "X-Auth-Token: ", "abcdef", "", {"X-Auth-Token: ***", "X-Request-Id: abcdef"}},
        {"docker-auth",
         "{\"auth\": \"",
         "dXNlcjpwYXNzd29yZA==",
         "\"}",
         {"{\"auth\": \"none\"}", "{\"author\": \"dXNlcjpwYXNzd29yZA==\"}"}},
        {"netrc",
         "machine h login u password ",
         "hunter2",
         "",
         {"password must be long", "login with a password please"}},
        {"netrc", "  password ", "hunter2", "", {"  password", "no password given"}},
        {"hash",
         "root:",
         "$"
         "6$saltsalt$" A36 A36,
         ":19000:0",
         {"costs $6 or $7", "$6$short", "$9$saltsalt$" A36}},
        {"hash",
         "web:",
         "$"
         "apr1$abcdefgh$" A20 "ab",
         "",
         {"$apr2$abcdefgh$" A20 "ab", "apr1"}},
        {"hash",
         "web:",
         "{"
         "SHA}" A20 "abcdefg=",
         "",
         {"{SHA}short", "{SHAPE}" A20 "abcdefg="}},
        {"kubeconfig",
         "client-key-data: ",
         B64 "==",
         "",
         {"client-certificate-data: " B64 "==", "client-key-data: x"}},
        {"value",
         "DB_PASSWORD=",
         "hunter2",
         " x",
         {"DB_PASSWORD=", "DB_PASSWORD=***", "DB_PASSWORD=${OTHER}", "DB_PASSWORD_FILE=/run/x",
          "PWD=/root"}},
        {"value",
         "export API_KEY=\"",
         "a b\\\"c",
         "\" ok",
         {"API_KEY=\"\"", "API_KEY=\"<your key>\"", "if (api_key == other)", "MONKEY=banana"}},
        {"value",
         "{\"client_secret\":\"",
         "P@ss,w}rd",
         "\",\"a\":1}",
         {"{\"client_secret\":null}", "{\"secret\":\"sha256:" HEX64 "\"}"}},
        {"value",
         "{\\\"password\\\":\\\"",
         "hunter2",
         "\\\"}",
         {"{\\\"password\\\":\\\"\\\"}", "{\\\"passport\\\":\\\"hunter2\\\"}"}},
        {"value", "password: ", "P@ss'w0rd", "", {"password:", "passwords differ", "password: |"}},
        {"value",
         "db_password_prod: ",
         "hunter2hunter2",
         "",
         {"secret-service: Started", "secretary: Anna"}},
        {"value",
         "$config['password'] => '",
         "x y",
         "';",
         {"$config['passport'] => 'x y';", "$config['password'] => $other;"}},
        {"value",
         "run --db-password ",
         "hunter2",
         " --verbose",
         {"run --db-password --verbose", "run --password-file /run/pw", "run --token-ttl 1h"}},
        {"value", "run --token='", "a b", "'", {"run --token=${T}", "run --tokens 5"}},
        {"value",
         "CREATE USER x PASSWORD '",
         "s3cr et",
         "';",
         {"the password is 'unset'", "password '${PW}'"}},
        {"value",
         "auth_token: ",
         "abcdefgh1",
         "",
         {"auth-service:latest", "auth: enabled", "author: Jane 12345678",
          "session_timeout=36000000", "unexpected token: identifier"}},
        {"value", "SENTRY_DSN=", "https://abc@sentry.io/1", "", {"dsn", "DSN=${X}"}},
        {"entropy",
         "the api key is now ",
         "aB3dE5gH7jK9mN1pQ3sT5vX7z",
         " (new)",
         {"the key is now aB3dE5gH7jK9mN1pQ3sT5vX7z",
          "the api key is now aaaaaaaaaaaaaaaaaaaaaaaaaB3",
          "password changed by administrator-of-the-house"}},
        {"entropy",
         "secret was ",
         HEX32,
         "",
         {"secret scan of commit " HEX32 "01234567", "was " HEX32}},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

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

static void row_text(const Row *row, const char *end, Str *text, Str *want) {
        ck_assert_int_eq(str_addf(text, "%s%s%s%s", row->before, row->secret, row->after, end), 0);
        ck_assert_int_eq(
                str_addf(want, "%s[redacted:%s]%s%s", row->before, row->family, row->after, end),
                0);
}

START_TEST(redact_text_family) {
        for (size_t i = 0; i < ROWS; i++) {
                CLEANUP(str_done) Str text = STR_NULL, want = STR_NULL;

                row_text(&rows[i], "", &text, &want);
                check_text(blank, text.data, text.len, want.data);
                check_text(blank, want.data, want.len, want.data);
                check_split(blank, text.data, text.len, want.data);
        }
}
END_TEST

START_TEST(redact_text_family_crlf) {
        for (size_t i = 0; i < ROWS; i++) {
                CLEANUP(str_done) Str text = STR_NULL, want = STR_NULL;

                ck_assert_int_eq(str_adds(&text, "one\r\n"), 0);
                ck_assert_int_eq(str_adds(&want, "one\r\n"), 0);
                row_text(&rows[i], "\r\ntwo\r\n", &text, &want);
                check_text(blank, text.data, text.len, want.data);
                check_split(blank, text.data, text.len, want.data);
        }
}
END_TEST

static void check_colour_inside(const Row *row) {
        static const char *const sequences[] = {"\x1b[1;31m",
                                                "\x1b]8;;http://x\x07",
                                                "\x1b(B",
                                                ("\xc2\x9b"
                                                 "0m"),
                                                "\b",
                                                "\x1b]0;t\x1b\\"};

        for (size_t at = 1; at < strlen(row->secret); at++) {
                const char *sequence = sequences[at % (sizeof(sequences) / sizeof(sequences[0]))];
                CLEANUP(str_done) Str text = STR_NULL, want = STR_NULL;

                ck_assert_int_eq(str_addf(&text, "%s%.*s%s%s%s\n", row->before, (int)at,
                                          row->secret, sequence, row->secret + at, row->after),
                                 0);
                ck_assert_int_eq(str_addf(&want, "%s[redacted:%s]%s\n", row->before, row->family,
                                          row->after),
                                 0);
                check_text(blank, text.data, text.len, want.data);
        }
}

START_TEST(redact_text_family_colour_inside) {
        for (size_t i = 0; i < ROWS; i++)
                check_colour_inside(&rows[i]);
}
END_TEST

/* Colour between a secret and the word beside it must not glue them together. */
START_TEST(redact_text_family_colour_around) {
        for (const Row *row = rows; row < rows + ROWS; row++) {
                CLEANUP(str_done) Str text = STR_NULL, out = STR_NULL;

                ck_assert_int_eq(str_addf(&text, "%s\x1b[31m%s\x1b[0m%s", row->before, row->secret,
                                          row->after),
                                 0);
                ck_assert_int_eq(redact_text(blank, text.data, text.len, &out), 0);
                ck_assert_msg(!strstr(out.data, row->secret), "%s", out.data);
                ck_assert_ptr_nonnull(strstr(out.data, "[redacted:"));
        }
}
END_TEST

START_TEST(redact_text_look_alikes) {
        for (const Row *row = rows; row < rows + ROWS; row++) {
                ck_assert_ptr_nonnull(row->alike[1]);
                for (size_t i = 0; i < 5 && row->alike[i]; i++)
                        check_text(blank, row->alike[i], strlen(row->alike[i]), row->alike[i]);
        }
}
END_TEST

START_TEST(redact_text_whole_table_is_a_fixed_point) {
        CLEANUP(str_done) Str text = STR_NULL, once = STR_NULL, twice = STR_NULL;

        for (size_t i = 0; i < ROWS; i++)
                ck_assert_int_eq(
                        str_addf(&text, "%s%s%s;", rows[i].before, rows[i].secret, rows[i].after),
                        0);
        for (size_t i = 0; i < ROWS; i++)
                ck_assert_int_eq(str_addf(&text, "\n%s%s%s", rows[i].before, rows[i].secret,
                                          rows[ROWS - 1 - i].before),
                                 0);
        ck_assert_int_eq(redact_text(blank, text.data, text.len, &once), 0);
        ck_assert_int_eq(redact_text(blank, once.data, once.len, &twice), 0);
        ck_assert_msg(strcmp(once.data, twice.data) == 0, "%s", twice.data);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("redact");
        TCase *t = tcase_create("redact");
        SRunner *runner = srunner_create(suite);
        int failed;

        tcase_set_timeout(t, 60);
        tcase_add_unchecked_fixture(t, setup, teardown);
        tcase_add_test(t, redact_text_family);
        tcase_add_test(t, redact_text_family_crlf);
        tcase_add_test(t, redact_text_family_colour_inside);
        tcase_add_test(t, redact_text_family_colour_around);
        tcase_add_test(t, redact_text_look_alikes);
        tcase_add_test(t, redact_text_whole_table_is_a_fixed_point);
        suite_add_tcase(suite, t);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed > 0;
}
