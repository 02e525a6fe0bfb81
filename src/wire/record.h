/* wire/record.h - JSON objects for the host's own files: audit lines, capabilities, bridge, reports
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

typedef struct Record Record; /* an object; keys keep their order */

enum { RECORD_E_SYNTAX = 1, RECORD_E_TYPE };
typedef struct RecordError {
        int line, column;
        char text[160];
} RecordError;

MUST_CHECK int record_new(Record **ret);
Record *record_free(Record *r);
void record_freep(Record **r);
/* key: a literal of ours; replaces. value NULL writes null. -EILSEQ: not UTF-8. */
MUST_CHECK int record_put_str(Record *r, const char *key, const char *value);
MUST_CHECK int record_put_bytes(Record *r, const char *key, const char *value, size_t len);
MUST_CHECK int record_put_int(Record *r, const char *key, int64_t value);
MUST_CHECK int record_put_bool(Record *r, const char *key, bool value);
MUST_CHECK int record_put_null(Record *r, const char *key);
MUST_CHECK int record_put_strv(Record *r, const char *key, const Strv *value);
MUST_CHECK int record_put_list(Record *r, const char *key);                 /* an empty list */
MUST_CHECK int record_put_take(Record *r, const char *key, Record **value); /* takes *value on 0 */
MUST_CHECK int record_append_take(Record *r, const char *key,
                                  Record **value); /* to a list; made when absent */

MUST_CHECK int record_format(const Record *r, char **ret); /* compact, one line, no newline */
MUST_CHECK int record_format_pretty(const Record *r, char **ret); /* indent 2, newline at the end */

/* Duplicates and NUL refused, UTF-8 checked; the top level must be an object, nothing after it. */
MUST_CHECK int record_parse(const char *bytes, size_t len, Record **ret, RecordError *error);
bool record_has(const Record *r, const char *key);
typedef enum RecordType {
        RECORD_ABSENT,
        RECORD_NULL,
        RECORD_BOOL,
        RECORD_INT,
        RECORD_STR,
        RECORD_LIST,
        RECORD_OBJECT,
        RECORD_REAL,
} RecordType;
RecordType record_type(const Record *r, const char *key);
const char *record_str(const Record *r, const char *key); /* NULL: absent, null or another type */
MUST_CHECK bool record_int(const Record *r, const char *key, int64_t *ret);
MUST_CHECK bool record_bool(const Record *r, const char *key, bool *ret);
const Record *record_object(const Record *r, const char *key);
size_t record_list_len(const Record *r, const char *key);
const Record *record_list_at(const Record *r, const char *key, size_t i);
/* A list of strings; RECORD_E_TYPE when it is there and anything else; absent or null gives an
 * empty list. */
MUST_CHECK int record_strv(const Record *r, const char *key, Strv *ret);
/* The keys in their order; NULL past the end. */
const char *record_key_at(const Record *r, size_t i);
/* The first key that is not among `known` (NULL-ended), else NULL. */
const char *record_unknown(const Record *r, const char *const *known);
