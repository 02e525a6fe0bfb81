/* run/known.h - values that are known to be secret, found in whatever coat they wear */
#pragma once
#include <stddef.h>
#include "base/err.h"
#include "run/spans.h"

enum { KNOWN_MIN = 8, KNOWN_BYTES_MAX = 16 * 1024 * 1024 };
typedef struct Known Known;

MUST_CHECK int known_new(Known **ret);
Known *known_free(Known *k);
void known_freep(Known **k);
/* The value as it is, JSON-escaped, URL-encoded (RFC 3986 in both hex cases, form), and in base64
 * and base64url at each of the three places it can have in a longer text. Shorter than KNOWN_MIN:
 * nothing is added. Not after known_compile(). -ENOMEM; -EFBIG when all forms together exceed
 * KNOWN_BYTES_MAX. */
MUST_CHECK int known_add(Known *k, const char *value, size_t len);
MUST_CHECK int known_compile(Known *k);
/* Adds a span for each occurrence; of a base64 one: for the whole run of base64 characters around
 * it. Linear but for values which share a beginning. -ENOMEM. */
MUST_CHECK int known_scan(const Known *k, const char *text, size_t len, const char *name,
                          Spans *spans);
