/* run/spans.h - ranges of a text which must not be shown, each with the name of what was found
 * there */
#pragma once
#include <stddef.h>
#include "base/err.h"

typedef struct Span {
        size_t start, end;
        const char *name; /* borrowed: a family's, for as long as the Redact lives */
} Span;
typedef struct Spans {
        Span *items;
        size_t len, cap;
} Spans;
#define SPANS_NULL ((Spans){0})

void spans_done(Spans *s);
void spans_clear(Spans *s); /* len = 0, memory kept */
/* Grows the last span instead when it has the same name and overlaps. An empty range is left out.
 */
MUST_CHECK int spans_add(Spans *s, size_t start, size_t end, const char *name);
/* Sorted by start; overlapping ones become one, under the name of the first (of two equal starts:
 * the longer). */
void spans_merge(Spans *s);
