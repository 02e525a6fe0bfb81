/* run/dotenv.h - the values of a .env file, in each way in which a tool may read them */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

/* Gets key and value (not NUL-terminated, live during the call only); a negative ends the parse. */
typedef int DotenvTake(void *arg, const char *key, size_t key_len, const char *value,
                       size_t value_len);

/* KEY=value or KEY: value, export, single and double quotes (over several lines too), backslash
 * escapes in double ones, comments. Where readers differ (quotes or a " #" kept or not), take is
 * called for each reading; a value of several lines is given whole and line by line, of a URL its
 * password as well. A line without = or : is skipped. take's negative, or -ENOMEM. */
MUST_CHECK int dotenv_parse(const char *bytes, size_t len, DotenvTake *take, void *arg);
/* Hiding the value would hide ordinary words: a common word, a number or address, a path of small
 * letters, under a key which names no secret (known values are the strongest rule, so the
 * exceptions are few). value_len > 0. */
bool dotenv_ordinary(const char *key, size_t key_len, const char *value, size_t value_len);
