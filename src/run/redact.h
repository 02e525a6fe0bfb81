/* run/redact.h - secrets leave a stream before any sink sees it; best effort by nature, stated so
 * in README */
#pragma once
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

typedef struct Redact Redact; /* patterns and known values; read-only after redact_compile */
typedef struct RedactStream RedactStream;

enum { REDACT_E_PATTERN = 1 };
MUST_CHECK int redact_new(Redact **ret);
Redact *redact_free(Redact *r);
void redact_freep(Redact **r);
/* Values of a .env file's text (KEY=value, export, quotes, comments): each of 8 or more characters,
 * also base64, URL- and JSON-escaped. Left out are common words, numbers and plain paths under a
 * key that names no secret. -ENOMEM, -EFBIG. */
MUST_CHECK int redact_add_env(Redact *r, const char *bytes, size_t len);
/* Shorter than 8 characters: nothing is added. */
MUST_CHECK int redact_add_value(Redact *r, const char *value);
/* redact.conf: "NAME PCRE2-PATTERN" a line, # comments. REDACT_E_PATTERN: *ret_message (caller's)
 * "redact.conf:LINE: what". */
MUST_CHECK int redact_add_conf(Redact *r, const char *bytes, size_t len, char **ret_message);
/* After all redact_add_*(): adds the families of run/families.h. Patterns run under a match limit,
 * at which the whole line becomes [redacted:line]. */
MUST_CHECK int redact_compile(Redact *r);

MUST_CHECK int redact_stream_new(const Redact *r, RedactStream **ret);
RedactStream *redact_stream_free(RedactStream *s);
void redact_stream_freep(RedactStream **s);
/* Appends what is safe to show to out; keeps an overlap (bounded) for what may be a secret's
 * beginning. A line is judged when it is whole; of one longer than 64 KiB all but the last 8 KiB. r
 * must outlive the stream. */
MUST_CHECK int redact_feed(RedactStream *s, const void *bytes, size_t len, Str *out);
/* The unfinished line as if it had ended; the stream can then be used anew. */
MUST_CHECK int redact_flush(RedactStream *s, Str *out);
/* One whole text. */
MUST_CHECK int redact_text(const Redact *r, const void *bytes, size_t len, Str *out);
