/* drain/remains: what may be shown of a log that the agent can write */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "drain/remains.h"

static void shown(const char *bytes, size_t len, size_t max, const char *want, bool want_cut) {
        CLEANUP(str_done) Str s = STR_NULL;
        bool cut = !want_cut;

        ck_assert_int_eq(str_adds(&s, ">"), 0);
        ck_assert_int_eq(remains_show(&s, bytes, len, max, &cut), 0);
        ck_assert_str_eq(s.data, want);
        ck_assert_int_eq(cut, want_cut);
}

START_TEST(show_escapes) {
        shown("a\tb\nc", 5, 100, ">a\tb\nc", false);
        shown("\033[2Jx\0y", 7, 100, ">\\x1b[2Jx\\x00y", false);
        shown("\xff\xe2\x80\xae", 4, 100, ">\\xff\\xe2\\x80\\xae", false);
        shown("", 0, 100, ">", false);
}
END_TEST

START_TEST(show_keeps_the_end) {
        shown("abcdef", 6, 3, ">def", true);
        shown("abcdef", 6, 6, ">abcdef", false);
        shown("abc", 3, 0, ">", true);
}
END_TEST

/* Two-, three- and four-byte characters are never cut in two. */
START_TEST(show_cuts_between_characters) {
        shown("x\xc3\xa9yz", 5, 3, ">yz", true);
        shown("x\xc3\xa9yz", 5, 4, ">\xc3\xa9yz", true);
        shown("\xe2\x82\xac!", 4, 3, ">!", true);
        shown("\xf0\x9f\x98\x80", 4, 3, ">", true);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("drain/remains");
        TCase *cases = tcase_create("remains");
        SRunner *runner = srunner_create(suite);
        int failed;

        tcase_add_test(cases, show_escapes);
        tcase_add_test(cases, show_keeps_the_end);
        tcase_add_test(cases, show_cuts_between_characters);
        suite_add_tcase(suite, cases);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
