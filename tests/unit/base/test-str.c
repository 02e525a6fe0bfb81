/* base/str */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/str.h"

START_TEST(add_grows_and_terminates) {
        CLEANUP(str_done) Str s = STR_NULL;

        for (int i = 0; i < 1000; i++) {
                ck_assert_int_eq(str_addc(&s, (char)('a' + i % 26)), 0);
                ck_assert_uint_eq(s.len, (size_t)i + 1);
                ck_assert_uint_lt(s.len, s.cap);
                ck_assert_int_eq(s.data[s.len], '\0');
        }
        ck_assert_int_eq(str_add(&s, "\0x", 2), 0);
        ck_assert_mem_eq(s.data + 998, "kl\0x", 5);
        ck_assert_int_eq(str_adds(&s, "end"), 0);
        ck_assert_uint_eq(s.len, 1005);
        ck_assert_int_eq(str_add(&s, NULL, 0), 0);
        ck_assert_uint_eq(s.len, 1005);
        str_clear(&s);
        ck_assert_uint_eq(s.len, 0);
        ck_assert_str_eq(s.data, "");
}
END_TEST

START_TEST(clear_and_done_of_nothing) {
        Str s = STR_NULL;

        str_clear(&s);
        str_done(&s);
        ck_assert_ptr_null(s.data);
        ck_assert_int_eq(str_adds(&s, "again"), 0);
        ck_assert_str_eq(s.data, "again");
        str_done(&s);
        ck_assert_ptr_null(s.data);
        ck_assert_uint_eq(s.len + s.cap, 0);
}
END_TEST

START_TEST(reserve_terminates_and_refuses_the_absurd) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(str_reserve(&s, 0), 0);
        ck_assert_str_eq(s.data, "");
        ck_assert_int_eq(str_adds(&s, "kept"), 0);
        ck_assert_int_eq(str_reserve(&s, SIZE_MAX), -ENOMEM);
        ck_assert_int_eq(str_reserve(&s, SIZE_MAX / 4 + 1), -ENOMEM);
        ck_assert_str_eq(s.data, "kept");
        ck_assert_uint_eq(s.len, 4);
}
END_TEST

START_TEST(addf_appends_of_any_length) {
        CLEANUP(str_done) Str s = STR_NULL;
        char *text = NULL;

        ck_assert_int_eq(str_addf(&s, "%s-%d", "a", 7), 0);
        ck_assert_int_eq(str_addf(&s, "%s", ""), 0);
        ck_assert_int_eq(str_addf(&s, "%0500d", 3), 0);
        ck_assert_uint_eq(s.len, 503);
        ck_assert(str_starts(s.data, "a-70000"));
        ck_assert_int_eq(s.data[502], '3');
        ck_assert_int_eq(str_printf(&text, "%s/%u", "x", 4u), 0);
        ck_assert_str_eq(text, "x/4");
        str_freep(&text);
        ck_assert_ptr_null(text);
        str_freep(&text);
}
END_TEST

START_TEST(take_gives_the_buffer_away) {
        CLEANUP(str_done) Str s = STR_NULL;
        CLEANUP(str_freep) char *a = NULL;
        CLEANUP(str_freep) char *b = NULL;

        ck_assert_int_eq(str_adds(&s, "mine"), 0);
        ck_assert_int_eq(str_take(&s, &a), 0);
        ck_assert_str_eq(a, "mine");
        ck_assert_ptr_null(s.data);
        ck_assert_uint_eq(s.len + s.cap, 0);
        ck_assert_int_eq(str_take(&s, &b), 0);
        ck_assert_str_eq(b, "");
}
END_TEST

START_TEST(compare) {
        ck_assert(str_eq("a", "a") && str_eq("", "") && str_eq(NULL, NULL));
        ck_assert(!str_eq("a", "b") && !str_eq("a", NULL) && !str_eq(NULL, "") &&
                  !str_eq("a", "ab"));
        ck_assert(str_starts("abc", "ab") && str_starts("abc", "") && str_starts("", ""));
        ck_assert(!str_starts("ab", "abc") && !str_starts("", "a"));
        ck_assert(str_ends("abc", "bc") && str_ends("abc", "") && str_ends("abc", "abc"));
        ck_assert(!str_ends("bc", "abc") && !str_ends("abc", "ab"));
}
END_TEST

