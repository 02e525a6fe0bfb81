#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

void str_done(Str *s) {
        free(s->data);
        *s = STR_NULL;
}

void str_clear(Str *s) {
        s->len = 0;
        if (s->data)
                s->data[0] = '\0';
}

int str_reserve(Str *s, size_t more) {
        size_t need, cap;
        char *data;

        if (more > SIZE_MAX / 4 || s->len > SIZE_MAX / 4)
                return err_new(ENOMEM);
        need = s->len + more + 1;
        if (need <= s->cap)
                return 0;
        cap = s->cap > SIZE_MAX / 4 ? need : s->cap * 2;
        if (cap < need)
                cap = need;
        if (cap < 32)
                cap = 32;
        data = realloc(s->data, cap);
        if (!data)
                return err_new(ENOMEM);
        data[s->len] = '\0';
        s->data = data;
        s->cap = cap;
        return 0;
}

int str_add(Str *s, const void *bytes, size_t len) {
        int r = str_reserve(s, len);

        if (r < 0)
                return r;
        if (len > 0)
                memcpy(s->data + s->len, bytes, len);
        s->len += len;
        s->data[s->len] = '\0';
        return 0;
}

int str_adds(Str *s, const char *text) {
        return str_add(s, text, strlen(text));
}

int str_addc(Str *s, char c) {
        return str_add(s, &c, 1);
}

PRINTF_LIKE(2, 0)
static int str_addv(Str *s, const char *format, va_list args) {
        va_list again;
        int len, r;

        va_copy(again, args);
        len = vsnprintf(NULL, 0, format, again);
        va_end(again);
        if (len < 0)
                return err_new(EINVAL);
        r = str_reserve(s, (size_t)len);
        if (r < 0)
                return r;
        if (vsnprintf(s->data + s->len, (size_t)len + 1, format, args) != len) {
                s->data[s->len] = '\0';
                return err_new(EINVAL);
        }
        s->len += (size_t)len;
        return 0;
}

int str_addf(Str *s, const char *format, ...) {
        va_list args;
        int r;

        va_start(args, format);
        r = str_addv(s, format, args);
        va_end(args);
        return r;
}

/* The length of the well-formed UTF-8 sequence at `at` (RFC 3629: shortest form, no surrogates, up
 * to U+10FFFF) and its code point; 0 when there is none. */
static size_t str_utf8(const unsigned char *at, size_t left, uint32_t *ret_code) {
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        uint32_t code;
        size_t len;

        if (at[0] < 0x80) {
                *ret_code = at[0];
                return 1;
        }
        len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
        if (at[0] < 0xc2 || at[0] > 0xf4 || left < len)
                return 0;
        code = at[0] & (0xffu >> (len + 1));
        for (size_t i = 1; i < len; i++) {
                if ((at[i] & 0xc0) != 0x80)
                        return 0;
                code = code << 6 | (at[i] & 0x3fu);
        }
        if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
                return 0;
        *ret_code = code;
        return len;
}

/* Sorted. What moves, hides or reorders text on a terminal or splits a line in a log. */
static const struct {
        uint32_t first, last;
} str_hidden[] = {
        {0x00, 0x1f},       /* C0 */
        {0x7f, 0x9f},       /* DEL, C1 (U+009B is a CSI) */
        {0xad, 0xad},       /* soft hyphen */
        {0x34f, 0x34f},     /* combining grapheme joiner */
        {0x61c, 0x61c},     /* Arabic letter mark */
        {0x115f, 0x1160},   /* Hangul fillers */
        {0x180b, 0x180f},   /* Mongolian separators */
        {0x200b, 0x200f},   /* zero width, LRM, RLM */
        {0x2028, 0x202e},   /* line and paragraph separator, bidi embeddings and overrides */
        {0x2060, 0x206f},   /* word joiner, bidi isolates */
        {0x3164, 0x3164},   /* Hangul filler */
        {0xfeff, 0xfeff},   /* byte order mark */
        {0xffa0, 0xffa0},   /* Hangul filler */
        {0xfff0, 0xfffb},   /* interlinear annotation */
        {0x1d173, 0x1d17a}, /* musical format characters */
        {0xe0000, 0xe0fff}, /* tags, variation selectors: text that nobody sees */
};

static bool str_printable(uint32_t code) {
        if ((code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef)) /* noncharacters */
                return false;
        for (size_t i = 0; i < sizeof(str_hidden) / sizeof(str_hidden[0]); i++)
                if (code >= str_hidden[i].first && code <= str_hidden[i].last)
                        return false;
        return true;
}

