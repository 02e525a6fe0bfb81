#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "record/refusals.h"

/* "START WRITTEN LEFTOUT UNTIL\n", each 20 digits: always the same length, so that one write covers
 * it. */
enum { REFUSALS_NUMBERS = 4, REFUSALS_DIGITS = 20 };
enum { REFUSALS_SIZE = REFUSALS_NUMBERS * (REFUSALS_DIGITS + 1) };
#define REFUSALS_DAY_US (86400LL * 1000 * 1000)

static bool refusals_parse(char text[REFUSALS_SIZE + 1], Refusals *c) {
        unsigned long long n[REFUSALS_NUMBERS];

        for (size_t i = 0; i < REFUSALS_NUMBERS; i++) {
                char *number = text + i * (REFUSALS_DIGITS + 1);

                if (number[REFUSALS_DIGITS] != (i < REFUSALS_NUMBERS - 1 ? ' ' : '\n'))
                        return false;
                number[REFUSALS_DIGITS] = '\0';
                if (!str_parse_uint(number, i == 0 || i == 3 ? INT64_MAX : UINT64_MAX, &n[i]))
                        return false;
        }
        c->start_ms = (int64_t)n[0];
        c->written = n[1];
        c->left_out = n[2];
        c->until_us = (int64_t)n[3];
        return true;
}

int refusals_open(int state_fd, const PinRule *rule, Refusals *ret) {
        CLEANUP(fd_closep) int dirfd = -EBADF;
        CLEANUP(fd_closep) int fd = -EBADF;
        char text[REFUSALS_SIZE + 1] = "";
        Refusals c = REFUSALS_NULL;
        ssize_t n;
        int r;

        r = pin_make_dir_at(state_fd, "rate", 0700, rule, &dirfd);
        if (r == 0)
                r = pin_append_at(dirfd, "refusals", 0600, rule, &fd);
        if (r != 0)
                return r > 0 ? err_new(EPERM) : r; /* a host-only file */
        if (fcntl(fd, F_SETFL, O_RDWR) < 0)        /* written over in place: no O_APPEND */
                return err_new(errno);
        do
                n = pread(fd, text, REFUSALS_SIZE, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return err_new(errno);
        (void)(n == REFUSALS_SIZE && refusals_parse(text, &c)); /* else: nothing was counted yet */
        c.fd = fd_take(&fd);
        *ret = c;
        return 0;
}

void refusals_close(Refusals *c) {
        c->fd = fd_close(c->fd);
}

static int refusals_store(const Refusals *c) {
        char text[REFUSALS_SIZE + 1];
        ssize_t n;

        (void)snprintf(text, sizeof(text), "%020lld %020llu %020llu %020lld\n",
                       (long long)c->start_ms, (unsigned long long)c->written,
                       (unsigned long long)c->left_out, (long long)c->until_us);
        do
                n = pwrite(c->fd, text, REFUSALS_SIZE, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return err_new(errno);
        return n == REFUSALS_SIZE ? 0 : err_new(ENOSPC);
}

/* Puts so many lines into the bucket, or none. */
static bool refusals_pour(Refusals *c, uint32_t day, uint32_t lines, int64_t now_ms) {
        int64_t now_us = now_ms * 1000, until_us = c->until_us;

        if (until_us < now_us || until_us > now_us + REFUSALS_DAY_US) /* the clock went back */
                until_us = now_us;
        until_us += REFUSALS_DAY_US / day * lines;
        if (until_us > now_us + REFUSALS_DAY_US)
                return false;
        c->until_us = until_us;
        return true;
}

static bool refusals_time_ok(int64_t now_ms) {
        return now_ms >= 0 && now_ms < (INT64_MAX - 4 * REFUSALS_DAY_US) / 1000;
}

int refusals_count(Refusals *c, const RefusalsBudget *b, int64_t now_ms, bool *ret_write,
                   uint64_t *ret_summed) {
        Refusals next = *c;
        uint64_t summed = 0;
        bool written;
        int r;

        if (!refusals_time_ok(now_ms) || b->day == 0)
                return err_new(EINVAL);
        if (now_ms < next.start_ms)
                next.start_ms = now_ms; /* the clock went back: the window goes on, it isn't new */
        if (now_ms - next.start_ms >= b->window_ms) {
                summed = next.left_out;
                next.start_ms = now_ms;
                next.written = next.left_out = 0;
        }
        written = next.written < b->count && refusals_pour(&next, b->day, 1, now_ms);
        if (written)
                next.written++;
        else
                next.left_out++;
        r = refusals_store(&next);
        if (r != 0)
                return r;
        *c = next;
        *ret_write = written;
        *ret_summed = summed;
        return 0;
}

int refusals_look(Refusals *c, uint32_t day, uint32_t lines, int64_t now_ms, bool *ret_may) {
        Refusals next = *c;
        int r;

        if (!refusals_time_ok(now_ms) || day == 0)
                return err_new(EINVAL);
        *ret_may = refusals_pour(&next, day, lines, now_ms);
        r = *ret_may ? refusals_store(&next) : 0;
        if (r == 0)
                *c = next;
        return r;
}

int refusals_used(int state_fd, const PinRule *rule, uint32_t day, int64_t now_ms, uint32_t *ret) {
        CLEANUP(str_done) Str text = STR_NULL;
        Refusals c = REFUSALS_NULL;
        int64_t ahead_us;
        int r;

        if (!refusals_time_ok(now_ms) || day == 0)
                return err_new(EINVAL);
        *ret = 0;
        r = pin_read_at(state_fd, "rate/refusals", rule, 0, REFUSALS_SIZE, &text);
        if (r != 0 || text.len != REFUSALS_SIZE || !refusals_parse(text.data, &c))
                return r < 0 ? r : 0;
        ahead_us = c.until_us - now_ms * 1000;
        if (ahead_us > 0 && ahead_us <= REFUSALS_DAY_US)
                *ret = (uint32_t)(ahead_us / (REFUSALS_DAY_US / day));
        return 0;
}
