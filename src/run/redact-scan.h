/* run/redact-scan.h - one text judged: what redact-stream asks of redact; not for others */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "run/redact.h"
#include "run/spans.h"

enum { REDACT_SCAN_E_LIMIT = 1 };
#define REDACT_NAME_VALUE "env"       /* a known value */
#define REDACT_NAME_LINE "line"       /* a line withheld as a whole */
typedef struct RedactScan RedactScan; /* scratch memory of one stream; many may use one Redact */

MUST_CHECK int redact_scan_new(const Redact *r, RedactScan **ret);
RedactScan *redact_scan_free(RedactScan *s);
void redact_scan_freep(RedactScan **s);
/* What of a line (or a window of a long one) must not be shown: *ret_spans is s's own memory until
 * the next call, merged and in order; *ret_open_key: the last span is a private key which goes on
 * behind the text. Markers are left alone. REDACT_SCAN_E_LIMIT: a pattern gave up, so nothing of
 * the text may be shown. */
MUST_CHECK int redact_scan(RedactScan *s, const char *text, size_t len, const Spans **ret_spans,
                           bool *ret_open_key);
/* Whether a private key ends in text, and the offset behind it. */
MUST_CHECK int redact_scan_key_end(RedactScan *s, const char *text, size_t len, bool *ret_found,
                                   size_t *ret_after);
