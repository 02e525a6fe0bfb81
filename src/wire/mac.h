/* wire/mac.h - a request's signature: HMAC-SHA256 over one canonical text
 *
 * The text is nine lines, each ended by \n, in a form that a POSIX shell can print:
 *
 *   spoolgate-mac-1
 *   the request's file name, .json included
 *   verb, arg, requested_at as YYYY-MM-DDTHH:MM:SSZ, idempotency_key, max_age_sec, timeout_sec,
 *   permission_scope: a line each, empty where the request has none
 *
 * The name binds the nonce, so that a signature serves one request file only. The HMAC's key is the
 * key file's first line as it stands: 64 lower-case hexadecimal digits, not decoded. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "wire/request.h"

enum { MAC_KEY_HEX = 64 };
enum { MAC_E_KEY = 1 };

/* Bytes of a key file: 64 digits, then nothing or \n. MAC_E_KEY: anything else. */
MUST_CHECK int mac_key(const char *bytes, size_t len, char ret[MAC_KEY_HEX + 1]);
/* Appends the canonical text. */
MUST_CHECK int mac_text(const Request *r, Str *ret);
/* 64 hex digits and a NUL, for a writer of requests and for tests. */
MUST_CHECK int mac_sign(const Request *r, const char *key, char ret_hex[HASH_HEX_SIZE]);
/* *ret: the request has a mac and it is key's. Constant time in the mac's value. False also for an
 * arg with a line break and for a requested_at with a part of a second: neither has a canonical
 * form. */
MUST_CHECK int mac_ok(const Request *r, const char *key, bool *ret);
