/* guard/diff: shortest scripts, hunks that rebuild the new file, values that stay hidden */
#include "../verb/fixture.h"

#include <stdio.h>
#include <string.h>

#include "guard/diff.h"

static Str str_of(const char *text) {
        Str s = STR_NULL;

        ck_assert_int_eq(str_adds(&s, text), 0);
        return s;
}

static void shows(const char *before, const char *after, DiffFlags flags, const char *want) {
        CLEANUP(str_done) Str a = str_of(before ? before : "");
        CLEANUP(str_done) Str b = str_of(after ? after : "");
        CLEANUP(str_done) Str out = STR_NULL;

        ck_assert_int_eq(diff_add("f", before ? &a : NULL, after ? &b : NULL, flags, &out), 0);
        ck_assert_str_eq(out.data ? out.data : "", want);
}

#define NAMES "--- f\n+++ f\n"

START_TEST(add_equal_is_nothing) {
        shows("a\n", "a\n", 0, "");
        shows("", "", 0, "");
        shows(NULL, NULL, 0, "");
}
END_TEST

START_TEST(add_one_hunk_with_context) {
        shows("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", 0,
              NAMES "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        shows("1\n2\n", "0\n1\n2\n", 0, NAMES "@@ -1,2 +1,3 @@\n+0\n 1\n 2\n");
        shows("1\n2\n", "1\n", 0, NAMES "@@ -1,2 +1,1 @@\n 1\n-2\n");
}
END_TEST

START_TEST(add_hunks_apart_and_joined) {
        shows("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", 0,
              NAMES "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
        shows("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", 0,
              NAMES "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
                    "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}
END_TEST

START_TEST(add_absent_and_empty) {
        shows(NULL, "x\n", 0, "--- f (absent)\n+++ f\n@@ -0,0 +1,1 @@\n+x\n");
        shows("x\n", NULL, 0, "--- f\n+++ f (absent)\n@@ -1,1 +0,0 @@\n-x\n");
        shows(NULL, "", 0, "--- f (absent)\n+++ f\nan empty file\n");
        shows("x", "x\n", 0, NAMES "@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n");
}
END_TEST

START_TEST(add_hides_values) {
        shows("A_KEY=old\n# secret remark\n", "A_KEY=new\nMIIabc==\n\nexport B=c\n", DIFF_HIDE,
              NAMES "@@ -1,2 +1,4 @@\n-A_KEY=(hidden)\n-(hidden)\n+A_KEY=(hidden)\n+(hidden)\n+\n+"
                    "(hidden)\n");
}
END_TEST

START_TEST(add_binary_and_huge) {
        CLEANUP(str_done) Str a = str_of("x\n");
        CLEANUP(str_done) Str nul = STR_NULL;
        CLEANUP(str_done) Str many = STR_NULL;
        CLEANUP(str_done) Str out = STR_NULL;

        ck_assert_int_eq(str_add(&nul, "a\0b", 3), 0);
        ck_assert_int_eq(diff_add("f", &a, &nul, 0, &out), 0);
        ck_assert_ptr_nonnull(strstr(out.data, "too binary"));
        for (int i = 0; i <= DIFF_LINES; i++)
                ck_assert_int_eq(str_adds(&many, "\n"), 0);
        str_clear(&out);
        ck_assert_int_eq(diff_add("f", &a, &many, 0, &out), 0);
        ck_assert_ptr_nonnull(strstr(out.data, "too long"));
}
END_TEST

/* The old file and the hunks give the new file. */
static void rebuild(const Str *before, const char *diff, Str *ret) {
        const char *at = before->data ? before->data : "", *line = strstr(diff, "\n+++");
        size_t number = 1;

        line = line ? strchr(line + 1, '\n') + 1 : "";
        while (*line) {
                size_t len = strcspn(line, "\n") + 1;
                unsigned long from, count;

                if (sscanf(line, "@@ -%lu,%lu", &from, &count) == 2) {
                        for (; number < from + (count == 0); number++) {
                                size_t n = strcspn(at, "\n") + 1;

                                ck_assert_int_eq(str_add(ret, at, n), 0);
                                at += n;
                        }
                } else {
                        if (line[0] != '+') {
                                ck_assert_int_eq(strncmp(at, line + 1, len - 1), 0);
                                at += len - 1;
                                number++;
                        }
                        if (line[0] != '-')
                                ck_assert_int_eq(str_add(ret, line + 1, len - 1), 0);
                }
                line += len;
        }
        ck_assert_int_eq(str_adds(ret, at), 0);
}

static unsigned next_random(unsigned *state) {
        *state = *state * 1103515245U + 12345U;
        return *state >> 16 & 0x7fff;
}

static void random_lines(unsigned *state, unsigned most, unsigned letters, Str *ret) {
        unsigned len = next_random(state) % most;

        for (unsigned i = 0; i < len; i++)
                ck_assert_int_eq(str_addf(ret, "%c\n", 'a' + (char)(next_random(state) % letters)),
                                 0);
}

START_TEST(add_rebuilds_any_file) {
        unsigned state = 7;

        for (int i = 0; i < 3000; i++) {
                CLEANUP(str_done) Str a = STR_NULL;
                CLEANUP(str_done) Str b = STR_NULL;
                CLEANUP(str_done) Str out = STR_NULL;
                CLEANUP(str_done) Str again = STR_NULL;

                random_lines(&state, 40, 2 + (unsigned)i % 8, &a);
                random_lines(&state, 40, 2 + (unsigned)i % 8, &b);
                ck_assert_int_eq(diff_add("f", &a, &b, 0, &out), 0);
                rebuild(&a, out.data ? out.data : "", &again);
                ck_assert_str_eq(again.data ? again.data : "", b.data ? b.data : "");
        }
}
END_TEST

/* The longest common subsequence, by the table. */
static size_t common(const char *a, const char *b) {
        static size_t table[64][64];
        size_t n = strlen(a), m = strlen(b);

        for (size_t i = n + 1; i-- > 0;)
                for (size_t j = m + 1; j-- > 0;)
                        table[i][j] = i == n || j == m                    ? 0
                                      : a[i] == b[j]                      ? table[i + 1][j + 1] + 1
                                      : table[i + 1][j] > table[i][j + 1] ? table[i + 1][j]
                                                                          : table[i][j + 1];
        return table[0][0];
}

START_TEST(add_is_shortest) {
        unsigned state = 3;

        for (int i = 0; i < 500; i++) {
                char x[41] = "", y[41] = "";
                CLEANUP(str_done) Str a = STR_NULL;
                CLEANUP(str_done) Str b = STR_NULL;
                CLEANUP(str_done) Str out = STR_NULL;
                size_t edits = 0;

                random_lines(&state, 40, 4, &a);
                random_lines(&state, 40, 4, &b);
                for (size_t k = 0; k < a.len; k += 2)
                        x[k / 2] = a.data[k];
                for (size_t k = 0; k < b.len; k += 2)
                        y[k / 2] = b.data[k];
                ck_assert_int_eq(diff_add("f", &a, &b, 0, &out), 0);
                for (const char *at = out.data ? strstr(out.data, "\n@@") : NULL; at;
                     at = strchr(at + 1, '\n'))
                        edits += at[1] == '+' || at[1] == '-';
                ck_assert_uint_eq(edits, strlen(x) + strlen(y) - 2 * common(x, y));
        }
}
END_TEST

START_TEST(add_too_many_edits_are_a_replacement) {
        CLEANUP(str_done) Str a = STR_NULL;
        CLEANUP(str_done) Str b = STR_NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        CLEANUP(str_done) Str again = STR_NULL;

        for (int i = 0; i < DIFF_EDITS; i++) {
                ck_assert_int_eq(str_addf(&a, "a%d\n", i), 0);
                ck_assert_int_eq(str_addf(&b, "b%d\n", i), 0);
        }
        ck_assert_int_eq(diff_add("f", &a, &b, 0, &out), 0);
        rebuild(&a, out.data, &again);
        ck_assert_str_eq(again.data, b.data);
}
END_TEST

RUN_TESTS("guard/diff", add_equal_is_nothing, add_one_hunk_with_context, add_hunks_apart_and_joined,
          add_absent_and_empty, add_hides_values, add_binary_and_huge, add_rebuilds_any_file,
          add_is_shortest, add_too_many_edits_are_a_replacement)
