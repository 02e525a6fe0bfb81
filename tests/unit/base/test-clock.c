/* base/clock; the C library's calendar is the judge where it can be */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static const int64_t last_ms = INT64_C(253402300799999);

START_TEST(wall_is_the_time_of_day) {
        int64_t before = (int64_t)time(NULL) * 1000, now = clock_wall_ms();

        /* time(2) may read the coarse clock, which lags by a tick. */
        ck_assert_int_ge(now, before);
        ck_assert_int_le(now, ((int64_t)time(NULL) + 2) * 1000);
}
END_TEST

START_TEST(mono_is_the_boot_clock_and_never_goes_back) {
        struct timespec boot;
        int64_t last = clock_mono_ms();

        for (int i = 0; i < 10000; i++) {
                int64_t now = clock_mono_ms();

                ck_assert_int_ge(now, last);
                last = now;
        }
        ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
        ck_assert_int_le(last, (int64_t)boot.tv_sec * 1000 + boot.tv_nsec / 1000000);
        ck_assert_int_ge(last + 5000, (int64_t)boot.tv_sec * 1000);
}
END_TEST

static void formats_to(int64_t ms, const char *want, const char *want_stamp) {
        char text[CLOCK_TEXT_SIZE], stamp[17];

        clock_format(ms, text);
        clock_format_stamp(ms, stamp);
        ck_assert_str_eq(text, want);
        ck_assert_str_eq(stamp, want_stamp);
}

START_TEST(format_known_times) {
        formats_to(0, "1970-01-01T00:00:00.000Z", "19700101T000000Z");
        formats_to(1, "1970-01-01T00:00:00.001Z", "19700101T000000Z");
        formats_to(86399999, "1970-01-01T23:59:59.999Z", "19700101T235959Z");
        formats_to(951782400000, "2000-02-29T00:00:00.000Z", "20000229T000000Z");
        formats_to(1767323045678, "2026-01-02T03:04:05.678Z", "20260102T030405Z");
        formats_to(last_ms, "9999-12-31T23:59:59.999Z", "99991231T235959Z");
}
END_TEST

START_TEST(format_keeps_to_its_bounds) {
        formats_to(-1, "1970-01-01T00:00:00.000Z", "19700101T000000Z");
        formats_to(INT64_MIN, "1970-01-01T00:00:00.000Z", "19700101T000000Z");
        formats_to(last_ms + 1, "9999-12-31T23:59:59.999Z", "99991231T235959Z");
        formats_to(INT64_MAX, "9999-12-31T23:59:59.999Z", "99991231T235959Z");
}
END_TEST

/* Some second of every 13th day (all days of the month and leap years come up) up to the year 9999:
 * as the C library has it, and back again. */
