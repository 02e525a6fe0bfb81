/* wire/record */
#include "../verb/fixture.h"

#include <errno.h>
#include <string.h>

#include "wire/record.h"

static Record *parsed(const char *text) {
        RecordError e = {.line = 0};
        Record *r = NULL;

        ck_assert_msg(record_parse(text, strlen(text), &r, &e) == 0, "%s: %s", text, e.text);
        return r;
}

static void formats(const Record *r, const char *want) {
        CLEANUP(str_freep) char *text = NULL;

        ck_assert_int_eq(record_format(r, &text), 0);
        ck_assert_str_eq(text, want);
}

START_TEST(put_keeps_the_order_and_replaces) {
        CLEANUP(record_freep) Record *r = NULL;
        CLEANUP(strv_done) Strv v = STRV_NULL;

        LIST(&v, "b", "a");
        ck_assert_int_eq(record_new(&r), 0);
        formats(r, "{}");
        ck_assert_int_eq(record_put_str(r, "z", "one\n\"two\"\\"), 0);
        ck_assert_int_eq(record_put_int(r, "a", -9007199254740993), 0);
        ck_assert_int_eq(record_put_bool(r, "t", true), 0);
        ck_assert_int_eq(record_put_null(r, "n"), 0);
        ck_assert_int_eq(record_put_str(r, "s", NULL), 0);
        ck_assert_int_eq(record_put_strv(r, "l", &v), 0);
        ck_assert_int_eq(record_put_list(r, "e"), 0);
        ck_assert_int_eq(record_put_bool(r, "t", false), 0);
        formats(r, "{\"z\":\"one\\n\\\"two\\\"\\\\\",\"a\":-9007199254740993,\"t\":false,\"n\":"
                   "null,\"s\":null,"
                   "\"l\":[\"b\",\"a\"],\"e\":[]}");
}
END_TEST

START_TEST(put_bytes_and_bad_utf8) {
        CLEANUP(record_freep) Record *r = NULL;
        CLEANUP(strv_done) Strv v = STRV_NULL;

        LIST(&v, "ok", "\xff");
        ck_assert_int_eq(record_new(&r), 0);
        ck_assert_int_eq(record_put_bytes(r, "a", "xyz", 2), 0);
        ck_assert_int_eq(record_put_bytes(r, "a", "\xc3", 1), -EILSEQ);
        ck_assert_int_eq(record_put_str(r, "b", "\xed\xa0\x80"), -EILSEQ);
        ck_assert_int_eq(record_put_strv(r, "c", &v), -EILSEQ);
        formats(r, "{\"a\":\"xy\"}");
}
END_TEST

START_TEST(format_is_one_line_of_ascii) {
        CLEANUP(record_freep) Record *r = NULL;

        ck_assert_int_eq(record_new(&r), 0);
        ck_assert_int_eq(record_put_str(r, "a", "\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xc3\xa4\r\x7f"),
                         0);
        formats(r, "{\"a\":\"\\u001B[2J\\u007F\\u009B\\u202E\\u00E4\\r\\u007F\"}");
}
END_TEST

START_TEST(format_pretty) {
        CLEANUP(record_freep) Record *r = parsed("{\"a\":[1,2],\"\xc3\xa4\":null}");
        CLEANUP(str_freep) char *text = NULL;

        ck_assert_int_eq(record_format_pretty(r, &text), 0);
        ck_assert_str_eq(text, "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"\xc3\xa4\": null\n}\n");
}
END_TEST

START_TEST(take_moves_the_value) {
        CLEANUP(record_freep) Record *r = NULL, *a = NULL, *b = NULL, *c = NULL;

        ck_assert_int_eq(record_new(&r), 0);
        ck_assert_int_eq(record_new(&a), 0);
        ck_assert_int_eq(record_new(&b), 0);
        ck_assert_int_eq(record_new(&c), 0);
        ck_assert_int_eq(record_put_int(b, "n", 2), 0);
        ck_assert_int_eq(record_put_take(r, "o", &a), 0);
        ck_assert_int_eq(record_append_take(r, "l", &b), 0);
        ck_assert_int_eq(record_append_take(r, "l", &c), 0);
        ck_assert(!a && !b && !c);
        formats(r, "{\"o\":{},\"l\":[{\"n\":2},{}]}");
        ck_assert_uint_eq(record_list_len(r, "l"), 2);
        formats(record_list_at(r, "l", 0), "{\"n\":2}");
        formats(record_object(r, "o"), "{}");
        ck_assert_ptr_null(record_free(NULL));
}
END_TEST

START_TEST(parse_says_where) {
        RecordError e;
        Record *r = NULL;

        ck_assert_int_eq(record_parse("{\n  \"a\": 1,\n  oops\n}", 22, &r, &e), RECORD_E_SYNTAX);
        ck_assert_int_eq(e.line, 3);
        ck_assert_uint_gt(strlen(e.text), 0);
        ck_assert_int_eq(record_parse("[]", 2, &r, &e), RECORD_E_TYPE);
        ck_assert_int_eq(e.line, 1);
        ck_assert_ptr_null(r);
}
END_TEST

