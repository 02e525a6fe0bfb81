/* operator/host: the pure parts */
#include "../verb/fixture.h"

#include <string.h>

#include "drain/integrity.h"
#include "operator/host.h"

START_TEST(pause_parse_takes_each_line_once) {
        CLEANUP(host_pause_done) HostPause p = HOST_PAUSE_NULL;

        ck_assert_int_eq(host_pause_parse("at 2026-01-02T03:04:05.678Z\nby me\nreason lunch, then "
                                          "tea\nreason forged\nother x\n",
                                          &p),
                         0);
        ck_assert(p.paused);
        ck_assert_str_eq(p.at, "2026-01-02T03:04:05.678Z");
        ck_assert_str_eq(p.by, "me");
        ck_assert_str_eq(p.reason, "lunch, then tea");
}
END_TEST

START_TEST(pause_parse_of_odd_files) {
        CLEANUP(host_pause_done) HostPause none = HOST_PAUSE_NULL;
        CLEANUP(host_pause_done) HostPause odd = HOST_PAUSE_NULL;

        ck_assert_int_eq(host_pause_parse("", &none), 0);
        ck_assert(none.paused);
        ck_assert_ptr_null(none.reason);
        ck_assert_int_eq(host_pause_parse("reason \033[2J\nreason", &odd), 0);
        ck_assert_str_eq(odd.reason, "\\x1b[2J");
        ck_assert_ptr_null(odd.by);
}
END_TEST

START_TEST(guard_reason_of_each_code) {
        ck_assert_int_eq(integrity_reason(GUARD_OK), REASON_NONE);
        ck_assert_int_eq(integrity_reason(GUARD_MODIFIED), REASON_INTEGRITY_MODIFIED);
        ck_assert_int_eq(integrity_reason(GUARD_UNSEALED), REASON_INTEGRITY_UNSEALED);
        ck_assert_int_eq(integrity_reason(GUARD_ENV), REASON_INTEGRITY_ENV);
        ck_assert_int_eq(integrity_reason(GUARD_ERROR), REASON_INTEGRITY_ERROR);
}
END_TEST

RUN_TESTS("operator/host", pause_parse_takes_each_line_once, pause_parse_of_odd_files,
          guard_reason_of_each_code)
