#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/marker.h"
#include "run/redact-scan.h"

enum {
        STREAM_HELD_MAX = 64 * 1024, /* a line longer than this is judged in windows */
        STREAM_OVERLAP = 8 * 1024,   /* of which this much stays back, and as much is seen again */
        STREAM_KEY_LINES = 4096,
        STREAM_KEY_IDLE = 8, /* lines in a row that can't be of a key's body: no key after all, or
                                its end was lost */
        STREAM_KEY_RUN = 32, /* base64 digits that make a line of a body */
        STREAM_SETTLE = 4,
};

typedef enum StreamSkip { STREAM_SKIP_NONE, STREAM_SKIP_TOKEN, STREAM_SKIP_LINE } StreamSkip;

struct RedactStream {
        RedactScan *scan;
        Str held;     /* an unfinished line */
        size_t shown; /* bytes of held that are out already and stay for their context only */
        StreamSkip skip;
        bool in_key;
        unsigned key_lines, key_idle;
        Str work[2];
};

int redact_stream_new(const Redact *r, RedactStream **ret) {
        CLEANUP(redact_stream_freep) RedactStream *s = calloc(1, sizeof(*s));
        int e;

        if (!s)
                return err_new(ENOMEM);
        e = redact_scan_new(r, &s->scan);
        if (e < 0)
                return e;
        *ret = s;
        s = NULL;
        return 0;
}

RedactStream *redact_stream_free(RedactStream *s) {
        if (!s)
                return NULL;
        redact_scan_free(s->scan);
        str_done(&s->held);
        str_done(&s->work[0]);
        str_done(&s->work[1]);
        free(s);
        return NULL;
}

void redact_stream_freep(RedactStream **s) {
        *s = redact_stream_free(*s);
}

/* text[from..to) with markers; *ret_at: where showing ended, behind `to` when a span lies across
 * it. */
static int stream_render(const char *text, size_t from, size_t to, const Spans *spans, Str *out,
                         size_t *ret_at) {
        size_t at = from;

        for (size_t i = 0; i < spans->len && spans->items[i].start < to; i++) {
                const Span *span = &spans->items[i];
                int e = 0;

                if (span->end <= at)
                        continue;
                if (span->start > at)
                        e = str_add(out, text + at, span->start - at);
                if (e == 0)
                        e = marker_add(out, span->name);
                if (e < 0)
                        return e;
                at = span->end;
        }
        if (at < to) {
                int e = str_add(out, text + at, to - at);

                if (e < 0)
                        return e;
                at = to;
        }
        *ret_at = at;
        return 0;
}

/* A text with markers may hold a new match (a neighbour has changed): again, until it is a fixed
 * point. */
static int stream_settle(RedactStream *s, const char *text, size_t len, const Spans *spans,
                         Str *out) {
        size_t at;

        for (unsigned i = 0; i < STREAM_SETTLE; i++) {
                Str *next = &s->work[i % 2];
                bool open_key;
                int e;

                str_clear(next);
                e = stream_render(text, 0, len, spans, next, &at);
                if (e < 0)
                        return e;
                text = next->data;
                len = next->len;
                e = redact_scan(s->scan, text, len, &spans, &open_key);
                if (e < 0)
                        return e;
                if (e == REDACT_SCAN_E_LIMIT)
                        break;
                if (spans->len == 0)
                        return str_add(out, text, len);
        }
        return marker_add(out, REDACT_NAME_LINE);
}

/* A whole line without its end. */
static int stream_judge(RedactStream *s, const char *text, size_t len, Str *out) {
        const Spans *spans;
        bool open_key;
        int e = redact_scan(s->scan, text, len, &spans, &open_key);

        if (e < 0)
                return e;
        if (e == REDACT_SCAN_E_LIMIT)
                return marker_add(out, REDACT_NAME_LINE);
        if (open_key) {
                s->in_key = true;
                s->key_lines = s->key_idle = 0;
        }
        return spans->len > 0 ? stream_settle(s, text, len, spans, out) : str_add(out, text, len);
}

static bool stream_is_body(const char *text, size_t len) {
        size_t run = 0;

        for (size_t i = 0; i < len && run < STREAM_KEY_RUN; i++) {
                char c = text[i];
                bool digit = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                             (c >= 'a' && c <= 'z') || c == '+' || c == '/';

                run = digit ? run + 1 : 0;
        }
        return run == STREAM_KEY_RUN;
}

/* A line within a private key shows nothing but what follows the key's end. */
static int stream_key_line(RedactStream *s, const char *text, size_t len, size_t *ret_after) {
        size_t after;
        bool found;
        int e = redact_scan_key_end(s->scan, text, len, &found, &after);

        if (e < 0)
                return e;
        if (found) {
                s->in_key = false;
                while (after < len && strchr(" \t\r\"',", text[after]) && text[after])
                        after++;
                *ret_after = after;
                return 0;
        }
        s->key_idle = stream_is_body(text, len) ? 0 : s->key_idle + 1;
        s->key_lines++;
        if (s->key_idle >= STREAM_KEY_IDLE || s->key_lines >= STREAM_KEY_LINES)
                s->in_key = false;
        *ret_after = len;
        return 0;
}

