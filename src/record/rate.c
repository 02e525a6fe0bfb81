#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "fs/publish.h"
#include "record/rate.h"

enum { RATE_FILE_MAX = 16 * 1024 * 1024, RATE_KEY_MAX = 128 };
#define RATE_FILE "window"

typedef struct RateStamp {
        int64_t ms;
        const char *key; /* in RateWindow.text */
} RateStamp;

typedef struct RateWindow {
        int dirfd;
        Str text;
        RateStamp *stamps; /* those that still count, oldest first */
        size_t len;
        bool clamped; /* one of them was in the future */
} RateWindow;

static void rate_done(RateWindow *w) {
        free(w->stamps);
        str_done(&w->text);
        w->dirfd = fd_close(w->dirfd);
}

static bool rate_key_ok(const char *key) {
        size_t len = strnlen(key, RATE_KEY_MAX + 1);

        for (size_t i = 0; i < len; i++)
                if (key[i] <= ' ' || key[i] > '~')
                        return false;
        return len > 0 && len <= RATE_KEY_MAX;
}

static int rate_add(RateWindow *w, int64_t ms, const char *key) {
        if ((w->len & (w->len - 1)) == 0) { /* a power of two: full */
                RateStamp *stamps =
                        reallocarray(w->stamps, w->len ? w->len * 2 : 1, sizeof(*stamps));

                if (!stamps)
                        return err_new(ENOMEM);
                w->stamps = stamps;
        }
        w->stamps[w->len++] = (RateStamp){ms, key};
        return 0;
}

/* One "MS KEY" line, NUL-terminated; those that no window can count any more are dropped. */
static int rate_parse_line(RateWindow *w, char *line, int64_t longest_ms, int64_t now_ms) {
        char *key = strchr(line, ' ');
        unsigned long long number;
        int64_t ms;

        if (!key)
                return RATE_E_CORRUPT;
        *key++ = '\0';
        if (!str_parse_uint(line, INT64_MAX, &number) || !rate_key_ok(key))
                return RATE_E_CORRUPT;
        ms = (int64_t)number;
        if (ms > now_ms) { /* the clock went back: it can't be waited for */
                ms = now_ms;
                w->clamped = true;
        }
        return now_ms - ms < longest_ms ? rate_add(w, ms, key) : 0;
}

static int rate_compare(const void *a, const void *b) {
        const RateStamp *x = a, *y = b;

        return x->ms == y->ms ? strcmp(x->key, y->key) : x->ms < y->ms ? -1 : 1;
}

static int rate_load(int state_fd, const PinRule *rule, int64_t longest_ms, int64_t now_ms,
                     RateWindow *w) {
        int r;

        r = pin_make_dir_at(state_fd, "rate", 0700, rule, &w->dirfd);
        if (r == 0)
                r = pin_read_at(w->dirfd, RATE_FILE, rule, 0, RATE_FILE_MAX, &w->text);
        else if (r > 0)
                return RATE_E_CORRUPT;
        if (r != 0)
                return r == PIN_E_ABSENT ? 0 : r > 0 ? RATE_E_CORRUPT : r;
        for (size_t at = 0; r == 0 && at < w->text.len;) {
                char *line = w->text.data + at, *end = memchr(line, '\n', w->text.len - at);

                if (!end || memchr(line, '\0', (size_t)(end - line)))
                        return RATE_E_CORRUPT;
                *end = '\0';
                at += (size_t)(end - line) + 1;
                r = rate_parse_line(w, line, longest_ms, now_ms);
        }
        if (r == 0 && w->len > 1)
                qsort(w->stamps, w->len, sizeof(*w->stamps), rate_compare);
        return r;
}

/* How many count (key NULL: of all), and how long until one more would fit. */
static int64_t rate_wait(const RateWindow *w, const char *key, RateLimit limit, int64_t now_ms,
                         uint32_t *ret_used) {
        uint32_t used = 0, skip;
        int64_t wait = limit.window_ms; /* of a limit of 0, for ever */

        for (size_t i = 0; i < w->len; i++)
                used += now_ms - w->stamps[i].ms < limit.window_ms &&
                        (!key || str_eq(key, w->stamps[i].key));
        *ret_used = used;
        if (used < limit.count)
                return 0;
        /* Oldest first: when `used - count + 1` of them have left the window, there is room. */
        skip = used - limit.count;
        for (size_t i = 0; limit.count > 0 && i < w->len; i++) {
                if (now_ms - w->stamps[i].ms >= limit.window_ms ||
                    (key && !str_eq(key, w->stamps[i].key)))
                        continue;
                if (skip-- == 0) {
                        wait = limit.window_ms - (now_ms - w->stamps[i].ms);
                        break;
                }
        }
        return wait > 0 ? wait : 1;
}

static int rate_store(const RateWindow *w) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = 0;

        for (size_t i = 0; r == 0 && i < w->len; i++)
                r = str_addf(&text, "%lld %s\n", (long long)w->stamps[i].ms, w->stamps[i].key);
        if (r != 0)
                return r;
        r = publish_file(w->dirfd, RATE_FILE, text.data, text.len, 0600, PUBLISH_SYNC);
        return r > 0 ? err_new(EACCES) : r;
}

static int rate_ask(int state_fd, const PinRule *rule, const char *key, RateLimit per_key,
                    RateLimit total, int64_t now_ms, RateWindow *w, int64_t *ret_retry_ms,
                    uint32_t *ret_used_key, uint32_t *ret_used_total) {
        int64_t longest_ms =
                per_key.window_ms > total.window_ms ? per_key.window_ms : total.window_ms;
        int64_t wait_key, wait_total;
        int r;

        if (!rate_key_ok(key) || now_ms < 0)
                return err_new(EINVAL);
        r = rate_load(state_fd, rule, longest_ms, now_ms, w);
        if (r != 0)
                return r;
        wait_key = rate_wait(w, key, per_key, now_ms, ret_used_key);
        wait_total = rate_wait(w, NULL, total, now_ms, ret_used_total);
        *ret_retry_ms = wait_key > wait_total ? wait_key : wait_total;
        return 0;
}

int rate_take(int state_fd, const PinRule *rule, const char *key, RateLimit per_key,
              RateLimit total, int64_t now_ms, int64_t *ret_retry_ms) {
        CLEANUP(rate_done) RateWindow w = {.dirfd = -EBADF};
        uint32_t used_key, used_total;
        int64_t wait;
        int r;

        r = rate_ask(state_fd, rule, key, per_key, total, now_ms, &w, &wait, &used_key,
                     &used_total);
        if (r == 0 && wait == 0)
                r = rate_add(&w, now_ms, key);
        /* A refusal stores stamps that came from the future as of now: after one window they are
         * gone, however far back the clock went. */
        if (r == 0 && (wait == 0 || w.clamped))
                r = rate_store(&w);
        if (r == 0)
                *ret_retry_ms = wait;
        return r;
}

int rate_peek(int state_fd, const PinRule *rule, const char *key, RateLimit per_key,
              RateLimit total, int64_t now_ms, int64_t *ret_retry_ms, uint32_t *ret_used_key,
              uint32_t *ret_used_total) {
        CLEANUP(rate_done) RateWindow w = {.dirfd = -EBADF};

        return rate_ask(state_fd, rule, key, per_key, total, now_ms, &w, ret_retry_ms, ret_used_key,
                        ret_used_total);
}
