/* wire/mac */
#include "../verb/fixture.h"

#include <string.h>

#include "wire/mac.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NAME_RESTART "20260102T030405Z-restart-0123456789abcdef.json"
#define NAME_PING "20260102T030405Z-ping-0123456789abcdef.json"
#define AT "\"requested_at\":\"2026-01-02T03:04:05Z\""
/* openssl dgst -sha256 -hmac KEY over the text of text_every_field, text_least */
#define MAC_RESTART "69950b8f26e35f5b1c65f6f210c4ea6706f4628c462d585eb69209dd264739e7"
#define MAC_PING "f9de6d2bbed8a6d14f8b9a06985505ad812eca58daff25b92a6f2caa24c34079"
#define FULL                                                                                       \
        "{\"verb\":\"restart\",\"arg\":\"web\"," AT ",\"idempotency_key\":\"k:1\","                \
        "\"max_age_sec\":60,\"timeout_sec\":20,\"permission_scope\":\"edit\""

static Request *parsed(const char *entry, const char *body) {
        Request *r = NULL;
        Reason reason;
        const char *detail;
        Name name;

        ck_assert_int_eq(hash_init(), 0);
        ck_assert_int_eq(name_parse(entry, &name), 0);
        ck_assert_msg(request_parse(&name, body, strlen(body), &r, &reason, &detail) == 0, "%s",
                      body);
        return r;
}

static bool ok(const char *entry, const char *body, const char *key) {
        CLEANUP(request_freep) Request *r = parsed(entry, body);
        bool good = false;

        ck_assert_int_eq(mac_ok(r, key, &good), 0);
        return good;
}

START_TEST(text_every_field) {
        CLEANUP(request_freep) Request *r = parsed(NAME_RESTART, FULL "}");
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(mac_text(r, &s), 0);
        ck_assert_str_eq(s.data, "spoolgate-mac-1\n" NAME_RESTART
                                 "\nrestart\nweb\n2026-01-02T03:04:05Z\nk:1\n60\n20\nedit\n");
}
END_TEST

START_TEST(text_least) {
        CLEANUP(request_freep) Request *r = parsed(NAME_PING, "{\"verb\":\"ping\"," AT "}");
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(mac_text(r, &s), 0);
        ck_assert_str_eq(s.data, "spoolgate-mac-1\n" NAME_PING
                                 "\nping\n\n2026-01-02T03:04:05Z\n\n\n\n\n");
}
END_TEST

START_TEST(sign_as_openssl_does) {
        CLEANUP(request_freep) Request *full = parsed(NAME_RESTART, FULL "}");
        CLEANUP(request_freep) Request *least = parsed(NAME_PING, "{\"verb\":\"ping\"," AT "}");
        char hex[HASH_HEX_SIZE];

        ck_assert_int_eq(mac_sign(full, KEY, hex), 0);
        ck_assert_str_eq(hex, MAC_RESTART);
        ck_assert_int_eq(mac_sign(least, KEY, hex), 0);
        ck_assert_str_eq(hex, MAC_PING);
}
END_TEST

START_TEST(ok_signed) {
        ck_assert(ok(NAME_RESTART, FULL ",\"mac\":\"" MAC_RESTART "\"}", KEY));
        ck_assert(ok(NAME_PING, "{\"mac\":\"" MAC_PING "\",\"verb\":\"ping\"," AT "}", KEY));
}
END_TEST

/* Each field is bound: whatever is changed, added or left out, the signature is no longer its own.
 */
