/* base/hash.h - SHA-256, HMAC-SHA256 and randomness (libsodium); hex is lower case */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "base/err.h"

enum { HASH_SIZE = 32, HASH_HEX_SIZE = 65 };

MUST_CHECK int hash_init(void); /* sodium_init(3); once per process */
void hash_sha256(const void *bytes, size_t len, char hex[HASH_HEX_SIZE]);
/* A regular file from offset 0 to its end by pread, at most max bytes. -EFBIG beyond. */
MUST_CHECK int hash_sha256_fd(int fd, uint64_t max, char hex[HASH_HEX_SIZE], uint64_t *ret_size);
/* RFC 2104 with SHA-256; any key length. */
void hash_hmac(const void *key, size_t key_len, const void *bytes, size_t len,
               char hex[HASH_HEX_SIZE]);
bool hash_equal(const char *a_hex, const char *b_hex); /* constant time for equal lengths */
void hash_random_hex(char *hex, size_t digits);        /* writes digits characters and a NUL */
bool hash_is_hex(const char *s, size_t digits); /* exactly digits lower-hex characters, then NUL */
