/* operator/life.h - all that is known of one request: audit records, its file, answer and log
 *
 * The audit log and the ledger are the host's. What lies in the spool may have been changed by the
 * agent since, and is said to be the spool's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"
#include "wire/record.h"
#include "wire/response.h"

typedef struct Life {
        char *name;
        Record **events; /* of the audit log, in order */
        size_t len;
        const char *place; /* "requests" "processing" "archive", or NULL: the file is nowhere */
        Str body;          /* as it lies there */
        ResponseDoc *response;
        bool from_ledger; /* the response is the host's own copy */
        Str log;          /* archive/NAME.log */
        bool has_log;
} Life;
#define LIFE_NULL ((Life){0})
void life_done(Life *l);

enum { LIFE_E_NONE = 1 };
/* name: whole, or a part that only one has. LIFE_E_NONE: why says that there is none, or names
 * them. On 0 why may say that the audit log is broken. */
MUST_CHECK int life_load(const Config *c, const char *name, Life *ret, Str *why);
MUST_CHECK int life_format(const Life *l, size_t log_lines, Str *out);
MUST_CHECK int life_json(const Life *l, size_t log_lines, Str *out);
/* The last n lines of a text. */
const char *life_tail(const char *text, size_t len, size_t n, size_t *ret_len);