START_TEST(dup_of_text_and_of_null) {
        CLEANUP(str_freep) char *copy = NULL;
        const char *text = "text";

        ck_assert_int_eq(str_dup(text, &copy), 0);
        ck_assert_str_eq(copy, text);
        ck_assert_ptr_ne(copy, text);
        str_freep(&copy);
        copy = (char[]){'x', '\0'};
        ck_assert_int_eq(str_dup(NULL, &copy), 0);
        ck_assert_ptr_null(copy);
}
END_TEST

START_TEST(parse_uint_accepts) {
        unsigned long long n = 5;

        ck_assert(str_parse_uint("0", 0, &n));
        ck_assert_uint_eq(n, 0);
        ck_assert(str_parse_uint("007", 7, &n));
        ck_assert_uint_eq(n, 7);
        ck_assert(str_parse_uint("100", 100, &n));
        ck_assert_uint_eq(n, 100);
        ck_assert(str_parse_uint("18446744073709551615", ULLONG_MAX, &n));
        ck_assert(n == ULLONG_MAX);
}
END_TEST

START_TEST(parse_uint_refuses) {
        static const char *const bad[] = {"",
                                          " 1",
                                          "1 ",
                                          "+1",
                                          "-1",
                                          "0x1",
                                          "1e3",
                                          "1.0",
                                          "x",
                                          "1\n",
                                          "\xc2\xb2",
                                          "101",
                                          "1000",
                                          "18446744073709551616",
                                          "99999999999999999999999"};
        unsigned long long n = 5;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                ck_assert_msg(!str_parse_uint(bad[i], 100, &n), "%s", bad[i]);
        ck_assert(!str_parse_uint(NULL, 100, &n));
        ck_assert(!str_parse_uint("18446744073709551616", ULLONG_MAX, &n));
        ck_assert(!str_parse_uint("18446744073709551620", ULLONG_MAX, &n));
        ck_assert(!str_parse_uint("9", 8, &n));
        ck_assert(!str_parse_uint("1", 0, &n));
        ck_assert_uint_eq(n, 5);
}
END_TEST

static void escapes_to(const void *bytes, size_t len, bool keep_lines, const char *want) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(str_add_escaped(&s, bytes, len, keep_lines), 0);
        ck_assert_str_eq(s.data, want);
        ck_assert_uint_eq(s.len, strlen(want));
}

static void hex_of(const unsigned char *bytes, size_t len, char *want) {
        for (size_t i = 0; i < len; i++)
                (void)snprintf(want + 4 * i, 5, "\\x%02x", bytes[i]);
}

START_TEST(escape_every_byte) {
        for (unsigned i = 0; i < 256; i++) {
                unsigned char byte = (unsigned char)i;
                char as_is[2] = {(char)byte, '\0'}, hex[8];
                bool printable = i >= 0x20 && i <= 0x7e;

                hex_of(&byte, 1, hex);
                escapes_to(&byte, 1, false, printable ? as_is : hex);
                escapes_to(&byte, 1, true, printable || i == '\n' || i == '\t' ? as_is : hex);
        }
        escapes_to("", 0, false, "");
        escapes_to("a\\x00\"b", 7, false, "a\\x00\"b");
        escapes_to("a\0b\r\n\033[2J", 9, false, "a\\x00b\\x0d\\x0a\\x1b[2J");
        escapes_to("a\0b\r\n\033[2J", 9, true, "a\\x00b\\x0d\n\\x1b[2J");
}
END_TEST