START_TEST(format_and_parse_across_the_years) {
        for (int64_t day = 0; day <= last_ms / 86400000; day += 13) {
                int64_t ms = day * 86400000 + day * 7919 % 86400000, back;
                time_t seconds = (time_t)(ms / 1000);
                char want[80], start[64], text[CLOCK_TEXT_SIZE], stamp[17];
                struct tm tm;

                ck_assert_ptr_nonnull(gmtime_r(&seconds, &tm));
                ck_assert_uint_gt(strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%S", &tm), 0);
                (void)snprintf(want, sizeof(want), "%s.%03dZ", start, (int)(ms % 1000));
                clock_format(ms, text);
                if (strcmp(text, want) != 0)
                        ck_abort_msg("%s, not %s", text, want);
                if (clock_parse(text, &back) != 0 || back != ms)
                        ck_abort_msg("%s is not parsed back", text);
                clock_format_stamp(ms, stamp);
                if (clock_parse_stamp(stamp, &back) != 0 || back != ms / 1000 * 1000)
                        ck_abort_msg("%s is not parsed back", stamp);
        }
}
END_TEST

static void parses_to(const char *text, int64_t want) {
        int64_t ms = 77;

        ck_assert_msg(clock_parse(text, &ms) == 0, "%s", text);
        ck_assert_msg(ms == want, "%s gives %" PRId64, text, ms);
}

START_TEST(parse_fractions) {
        parses_to("2026-01-02T03:04:05Z", 1767323045000);
        parses_to("2026-01-02T03:04:05.6Z", 1767323045600);
        parses_to("2026-01-02T03:04:05.06Z", 1767323045060);
        parses_to("2026-01-02T03:04:05.006Z", 1767323045006);
        parses_to("2026-01-02T03:04:05.0069Z", 1767323045006);
        parses_to("2026-01-02T03:04:05.999999999Z", 1767323045999);
        parses_to("2026-01-02T03:04:05.000000000Z", 1767323045000);
}
END_TEST

START_TEST(parse_leap_days_and_edges) {
        parses_to("2000-02-29T00:00:00Z", 951782400000); /* divisible by 400 */
        parses_to("2024-02-29T23:59:59Z", 1709251199000);
        parses_to("2024-03-01T00:00:00Z", 1709251200000);
        parses_to("2100-03-01T00:00:00Z", INT64_C(4107542400000));
        parses_to("1970-01-01T00:00:00Z", 0);
        parses_to("1969-12-31T23:59:59.999Z", -1);
        parses_to("0000-01-01T00:00:00Z", INT64_C(-62167219200000));
        parses_to("0000-02-29T00:00:00Z", INT64_C(-62162121600000));
        parses_to("9999-12-31T23:59:59.999Z", last_ms);
}
END_TEST

START_TEST(parse_refuses) {
        static const char *const bad[] = {
                "",
                "Z",
                "2026",
                "2026-01-02",
                "2026-01-02T03:04Z",
                "2026-01-02T03:04:05", /* cut */
                "2023-02-29T00:00:00Z",
                "2100-02-29T00:00:00Z",
                "1900-02-29T00:00:00Z", /* no leap years */
                "2024-02-30T00:00:00Z",
                "2026-04-31T00:00:00Z",
                "2026-06-31T00:00:00Z",
                "2026-09-31T00:00:00Z",
                "2026-11-31T00:00:00Z",
                "2026-01-32T00:00:00Z",
                "2026-00-01T00:00:00Z",
                "2026-13-01T00:00:00Z",
                "2026-01-00T00:00:00Z",
                "2026-01-02T24:00:00Z",
                "2026-01-02T03:60:00Z",
                "2026-01-02T03:04:60Z", /* no leap second */
                "2026-01-02t03:04:05Z",
                "2026-01-02T03:04:05z",
                "2026-01-02 03:04:05Z", /* case, blank */
                "2026-01-02T03:04:05+00:00",
                "2026-01-02T03:04:05-00:00",
                "2026-01-02T03:04:05+01:00",
                "2026-01-02T03:04:05.Z",
                "2026-01-02T03:04:05.1234567890Z",
                "2026-01-02T03:04:05,6Z",
                "2026-01-02T03:04:05.6",
                "2026-01-02T03:04:05.6 Z",
                "2026-01-02T03:04:05.-6Z",
                "2026-01-02T03:04:05Z ",
                " 2026-01-02T03:04:05Z",
                "2026-01-02T03:04:05ZZ",
                "2026-01-02T03:04:05Z\n",
                "26-01-02T03:04:05Z",
                "02026-01-02T03:04:05Z",
                "2026-1-02T03:04:05Z",
                "2026-01-2T03:04:05Z",
                "2026-01-02T3:04:05Z",
                "+026-01-02T03:04:05Z",
                "-026-01-02T03:04:05Z",
                "2026-01-02T+3:04:05Z",
                "2026/01/02T03:04:05Z",
                "20260102T030405Z",
                "2026-01-02T03-04-05Z",
                "2026-01-02T 3:04:05Z",
                "\xef\xbc\x92-026-01-02T03:04:05Z", /* a full-width digit */
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                int64_t ms = 77;

                ck_assert_msg(clock_parse(bad[i], &ms) == CLOCK_E_FORMAT, "%s", bad[i]);
                ck_assert_int_eq(ms, 77);
        }
}
END_TEST

/* Each byte of a good text changed to each other value: what is still good says the same when
 * written again. */
START_TEST(parse_any_byte_anywhere) {
        static const char good[] = "2026-01-12T13:14:15.678Z";

        for (size_t at = 0; at < sizeof(good) - 1; at++)
                for (unsigned byte = 0; byte < 256; byte++) {
                        char text[sizeof(good)], again[CLOCK_TEXT_SIZE];
                        int64_t ms;

                        memcpy(text, good, sizeof(good));
                        text[at] = (char)byte;
                        if (clock_parse(text, &ms) != 0 || ms < 0)
                                continue;
                        clock_format(ms, again);
                        ck_assert_str_eq(text, again);
                }
}
END_TEST

START_TEST(parse_stamp_goes_on_behind) {
        int64_t ms = 0;

        ck_assert_int_eq(clock_parse_stamp("20260102T030405Z-ping-0123456789abcdef.json", &ms), 0);
        ck_assert_int_eq(ms, 1767323045000);
        ck_assert_int_eq(clock_parse_stamp("20240229T000000Z", &ms), 0);
        ck_assert_int_eq(ms, 1709164800000);
}
END_TEST

START_TEST(parse_stamp_refuses) {
        static const char *const bad[] = {
                "",
                "2",
                "20260102",
                "20260102T030405",
                "20230229T000000Z",
                "20260431T000000Z",
                "20261301T000000Z",
                "20260102T240000Z",
                "20260102T030460Z",
                "20260102T036005Z",
                "20260102t030405Z",
                "20260102T030405z",
                "2026-01-02T03:04:05Z",
                " 0260102T030405Z",
                "20260102T0304Z",
                "20260102T0304055Z",
                "20260100T030405Z",
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                int64_t ms = 77;

                ck_assert_msg(clock_parse_stamp(bad[i], &ms) == CLOCK_E_FORMAT, "%s", bad[i]);
                ck_assert_int_eq(ms, 77);
        }
}
END_TEST

int main(void) {
        Suite *suite = suite_create("base/clock");
        TCase *tc = tcase_create("clock");
        SRunner *runner;
        int failed;

        tcase_set_timeout(tc, 60);
        tcase_add_test(tc, wall_is_the_time_of_day);
        tcase_add_test(tc, mono_is_the_boot_clock_and_never_goes_back);
        tcase_add_test(tc, format_known_times);
        tcase_add_test(tc, format_keeps_to_its_bounds);
        tcase_add_test(tc, format_and_parse_across_the_years);
        tcase_add_test(tc, parse_fractions);
        tcase_add_test(tc, parse_leap_days_and_edges);
        tcase_add_test(tc, parse_refuses);
        tcase_add_test(tc, parse_any_byte_anywhere);
        tcase_add_test(tc, parse_stamp_goes_on_behind);
        tcase_add_test(tc, parse_stamp_refuses);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
