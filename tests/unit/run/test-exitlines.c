#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "run/exitlines.h"

static int judge(const char *text, size_t step) {
        ExitLines e = EXITLINES_NULL;
        size_t len = strlen(text);

        for (size_t i = 0; i < len; i += step)
                exitlines_feed(&e, text + i, len - i < step ? len - i : step);
        return exitlines_end(&e);
}

static const struct {
        const char *text;
        int code;
} cases[] = {
        { "", 0 },
        { "podman build -t x\nSTEP 1\nexit code: 0\n", 0 },
        { "podman build -t x\nError\nexit code: 125\n", 125 },
        { "podman build -t x\nError\nexit code: 125", 125 },
        { "podman build -t x\r\nexit code: 2\r\n", 2 },
        { "podman run --name=a\nerror: in use\nexit code: 125\npodman start a\na\nexit code: 0\n", 0 },
        { "podman run --name=a\nexit code: 125\npodman start a\nexit code: 125\n", 125 },
        { "podman run --name=a\nexit code: 125\npodman run --name=b\nexit code: 0\n", 125 },
        { "podman run --name=a\nexit code: 125\n", 125 },
        { "podman stop -t 10 a\nError: no container with name or ID \"a\" found: no such container\nexit code: 125\n"
          "podman rm a\nError: no container with ID or name \"a\" found: no such container\nexit code: 1\n", 0 },
        { "podman stop a\nError: no such container\nexit code: 125\npodman rm b\nError: is running\nexit code: 2\n", 2 },
        { "podman restart a\nError: no container with name or ID \"a\" found: no such container\nexit code: 125\n", 125 },
        { "podman logs a\nexit code: -15\n", 143 },
        { "podman logs a\nexit code: 1\nfrom the app\nexit code: 0\n", 0 },
        { "podman logs a\nexit code: 0\nfrom the app\nexit code: 125\n", 125 },
        { "podman logs a\nexit code: 7x\nexit code: 999\nexit code: \n", 0 },
        { "podman build\nexit code: 3\npodman build\nexit code: 4\n", 3 },
};

START_TEST(feed_each_case_in_each_step) {
        for (size_t step = 1; step < 9; step++)
                ck_assert_int_eq(judge(cases[_i].text, step), cases[_i].code);
}
END_TEST

START_TEST(feed_long_lines_are_bounded) {
        char *text = malloc(200001);

        memset(text, 'x', 200000);
        text[200000] = 0;
        ck_assert_int_eq(judge(text, 4096), 0);
        free(text);
}
END_TEST

int main(void) {
        Suite *s = suite_create("exitlines");
        TCase *t = tcase_create("feed");
        SRunner *r;
        int failed;

        tcase_add_loop_test(t, feed_each_case_in_each_step, 0, (int)(sizeof(cases) / sizeof(cases[0])));
        tcase_add_test(t, feed_long_lines_are_bounded);
        suite_add_tcase(s, t);
        r = srunner_create(s);
        srunner_run_all(r, CK_NORMAL);
        failed = srunner_ntests_failed(r);
        srunner_free(r);
        return failed ? 1 : 0;
}
