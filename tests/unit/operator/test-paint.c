/* operator/paint */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/paint.h"

START_TEST(row_wraps_between_words) {
        CLEANUP(paint_done) Paint p = {.width = 40};

        ck_assert_int_eq(paint_row(&p, "label", PAINT_GOOD, "one two three four five six seven"),
                         0);
        ck_assert_str_eq(p.out.data, "  label      one two three four five six\n"
                                     "             seven\n");
}
END_TEST

START_TEST(row_keeps_long_words_whole) {
        CLEANUP(paint_done) Paint p = {.width = 10};

        ck_assert_int_eq(paint_row(&p, "x", PAINT_PLAIN, "/a/very/long/path/that/does/not/fit end"),
                         0);
        ck_assert_str_eq(p.out.data, "  x          /a/very/long/path/that/does/not/fit\n"
                                     "             end\n");
}
END_TEST

START_TEST(row_counts_characters) {
        CLEANUP(paint_done) Paint p = {.width = 34};

        /* 21 columns of room: 10 + 1 + 10, each letter two bytes */
        ck_assert_int_eq(paint_row(&p, "x", PAINT_PLAIN, "ääääääääää öööööööööö"), 0);
        ck_assert_str_eq(p.out.data, "  x          ääääääääää öööööööööö\n");
}
END_TEST

START_TEST(colour_only_where_asked) {
        CLEANUP(paint_done) Paint p = {.width = 80, .colour = true};
        CLEANUP(paint_done) Paint plain = {.width = 80};

        ck_assert_int_eq(paint_title(&p, PAINT_STRONG, "t"), 0);
        ck_assert_int_eq(paint_row(&p, "a", PAINT_BAD, "b"), 0);
        ck_assert_int_eq(paint_command(&p, "c d"), 0);
        ck_assert_str_eq(p.out.data, "\033[1mt\033[0m\n  a          \033[31mb\033[0m\nc d\n");
        ck_assert_int_eq(paint_row(&plain, "a", PAINT_BAD, "b"), 0);
        ck_assert_str_eq(plain.out.data, "  a          b\n");
}
END_TEST

START_TEST(nothing_raw) {
        CLEANUP(paint_done) Paint p = PAINT_NULL;

        ck_assert_int_eq(paint_row(&p, "a", PAINT_PLAIN, "\033[2J\nforged\302\233x"), 0);
        ck_assert_int_eq(paint_title(&p, PAINT_PLAIN, "t\033]0;x\007"), 0);
        ck_assert_str_eq(p.out.data, "  a          \\x1b[2J\\x0aforged\\xc2\\x9bx\n"
                                     "t\\x1b]0;x\\x07\n");
}
END_TEST

RUN_TESTS("operator/paint", row_wraps_between_words, row_keeps_long_words_whole,
          row_counts_characters, colour_only_where_asked, nothing_raw)
