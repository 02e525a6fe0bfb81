#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/strip.h"

void strip_done(Strip *s) {
        str_done(&s->text);
        free(s->from);
        *s = STRIP_NULL;
}

/* ECMA-48: parameter and intermediate bytes, then a final one; i stands behind the introducer. */
static size_t strip_csi(const unsigned char *at, size_t left, size_t i) {
        while (i < left && at[i] >= 0x20 && at[i] <= 0x3f)
                i++;
        return i < left && at[i] >= 0x40 && at[i] <= 0x7e ? i + 1 : i;
}

/* To the BEL or ST which ends it; just the introducer when none does, so that the rest is still
 * judged. */
static size_t strip_string(const unsigned char *at, size_t left) {
        for (size_t i = 2; i < left; i++) {
                if (at[i] == 0x07)
                        return i + 1;
                if (at[i] == 0x1b)
                        return i + 1 < left && at[i + 1] == '\\' ? i + 2 : 2;
        }
        return 2;
}

static size_t strip_escape(const unsigned char *at, size_t left, StripMode mode) {
        size_t i = 1;

        if (left < 2)
                return 1;
        if (at[1] == '[')
                return strip_csi(at, left, 2);
        if (strchr("]PX^_", at[1]) && at[1])
                return mode == STRIP_JOIN ? strip_string(at, left) : 2;
        while (i < left && at[i] >= 0x20 && at[i] <= 0x2f)
                i++;
        return i < left && at[i] >= 0x30 && at[i] <= 0x7e ? i + 1 : i;
}

/* The length of the sequence that begins here, 0 for text. */
static size_t strip_length(const unsigned char *at, size_t left, StripMode mode) {
        if (at[0] == 0x1b)
                return strip_escape(at, left, mode);
        if (at[0] == 0xc2 && left > 1 && at[1] == 0x9b)
                return strip_csi(at, left, 2);
        return (at[0] < 0x20 && at[0] != '\t' && at[0] != '\r') || at[0] == 0x7f;
}

int strip_build(Strip *s, const char *bytes, size_t len, StripMode mode) {
        const unsigned char *at = (const unsigned char *)bytes;
        size_t out = 0;
        int r;

        str_clear(&s->text);
        r = str_reserve(&s->text, len);
        if (r < 0)
                return r;
        if (s->cap < len) {
                uint32_t *from = reallocarray(s->from, len, sizeof(*from));

                if (!from)
                        return err_new(ENOMEM);
                s->from = from;
                s->cap = len;
        }
        for (size_t i = 0; i < len;) {
                size_t n = strip_length(at + i, len - i, mode);

                if (n == 0 || mode == STRIP_SPACE) {
                        s->text.data[out] = n == 0 ? bytes[i] : ' ';
                        s->from[out++] = (uint32_t)i;
                }
                i += n > 0 ? n : 1;
        }
        s->text.data[out] = '\0';
        s->text.len = out;
        return 0;
}