static size_t encode(uint32_t code, unsigned char out[4]) {
        if (code < 0x80) {
                out[0] = (unsigned char)code;
                return 1;
        }
        if (code < 0x800) {
                out[0] = (unsigned char)(0xc0 | code >> 6);
                out[1] = (unsigned char)(0x80 | (code & 0x3f));
                return 2;
        }
        if (code < 0x10000) {
                out[0] = (unsigned char)(0xe0 | code >> 12);
                out[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
                out[2] = (unsigned char)(0x80 | (code & 0x3f));
                return 3;
        }
        out[0] = (unsigned char)(0xf0 | code >> 18);
        out[1] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
        out[2] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
        out[3] = (unsigned char)(0x80 | (code & 0x3f));
        return 4;
}

START_TEST(escape_hidden_characters) {
        static const uint32_t ranges[][2] = {
                {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},         {0x61c, 0x61c},
                {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},     {0xd800, 0xdfff},
                {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},     {0xfffe, 0xffff},
                {0x1fffe, 0x1ffff}, {0xe0001, 0xe007f}, {0x10fffe, 0x10ffff},
        };

        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
                for (uint32_t code = ranges[i][0]; code <= ranges[i][1]; code++) {
                        unsigned char bytes[4];
                        size_t len = encode(code, bytes);
                        char hex[20];

                        hex_of(bytes, len, hex);
                        escapes_to(bytes, len, false, hex);
                }
}
END_TEST

START_TEST(escape_keeps_what_people_write) {
        static const char *const kept[] = {
                "caf\xc3\xa9",      "\xd0\xb6",     "\xe6\x97\xa5\xe6\x9c\xac",
                "\xf0\x9f\x98\x80", "\xc2\xa0",     "\xe2\x82\xac",
                "\xe2\x80\x8a",     "\xe2\x80\x90", "\xe2\x80\xaf",
                "\xe2\x81\x9f",     "\xe2\x81\xb0", "\xef\xbf\xbd",
                "\xed\x9f\xbf",     "\xee\x80\x80", "\xf4\x8f\xbf\xbd",
                "\xd7\xa9",         "\xd8\xa7",
        };

        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
                escapes_to(kept[i], strlen(kept[i]), false, kept[i]);
}
END_TEST

/* RFC 3629 section 3 and 10; the kinds of the well-known decoder stress test. */
START_TEST(escape_bad_utf8) {
        static const struct {
                const char *bytes, *want;
        } bad[] = {
                {"\x80", "\\x80"}, /* lone continuations */
                {"\xbf\x80", "\\xbf\\x80"},
                {"a\xc3", "a\\xc3"}, /* cut sequences */
                {"\xe2\x82", "\\xe2\\x82"},
                {"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},
                {"\xc3(", "\\xc3("}, /* lead and no continuation */
                {"\xe2\x28\xa1", "\\xe2(\\xa1"},
                {"\xe2\x82(", "\\xe2\\x82("},
                {"\xf0\x28\x8c\xbc", "\\xf0(\\x8c\\xbc"},
                {"\xf0\x90(\xbc", "\\xf0\\x90(\\xbc"},
                {"\xf0\x90\x8c(", "\\xf0\\x90\\x8c("},
                {"\xc3\xc3\xa9", "\\xc3\xc3\xa9"}, /* a good one right behind a bad one */
                {"\xe2\x82\xc3\xa9", "\\xe2\\x82\xc3\xa9"},
                {"\xc0\xaf", "\\xc0\\xaf"}, /* overlong '/' */
                {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
                {"\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"},
                {"\xf8\x80\x80\x80\xaf", "\\xf8\\x80\\x80\\x80\\xaf"},
                {"\xfc\x80\x80\x80\x80\xaf", "\\xfc\\x80\\x80\\x80\\x80\\xaf"},
                {"\xc0\x80", "\\xc0\\x80"}, /* overlong NUL */
                {"\xc1\xbf", "\\xc1\\xbf"}, /* the greatest overlong ones */
                {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},
                {"\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf"},
                {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* surrogates, single and in pairs */
                {"\xed\xbf\xbf", "\\xed\\xbf\\xbf"},
                {"\xed\xa0\xbd\xed\xb8\x80", "\\xed\\xa0\\xbd\\xed\\xb8\\x80"},
                {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* U+110000 */
                {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
                {"\xfe", "\\xfe"},
                {"\xff\xff", "\\xff\\xff"},
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                escapes_to(bad[i].bytes, strlen(bad[i].bytes), false, bad[i].want);
}
END_TEST

/* Whatever goes in: the C library finds valid UTF-8, and nothing that a terminal obeys. */
static void check_safe(const Str *s) {
        wchar_t wide[64];
        size_t n = mbstowcs(wide, s->data, 64);

        ck_assert_uint_ne(n, (size_t)-1);
        for (size_t i = 0; i < n; i++)
                ck_assert(wide[i] >= 0x20 && !(wide[i] >= 0x7f && wide[i] <= 0x9f));
        ck_assert_uint_eq(strlen(s->data), s->len);
}

START_TEST(escape_all_pairs_and_many_quadruples_are_safe) {
        CLEANUP(str_done) Str s = STR_NULL;
        uint32_t seed = 1;

        ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
        for (unsigned i = 0; i < 65536; i++) {
                unsigned char two[2] = {(unsigned char)(i >> 8), (unsigned char)i}, four[4];

                str_clear(&s);
                ck_assert_int_eq(str_add_escaped(&s, two, 2, false), 0);
                check_safe(&s);
                seed = seed * 1664525 + 1013904223;
                four[0] =
                        (unsigned char)(0xe0 | (seed >> 27)); /* leads, then mostly continuations */
                four[1] = (unsigned char)(0x80 | (seed >> 18 & 0x7f));
                four[2] = (unsigned char)(0x80 | (seed >> 12 & 0x3f));
                four[3] = (unsigned char)(seed >> 4);
                str_clear(&s);
                ck_assert_int_eq(str_add_escaped(&s, four, 4, false), 0);
                check_safe(&s);
        }
}
END_TEST

START_TEST(strv_add_copy_find_sort) {
        CLEANUP(strv_done) Strv v = STRV_NULL;
        CLEANUP(strv_done) Strv copy = STRV_NULL;
        CLEANUP(str_freep) char *mine = NULL;
        char name[16];

        for (int i = 99; i >= 0; i--) {
                (void)snprintf(name, sizeof(name), "%02d", i);
                ck_assert_int_eq(strv_add(&v, name), 0);
                ck_assert_ptr_null(v.items[v.len]);
        }
        ck_assert_int_eq(str_dup("\xff", &mine), 0);
        ck_assert_int_eq(strv_add_take(&v, &mine), 0);
        ck_assert_ptr_null(mine);
        ck_assert_uint_eq(v.len, 101);
        ck_assert_int_eq(strv_copy(&v, &copy), 0);
        strv_sort(&v);
        for (int i = 0; i < 100; i++)
                ck_assert(v.items[i][0] == '0' + i / 10 && v.items[i][1] == '0' + i % 10);
        ck_assert_str_eq(v.items[100], "\xff");
        ck_assert_ptr_null(v.items[101]);
        ck_assert_str_eq(copy.items[0], "99");
        ck_assert_uint_eq(copy.len, 101);
        ck_assert_ptr_eq(strv_find(&v, "42"), v.items[42]);
        ck_assert_ptr_null(strv_find(&v, "4"));
        ck_assert_ptr_null(strv_find(&v, NULL));
        strv_done(&v);
        ck_assert_ptr_null(v.items);
}
END_TEST

START_TEST(strv_of_nothing) {
        Strv v = STRV_NULL, copy = {.len = 7};

        strv_sort(&v);
        ck_assert_ptr_null(strv_find(&v, "a"));
        ck_assert_int_eq(strv_copy(&v, &copy), 0);
        ck_assert_uint_eq(copy.len, 0);
        ck_assert_int_eq(strv_add(&v, NULL), -EINVAL);
        ck_assert_uint_eq(v.len, 0);
        strv_done(&v);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("base/str");
        TCase *tc = tcase_create("str");
        SRunner *runner;
        int failed;

        tcase_set_timeout(tc, 60);
        tcase_add_test(tc, add_grows_and_terminates);
        tcase_add_test(tc, clear_and_done_of_nothing);
        tcase_add_test(tc, reserve_terminates_and_refuses_the_absurd);
        tcase_add_test(tc, addf_appends_of_any_length);
        tcase_add_test(tc, take_gives_the_buffer_away);
        tcase_add_test(tc, compare);
        tcase_add_test(tc, dup_of_text_and_of_null);
        tcase_add_test(tc, parse_uint_accepts);
        tcase_add_test(tc, parse_uint_refuses);
        tcase_add_test(tc, escape_every_byte);
        tcase_add_test(tc, escape_hidden_characters);
        tcase_add_test(tc, escape_keeps_what_people_write);
        tcase_add_test(tc, escape_bad_utf8);
        tcase_add_test(tc, escape_all_pairs_and_many_quadruples_are_safe);
        tcase_add_test(tc, strv_add_copy_find_sort);
        tcase_add_test(tc, strv_of_nothing);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
