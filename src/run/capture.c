#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "run/capture.h"

enum { CAPTURE_HALF = CAPTURE_LOG_MAX / 2 };

/* The last `cap` bytes of what was put in. */
typedef struct CaptureRing {
        char *data;
        size_t cap, at; /* at: the next byte goes here, and once full the oldest is here */
        uint64_t total;
} CaptureRing;

struct Capture {
        int log_fd;
        bool log_lost; /* a write failed: the log ends there */
        RedactStream *stream;
        Str clean, shown; /* one feed's bytes: redacted, then escaped */
        uint64_t output_bytes, logged;
        bool line_open; /* the log's first half does not end in a newline */
        CaptureRing tail, rest;
};

int capture_new(int log_fd, const Redact *redact, Capture **ret) {
        CLEANUP(capture_freep) Capture *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return err_new(ENOMEM);
        c->log_fd = log_fd;
        c->tail.cap = CAPTURE_TAIL_MAX;
        c->rest.cap = CAPTURE_LOG_MAX - CAPTURE_HALF;
        r = redact_stream_new(redact, &c->stream);
        if (r < 0)
                return r;
        *ret = c;
        c = NULL;
        return 0;
}

Capture *capture_free(Capture *c) {
        if (!c)
                return NULL;
        redact_stream_free(c->stream);
        str_done(&c->clean);
        str_done(&c->shown);
        free(c->tail.data);
        free(c->rest.data);
        free(c);
        return NULL;
}

void capture_freep(Capture **c) {
        *c = capture_free(*c);
}

static int capture_ring_add(CaptureRing *ring, const char *bytes, size_t len) {
        if (len == 0)
                return 0;
        if (!ring->data) {
                ring->data = malloc(ring->cap);
                if (!ring->data)
                        return err_new(ENOMEM);
        }
        ring->total += len;
        if (len > ring->cap) {
                bytes += len - ring->cap;
                len = ring->cap;
        }
        while (len > 0) {
                size_t n = ring->cap - ring->at < len ? ring->cap - ring->at : len;

                memcpy(ring->data + ring->at, bytes, n);
                ring->at = (ring->at + n) % ring->cap;
                bytes += n;
                len -= n;
        }
        return 0;
}

/* What the ring holds, without the part of a character that it may begin with. The bytes are
 * str_add_escaped()'s, hence valid UTF-8 but for that. */
static int capture_ring_read(const CaptureRing *ring, Str *ret) {
        size_t len = ring->total < ring->cap ? (size_t)ring->total : ring->cap, skip = 0;
        size_t first = ring->total < ring->cap ? 0 : ring->at;
        int r = str_reserve(ret, len);

        if (r < 0 || len == 0)
                return r;
        while (ring->total > ring->cap && skip < len &&
               (ring->data[(first + skip) % ring->cap] & 0xc0) == 0x80)
                skip++;
        for (first += skip, len -= skip; len > 0;) {
                size_t n = ring->cap - first % ring->cap;

                n = n < len ? n : len;
                r = str_add(ret, ring->data + first % ring->cap, n);
                if (r < 0)
                        return r;
                first += n;
                len -= n;
        }
        return 0;
}

static void capture_log(Capture *c, const char *bytes, size_t len) {
        if (c->log_fd < 0 || c->log_lost || len == 0)
                return;
        if (io_write_all(c->log_fd, bytes, len) < 0) {
                c->log_lost = true; /* told as `truncated`: a full disk must not end the run */
                return;
        }
        c->line_open = bytes[len - 1] != '\n';
}

/* Escaped bytes to their sinks. */
static int capture_show(Capture *c) {
        size_t room = (size_t)(CAPTURE_HALF - c->logged), n = c->shown.len;
        int r = capture_ring_add(&c->tail, c->shown.data, n);

        if (r < 0)
                return r;
        if (n > room) {
                /* The halves meet between two characters, for the notice may come between them. */
                for (n = room; n > 0 && (c->shown.data[n] & 0xc0) == 0x80; n--)
                        ;
                r = capture_ring_add(&c->rest, c->shown.data + n, c->shown.len - n);
                if (r < 0)
                        return r;
        }
        if (c->rest.total > 0)
                c->logged = CAPTURE_HALF;
        else
                c->logged += n;
        capture_log(c, c->shown.data, n);
        str_clear(&c->shown);
        return 0;
}

