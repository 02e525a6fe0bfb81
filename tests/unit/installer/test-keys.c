/* installer/keys: which keys a bridge is given */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "installer/keys.h"
#include "wire/mac.h"

START_TEST(number_of_a_name) {
        const struct {
                const char *name;
                bool ok;
                unsigned long long number;
        } rows[] = {
                {"mac-1.key", true, 1},
                {"mac-42.key", true, 42},
                {"mac-999999999.key", true, 999999999},
                {"mac-.key", false, 0},
                {"mac-0.key", false, 0},
                {"mac-01.key", false, 0},
                {"mac-1000000000.key", false, 0},
                {"mac-1.key.bak", false, 0},
                {"mac-x.key", false, 0},
                {"mac-1", false, 0},
                {"mac-.ke", false, 0},
                {"xmac-1.key", false, 0},
                {"mac--1.key", false, 0},
                {"mac-+1.key", false, 0},
                {"", false, 0},
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                unsigned long long n = 0;

                ck_assert_msg(keys_number(rows[i].name, &n) == rows[i].ok, "%s", rows[i].name);
                ck_assert_uint_eq(n, rows[i].number);
        }
}
END_TEST

static void words(const char *text, Strv *ret) {
        CLEANUP(str_freep) char *copy = NULL;
        char *save = NULL;

        ck_assert_int_eq(str_dup(text, &copy), 0);
        for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
                ck_assert_int_eq(strv_add(ret, w), 0);
}

typedef enum Asked { PLAIN, AUTH, ROTATE, NO_AUTH } Asked;

START_TEST(choose_each_case) {
        const struct {
                Asked asked;
                const char *before; /* NULL: no bridge file that could be read */
                const char *files, *want;
        } rows[] = {
                {PLAIN, NULL, "", ""},
                {PLAIN, "", "", ""},
                {PLAIN, "", "mac-3.key", ""}, /* off is off */
                {PLAIN, "mac-1.key", "mac-1.key", "mac-1.key"},
                {PLAIN, "own.key", "", "own.key"},
                /* a damaged bridge file doesn't switch signatures off */
                {PLAIN, NULL, "mac-1.key", "mac-1.key"},
                {PLAIN, NULL, "mac-10.key mac-2.key mac-9.key", "mac-10.key mac-9.key"},
                {AUTH, NULL, "", "mac-1.key"},
                {AUTH, "", "", "mac-1.key"},
                {AUTH, "", "mac-4.key", "mac-5.key"}, /* never an old one again */
                {AUTH, "mac-2.key mac-1.key", "mac-1.key mac-2.key", "mac-2.key mac-1.key"},
                {ROTATE, NULL, "", "mac-1.key"},
                {ROTATE, "mac-1.key", "mac-1.key", "mac-2.key mac-1.key"},
                {ROTATE, "mac-2.key mac-1.key", "mac-1.key mac-2.key", "mac-3.key mac-2.key"},
                {ROTATE, "mac-7.key", "", "mac-8.key mac-7.key"},
                {ROTATE, "own.key", "", "mac-1.key own.key"},
                {NO_AUTH, NULL, "mac-1.key", ""},
                {NO_AUTH, "mac-2.key mac-1.key", "mac-1.key mac-2.key", ""},
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                CLEANUP(strv_done) Strv before = STRV_NULL, files = STRV_NULL;
                CLEANUP(strv_done) Strv want = STRV_NULL, got = STRV_NULL;
                InstallOptions o = INSTALL_OPTIONS_NULL;

                o.auth = rows[i].asked == AUTH;
                o.rotate_key = rows[i].asked == ROTATE;
                o.no_auth = rows[i].asked == NO_AUTH;
                words(rows[i].before ? rows[i].before : "", &before);
                words(rows[i].files, &files);
                words(rows[i].want, &want);
                ck_assert_int_eq(keys_choose(&o, rows[i].before ? &before : NULL, &files, &got), 0);
                ck_assert_msg(got.len == want.len, "row %zu: %zu names", i, got.len);
                for (size_t k = 0; k < got.len; k++)
                        ck_assert_msg(str_eq(got.items[k], want.items[k]), "row %zu: %s", i,
                                      got.items[k]);
        }
}
END_TEST

static char scratch[] = "/tmp/test-keys.XXXXXX", slug[] = "demo";
static Layout layout = {.slug = slug, .config = scratch};

static void put(const char *name, const char *text, mode_t mode) {
        char path[sizeof(scratch) + 64];
        int fd;

        (void)snprintf(path, sizeof(path), "%s/%s", scratch, name);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        ck_assert_int_eq(fchmod(fd, mode), 0);
        ck_assert_int_eq(close(fd), 0);
}

