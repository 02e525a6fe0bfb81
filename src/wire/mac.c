#include "wire/mac.h"

#include <string.h>

#include "base/clock.h"

enum { MAC_SEC_MS = 1000, MAC_AT_LEN = 19 /* "2026-01-02T03:04:05" */ };

int mac_key(const char *bytes, size_t len, char ret[MAC_KEY_HEX + 1]) {
        char key[MAC_KEY_HEX + 1];

        if (len == MAC_KEY_HEX + 1 && bytes[MAC_KEY_HEX] == '\n')
                len--;
        if (len != MAC_KEY_HEX)
                return MAC_E_KEY;
        memcpy(key, bytes, MAC_KEY_HEX);
        key[MAC_KEY_HEX] = '\0';
        if (!hash_is_hex(key, MAC_KEY_HEX))
                return MAC_E_KEY;
        memcpy(ret, key, sizeof(key));
        return 0;
}

/* A line; NULL: an empty one. */
static int mac_line(Str *s, const char *text) {
        int r = text ? str_adds(s, text) : 0;

        return r < 0 ? r : str_addc(s, '\n');
}

static int mac_number(Str *s, uint32_t value) {
        return value ? str_addf(s, "%lu\n", (unsigned long)value) : str_addc(s, '\n');
}

int mac_text(const Request *r, Str *ret) {
        char at[CLOCK_TEXT_SIZE];
        int x;

        clock_format(r->requested_ms, at);
        x = mac_line(ret, "spoolgate-mac-1");
        if (x == 0)
                x = mac_line(ret, r->name.text);
        if (x == 0)
                x = mac_line(ret, r->verb);
        if (x == 0)
                x = mac_line(ret, r->arg);
        if (x == 0)
                x = str_addf(ret, "%.*sZ\n", MAC_AT_LEN, at);
        if (x == 0)
                x = mac_line(ret, r->idempotency_key);
        if (x == 0)
                x = mac_number(ret, r->max_age_sec);
        if (x == 0)
                x = mac_number(ret, r->timeout_sec);
        if (x == 0)
                x = mac_line(ret, r->has_scope ? verb_scope_name(r->scope) : NULL);
        return x;
}

int mac_sign(const Request *r, const char *key, char ret_hex[HASH_HEX_SIZE]) {
        CLEANUP(str_done) Str text = STR_NULL;
        int x = mac_text(r, &text);

        if (x == 0)
                hash_hmac(key, strlen(key), text.data, text.len, ret_hex);
        return x;
}

int mac_ok(const Request *r, const char *key, bool *ret) {
        char hex[HASH_HEX_SIZE];
        bool canonical = r->requested_ms % MAC_SEC_MS == 0 && !(r->arg && strchr(r->arg, '\n'));
        int x = mac_sign(r, key, hex);

        if (x < 0)
                return x;
        *ret = canonical && r->mac && hash_equal(r->mac, hex);
        return 0;
}
