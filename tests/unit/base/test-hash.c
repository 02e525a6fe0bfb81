/* base/hash: the published vectors of RFC 6234 (SHA-256) and RFC 4231 (HMAC) */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"

static void hash_set_up(void) {
        ck_assert_int_eq(hash_init(), 0);
        ck_assert_int_eq(hash_init(), 0); /* a second time is no error */
}

static const struct {
        const char *text, *hex;
} sha256_vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};
static const char million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

START_TEST(sha256_vectors_of_the_rfc) {
        char hex[HASH_HEX_SIZE], *a;

        for (size_t i = 0; i < sizeof(sha256_vectors) / sizeof(sha256_vectors[0]); i++) {
                hash_sha256(sha256_vectors[i].text, strlen(sha256_vectors[i].text), hex);
                ck_assert_str_eq(hex, sha256_vectors[i].hex);
        }
        a = malloc(1000000);
        ck_assert_ptr_nonnull(a);
        memset(a, 'a', 1000000);
        hash_sha256(a, 1000000, hex);
        ck_assert_str_eq(hex, million_a);
        free(a);
}
END_TEST

static int file_of(char c, size_t len) {
        int fd = memfd_create("test-hash", MFD_CLOEXEC);
        char *bytes = malloc(len + 1);

        ck_assert_int_ge(fd, 0);
        ck_assert_ptr_nonnull(bytes);
        memset(bytes, c, len);
        ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
        free(bytes);
        return fd;
}

START_TEST(sha256_fd_from_the_start_and_up_to_max) {
        CLEANUP(fd_closep) int fd = file_of('a', 1000000);
        char hex[HASH_HEX_SIZE] = "";
        uint64_t size = 0;

        ck_assert_int_eq(lseek(fd, 10, SEEK_SET), 10);
        ck_assert_int_eq(hash_sha256_fd(fd, 1000000, hex, &size), 0);
        ck_assert_str_eq(hex, million_a);
        ck_assert_uint_eq(size, 1000000);
        ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 10);
}
END_TEST

START_TEST(sha256_fd_empty) {
        CLEANUP(fd_closep) int fd = file_of('a', 0);
        char hex[HASH_HEX_SIZE] = "";
        uint64_t size = 7;

        ck_assert_int_eq(hash_sha256_fd(fd, 0, hex, &size), 0);
        ck_assert_str_eq(hex, sha256_vectors[0].hex);
        ck_assert_uint_eq(size, 0);
}
END_TEST

START_TEST(sha256_fd_refuses_more_than_max) {
        CLEANUP(fd_closep) int fd = file_of('a', 1000000);
        char hex[HASH_HEX_SIZE] = "old";
        uint64_t size = 7;

        ck_assert_int_eq(hash_sha256_fd(fd, 999999, hex, &size), -EFBIG);
        ck_assert_int_eq(hash_sha256_fd(fd, 0, hex, &size), -EFBIG);
        ck_assert_int_eq(hash_sha256_fd(-1, 10, hex, &size), -EBADF);
        ck_assert_str_eq(hex, "old");
        ck_assert_uint_eq(size, 7);
}
END_TEST

START_TEST(hmac_vectors_of_the_rfc) {
        unsigned char aa[131], dd[50], cd[50], count[25], b0[20];
        char hex[HASH_HEX_SIZE];
        const char *text;

        memset(aa, 0xaa, sizeof(aa));
        memset(dd, 0xdd, sizeof(dd));
        memset(cd, 0xcd, sizeof(cd));
        memset(b0, 0x0b, sizeof(b0));
        for (unsigned char i = 0; i < sizeof(count); i++)
                count[i] = (unsigned char)(i + 1);
        hash_hmac(b0, sizeof(b0), "Hi There", 8, hex);
        ck_assert_str_eq(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        hash_hmac("Jefe", 4, "what do ya want for nothing?", 28, hex);
        ck_assert_str_eq(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        hash_hmac(aa, 20, dd, sizeof(dd), hex);
        ck_assert_str_eq(hex, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
        hash_hmac(count, sizeof(count), cd, sizeof(cd), hex);
        ck_assert_str_eq(hex, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
        text = "Test Using Larger Than Block-Size Key - Hash Key First";
        hash_hmac(aa, sizeof(aa), text, strlen(text), hex);
        ck_assert_str_eq(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
        text = "This is a test using a larger than block-size key and a larger than block-size "
               "data. "
               "The key needs to be hashed before being used by the HMAC algorithm.";
        hash_hmac(aa, sizeof(aa), text, strlen(text), hex);
        ck_assert_str_eq(hex, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
        hash_hmac("", 0, "", 0, hex);
        ck_assert_str_eq(hex, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}
END_TEST

START_TEST(equal_compares_all) {
        const char *a = sha256_vectors[0].hex;
        char b[HASH_HEX_SIZE];

        memcpy(b, a, sizeof(b));
        ck_assert(hash_equal(a, b));
        for (size_t i = 0; i < HASH_HEX_SIZE - 1; i++) {
                b[i] ^= 1;
                ck_assert(!hash_equal(a, b));
                b[i] ^= 1;
        }
        b[63] = '\0';
        ck_assert(!hash_equal(a, b) && !hash_equal(b, a));
        ck_assert(hash_equal("", "") && !hash_equal("", a));
}
END_TEST

START_TEST(random_hex_has_its_length_and_every_digit) {
        unsigned seen[256] = {0};
        char a[101], b[101];

        for (size_t digits = 0; digits <= 100; digits++) {
                memset(a, '?', sizeof(a));
                hash_random_hex(a, digits);
                ck_assert(hash_is_hex(a, digits));
                ck_assert(digits == 100 || a[digits + 1] == '?');
        }
        hash_random_hex(b, 100);
        ck_assert_str_ne(a, b);
        ck_assert_mem_ne(b, b + 32, 32); /* drawn anew for each block */
        for (int i = 0; i < 100; i++) {
                hash_random_hex(a, 16);
                for (size_t d = 0; d < 16; d++)
                        seen[(unsigned char)a[d]]++;
        }
        for (const char *digit = "0123456789abcdef"; *digit; digit++)
                ck_assert_uint_gt(seen[(unsigned char)*digit], 30);
}
END_TEST

START_TEST(is_hex) {
        ck_assert(hash_is_hex("", 0) && hash_is_hex("0123456789abcdef", 16));
        ck_assert(!hash_is_hex("0123456789abcdef", 15) && !hash_is_hex("0123456789abcdef", 17));
        ck_assert(!hash_is_hex("", 1));
        for (unsigned byte = 0; byte < 256; byte++) {
                char text[3] = {'a', (char)byte, '\0'};

                ck_assert(hash_is_hex(text, 2) == (byte && strchr("0123456789abcdef", (int)byte)));
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("base/hash");
        TCase *tc = tcase_create("hash");
        SRunner *runner;
        int failed;

        tcase_add_checked_fixture(tc, hash_set_up, NULL);
        tcase_add_test(tc, sha256_vectors_of_the_rfc);
        tcase_add_test(tc, sha256_fd_from_the_start_and_up_to_max);
        tcase_add_test(tc, sha256_fd_empty);
        tcase_add_test(tc, sha256_fd_refuses_more_than_max);
        tcase_add_test(tc, hmac_vectors_of_the_rfc);
        tcase_add_test(tc, equal_compares_all);
        tcase_add_test(tc, random_hex_has_its_length_and_every_digit);
        tcase_add_test(tc, is_hex);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