START_TEST(ok_refuses_what_was_not_signed) {
        static const char *const bodies[] = {
                "{\"verb\":\"restart\",\"arg\":\"db\"," AT ",\"idempotency_key\":\"k:1\","
                "\"max_age_sec\":60,\"timeout_sec\":20,\"permission_scope\":\"edit\"",
                "{\"verb\":\"restart\"," AT ",\"idempotency_key\":\"k:1\","
                "\"max_age_sec\":60,\"timeout_sec\":20,\"permission_scope\":\"edit\"",
                "{\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"2026-01-02T03:04:06Z\","
                "\"idempotency_key\":\"k:1\",\"max_age_sec\":60,\"timeout_sec\":20,"
                "\"permission_scope\":\"edit\"",
                "{\"verb\":\"restart\",\"arg\":\"web\"," AT ",\"idempotency_key\":\"k:2\","
                "\"max_age_sec\":60,\"timeout_sec\":20,\"permission_scope\":\"edit\"",
                "{\"verb\":\"restart\",\"arg\":\"web\"," AT ","
                "\"max_age_sec\":60,\"timeout_sec\":20,\"permission_scope\":\"edit\"",
                "{\"verb\":\"restart\",\"arg\":\"web\"," AT ",\"idempotency_key\":\"k:1\","
                "\"max_age_sec\":61,\"timeout_sec\":20,\"permission_scope\":\"edit\"",
                "{\"verb\":\"restart\",\"arg\":\"web\"," AT ",\"idempotency_key\":\"k:1\","
                "\"max_age_sec\":60,\"permission_scope\":\"edit\"",
                "{\"verb\":\"restart\",\"arg\":\"web\"," AT ",\"idempotency_key\":\"k:1\","
                "\"max_age_sec\":60,\"timeout_sec\":20,\"permission_scope\":\"full\"",
                "{\"verb\":\"restart\",\"arg\":\"web\"," AT ",\"idempotency_key\":\"k:1\","
                "\"max_age_sec\":60,\"timeout_sec\":20",
        };

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                CLEANUP(str_freep) char *body = NULL;

                ck_assert_int_eq(str_printf(&body, "%s,\"mac\":\"" MAC_RESTART "\"}", bodies[i]),
                                 0);
                ck_assert_msg(!ok(NAME_RESTART, body, KEY), "%s", body);
        }
        ck_assert(!ok("20260102T030405Z-restart-0123456789abcdee.json",
                      FULL ",\"mac\":\"" MAC_RESTART "\"}", KEY));
}
END_TEST

START_TEST(ok_refuses_no_mac_and_other_keys) {
        static const char other[] =
                "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

        ck_assert(!ok(NAME_RESTART, FULL "}", KEY));
        ck_assert(!ok(NAME_RESTART, FULL ",\"mac\":\"" MAC_RESTART "\"}", other));
        ck_assert(!ok(NAME_RESTART, FULL ",\"mac\":\"" MAC_PING "\"}", KEY));
}
END_TEST

/* What has no canonical form is refused, though its mac is the right one over the text. */
START_TEST(ok_refuses_without_a_canonical_form) {
        static const char *const bodies[] = {
                "{\"verb\":\"restart\",\"arg\":\"web\\n\"," AT "}",
                "{\"verb\":\"restart\",\"requested_at\":\"2026-01-02T03:04:05.5Z\"}",
        };

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                CLEANUP(request_freep) Request *r = parsed(NAME_RESTART, bodies[i]);
                char hex[HASH_HEX_SIZE];
                bool good = true;

                ck_assert_int_eq(mac_sign(r, KEY, hex), 0);
                ck_assert_int_eq(str_dup(hex, &r->mac), 0);
                ck_assert_int_eq(mac_ok(r, KEY, &good), 0);
                ck_assert(!good);
        }
}
END_TEST

START_TEST(key_shapes) {
        char key[MAC_KEY_HEX + 1] = "untouched";

        ck_assert_int_eq(mac_key(KEY "0", 65, key), MAC_E_KEY);
        ck_assert_int_eq(mac_key(KEY "\n\n", 66, key), MAC_E_KEY);
        ck_assert_int_eq(mac_key(KEY, 63, key), MAC_E_KEY);
        ck_assert_int_eq(mac_key(KEY "\r\n", 66, key), MAC_E_KEY);
        ck_assert_int_eq(mac_key("", 0, key), MAC_E_KEY);
        ck_assert_int_eq(
                mac_key("0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", 64,
                        key),
                MAC_E_KEY);
        ck_assert_int_eq(
                mac_key("0123456789abcde\0000123456789abcdef0123456789abcdef0123456789abcdef", 64,
                        key),
                MAC_E_KEY);
        ck_assert_str_eq(key, "untouched");
        ck_assert_int_eq(mac_key(KEY "\n", 65, key), 0);
        ck_assert_str_eq(key, KEY);
        key[0] = '\0';
        ck_assert_int_eq(mac_key(KEY, 64, key), 0);
        ck_assert_str_eq(key, KEY);
}
END_TEST

RUN_TESTS("wire/mac", text_every_field, text_least, sign_as_openssl_does, ok_signed,
          ok_refuses_what_was_not_signed, ok_refuses_no_mac_and_other_keys,
          ok_refuses_without_a_canonical_form, key_shapes)
