#include "installer/document.h"
#include "tests/unit/fs/scratch.h"

static Document *parse_text(const char *text) {
        CLEANUP(str_done) Str why = STR_NULL;
        Document *d = NULL;
        int r = document_parse("f.yaml", text, strlen(text), &d, &why);

        ck_assert_msg(r == 0, "%d: %s", r, why.data);
        return d;
}

static void refuse_bytes(const char *text, size_t len, const char *said) {
        CLEANUP(str_done) Str why = STR_NULL;
        Document *d = NULL;

        ck_assert_int_eq(document_parse("f.yaml", text, len, &d, &why), DOCUMENT_E_INVALID);
        ck_assert_ptr_null(d);
        ck_assert_msg(strncmp(why.data, said, strlen(said)) == 0, "%s", why.data);
}

static void refuse(const char *text, const char *said) {
        refuse_bytes(text, strlen(text), said);
}

START_TEST(get_own_and_merged) {
        CLEANUP(document_freep)
        Document *d = parse_text("base: &b {x: 1, y: 2}\n"
                                 "more: &m {y: 3, z: 4}\n"
                                 "one: {<<: *b, y: 9}\n"
                                 "list: {<<: [*m, *b]}\n");
        DocumentNode root = document_root(d), one = document_get(d, root, "one"),
                     list = document_get(d, root, "list");

        ck_assert_int_eq(document_kind(d, root), DOCUMENT_MAP);
        ck_assert_str_eq(document_text(d, document_get(d, one, "x")), "1");
        ck_assert_str_eq(document_text(d, document_get(d, one, "y")), "9");
        ck_assert_int_eq(document_get(d, one, "z"), 0);
        ck_assert_str_eq(document_text(d, document_get(d, list, "y")),
                         "3"); /* the earlier of a list wins */
        ck_assert_str_eq(document_text(d, document_get(d, list, "z")), "4");
        ck_assert_str_eq(document_text(d, document_get(d, list, "x")), "1");
        ck_assert_int_eq(document_line(d, one), 3);
        ck_assert(!document_spent(d));
}
END_TEST

START_TEST(kinds) {
        CLEANUP(document_freep)
        Document *d =
                parse_text("a:\nb: ~\nc: null\nd: 'null'\ne: \"\"\nf: []\ng: {}\nh: \"x\\0y\"\n");
        DocumentNode root = document_root(d);

        ck_assert_int_eq(document_kind(d, document_get(d, root, "a")), DOCUMENT_NONE);
        ck_assert_int_eq(document_kind(d, document_get(d, root, "b")), DOCUMENT_NONE);
        ck_assert_int_eq(document_kind(d, document_get(d, root, "c")), DOCUMENT_NONE);
        ck_assert_int_eq(document_kind(d, document_get(d, root, "d")), DOCUMENT_SCALAR);
        ck_assert_int_eq(document_kind(d, document_get(d, root, "e")), DOCUMENT_SCALAR);
        ck_assert_int_eq(document_kind(d, document_get(d, root, "f")), DOCUMENT_LIST);
        ck_assert_int_eq(document_kind(d, document_get(d, root, "g")), DOCUMENT_MAP);
        ck_assert_ptr_null(document_text(d, document_get(d, root, "h")));
        ck_assert_int_eq(document_kind(d, 12345), DOCUMENT_NONE);
        ck_assert_uint_eq(document_len(d, root), 0);
        ck_assert_int_eq(document_item(d, root, 0), 0);
}
END_TEST

START_TEST(parse_empty) {
        CLEANUP(document_freep) Document *d = parse_text("");
        CLEANUP(document_freep) Document *comment = parse_text("# nothing\n");

        ck_assert_int_eq(document_root(d), 0);
        ck_assert_int_eq(document_get(d, document_root(d), "services"), 0);
        ck_assert_int_eq(document_kind(comment, document_root(comment)), DOCUMENT_NONE);
}
END_TEST

