/* run/strip.h - a line without its terminal sequences, each byte still knowing where it came from
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

typedef enum StripMode {
        STRIP_JOIN,  /* nothing stays in the place of a sequence: finds a secret with colour inside
                      */
        STRIP_SPACE, /* a space does, and what an OSC or DCS carries is kept: finds one that colour
                        sets off from a word */
} StripMode;

typedef struct Strip {
        Str text;
        uint32_t *from; /* from[i]: offset of text.data[i] in the original */
        size_t cap;
} Strip;
#define STRIP_NULL ((Strip){0})

void strip_done(Strip *s);
/* Replaces what *s held. Sequences: CSI (also U+009B), OSC, DCS, SOS, PM, APC, other escapes, and
 * lone control characters except TAB and CR. len < 4 GiB. -ENOMEM. */
MUST_CHECK int strip_build(Strip *s, const char *bytes, size_t len, StripMode mode);
