/* base/str.h - growable strings and string lists; NUL-terminated whenever data is set */
#pragma once
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include "base/err.h"

typedef struct Str {
        char *data;
        size_t len;
        size_t cap;
} Str;
#define STR_NULL ((Str){0})

void str_done(Str *s);  /* frees; s is reusable; also for CLEANUP */
void str_clear(Str *s); /* len = 0, memory kept */
MUST_CHECK int str_reserve(Str *s, size_t more);
MUST_CHECK int str_add(Str *s, const void *bytes, size_t len);
MUST_CHECK int str_adds(Str *s, const char *text);
MUST_CHECK int str_addc(Str *s, char c);
MUST_CHECK int str_addf(Str *s, const char *format, ...) PRINTF_LIKE(2, 3);
/* Appends bytes for a terminal, a log or a JSON string: printable ASCII and well-formed UTF-8 of
 * printable code points as they are; '\n' and '\t' too when keep_lines; every other byte (C0, DEL,
 * C1, bidi and other format characters, blanks that nobody sees, U+2028-2029, noncharacters,
 * surrogates, bad UTF-8) as \xNN for each of its bytes. A backslash stays as it is. The result is
 * always valid UTF-8. */
MUST_CHECK int str_add_escaped(Str *s, const void *bytes, size_t len, bool keep_lines);
/* Gives the buffer away ("" allocated when empty); -ENOMEM. */
MUST_CHECK int str_take(Str *s, char **ret);

bool str_eq(const char *a, const char *b); /* NULL equals NULL only */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
MUST_CHECK int str_dup(const char *s, char **ret); /* NULL gives NULL */
MUST_CHECK int str_printf(char **ret, const char *format, ...) PRINTF_LIKE(2, 3);
void str_freep(char **s); /* for CLEANUP on char * */
/* Decimal digits only, no sign, no space, at most max: false otherwise, *ret untouched. */
MUST_CHECK bool str_parse_uint(const char *s, unsigned long long max, unsigned long long *ret);

typedef struct Strv { /* items[len] is NULL whenever items is set */
        char **items;
        size_t len;
} Strv;
#define STRV_NULL ((Strv){0})

void strv_done(Strv *v);
MUST_CHECK int strv_add(Strv *v, const char *s); /* copies */
MUST_CHECK int strv_add_take(Strv *v, char **s); /* takes *s on 0 */
MUST_CHECK int strv_copy(const Strv *v, Strv *ret);
/* The item of v equal to s (v's own memory), else NULL. */
const char *strv_find(const Strv *v, const char *s);
void strv_sort(Strv *v); /* bytewise */