START_TEST(parse_refuses) {
        static const char *const bad[] = {"",
                                          "{",
                                          "{}{}",
                                          "{} x",
                                          "{\"a\":1,\"a\":2}",
                                          "{\"a\":1,\"\\u0061\":2}",
                                          "{\"a\":\"\\u0000\"}",
                                          "{\"a\":\"\xff\"}",
                                          "{\"a\":9223372036854775808}",
                                          "\xef\xbb\xbf{}",
                                          "{\"a\":1e400}"};
        RecordError e;
        Record *r = NULL;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                ck_assert_msg(record_parse(bad[i], strlen(bad[i]), &r, &e) == RECORD_E_SYNTAX, "%s",
                              bad[i]);
        ck_assert_int_eq(record_parse("{}\0", 3, &r, &e), RECORD_E_SYNTAX);
        ck_assert_ptr_null(r);
}
END_TEST

START_TEST(get_by_type) {
        CLEANUP(record_freep)
        Record *r =
                parsed("{\"s\":\"x\",\"i\":-5,\"b\":true,\"n\":null,\"o\":{},\"l\":[1],\"f\":2.0}");
        static const struct {
                const char *key;
                RecordType type;
        } types[] = {
                {"s", RECORD_STR},    {"i", RECORD_INT},  {"b", RECORD_BOOL}, {"n", RECORD_NULL},
                {"o", RECORD_OBJECT}, {"l", RECORD_LIST}, {"f", RECORD_REAL}, {"x", RECORD_ABSENT},
        };
        int64_t i = 77;
        bool b = false;

        for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
                const char *key = types[k].key;

                ck_assert_int_eq(record_type(r, key), types[k].type);
                ck_assert_int_eq(record_has(r, key), types[k].type != RECORD_ABSENT);
                ck_assert_int_eq(record_str(r, key) != NULL, types[k].type == RECORD_STR);
                ck_assert_int_eq(record_object(r, key) != NULL, types[k].type == RECORD_OBJECT);
                ck_assert_int_eq(record_int(r, key, &i), types[k].type == RECORD_INT);
                ck_assert_int_eq(record_bool(r, key, &b), types[k].type == RECORD_BOOL);
                ck_assert_uint_eq(record_list_len(r, key), types[k].type == RECORD_LIST);
        }
        ck_assert_int_eq(i, -5);
        ck_assert(b);
        ck_assert_ptr_null(record_list_at(r, "l", 0));
        ck_assert_ptr_null(record_list_at(r, "l", 1));
        ck_assert_ptr_null(record_list_at(r, "s", 0));
}
END_TEST

START_TEST(strv_of_a_list) {
        CLEANUP(record_freep)
        Record *r = parsed("{\"l\":[\"a\",\"b\"],\"e\":[],\"n\":null,\"m\":[\"a\",1],\"s\":\"a\"}");
        CLEANUP(strv_done) Strv v = STRV_NULL, none = STRV_NULL;

        ck_assert_int_eq(record_strv(r, "l", &v), 0);
        ck_assert_uint_eq(v.len, 2);
        ck_assert_str_eq(v.items[1], "b");
        ck_assert_int_eq(record_strv(r, "m", &v), RECORD_E_TYPE);
        ck_assert_int_eq(record_strv(r, "s", &v), RECORD_E_TYPE);
        ck_assert_uint_eq(v.len, 2);
        ck_assert_int_eq(record_strv(r, "e", &none), 0);
        ck_assert_int_eq(record_strv(r, "n", &none), 0);
        ck_assert_int_eq(record_strv(r, "absent", &none), 0);
        ck_assert_uint_eq(none.len, 0);
}
END_TEST

START_TEST(keys) {
        static const char *const known[] = {"b", "a", NULL};
        CLEANUP(record_freep) Record *r = parsed("{\"a\":1,\"b\":2}");
        CLEANUP(record_freep) Record *more = parsed("{\"a\":1,\"\":2,\"c\":3}");

        ck_assert_ptr_null(record_unknown(r, known));
        ck_assert_str_eq(record_unknown(more, known), "");
        ck_assert_str_eq(record_key_at(r, 0), "a");
        ck_assert_str_eq(record_key_at(r, 1), "b");
        ck_assert_ptr_null(record_key_at(r, 2));
}
END_TEST

RUN_TESTS("wire/record", put_keeps_the_order_and_replaces, put_bytes_and_bad_utf8,
          format_is_one_line_of_ascii, format_pretty, take_moves_the_value, parse_says_where,
          parse_refuses, get_by_type, strv_of_a_list, keys)
