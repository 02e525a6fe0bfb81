/* wire/request.h - bytes -> Request; only request_parse makes one */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/name.h"
#include "wire/reason.h"
#include "verb/table.h"

enum { REQUEST_MAX_BYTES = 64 * 1024, REQUEST_MAX_DEPTH = 4, REQUEST_MAX_KEYS = 16 };
enum { REQUEST_E_REFUSED = 1 };

typedef struct Request {
        Name name;
        char *verb;
        char *arg; /* NULL: none; any bytes without NUL, judged by the gates */
        int64_t requested_ms;
        char *idempotency_key; /* NULL: none */
        uint32_t max_age_sec;  /* 0: not given */
        uint32_t timeout_sec;  /* 0: not given */
        bool has_scope;
        VerbScope scope;
        char *mac; /* 64 hex, or NULL */
} Request;

/* Design section 3, "Request body": one object, duplicate and unknown keys refused, types and
 * bounds checked. On REQUEST_E_REFUSED *ret_reason is malformed, unknown-key or name-mismatch and
 * *ret_detail (static memory) says which rule, for people: never agent bytes. Body verb differs
 * from the name's, or stamps more than 60 s apart: name-mismatch. */
MUST_CHECK int request_parse(const Name *name, const char *bytes, size_t len, Request **ret,
                             Reason *ret_reason, const char **ret_detail);
Request *request_free(Request *r);
void request_freep(Request **r);
/* SHA-256 hex over verb, arg, scope, timeout and max_age: everything that changes what runs. */
void request_fingerprint(const Request *r, char hex[65]);
/* Body for a writer (operator run, tests). Owned by the caller. */
MUST_CHECK int request_format(const Request *r, char **ret);