START_TEST(parse_refuses_with_the_line) {
        refuse("a: 1\nb: [1, 2\nc: 3\n", "f.yaml:3: ");
        refuse("a: 1\n\tb: 2\n", "f.yaml:2: ");
        refuse("a: *nowhere\n", "f.yaml:1: found undefined alias");
        refuse("a: 1\n---\nb: 2\n", "f.yaml:2: holds a second document");
        refuse("a: 1\nb: \"\xff\xfe\"\n", "f.yaml:2: ");
        refuse_bytes("a: 1\nb: \0\n", 10, "f.yaml:2: ");
}
END_TEST

START_TEST(parse_bounds) {
        CLEANUP(str_done) Str deep = STR_NULL;
        CLEANUP(str_done) Str wide = STR_NULL;
        CLEANUP(str_done) Str anchors = STR_NULL;
        CLEANUP(str_done) Str huge = STR_NULL;

        for (int i = 0; i <= DOCUMENT_MAX_DEPTH; i++)
                ck_assert_int_eq(str_addc(&deep, '['), 0);
        refuse(deep.data, "f.yaml:1: nests too deep");
        for (int i = 0; i < 100 * 1000; i++)
                ck_assert_int_eq(str_addc(&deep, '['), 0);
        refuse(deep.data, "f.yaml:1: nests too deep");
        ck_assert_int_eq(str_addc(&wide, '['), 0);
        for (int i = 0; i <= DOCUMENT_MAX_EVENTS; i++)
                ck_assert_int_eq(str_adds(&wide, "a,\n"), 0);
        refuse(wide.data, "f.yaml:399998: has too many nodes");
        for (int i = 0; i <= DOCUMENT_MAX_ANCHORS; i++)
                ck_assert_int_eq(str_addf(&anchors, "- &a%d x\n", i), 0);
        refuse(anchors.data, "f.yaml:1001: has too many anchors");
        ck_assert_int_eq(str_reserve(&huge, DOCUMENT_MAX_BYTES + 1), 0);
        memset(huge.data, ' ', DOCUMENT_MAX_BYTES + 1);
        refuse_bytes(huge.data, DOCUMENT_MAX_BYTES + 1, "f.yaml:1: is larger than 4 MiB");
}
END_TEST

/* Nine levels of nine aliases each: 9^9 leaves, if anybody walked them. */
START_TEST(alias_bomb_is_cheap) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(document_freep) Document *d = NULL;

        ck_assert_int_eq(str_adds(&text, "a0: &a0 {k: v}\n"), 0);
        for (int i = 1; i < 15; i++) {
                ck_assert_int_eq(str_addf(&text, "a%d: &a%d\n  <<: [", i, i), 0);
                for (int j = 0; j < 9; j++)
                        ck_assert_int_eq(str_addf(&text, "%s*a%d", j > 0 ? ", " : "", i - 1), 0);
                ck_assert_int_eq(str_adds(&text, "]\n"), 0);
        }
        d = parse_text(text.data);
        ck_assert_str_eq(
                document_text(d, document_get(d, document_get(d, document_root(d), "a14"), "k")),
                "v");
        ck_assert(!document_spent(d));
        ck_assert_int_eq(document_get(d, document_get(d, document_root(d), "a14"), "absent"), 0);
        ck_assert(document_spent(d));
}
END_TEST

START_TEST(merge_of_itself_ends) {
        CLEANUP(document_freep) Document *d = parse_text("a: &a\n  <<: *a\n  k: v\n");
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        DocumentNode a = document_get(d, document_root(d), "a");

        ck_assert_str_eq(document_text(d, document_get(d, a, "k")), "v");
        ck_assert_int_eq(document_pairs(d, a, &pairs, &why), 0);
        ck_assert(document_spent(d));
}
END_TEST

START_TEST(pairs_merged_once_each) {
        CLEANUP(document_freep)
        Document *d = parse_text("x: &x {a: 1, b: 2}\nm: {<<: *x, b: 3, c: 4}\n");
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        const char *keys[] = {"a", "b", "c"}, *values[] = {"1", "3", "4"};

        ck_assert_int_eq(document_pairs(d, document_get(d, document_root(d), "m"), &pairs, &why),
                         0);
        ck_assert_uint_eq(pairs.len, 3);
        for (size_t i = 0; i < 3; i++) {
                ck_assert_str_eq(document_text(d, pairs.items[i].key), keys[i]);
                ck_assert_str_eq(document_text(d, pairs.items[i].value), values[i]);
        }
}
END_TEST

