/* operator/life: the pure part */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/life.h"

static void tail(const char *text, size_t n, const char *want) {
        size_t len = 99;
        const char *got = life_tail(text, strlen(text), n, &len);

        ck_assert_uint_eq(len, strlen(want));
        ck_assert_mem_eq(got, want, len);
}

START_TEST(tail_of_lines) {
        tail("a\nb\nc\n", 2, "b\nc\n");
        tail("a\nb\nc", 2, "b\nc");
        tail("a\nb\nc\n", 3, "a\nb\nc\n");
        tail("a\nb\nc\n", 9, "a\nb\nc\n");
        tail("a\nb\nc\n", 1, "c\n");
        tail("a\nb\n\n", 1, "\n");
        tail("a\nb\n", 0, "");
        tail("", 5, "");
        tail("\n", 5, "\n");
}
END_TEST

RUN_TESTS("operator/life", tail_of_lines)
