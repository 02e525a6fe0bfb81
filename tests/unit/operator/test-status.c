/* operator/status: the pure parts */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/status.h"

static void age(int64_t ms, const char *want) {
        CLEANUP(str_done) Str s = STR_NULL;

        ck_assert_int_eq(status_age(ms, &s), 0);
        ck_assert_str_eq(s.data, want);
}

START_TEST(age_in_words) {
        age(-5, "0 s");
        age(0, "0 s");
        age(119999, "119 s");
        age(120000, "2 min");
        age(7199000, "119 min");
        age(7200000, "2 h");
        age(47 * 3600000LL, "47 h");
        age(48 * 3600000LL, "2 days");
}
END_TEST

static Status plain(void) {
        Status s = STATUS_NULL;

        ck_assert_int_eq(str_dup("demo", &s.slug), 0);
        ck_assert_int_eq(str_dup("/p", &s.checkout), 0);
        ck_assert_int_eq(str_dup("script", &s.stack), 0);
        ck_assert_int_eq(str_adds(&s.guard_text, "fine"), 0);
        return s;
}

START_TEST(bad_when_something_must_be_mended) {
        CLEANUP(status_done) Status s = plain();

        ck_assert(!status_bad(&s));
        s.pause.paused = true; /* meant so */
        s.waiting = 3;
        ck_assert(!status_bad(&s));
        s.guard = GUARD_UNSEALED;
        ck_assert(status_bad(&s));
        s.guard = GUARD_OK;
        s.rate_broken = true;
        ck_assert(status_bad(&s));
        s.rate_broken = false;
        ck_assert_int_eq(str_dup("policy.conf:1: x", &s.policy_trouble), 0);
        ck_assert(status_bad(&s));
}
END_TEST

START_TEST(bad_units_count_when_installed) {
        CLEANUP(status_done) Status s = plain();

        ck_assert_int_eq(unitstates_parse("LoadState=not-found\n", &s.units), 0);
        s.has_units = true;
        ck_assert(!status_bad(&s)); /* --no-units */
        unitstates_done(&s.units);
        ck_assert_int_eq(unitstates_parse("LoadState=loaded\nActiveState=failed\n", &s.units), 0);
        ck_assert(status_bad(&s));
}
END_TEST

START_TEST(format_narrow) {
        CLEANUP(status_done) Status s = plain();
        CLEANUP(paint_done) Paint p = {.width = 60};

        ck_assert_int_eq(
                str_dup("a very long reason with \033[2J in it, which goes on and on and on",
                        &s.pause.reason),
                0);
        s.pause.paused = true;
        ck_assert_int_eq(status_format(&s, 1000, &p), 0);
        for (const char *line = p.out.data; *line;) {
                size_t len = strcspn(line, "\n");

                ck_assert_msg(len <= 60, "%.*s", (int)len, line);
                line += len + 1;
        }
        ck_assert_ptr_null(strchr(p.out.data, '\033'));
        ck_assert_ptr_nonnull(strstr(p.out.data, "\\x1b[2J"));
}
END_TEST

START_TEST(record_of_a_broken_project) {
        CLEANUP(status_done) Status s = STATUS_NULL;
        CLEANUP(record_freep) Record *r = NULL;
        bool bad = false;

        ck_assert_int_eq(str_dup("demo", &s.slug), 0);
        ck_assert_int_eq(str_adds(&s.trouble, "gone\nspoolgate install"), 0);
        ck_assert_int_eq(status_record(&s, &r), 0);
        ck_assert_str_eq(record_str(r, "trouble"), "gone\nspoolgate install");
        ck_assert(record_bool(r, "bad", &bad));
        ck_assert(bad);
        ck_assert(!record_has(r, "waiting"));
}
END_TEST

RUN_TESTS("operator/status", age_in_words, bad_when_something_must_be_mended,
          bad_units_count_when_installed, format_narrow, record_of_a_broken_project)
