#include "installer/units.h"
#include "tests/unit/fs/scratch.h"

static const UnitsFill units_plain = {
        "demo",
        "/c/r",
        "/l/spoolgate-drain",
        "/usr/bin:/bin",
        "/h/.config",
        "/h/.local/state",
        "/usr/bin/systemctl",
        "/usr/bin/sleep",
};

static void fill(const char *text, const UnitsFill *f, const char *want) {
        CLEANUP(str_freep) char *got = NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        ck_assert_int_eq(units_fill(text, f, &got, &why), 0);
        ck_assert_str_eq(got, want);
}

static void refuse(const char *text, const UnitsFill *f, const char *said) {
        CLEANUP(str_freep) char *got = NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        ck_assert_int_eq(units_fill(text, f, &got, &why), UNITS_E_INVALID);
        ck_assert_ptr_null(got);
        ck_assert_msg(strstr(why.data, said) != NULL, "%s", why.data);
}

START_TEST(names) {
        static const char *const want[] = {"spoolgate-a.path", "spoolgate-a.service",
                                           "spoolgate-a.timer", "spoolgate-a.rearm.service"};

        for (size_t i = 0; i < UNITS_COUNT; i++) {
                CLEANUP(str_freep) char *name = NULL;
                CLEANUP(str_freep) char *template = NULL;
                char expected[64];

                ck_assert_int_eq(units_name("a", i, &name), 0);
                ck_assert_str_eq(name, want[i]);
                (void)snprintf(expected, sizeof(expected), "spoolgate.%s.in", units_suffix(i));
                ck_assert_int_eq(units_template_name(i, &template), 0);
                ck_assert_str_eq(template, expected);
        }
}
END_TEST

START_TEST(fill_plain) {
        fill("", &units_plain, "");
        fill("a@b.c @ @@ @slug@\n", &units_plain, "a@b.c @ @@ @slug@\n");
        fill("@SLUG@|@REQUESTS@|@DRAIN@|@PATH@|@CONFIG_HOME@|@STATE_HOME@|@SYSTEMCTL@|@SLEEP@",
             &units_plain,
             "demo|/c/r|/l/spoolgate-drain|/usr/bin:/bin|/h/.config|/h/.local/state|/usr/bin/"
             "systemctl|/usr/bin/sleep");
        fill("@SLUG@@SLUG@", &units_plain, "demodemo");
}
END_TEST

START_TEST(fill_escapes) {
        UnitsFill f = units_plain;

        f.requests = "/a b/100%/[x]{y}/\"q\"\\n/$HOME/@SLUG@";
        f.drain = "/a b/100%/[x]{y}/$HOME";
        f.path = "/a \"b\":/c\\d:/%h";
        fill("@REQUESTS@", &f,
             "/a b/100%%/[x]{y}/\"q\"\\n/$HOME/@SLUG@"); /* what was put in is not read again */
        fill("@DRAIN@", &f, "/a b/100%%/[x]{y}/$HOME");
        fill("@PATH@", &f, "/a \\\"b\\\":/c\\\\d:/%%h");
}
END_TEST

START_TEST(fill_refuses) {
        UnitsFill f = units_plain;

        refuse("@NOBODY@", &f, "@NOBODY@ is no word");
        f.requests = "/a\nExecStart=/bin/evil";
        refuse("x\n@REQUESTS@\n", &f, "REQUESTS: a path with control characters");
        f.requests = "/a\x1b[0m";
        refuse("@REQUESTS@", &f, "\\x1b");
        f.requests = "/a\xff";
        refuse("@REQUESTS@", &f, "\\xff");
        f.drain = "/a\"b";
        refuse("@DRAIN@", &f, "a quote or a backslash");
        f.drain = "/a\\b";
        refuse("@DRAIN@", &f, "a quote or a backslash");
        f.drain = "/a'b";
        refuse("@DRAIN@", &f, "a quote or a backslash");
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, names);
        tcase_add_test(tc, fill_plain);
        tcase_add_test(tc, fill_escapes);
        tcase_add_test(tc, fill_refuses);
}

int main(void) {
        return scratch_main("installer/units", add_tests);
}
