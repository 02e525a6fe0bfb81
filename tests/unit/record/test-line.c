/* record/line: the frame, and where a torn file ends */
#include "record/audit.h"
#include "record/line.h"
#include "tests/unit/fs/scratch.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static void formats(const char *body, const char *expected) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(str_adds(&s, "old"), 0);
        ck_assert_int_eq(line_format(7, ZEROS, body, &s), expected ? 0 : LINE_E_FORM);
        ck_assert_str_eq(s.data, expected ? expected : "old");
}

static void parses(const char *line, int expected, uint64_t seq_expected) {
        char prev[HASH_HEX_SIZE] = "";
        uint64_t seq = 0;

        ck_assert_msg(line_parse(line, strlen(line), &seq, prev) == expected, "%s", line);
        ck_assert_uint_eq(seq, seq_expected);
        ck_assert_str_eq(prev, expected == 0 ? ZEROS : "");
}

START_TEST(format_bodies) {
        formats("{}", "{\"seq\":7,\"prev\":\"" ZEROS "\"}\n");
        formats("{\"a\":1}", "{\"seq\":7,\"prev\":\"" ZEROS "\",\"a\":1}\n");
        formats("", NULL);
        formats("{", NULL);
        formats("[]", NULL);
        formats("{\"a\":1} ", NULL);
        formats("{\"a\":\n1}", NULL);
        formats("{\"a\x1b\":1}", NULL);
}
END_TEST

START_TEST(parse_forms) {
        parses("{\"seq\":1,\"prev\":\"" ZEROS "\"}", 0, 1);
        parses("{\"seq\":18446744073709551615,\"prev\":\"" ZEROS "\",\"x\":2}", 0, UINT64_MAX);
        parses("{\"seq\":18446744073709551616,\"prev\":\"" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"seq\":100000000000000000000000,\"prev\":\"" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"seq\":0,\"prev\":\"" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"seq\":01,\"prev\":\"" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"seq\":-1,\"prev\":\"" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"seq\":,\"prev\":\"" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"seq\":1,\"prev\":\"" ZEROS "0\"}", LINE_E_FORM, 0);
        parses("{\"seq\":1,\"prev\":\"Z" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"seq\":1,\"prev\":\"" ZEROS "\"", LINE_E_FORM, 0);
        parses("{\"seq\":1,\"prev\":\"" ZEROS "\"x}", LINE_E_FORM, 0);
        parses("{\"seq\":1,\"prev\":\"" ZEROS "\",\"a\":1", LINE_E_FORM, 0);
        parses("{\"seq\":1,\"prev\":\"" ZEROS "\",\"a\":\t1}", LINE_E_FORM, 0);
        parses("{\"seq\":1,\"prev\":\"00\"}", LINE_E_FORM, 0);
        parses(" {\"seq\":1,\"prev\":\"" ZEROS "\"}", LINE_E_FORM, 0);
        parses("{\"prev\":\"" ZEROS "\",\"seq\":1}", LINE_E_FORM, 0);
        parses("{\"seq\":1", LINE_E_FORM, 0);
        parses("", LINE_E_FORM, 0);
}
END_TEST

START_TEST(parse_length) {
        static const char head[] = "{\"seq\":1,\"prev\":\"" ZEROS "\",";
        char line[AUDIT_LINE_MAX + 1];
        char prev[HASH_HEX_SIZE];
        uint64_t seq;

        memset(line, 'a', sizeof(line));
        memcpy(line, head, strlen(head));
        line[AUDIT_LINE_MAX - 2] = '}';
        ck_assert_int_eq(line_parse(line, AUDIT_LINE_MAX - 1, &seq, prev), 0);
        line[AUDIT_LINE_MAX - 2] = 'a';
        line[AUDIT_LINE_MAX - 1] = '}';
        ck_assert_int_eq(line_parse(line, AUDIT_LINE_MAX, &seq, prev), LINE_E_FORM);
}
END_TEST

