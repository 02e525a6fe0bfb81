/* wire/response.h - one line of JSON, every key always present, in the order of design section 3 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "wire/name.h"
#include "wire/reason.h"

enum { RESPONSE_OUTPUT_MAX = 64 * 1024 };

typedef struct Response {
        const char *request; /* NULL: null */
        State state;
        Reason reason;
        const char *message; /* NULL: null; may have lines, the last one a command to paste */
        const char *verb, *arg;
        bool has_exit;
        int exit;
        bool has_signal;
        int signal;
        int64_t started_ms, finished_ms; /* 0: null; written as RFC 3339 */
        int64_t duration_ms;             /* < 0: null */
        const char *output;
        size_t output_len; /* valid UTF-8 (already redacted and escaped), at most
                              RESPONSE_OUTPUT_MAX */
        uint64_t output_bytes;
        bool has_output;
        bool truncated;
        const char *log; /* "archive/NAME.log" */
        bool replayed;
        int64_t retry_after_sec; /* < 0: null */
        int64_t ahead;           /* < 0: null */
} Response;
#define RESPONSE_NULL ((Response){.duration_ms = -1, .retry_after_sec = -1, .ahead = -1})

/* Ends with a newline. -EILSEQ when a text isn't UTF-8. */
MUST_CHECK int response_format(const Response *r, Str *ret);

/* The state that a response of ours to this request says, by its first bytes alone
 * (RESPONSE_HEAD_MAX do). false: they are not what response_format writes. */
enum { RESPONSE_HEAD_MAX = NAME_MAX_LEN + 64 };
MUST_CHECK bool response_peek(const char *bytes, size_t len, const char *request, State *ret);

typedef struct ResponseDoc ResponseDoc; /* owns what its Response points at */
enum { RESPONSE_E_SYNTAX = 1 };
MUST_CHECK int response_parse(const char *bytes, size_t len, ResponseDoc **ret);
const Response *response_of(const ResponseDoc *d);
ResponseDoc *response_free(ResponseDoc *d);
void response_freep(ResponseDoc **d);
