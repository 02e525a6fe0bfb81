#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "run/known.h"

enum { KNOWN_BLOCK = 3, KNOWN_SLOTS = 1 << 15, KNOWN_FORMS = 12 };

typedef struct KnownForm {
        size_t at, len; /* in Known.bytes */
        bool run;       /* base64: hides the run around it */
        uint32_t next;  /* the next form of the same slot, index + 1 */
} KnownForm;

/* Wu-Manber: shift[] says how far the window of KNOWN_MIN bytes may jump when its last block is
 * this one. */
struct Known {
        Str bytes;
        KnownForm *forms;
        size_t len, cap;
        unsigned char shift[KNOWN_SLOTS];
        uint32_t first[KNOWN_SLOTS]; /* index + 1 */
};

int known_new(Known **ret) {
        Known *k = calloc(1, sizeof(*k));

        if (!k)
                return err_new(ENOMEM);
        *ret = k;
        return 0;
}

Known *known_free(Known *k) {
        if (!k)
                return NULL;
        str_done(&k->bytes);
        free(k->forms);
        free(k);
        return NULL;
}

void known_freep(Known **k) {
        *k = known_free(*k);
}

static int known_form(Known *k, const char *bytes, size_t len, bool run) {
        int r;

        if (len < KNOWN_MIN)
                return 0;
        for (size_t i = k->len > KNOWN_FORMS ? k->len - KNOWN_FORMS : 0; i < k->len;
             i++) /* of the same value */
                if (k->forms[i].len == len &&
                    memcmp(k->bytes.data + k->forms[i].at, bytes, len) == 0)
                        return 0;
        if (len > KNOWN_BYTES_MAX - k->bytes.len)
                return err_new(EFBIG);
        if (k->len == k->cap) {
                size_t cap = k->cap ? k->cap * 2 : 32;
                KnownForm *forms = reallocarray(k->forms, cap, sizeof(*forms));

                if (!forms)
                        return err_new(ENOMEM);
                k->forms = forms;
                k->cap = cap;
        }
        k->forms[k->len] = (KnownForm){k->bytes.len, len, run, 0};
        r = str_add(&k->bytes, bytes, len);
        if (r < 0)
                return r;
        k->len++;
        return 0;
}

static int known_json(Known *k, const char *value, size_t len, bool slash) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = 0;

        for (size_t i = 0; i < len && r == 0; i++) {
                static const char plain[] = "\"\\\b\f\n\r\t/", coat[] = "\"\\bfnrt/";
                const char *at = value[i] ? strchr(plain, value[i]) : NULL;

                if (at && (*at != '/' || slash))
                        r = str_addf(&s, "\\%c", coat[at - plain]);
                else if ((unsigned char)value[i] < 0x20)
                        r = str_addf(&s, "\\u%04x", (unsigned)(unsigned char)value[i]);
                else
                        r = str_addc(&s, value[i]);
        }
        return r < 0 ? r : known_form(k, s.data, s.len, false);
}

static int known_url(Known *k, const char *value, size_t len, bool form, bool lower) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = 0;

        for (size_t i = 0; i < len && r == 0; i++) {
                unsigned char c = (unsigned char)value[i];
                bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                             (c >= 'a' && c <= 'z') || (c && strchr(form ? "-._*" : "-._~", c));

                if (plain)
                        r = str_addc(&s, value[i]);
                else if (form && c == ' ')
                        r = str_addc(&s, '+');
                else
                        r = str_addf(&s, lower ? "%%%02x" : "%%%02X", (unsigned)c);
        }
        return r < 0 ? r : known_form(k, s.data, s.len, false);
}

/* `before` bytes of something else (0-2) stand in front within their group of three: only the
 * digits which the value alone decides are kept, so the form is found wherever in an encoded text
 * the value lies. */