static void gone(const char *name) {
        char path[sizeof(scratch) + 64];

        (void)snprintf(path, sizeof(path), "%s/%s", scratch, name);
        ck_assert_int_eq(unlink(path), 0);
}

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* A key that is right is kept byte by byte; what is not is made anew (the newest) or let go. */
START_TEST(decide_by_what_stands_there) {
        CLEANUP(strv_done) Strv before = STRV_NULL, warnings = STRV_NULL;
        CLEANUP(keys_done) Keys k = KEYS_NULL;
        InstallOptions o = INSTALL_OPTIONS_NULL;
        char key[MAC_KEY_HEX + 1];

        words("mac-2.key mac-1.key", &before);
        put("mac-1.key", KEY_A "\n", 0600);
        put("mac-2.key", KEY_B "\n", 0600);
        put("mac-9.key", KEY_A "\n", 0600);
        ck_assert_int_eq(keys_decide(&o, &layout, &before, &k, &warnings), 0);
        ck_assert_uint_eq(k.names.len, 2);
        ck_assert_str_eq(k.bytes[0].data, KEY_B "\n");
        ck_assert_str_eq(k.bytes[1].data, KEY_A "\n");
        ck_assert(!k.fresh);
        ck_assert_uint_eq(k.drop.len + warnings.len, 0);
        keys_done(&k);

        o.auth = true;
        gone("mac-1.key");
        gone("mac-2.key");
        put("mac-2.key", "no key\n", 0600);
        ck_assert_int_eq(keys_decide(&o, &layout, &before, &k, &warnings), 0);
        ck_assert_uint_eq(k.names.len, 1);
        ck_assert_str_eq(k.names.items[0], "mac-2.key");
        ck_assert_int_eq(mac_key(k.bytes[0].data, k.bytes[0].len, key), 0);
        ck_assert(k.fresh);
        ck_assert_uint_eq(k.drop.len, 1);
        ck_assert_str_eq(k.drop.items[0], "mac-9.key");
        ck_assert_uint_eq(warnings.len, 1);
        ck_assert_ptr_nonnull(strstr(warnings.items[0], "held no key"));
        gone("mac-2.key");
        gone("mac-9.key");
}
END_TEST

START_TEST(decide_open_mode) {
        CLEANUP(strv_done) Strv before = STRV_NULL, warnings = STRV_NULL;
        CLEANUP(keys_done) Keys k = KEYS_NULL;
        InstallOptions o = INSTALL_OPTIONS_NULL;

        words("mac-1.key", &before);
        put("mac-1.key", KEY_A, 0644);
        ck_assert_int_eq(keys_decide(&o, &layout, &before, &k, &warnings), 0);
        ck_assert_str_eq(k.bytes[0].data, KEY_A);
        ck_assert_uint_eq(warnings.len, 1);
        ck_assert(str_ends(warnings.items[0], "\nspoolgate install --slug demo --rotate-key"));
        ck_assert_ptr_null(strstr(warnings.items[0], KEY_A));
        gone("mac-1.key");
}
END_TEST

/* Two keys made one after the other differ. */
START_TEST(decide_random) {
        CLEANUP(strv_done) Strv warnings = STRV_NULL;
        CLEANUP(keys_done) Keys a = KEYS_NULL;
        CLEANUP(keys_done) Keys b = KEYS_NULL;
        InstallOptions o = INSTALL_OPTIONS_NULL;

        o.auth = true;
        ck_assert_int_eq(keys_decide(&o, &layout, NULL, &a, &warnings), 0);
        ck_assert_int_eq(keys_decide(&o, &layout, NULL, &b, &warnings), 0);
        ck_assert_uint_eq(a.bytes[0].len, MAC_KEY_HEX + 1);
        ck_assert_uint_eq(b.bytes[0].len, MAC_KEY_HEX + 1);
        ck_assert_str_ne(a.bytes[0].data, b.bytes[0].data);
        ck_assert(a.fresh && b.fresh);
        ck_assert_uint_eq(warnings.len, 0);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("installer/keys");
        TCase *cases = tcase_create("keys");
        SRunner *runner = srunner_create(suite);
        int failed;

        if (hash_init() < 0 || !mkdtemp(scratch))
                return EXIT_FAILURE;
        tcase_add_test(cases, number_of_a_name);
        tcase_add_test(cases, choose_each_case);
        tcase_add_test(cases, decide_by_what_stands_there);
        tcase_add_test(cases, decide_open_mode);
        tcase_add_test(cases, decide_random);
        suite_add_tcase(suite, cases);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        (void)rmdir(scratch);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