START_TEST(pairs_refuses) {
        CLEANUP(document_freep) Document *twice = parse_text("m:\n  a: 1\n  b: 2\n  a: 3\n");
        CLEANUP(document_freep) Document *odd = parse_text("m:\n  a: 1\n  ? [x]\n  : 2\n");
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        ck_assert_int_eq(
                document_pairs(twice, document_get(twice, document_root(twice), "m"), &pairs, &why),
                DOCUMENT_E_INVALID);
        ck_assert_str_eq(why.data, "f.yaml:4: the same key twice");
        str_clear(&why);
        ck_assert_int_eq(
                document_pairs(odd, document_get(odd, document_root(odd), "m"), &pairs, &why),
                DOCUMENT_E_INVALID);
        ck_assert_str_eq(why.data, "f.yaml:3: a key must be text");
        ck_assert_uint_eq(pairs.len, 0);
}
END_TEST

START_TEST(pairs_refuses_odd_merges) {
        static const struct {
                const char *text, *why;
        } cases[] = {
                {"m:\n  \"<<\": {a: 1}\n", "f.yaml:2: << must not be quoted"},
                {"m:\n  <<: a\n", "f.yaml:2: << must name a map, or a list of maps"},
                {"m:\n  <<: [{a: 1},\n    b]\n", "f.yaml:3: << must name a map, or a list of maps"},
                {"m:\n  <<: {a: 1}\n  <<: {b: 1}\n", "f.yaml:3: the same key twice"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CLEANUP(document_freep) Document *d = parse_text(cases[i].text);
                CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
                CLEANUP(str_done) Str why = STR_NULL;

                ck_assert_int_eq(
                        document_pairs(d, document_get(d, document_root(d), "m"), &pairs, &why),
                        DOCUMENT_E_INVALID);
                ck_assert_str_eq(why.data, cases[i].why);
        }
}
END_TEST

/* <<: [a, b]: a wins, b's keys stand first. */
START_TEST(pairs_order_of_merges) {
        CLEANUP(document_freep)
        Document *d =
                parse_text("a: &a {k: 1, l: 2}\nb: &b {m: 3, k: 4}\nm: {n: 5, <<: [*a, *b]}\n");
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        const char *keys[] = {"m", "k", "l", "n"}, *values[] = {"3", "1", "2", "5"};

        ck_assert_int_eq(document_pairs(d, document_get(d, document_root(d), "m"), &pairs, &why),
                         0);
        ck_assert_uint_eq(pairs.len, 4);
        for (size_t i = 0; i < 4; i++) {
                ck_assert_str_eq(document_text(d, pairs.items[i].key), keys[i]);
                ck_assert_str_eq(document_text(d, pairs.items[i].value), values[i]);
        }
}
END_TEST

START_TEST(tag_line_of_the_first) {
        CLEANUP(document_freep) Document *none = parse_text("a: 1\nb: [x]\n");
        CLEANUP(document_freep) Document *one = parse_text("a: 1\nb: !reset []\nc: !!str 1\n");

        ck_assert_int_eq(document_tag_line(none), 0);
        ck_assert_int_eq(document_tag_line(one), 2);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, get_own_and_merged);
        tcase_add_test(tc, kinds);
        tcase_add_test(tc, parse_empty);
        tcase_add_test(tc, parse_refuses_with_the_line);
        tcase_add_test(tc, parse_bounds);
        tcase_add_test(tc, alias_bomb_is_cheap);
        tcase_add_test(tc, merge_of_itself_ends);
        tcase_add_test(tc, pairs_merged_once_each);
        tcase_add_test(tc, pairs_refuses);
        tcase_add_test(tc, pairs_refuses_odd_merges);
        tcase_add_test(tc, pairs_order_of_merges);
        tcase_add_test(tc, tag_line_of_the_first);
}

int main(void) {
        return scratch_main("installer/document", add_tests);
}