static int known_base64(Known *k, const char *value, size_t len, size_t before, bool url) {
        static const char base[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        CLEANUP(str_done) Str s = STR_NULL;
        size_t bits = (before + len) * 8;
        int r = 0;

        for (size_t bit = before == 0   ? 0
                          : before == 1 ? 12
                                        : 18;
             bit + 6 <= bits && r == 0; bit += 6) {
                size_t at = bit / 8 - before;
                unsigned pair = (unsigned)(unsigned char)value[at] << 8;
                unsigned digit;

                if (at + 1 < len)
                        pair |= (unsigned char)value[at + 1];
                digit = pair >> (10 - bit % 8) & 63;
                r = str_addc(&s, digit < 62    ? base[digit]
                                 : digit == 62 ? (url ? '-' : '+')
                                               : (url ? '_' : '/'));
        }
        return r < 0 ? r : known_form(k, s.data, s.len, true);
}

int known_add(Known *k, const char *value, size_t len) {
        int r;

        if (len < KNOWN_MIN)
                return 0;
        r = known_form(k, value, len, false);
        for (unsigned i = 0; i < 2 && r == 0; i++)
                r = known_json(k, value, len, i > 0);
        for (unsigned i = 0; i < 4 && r == 0; i++)
                r = known_url(k, value, len, i & 1, i & 2);
        for (unsigned i = 0; i < 6 && r == 0; i++)
                r = known_base64(k, value, len, i % 3, i >= 3);
        return r;
}

static size_t known_slot(const char *block) {
        const unsigned char *at = (const unsigned char *)block;

        return ((size_t)at[0] << 10 ^ (size_t)at[1] << 5 ^ at[2]) & (KNOWN_SLOTS - 1);
}

int known_compile(Known *k) {
        if (k->len > UINT32_MAX - 1)
                return err_new(EFBIG);
        memset(k->shift, KNOWN_MIN - KNOWN_BLOCK + 1, sizeof(k->shift));
        for (size_t i = 0; i < k->len; i++) {
                const char *form = k->bytes.data + k->forms[i].at;
                size_t last = known_slot(form + KNOWN_MIN - KNOWN_BLOCK);

                for (size_t j = 0; j <= KNOWN_MIN - KNOWN_BLOCK; j++) {
                        size_t slot = known_slot(form + j);
                        unsigned char jump = (unsigned char)(KNOWN_MIN - KNOWN_BLOCK - j);

                        if (k->shift[slot] > jump)
                                k->shift[slot] = jump;
                }
                k->forms[i].next = k->first[last];
                k->first[last] = (uint32_t)i + 1;
        }
        return 0;
}

static bool known_base64_digit(char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               (c && strchr("+/-_=", c));
}

static int known_hit(const KnownForm *form, const char *text, size_t len, size_t at,
                     const char *name, Spans *spans) {
        const Span *last = spans->len > 0 ? &spans->items[spans->len - 1] : NULL;
        size_t end = at + form->len;

        /* The run was widened already: once more for each hit within it would be quadratic. */
        if (form->run && !(last && at >= last->start && end <= last->end)) {
                while (at > 0 && known_base64_digit(text[at - 1]))
                        at--;
                while (end < len && known_base64_digit(text[end]))
                        end++;
        }
        return spans_add(spans, at, end, name);
}

int known_scan(const Known *k, const char *text, size_t len, const char *name, Spans *spans) {
        if (k->len == 0)
                return 0;
        for (size_t i = KNOWN_MIN; i <= len;) {
                size_t slot = known_slot(text + i - KNOWN_BLOCK), at = i - KNOWN_MIN;

                if (k->shift[slot] > 0) {
                        i += k->shift[slot];
                        continue;
                }
                for (uint32_t n = k->first[slot]; n; n = k->forms[n - 1].next) {
                        const KnownForm *form = &k->forms[n - 1];
                        int r;

                        if (form->len > len - at ||
                            memcmp(k->bytes.data + form->at, text + at, form->len) != 0)
                                continue;
                        r = known_hit(form, text, len, at, name, spans);
                        if (r < 0)
                                return r;
                }
                i++;
        }
        return 0;
}
