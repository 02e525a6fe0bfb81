/* run/redact.h - secrets leave a stream before any sink sees it; best effort by nature, stated so in README */
#pragma once
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

typedef struct Redact Redact;             /* compiled patterns and known values; read-only after redact_compile */
typedef struct RedactStream RedactStream;

enum { REDACT_E_PATTERN = 1 };
MUST_CHECK int redact_new(Redact **ret);
Redact *redact_free(Redact *r);
void redact_freep(Redact **r);
/* Values of a .env file's text (KEY=value, export, quotes, comments): each of 8 or more characters, also base64, URL- and JSON-escaped. */
MUST_CHECK int redact_add_env(Redact *r, const char *bytes, size_t len);
MUST_CHECK int redact_add_value(Redact *r, const char *value);
/* redact.conf: "NAME PCRE2-PATTERN" a line, # comments. REDACT_E_PATTERN: *ret_message (caller's) "redact.conf:LINE: what". */
MUST_CHECK int redact_add_conf(Redact *r, const char *bytes, size_t len, char **ret_message);
MUST_CHECK int redact_compile(Redact *r); /* families of attacks.md section 6, JIT, match limit */

MUST_CHECK int redact_stream_new(const Redact *r, RedactStream **ret);
RedactStream *redact_stream_free(RedactStream *s);
void redact_stream_freep(RedactStream **s);
/* Appends what is safe to show to out; keeps an overlap (bounded) for what may be a secret's beginning. */
MUST_CHECK int redact_feed(RedactStream *s, const void *bytes, size_t len, Str *out);
MUST_CHECK int redact_flush(RedactStream *s, Str *out);
/* One whole text. */
MUST_CHECK int redact_text(const Redact *r, const void *bytes, size_t len, Str *out);
