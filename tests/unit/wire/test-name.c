/* wire/name */
#include "../verb/fixture.h"

#include <string.h>

#include "base/hash.h"
#include "wire/name.h"

START_TEST(parse_takes_it_apart) {
        Name n;

        ck_assert_int_eq(name_parse("20260102T030405Z-join-network-0123456789abcdef.json", &n), 0);
        ck_assert_str_eq(n.text, "20260102T030405Z-join-network-0123456789abcdef.json");
        ck_assert_str_eq(n.verb, "join-network");
        ck_assert_str_eq(n.nonce, "0123456789abcdef");
        ck_assert_int_eq(n.stamp_ms, 1767323045000);
}
END_TEST

START_TEST(parse_longest_verb) {
        Name n;

        ck_assert_int_eq(
                name_parse(
                        "20260102T030405Z-abcdefghijklmnopqrstuvwxyzabcdef-0123456789abcdef.json",
                        &n),
                0);
        ck_assert_uint_eq(strlen(n.verb), 32);
        ck_assert_uint_eq(strlen(n.text), NAME_MAX_LEN);
        ck_assert_int_eq(
                name_parse(
                        "20260102T030405Z-abcdefghijklmnopqrstuvwxyzabcdefg-0123456789abcdef.json",
                        &n),
                NAME_E_SHAPE);
}
END_TEST

START_TEST(parse_refuses) {
        static const char *const bad[] = {
                "",
                ".",
                "..",
                ".json",
                "a.json",
                ".20260102T030405Z-ping-0123456789abcdef.json",
                "20260102T030405Z-ping-0123456789abcdef.JSON",
                "20260102T030405Z-ping-0123456789abcdef.json ",
                "20260102T030405Z-ping-0123456789abcdef.json.json",
                "20260102T030405Z-ping-0123456789abcdef",
                "20260102T030405Z-ping-0123456789ABCDEF.json",
                "20260102T030405Z-ping-0123456789abcde.json",
                "20260102T030405Z-ping-0123456789abcdef0.json",
                "20260102T030405Z-ping-0123456789abcdeg.json",
                "20260230T030405Z-ping-0123456789abcdef.json",
                "20260102T240405Z-ping-0123456789abcdef.json",
                "20260102T030460Z-ping-0123456789abcdef.json",
                "20260102t030405Z-ping-0123456789abcdef.json",
                "20260102T030405z-ping-0123456789abcdef.json",
                "20260102T030405--ping-0123456789abcdef.json",
                "20260102T030405Z_ping-0123456789abcdef.json",
                "20260102T030405Z-ping_0123456789abcdef.json",
                "20260102T030405Z--0123456789abcdef.json",
                "20260102T030405Z-Ping-0123456789abcdef.json",
                "20260102T030405Z-ping2-0123456789abcdef.json",
                "20260102T030405Z-pi/ng-0123456789abcdef.json",
                "20260102T030405Z-shell:web-0123456789abcdef.json",
                "20260102T030405Z-p\xd1\x96ng-0123456789abcdef.json",
                "20260102T030405Z-ping\n-0123456789abcdef.json",
                "20260102T030405Z-ping-0123456789abcdef\n.json",
                "2026010203040500-ping-0123456789abcdef.json",
                "20260102T030405Z",
                "19691231T235959Z-ping-0123456789abcdef.json",
                "00260102T030405Z-ping-0123456789abcdef.json",
        };
        Name n = {.stamp_ms = 7};

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                ck_assert_msg(name_parse(bad[i], &n) == NAME_E_SHAPE, "%s", bad[i]);
        ck_assert_int_eq(n.stamp_ms, 7);
}
END_TEST

START_TEST(parse_every_byte_at_every_place) {
        const char good[] = "20260102T030405Z-ping-0123456789abcdef.json";
        char bent[sizeof(good)];
        Name n;

        for (size_t i = 0; i < sizeof(good) - 1; i++)
                for (int c = 0; c < 256; c++) {
                        bool verb = i >= 17 && i < 21, nonce = i >= 22 && i < 38,
                             digit = c >= '0' && c <= '9';
                        int r;

                        memcpy(bent, good, sizeof(good));
                        bent[i] = (char)c;
                        r = name_parse(bent, &n);
                        if (r == 0)
                                ck_assert_str_eq(n.text, bent);
                        if (verb)
                                ck_assert_int_eq(r == 0, (c >= 'a' && c <= 'z') || c == '-');
                        else if (nonce)
                                ck_assert_int_eq(r == 0, digit || (c >= 'a' && c <= 'f'));
                        else if (!digit && c != good[i])
                                ck_assert_int_ne(r, 0);
                }
}
END_TEST

START_TEST(parse_very_long) {
        char name[4096];
        Name n;

        memset(name, 'a', sizeof(name) - 1);
        name[sizeof(name) - 1] = '\0';
        ck_assert_int_eq(name_parse(name, &n), NAME_E_SHAPE);
        name[255] = '\0';
        ck_assert_int_eq(name_parse(name, &n), NAME_E_SHAPE);
}
END_TEST

START_TEST(make_parses_and_is_fresh) {
        Name a, b, again;

        ck_assert_int_eq(hash_init(), 0);
        name_make("restart", 1767323045678, &a);
        name_make("restart", 1767323045678, &b);
        ck_assert_int_eq(strncmp(a.text, "20260102T030405Z-restart-", 25), 0);
        ck_assert_str_ne(a.nonce, b.nonce);
        ck_assert_int_eq(name_parse(a.text, &again), 0);
        ck_assert_mem_eq(&a, &again, sizeof(a));
        ck_assert_int_eq(a.stamp_ms, 1767323045000);
}
END_TEST

RUN_TESTS("wire/name", parse_takes_it_apart, parse_longest_verb, parse_refuses,
          parse_every_byte_at_every_place, parse_very_long, make_parses_and_is_fresh)
