#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

_Static_assert(HASH_SIZE == crypto_hash_sha256_BYTES, "SHA-256");
_Static_assert(HASH_SIZE == crypto_auth_hmacsha256_BYTES, "HMAC-SHA256");

int hash_init(void) {
        return sodium_init() < 0 ? err_new(EIO) : 0;
}

static void hash_to_hex(const unsigned char raw[HASH_SIZE], char hex[HASH_HEX_SIZE]) {
        (void)sodium_bin2hex(hex, HASH_HEX_SIZE, raw, HASH_SIZE); /* gives hex back */
}

void hash_sha256(const void *bytes, size_t len, char hex[HASH_HEX_SIZE]) {
        unsigned char raw[HASH_SIZE];

        (void)crypto_hash_sha256(raw, bytes, len); /* always 0 */
        hash_to_hex(raw, hex);
}

int hash_sha256_fd(int fd, uint64_t max, char hex[HASH_HEX_SIZE], uint64_t *ret_size) {
        unsigned char raw[HASH_SIZE], chunk[8192];
        crypto_hash_sha256_state state;
        uint64_t size = 0;

        (void)crypto_hash_sha256_init(&state); /* always 0, as are update and final */
        for (;;) {
                ssize_t n = pread(fd, chunk, sizeof(chunk), (off_t)size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_new(errno);
                if (n == 0)
                        break;
                size += (uint64_t)n;
                if (size > max)
                        return err_new(EFBIG);
                (void)crypto_hash_sha256_update(&state, chunk, (size_t)n);
        }
        (void)crypto_hash_sha256_final(&state, raw);
        hash_to_hex(raw, hex);
        *ret_size = size;
        return 0;
}

void hash_hmac(const void *key, size_t key_len, const void *bytes, size_t len,
               char hex[HASH_HEX_SIZE]) {
        crypto_auth_hmacsha256_state state;
        unsigned char raw[HASH_SIZE];

        (void)crypto_auth_hmacsha256_init(&state, key,
                                          key_len); /* always 0, as are update and final */
        (void)crypto_auth_hmacsha256_update(&state, bytes, len);
        (void)crypto_auth_hmacsha256_final(&state, raw);
        hash_to_hex(raw, hex);
        sodium_memzero(&state, sizeof(state)); /* it holds the key, padded */
}

bool hash_equal(const char *a_hex, const char *b_hex) {
        size_t len = strlen(a_hex);

        return strlen(b_hex) == len && sodium_memcmp(a_hex, b_hex, len) == 0;
}

void hash_random_hex(char *hex, size_t digits) {
        unsigned char raw[16];

        for (size_t i = 0; i < digits; i++) {
                unsigned char byte;

                if (i % 32 == 0)
                        randombytes_buf(raw, sizeof(raw));
                byte = raw[i / 2 % sizeof(raw)];
                hex[i] = "0123456789abcdef"[i % 2 == 0 ? byte >> 4 : byte & 15];
        }
        hex[digits] = '\0';
}

bool hash_is_hex(const char *s, size_t digits) {
        for (size_t i = 0; i < digits; i++)
                if (!((s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'f')))
                        return false;
        return s[digits] == '\0';
}