/* How many bytes at the end of text may be the beginning of a CR LF or of a UTF-8 character. */
static size_t capture_unsure(const char *text, size_t len) {
        if (len > 0 && text[len - 1] == '\r')
                return 1;
        for (size_t n = 1; n <= 3 && n <= len; n++) {
                unsigned char c = (unsigned char)text[len - n];

                if (c >= 0xc0)
                        return n < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? n : 0;
                if (c < 0x80)
                        return 0;
        }
        return 0;
}

static bool capture_plain(char c) {
        return (c >= ' ' && c <= '~') || c == '\n' || c == '\t';
}

/* c->clean to c->shown: CR LF becomes LF, all else that is not plain goes through the escaper. */
static int capture_escape(Capture *c, bool last) {
        const char *at = c->clean.data;
        size_t keep = last ? 0 : capture_unsure(at, c->clean.len), len = c->clean.len - keep;
        int r = 0;

        for (size_t i = 0, n; i < len && r == 0; i += n) {
                for (n = 0; i + n < len && capture_plain(at[i + n]); n++)
                        ;
                if (n > 0) {
                        r = str_add(&c->shown, at + i, n);
                        continue;
                }
                while (i + n < len && !capture_plain(at[i + n]) &&
                       !(at[i + n] == '\r' && i + n + 1 < len && at[i + n + 1] == '\n'))
                        n++;
                r = str_add_escaped(&c->shown, at + i, n, true);
                if (i + n < len && at[i + n] == '\r')
                        n++;
        }
        if (r < 0)
                return r;
        if (len > 0)
                memmove(c->clean.data, at + len, keep);
        c->clean.len = keep;
        if (c->clean.data)
                c->clean.data[keep] = '\0';
        return capture_show(c);
}

int capture_feed(Capture *c, const void *bytes, size_t len) {
        const char *at = bytes;

        c->output_bytes += len;
        while (len > 0) { /* in pieces, so that memory does not follow the caller's buffer */
                size_t n = len < CAPTURE_TAIL_MAX ? len : CAPTURE_TAIL_MAX;
                int r = redact_feed(c->stream, at, n, &c->clean);

                if (r == 0)
                        r = capture_escape(c, false);
                if (r < 0)
                        return r;
                at += n;
                len -= n;
        }
        return 0;
}

static int capture_log_rest(Capture *c, bool *ret_dropped) {
        CLEANUP(str_done) Str rest = STR_NULL;
        int r = capture_ring_read(&c->rest, &rest);

        if (r < 0)
                return r;
        *ret_dropped = c->rest.total > rest.len;
        if (*ret_dropped) {
                r = str_addf(&c->shown, "%s[spoolgate: %llu bytes dropped here]\n",
                             c->line_open ? "\n" : "",
                             (unsigned long long)(c->rest.total - rest.len));
                if (r < 0)
                        return r;
                capture_log(c, c->shown.data, c->shown.len);
                str_clear(&c->shown);
        }
        capture_log(c, rest.data, rest.len);
        return 0;
}

int capture_end(Capture *c, Str *ret_tail, uint64_t *ret_output_bytes, bool *ret_truncated) {
        CLEANUP(str_done) Str tail = STR_NULL;
        bool dropped = false;
        int r = redact_flush(c->stream, &c->clean);

        if (r == 0)
                r = capture_escape(c, true);
        if (r == 0)
                r = capture_log_rest(c, &dropped);
        if (r == 0)
                r = capture_ring_read(&c->tail, &tail);
        if (r < 0)
                return r;
        *ret_output_bytes = c->output_bytes;
        *ret_truncated = c->tail.total > tail.len || dropped || c->log_lost;
        str_done(ret_tail);
        *ret_tail = tail;
        tail = STR_NULL;
        return 0;
}