int str_add_escaped(Str *s, const void *bytes, size_t len, bool keep_lines) {
        static const char digits[] = "0123456789abcdef";
        const unsigned char *at = bytes, *end = at + len;

        while (at < end) {
                uint32_t code = 0;
                size_t n = str_utf8(at, (size_t)(end - at), &code);
                bool as_is = n > 0 && (str_printable(code) ||
                                       (keep_lines && (code == '\n' || code == '\t')));
                int r = 0;

                if (as_is)
                        r = str_add(s, at, n);
                n = n > 0 ? n : 1;
                for (size_t i = 0; i < n && !as_is && r == 0; i++) {
                        char hex[4] = {'\\', 'x', digits[at[i] >> 4], digits[at[i] & 15]};

                        r = str_add(s, hex, sizeof(hex));
                }
                if (r < 0)
                        return r;
                at += n;
        }
        return str_reserve(s, 0);
}

int str_take(Str *s, char **ret) {
        int r = str_reserve(s, 0);

        if (r < 0)
                return r;
        *ret = s->data;
        *s = STR_NULL;
        return 0;
}

bool str_eq(const char *a, const char *b) {
        return a && b ? strcmp(a, b) == 0 : a == b;
}

bool str_starts(const char *s, const char *prefix) {
        return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix) {
        size_t len = strlen(s), tail = strlen(suffix);

        return len >= tail && memcmp(s + len - tail, suffix, tail) == 0;
}

int str_dup(const char *s, char **ret) {
        char *copy = NULL;

        if (s) {
                copy = strdup(s);
                if (!copy)
                        return err_new(ENOMEM);
        }
        *ret = copy;
        return 0;
}

int str_printf(char **ret, const char *format, ...) {
        CLEANUP(str_done) Str s = STR_NULL;
        va_list args;
        int r;

        va_start(args, format);
        r = str_addv(&s, format, args);
        va_end(args);
        if (r < 0)
                return r;
        return str_take(&s, ret);
}

void str_freep(char **s) {
        free(*s);
        *s = NULL;
}

bool str_parse_uint(const char *s, unsigned long long max, unsigned long long *ret) {
        unsigned long long value = 0;

        if (!s || !*s)
                return false;
        for (; *s; s++) {
                unsigned digit = (unsigned)(unsigned char)*s - '0';

                if (digit > 9 || value > max / 10 || value * 10 > max - digit || digit > max)
                        return false;
                value = value * 10 + digit;
        }
        *ret = value;
        return true;
}

void strv_done(Strv *v) {
        for (size_t i = 0; i < v->len; i++)
                free(v->items[i]);
        free(v->items);
        *v = STRV_NULL;
}

/* The slots behind len items and their NULL: a power of two, so that a long list does not copy
 * itself at each step. */
static size_t strv_slots(size_t len) {
        size_t slots = 4;

        while (slots < len + 1)
                slots *= 2;
        return slots;
}

int strv_add_take(Strv *v, char **s) {
        if (v->len > SIZE_MAX / 4 / sizeof(char *))
                return err_new(ENOMEM);
        if (!v->items || strv_slots(v->len + 1) != strv_slots(v->len)) {
                char **items = realloc(v->items, strv_slots(v->len + 1) * sizeof(char *));

                if (!items)
                        return err_new(ENOMEM);
                v->items = items;
        }
        v->items[v->len++] = *s;
        v->items[v->len] = NULL;
        *s = NULL;
        return 0;
}

int strv_add(Strv *v, const char *s) {
        CLEANUP(str_freep) char *copy = NULL;
        int r = str_dup(s, &copy);

        if (r < 0)
                return r;
        if (!copy)
                return err_new(EINVAL); /* a NULL item would end the list early */
        return strv_add_take(v, &copy);
}

int strv_copy(const Strv *v, Strv *ret) {
        CLEANUP(strv_done) Strv copy = STRV_NULL;

        for (size_t i = 0; i < v->len; i++) {
                int r = strv_add(&copy, v->items[i]);

                if (r < 0)
                        return r;
        }
        *ret = copy;
        copy = STRV_NULL;
        return 0;
}

const char *strv_find(const Strv *v, const char *s) {
        for (size_t i = 0; i < v->len; i++)
                if (str_eq(v->items[i], s))
                        return v->items[i];
        return NULL;
}

static int strv_compare(const void *a, const void *b) {
        return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_sort(Strv *v) {
        if (v->len > 1)
                qsort(v->items, v->len, sizeof(char *), strv_compare);
}