/* The file: text, then n bytes of `fill`. */
static void tails(const char *text, size_t n, char fill, int expected, off_t end, uint64_t seq) {
        CLEANUP(fd_closep) int fd = openat(scratch_fd, "f", O_RDWR | O_CREAT | O_TRUNC, 0600);
        CLEANUP(str_done) Str s = STR_NULL;
        LineTail tail = {.end = -1};

        ck_assert_int_eq(str_adds(&s, text), 0);
        ck_assert_int_eq(str_reserve(&s, n), 0);
        memset(s.data + s.len, fill, n);
        s.len += n;
        ck_assert_int_eq(write(fd, s.data, s.len), (ssize_t)s.len);
        ck_assert_int_eq(line_tail(fd, (off_t)s.len, &tail), expected);
        ck_assert_int_eq(tail.end, end);
        if (expected == 0)
                ck_assert_uint_eq(tail.seq, seq);
}

#define LINE1 "{\"seq\":1,\"prev\":\"" ZEROS "\"}\n"
#define LINE2 "{\"seq\":2,\"prev\":\"" ZEROS "\",\"x\":2}\n"

START_TEST(tail_cases) {
        off_t one = sizeof(LINE1) - 1, two = one + (off_t)sizeof(LINE2) - 1;

        ck_assert_int_eq(hash_init(), 0);
        tails("", 0, 'x', 0, 0, 0);
        tails(LINE1, 0, 'x', 0, one, 1);
        tails(LINE1 LINE2, 0, 'x', 0, two, 2);
        tails("", 10, 'x', 0, 0, 0);
        tails("\n", 0, 'x', 0, 0, 0);
        tails(LINE1, 10, 'x', 0, one, 1);
        tails(LINE1 LINE2, 5000, 'x', 0, two, 2);
        tails(LINE1 LINE2, 5000, '\0', 0, two, 2); /* a page that never got there */
        tails(LINE1 LINE2, 300, '\n', 0, two, 2);
        tails(LINE1 "{\"seq\":2,\"prev\":\"0000", 4096, 'x', 0, one, 1);
        tails(LINE1 "{\"seq\":2,\"prev\":\"0\"}\nx\nyy\n", 0, 'x', 0, one, 1);
        tails(LINE1, 1024 * 1024, 'x', 0, one, 1);
        tails(LINE1, 1024 * 1024 + 8192, 'x', LINE_E_DAMAGE, -1, 0);
}
END_TEST

/* Every length of a last line, across the window's edges. */
START_TEST(tail_each_length) {
        enum { HEAD = sizeof(LINE1) - 3 };
        char text[2 * AUDIT_LINE_MAX + 8];

        ck_assert_int_eq(hash_init(), 0);
        for (size_t len = 200; len <= AUDIT_LINE_MAX; len += len < 3900 ? 97 : 1) {
                memset(text, 'a', sizeof(text));
                memcpy(text, LINE1, sizeof(LINE1) - 1);
                memcpy(text + sizeof(LINE1) - 1, LINE2, HEAD);
                text[sizeof(LINE1) - 1 + HEAD] = ',';
                memcpy(text + sizeof(LINE1) - 1 + len - 2, "}\n", 3);
                tails(text, 0, 'x', 0, (off_t)(sizeof(LINE1) - 1 + len), 2);
        }
}
END_TEST

START_TEST(tail_shorter_than_said) {
        CLEANUP(fd_closep) int fd = -EBADF;
        LineTail tail;

        scratch_file(scratch_fd, "f", "short");
        fd = openat(scratch_fd, "f", O_RDONLY);
        ck_assert_int_eq(line_tail(fd, 100, &tail), -EIO);
        ck_assert_int_eq(line_tail(-EBADF, 100, &tail), -EBADF);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, format_bodies);
        tcase_add_test(tc, parse_forms);
        tcase_add_test(tc, parse_length);
        tcase_add_test(tc, tail_cases);
        tcase_add_test(tc, tail_each_length);
        tcase_add_test(tc, tail_shorter_than_said);
}

int main(void) {
        return scratch_main("record/line", add_tests);
}