/* A line with its end (none at the very end of the stream). */
static int stream_line(RedactStream *s, const char *text, size_t len, Str *out) {
        size_t n = len;
        int e;

        if (n > 0 && text[n - 1] == '\n')
                n--;
        if (n > 0 && n < len && text[n - 1] == '\r')
                n--;
        if (s->in_key) {
                size_t after;

                e = stream_key_line(s, text, n, &after);
                if (e < 0 || after == n)
                        return e;
                text += after;
                n -= after;
                len -= after;
        }
        e = stream_judge(s, text, n, out);
        return e < 0 ? e : str_add(out, text + n, len - n);
}

static void stream_drop(RedactStream *s, size_t n) {
        memmove(s->held.data, s->held.data + n, s->held.len - n);
        s->held.len -= n;
        s->shown = s->shown > n ? s->shown - n : 0;
}

/* Judges what is held of a line too long to be held whole. */
static int stream_window(RedactStream *s, bool last, Str *out) {
        size_t len = s->held.len, to = last ? len : len - STREAM_OVERLAP, at;
        const Spans *spans;
        bool open_key;
        int e = redact_scan(s->scan, s->held.data, len, &spans, &open_key);

        if (e < 0)
                return e;
        if (e == REDACT_SCAN_E_LIMIT) {
                stream_drop(s, len);
                s->skip = last ? STREAM_SKIP_NONE : STREAM_SKIP_LINE;
                return marker_add(out, REDACT_NAME_LINE);
        }
        e = stream_render(s->held.data, s->shown, to, spans, out, &at);
        if (e < 0)
                return e;
        if (open_key) {
                s->in_key = true;
                s->key_lines = s->key_idle = 0;
        }
        if (at == len && !last) { /* a match up to the edge may go on, for as long as it likes */
                s->skip = open_key ? STREAM_SKIP_LINE : STREAM_SKIP_TOKEN;
                stream_drop(s, len);
                return 0;
        }
        s->shown = at;
        stream_drop(s, last ? len : at > STREAM_OVERLAP ? at - STREAM_OVERLAP : 0);
        return 0;
}

static int stream_window_in_key(RedactStream *s) {
        size_t after;
        bool found;
        int e = redact_scan_key_end(s->scan, s->held.data, s->held.len, &found, &after);

        if (e < 0)
                return e;
        if (found)
                s->in_key = false;
        stream_drop(s, found ? after : s->held.len - STREAM_OVERLAP);
        return 0;
}

/* The held line is complete. */
static int stream_held_line(RedactStream *s, Str *out) {
        size_t len = s->held.len, eol = len > 0 && s->held.data[len - 1] == '\n';
        int e;

        if (s->shown == 0) {
                e = stream_line(s, s->held.data, len, out);
                stream_drop(s, len);
                return e;
        }
        s->held.len -= eol;
        e = stream_window(s, true, out);
        return e < 0 || !eol ? e : str_addc(out, '\n');
}

/* What of bytes is to be left out because of s->skip. */
static size_t stream_skip(RedactStream *s, const char *bytes, size_t len) {
        size_t n = 0;

        while (n < len && bytes[n] != '\n' &&
               (s->skip == STREAM_SKIP_LINE || !bytes[n] || !strchr(" \t\r\"'<>", bytes[n])))
                n++;
        if (n < len)
                s->skip = STREAM_SKIP_NONE;
        return n;
}

/* Holds some of bytes and judges when there is enough. */
static int stream_hold(RedactStream *s, const char *bytes, size_t len, size_t *ret_used, Str *out) {
        size_t room = STREAM_HELD_MAX - (s->held.len - s->shown);
        const char *nl = memchr(bytes, '\n', len < room ? len : room);
        size_t n = nl ? (size_t)(nl - bytes) + 1 : len < room ? len : room;
        int e = str_add(&s->held, bytes, n);

        if (e < 0)
                return e;
        *ret_used = n;
        if (nl)
                return stream_held_line(s, out);
        if (s->held.len - s->shown < STREAM_HELD_MAX)
                return 0;
        return s->in_key && s->shown == 0 ? stream_window_in_key(s) : stream_window(s, false, out);
}

int redact_feed(RedactStream *s, const void *bytes, size_t len, Str *out) {
        const char *at = bytes, *end = at + len;

        while (at < end) {
                StreamSkip skip = s->skip;
                size_t n = skip == STREAM_SKIP_NONE ? 0 : stream_skip(s, at, (size_t)(end - at));
                const char *nl;
                int e;

                at += n;
                if (at == end)
                        break;
                if (skip == STREAM_SKIP_LINE) { /* its end only, whatever the next line is */
                        e = str_addc(out, *at++);
                        if (e < 0)
                                return e;
                        continue;
                }
                nl = s->held.len == 0 ? memchr(at, '\n', (size_t)(end - at)) : NULL;
                if (nl && nl - at < STREAM_HELD_MAX) {
                        n = (size_t)(nl - at) + 1;
                        e = stream_line(s, at, n, out);
                } else {
                        e = stream_hold(s, at, (size_t)(end - at), &n, out);
                }
                if (e < 0)
                        return e;
                at += n;
        }
        return str_reserve(out, 0);
}

int redact_flush(RedactStream *s, Str *out) {
        int e = s->held.len > 0 ? stream_held_line(s, out) : 0;

        s->skip = STREAM_SKIP_NONE;
        s->in_key = false;
        return e < 0 ? e : str_reserve(out, 0);
}

int redact_text(const Redact *r, const void *bytes, size_t len, Str *out) {
        CLEANUP(redact_stream_freep) RedactStream *s = NULL;
        int e = redact_stream_new(r, &s);

        if (e == 0)
                e = redact_feed(s, bytes, len, out);
        return e < 0 ? e : redact_flush(s, out);
}
