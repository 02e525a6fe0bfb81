/* operator/history */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/history.h"

static const int64_t now = 1767323045000; /* 2026-01-02T03:04:05Z */

static Record *parsed(const char *text) {
        RecordError e = {.line = 0};
        Record *r = NULL;

        ck_assert_msg(record_parse(text, strlen(text), &r, &e) == 0, "%s: %s", text, e.text);
        return r;
}

static void since(const char *text, int64_t want) {
        int64_t ms = -1;

        ck_assert_msg(history_since(text, now, &ms) == 0, "%s", text);
        ck_assert_int_eq(ms, want);
}

START_TEST(since_each_form) {
        since("90s", now - 90 * 1000);
        since("30m", now - 30 * 60 * 1000);
        since("2h", now - 2 * 3600 * 1000);
        since("3d", now - 3 * 86400 * 1000LL);
        since("2w", now - 14 * 86400 * 1000LL);
        since("0s", now);
        since("2026-01-02", now - (3 * 3600 + 4 * 60 + 5) * 1000LL);
        since("2026-01-02T03:04:05Z", now);
        since("999999999w", 0); /* before the beginning of time is the beginning */
}
END_TEST

START_TEST(since_refuses) {
        static const char *const bad[] = {"",     "h",          "1",          "1x",
                                          "-1h",  "+1h",        " 1h",        "1h ",
                                          "1.5h", "2026-02-30", "2026-1-2",   "20260102",
                                          "1hh",  "yesterday",  "9999999999s"};
        int64_t ms = 7;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                ck_assert_msg(history_since(bad[i], now, &ms) == HISTORY_E_FORMAT, "%s", bad[i]);
        ck_assert_int_eq(ms, 7);
}
END_TEST

static const char line[] =
        "{\"seq\":1,\"ts\":\"2026-01-02T03:04:05.678Z\",\"event\":\"end\",\"request\":\"NAME."
        "json\","
        "\"verb\":\"restart\",\"arg\":\"web\",\"state\":\"failed\",\"reason\":\"exit-nonzero\","
        "\"exit\":3,\"duration_ms\":1234}";

START_TEST(matches_each_field) {
        CLEANUP(record_freep) Record *r = parsed(line);

        ck_assert_int_eq(history_time(r), now + 678);
        ck_assert(history_matches(&(HistoryFilter){0}, r));
        ck_assert(history_matches(&(HistoryFilter){.since_ms = now + 678}, r));
        ck_assert(!history_matches(&(HistoryFilter){.since_ms = now + 679}, r));
        ck_assert(history_matches(&(HistoryFilter){.verb = "restart"}, r));
        ck_assert(!history_matches(&(HistoryFilter){.verb = "rest"}, r));
        ck_assert(history_matches(&(HistoryFilter){.state = "failed"}, r));
        ck_assert(!history_matches(&(HistoryFilter){.state = "done"}, r));
        ck_assert(history_matches(&(HistoryFilter){.request = "AME"}, r));
        ck_assert(!history_matches(&(HistoryFilter){.request = "other"}, r));
        ck_assert(!history_matches(&(HistoryFilter){.verb = "restart", .state = "done"}, r));
}
END_TEST

START_TEST(matches_without_fields) {
        CLEANUP(record_freep) Record *r = parsed("{\"seq\":1,\"event\":\"summed\"}");

        ck_assert_int_eq(history_time(r), 0);
        ck_assert(history_matches(&(HistoryFilter){0}, r));
        ck_assert(!history_matches(&(HistoryFilter){.request = "x"}, r));
        ck_assert(!history_matches(&(HistoryFilter){.since_ms = 1}, r));
}
END_TEST

static void formats(const char *text, const char *want) {
        CLEANUP(record_freep) Record *r = parsed(text);
        CLEANUP(str_done) Str out = STR_NULL;

        ck_assert_int_eq(history_format(r, &out), 0);
        ck_assert_str_eq(out.data, want);
}

START_TEST(format_is_one_line) {
        formats(line, "2026-01-02 03:04:05Z  end          restart web: failed: exit-nonzero 3, "
                      "1.234 s  NAME.json\n");
        formats("{\"ts\":\"2026-01-02T03:04:05.000Z\",\"event\":\"summed\",\"left_out\":12}",
                "2026-01-02 03:04:05Z  summed       -: 12 lines more, counted only\n");
        formats("{\"at\":\"2026-01-02T03:04:05.000Z\",\"event\":\"gap\",\"bytes\":7}",
                "2026-01-02 03:04:05Z  gap          -: 7 bytes of a torn line were cut off\n");
        formats("{\"ts\":\"2026-01-02T03:04:05.000Z\",\"event\":\"paused\",\"detail\":\"lunch\","
                "\"by\":\"me\"}",
                "2026-01-02 03:04:05Z  paused       - (lunch)  by me\n");
        formats("{}", "1970-01-01 00:00:00Z  ?            -\n");
}
END_TEST

RUN_TESTS("operator/history", since_each_form, since_refuses, matches_each_field,
          matches_without_fields, format_is_one_line)
