/* base/clock.h - wall clock for stamps, boot clock for deadlines; times are int64_t milliseconds */
#pragma once
#include <stdint.h>
#include "base/err.h"

enum { CLOCK_E_FORMAT = 1 };
enum { CLOCK_TEXT_SIZE = 25 }; /* "2026-01-02T03:04:05.678Z" + NUL */

int64_t clock_wall_ms(void); /* CLOCK_REALTIME since the epoch */
int64_t clock_mono_ms(void); /* CLOCK_BOOTTIME: goes on over suspend, never jumps */

/* RFC 3339 UTC with milliseconds; ms in [0, year 9999]. */
void clock_format(int64_t ms, char text[CLOCK_TEXT_SIZE]);
/* RFC 3339 section 5.6 restricted to UTC: YYYY-MM-DDTHH:MM:SS[.f{1,9}]Z, upper-case T and Z, a real
 * calendar date, seconds 00-59. CLOCK_E_FORMAT otherwise. */
MUST_CHECK int clock_parse(const char *text, int64_t *ret_ms);
/* The stamp of a request name, YYYYMMDDTHHMMSSZ (16 characters; text may go on after them). */
MUST_CHECK int clock_parse_stamp(const char *text, int64_t *ret_ms);
void clock_format_stamp(int64_t ms, char text[17]);
