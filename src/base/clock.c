#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"

enum { CLOCK_DAY_MS = 86400000 };
static const int64_t clock_last_ms = INT64_C(253402300799999); /* 9999-12-31T23:59:59.999Z */

typedef struct ClockDate {
        unsigned year, month, day, hour, minute, second, ms;
} ClockDate;

static int64_t clock_now_ms(clockid_t id) {
        struct timespec now = {0};

        (void)clock_gettime(id, &now); /* can't fail: a known clock and our own memory */
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void) {
        return clock_now_ms(CLOCK_REALTIME);
}

int64_t clock_mono_ms(void) {
        return clock_now_ms(CLOCK_BOOTTIME);
}

static bool clock_is_leap(unsigned year) {
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned clock_month_days(unsigned year, unsigned month) {
        static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

        return month == 2 && clock_is_leap(year) ? 29 : days[month - 1];
}

/* Days from 0000-01-01 to the first day of `year`, proleptic Gregorian. */
static int64_t clock_year_days(unsigned year) {
        int64_t past = (int64_t)year - 1;

        if (year == 0)
                return 0;
        return 366 + past * 365 + past / 4 - past / 100 + past / 400;
}

static int64_t clock_from_date(const ClockDate *date) {
        int64_t days = clock_year_days(date->year) - clock_year_days(1970) + (int64_t)date->day - 1;

        for (unsigned month = 1; month < date->month; month++)
                days += clock_month_days(date->year, month);
        return days * CLOCK_DAY_MS +
               (((int64_t)date->hour * 60 + date->minute) * 60 + date->second) * 1000 + date->ms;
}

static ClockDate clock_to_date(int64_t ms) {
        ClockDate date = {.month = 1};
        int64_t days;
        unsigned rest;

        if (ms < 0)
                ms = 0;
        if (ms > clock_last_ms)
                ms = clock_last_ms;
        days = ms / CLOCK_DAY_MS + clock_year_days(1970);
        rest = (unsigned)(ms % CLOCK_DAY_MS);
        date.year =
                (unsigned)(days / 366); /* never too late, and some years too early at the most */
        while (clock_year_days(date.year + 1) <= days)
                date.year++;
        days -= clock_year_days(date.year);
        for (; days >= clock_month_days(date.year, date.month); date.month++)
                days -= clock_month_days(date.year, date.month);
        date.day = (unsigned)days + 1;
        date.ms = rest % 1000;
        date.second = rest / 1000 % 60;
        date.minute = rest / 60000 % 60;
        date.hour = rest / 3600000;
        return date;
}

static char *clock_put(char *at, unsigned value, size_t digits, char after) {
        for (size_t i = digits; i > 0; i--, value /= 10)
                at[i - 1] = (char)('0' + value % 10);
        at[digits] = after;
        return at + digits + 1;
}

void clock_format(int64_t ms, char text[CLOCK_TEXT_SIZE]) {
        ClockDate date = clock_to_date(ms);
        char *at = text;

        at = clock_put(at, date.year, 4, '-');
        at = clock_put(at, date.month, 2, '-');
        at = clock_put(at, date.day, 2, 'T');
        at = clock_put(at, date.hour, 2, ':');
        at = clock_put(at, date.minute, 2, ':');
        at = clock_put(at, date.second, 2, '.');
        at = clock_put(at, date.ms, 3, 'Z');
        *at = '\0';
}

void clock_format_stamp(int64_t ms, char text[17]) {
        ClockDate date = clock_to_date(ms);
        char *at = text;

        at = clock_put(at, date.year, 4, '\0') - 1; /* the next number covers the NUL */
        at = clock_put(at, date.month, 2, '\0') - 1;
        at = clock_put(at, date.day, 2, 'T');
        at = clock_put(at, date.hour, 2, '\0') - 1;
        at = clock_put(at, date.minute, 2, '\0') - 1;
        at = clock_put(at, date.second, 2, 'Z');
        *at = '\0';
}

/* Exactly `digits` digits at *at; goes on behind them. Stops at a NUL, so short text is never
 * overrun. */
static bool clock_get(const char **at, size_t digits, unsigned *ret) {
        unsigned value = 0;

        for (size_t i = 0; i < digits; i++) {
                char c = (*at)[i];

                if (c < '0' || c > '9')
                        return false;
                value = value * 10 + (unsigned)(c - '0');
        }
        *at += digits;
        *ret = value;
        return true;
}

static bool clock_skip(const char **at, char c) {
        if (**at != c)
                return false;
        (*at)++;
        return true;
}

static bool clock_is_real(const ClockDate *date) {
        return date->month >= 1 && date->month <= 12 && date->day >= 1 &&
               date->day <= clock_month_days(date->year, date->month) && date->hour <= 23 &&
               date->minute <= 59 && date->second <= 59;
}

/* ".f{1,9}" when there is a dot; below a millisecond is cut. */
static bool clock_get_fraction(const char **at, unsigned *ret_ms) {
        unsigned ms = 0;
        size_t n;

        *ret_ms = 0;
        if (!clock_skip(at, '.'))
                return true;
        for (n = 0; **at >= '0' && **at <= '9'; n++, (*at)++)
                if (n < 3)
                        ms = ms * 10 + (unsigned)(**at - '0');
        if (n < 1 || n > 9)
                return false;
        for (; n < 3; n++)
                ms *= 10;
        *ret_ms = ms;
        return true;
}

int clock_parse(const char *text, int64_t *ret_ms) {
        ClockDate date = {0};
        const char *at = text;

        if (!clock_get(&at, 4, &date.year) || !clock_skip(&at, '-') ||
            !clock_get(&at, 2, &date.month) || !clock_skip(&at, '-') ||
            !clock_get(&at, 2, &date.day) || !clock_skip(&at, 'T') ||
            !clock_get(&at, 2, &date.hour) || !clock_skip(&at, ':') ||
            !clock_get(&at, 2, &date.minute) || !clock_skip(&at, ':') ||
            !clock_get(&at, 2, &date.second) || !clock_get_fraction(&at, &date.ms) ||
            !clock_skip(&at, 'Z') || *at || !clock_is_real(&date))
                return CLOCK_E_FORMAT;
        *ret_ms = clock_from_date(&date);
        return 0;
}

int clock_parse_stamp(const char *text, int64_t *ret_ms) {
        ClockDate date = {0};
        const char *at = text;

        if (!clock_get(&at, 4, &date.year) || !clock_get(&at, 2, &date.month) ||
            !clock_get(&at, 2, &date.day) || !clock_skip(&at, 'T') ||
            !clock_get(&at, 2, &date.hour) || !clock_get(&at, 2, &date.minute) ||
            !clock_get(&at, 2, &date.second) || !clock_skip(&at, 'Z') || !clock_is_real(&date))
                return CLOCK_E_FORMAT;
        *ret_ms = clock_from_date(&date);
        return 0;
}
