#include "guard/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DIFF_CONTEXT = 3, DIFF_NAME_MAX = 64 };

typedef struct DiffLine {
        const char *text;
        size_t len; /* with its newline, where it has one */
} DiffLine;

typedef struct DiffSide {
        DiffLine *lines;
        size_t len;
        bool *changed; /* this line has no partner on the other side */
} DiffSide;

typedef struct Diff {
        DiffSide a, b;
        size_t head, tail; /* equal lines at both ends */
        int *trace;        /* row d: the furthest x on diagonals -d .. d */
} Diff;

static void diff_done(Diff *d) {
        free(d->a.lines);
        free(d->a.changed);
        free(d->b.lines);
        free(d->b.changed);
        free(d->trace);
}

static size_t diff_count(const Str *s) {
        size_t n = 0;

        for (size_t i = 0; i < s->len; i++)
                n += s->data[i] == '\n' || i + 1 == s->len;
        return n;
}

static int diff_split(const Str *s, size_t len, DiffSide *side) {
        const char *at = s->data, *end = s->data + s->len;

        side->lines = calloc(len + 1, sizeof(*side->lines));
        side->changed = calloc(len + 1, sizeof(*side->changed));
        if (!side->lines || !side->changed)
                return err_new(ENOMEM);
        for (side->len = 0; side->len < len; side->len++) {
                const char *stop = memchr(at, '\n', (size_t)(end - at));
                size_t n = stop ? (size_t)(stop - at) + 1 : (size_t)(end - at);

                side->lines[side->len] = (DiffLine){at, n};
                at += n;
        }
        return 0;
}

static bool diff_same(const Diff *d, size_t i, size_t j) {
        const DiffLine *x = &d->a.lines[i], *y = &d->b.lines[j];

        return x->len == y->len && memcmp(x->text, y->text, x->len) == 0;
}

static void diff_trim(Diff *d) {
        size_t min = d->a.len < d->b.len ? d->a.len : d->b.len;

        while (d->head < min && diff_same(d, d->head, d->head))
                d->head++;
        while (d->tail < min - d->head &&
               diff_same(d, d->a.len - 1 - d->tail, d->b.len - 1 - d->tail))
                d->tail++;
}

/* Row n of the trace begins at n * n, and diagonal k is at n * n + n + k. */
static int diff_at(const Diff *d, int n, int k) {
        return d->trace[n * n + n + k];
}

/* Down (a line of b) rather than right (a line of a) into diagonal k with the n-th edit. */
static bool diff_down(const Diff *d, int n, int k) {
        return k == -n || (k != n && diff_at(d, n - 1, k - 1) < diff_at(d, n - 1, k + 1));
}

/* The number of edits, -1 beyond `most`. */
static int diff_search(Diff *d, int a, int b, int most) {
        for (int n = 0; n <= most; n++)
                for (int k = -n; k <= n; k += 2) {
                        int x = 0;

                        if (n > 0)
                                x = diff_down(d, n, k) ? diff_at(d, n - 1, k + 1)
                                                       : diff_at(d, n - 1, k - 1) + 1;
                        while (x < a && x - k < b && x - k >= 0 &&
                               diff_same(d, d->head + (size_t)x, d->head + (size_t)(x - k)))
                                x++;
                        d->trace[n * n + n + k] = x;
                        if (x >= a && x - k >= b)
                                return n;
                }
        return -1;
}

/* Back along the trace from the end; each step marks the line that it took. */
static void diff_mark(Diff *d, int a, int b, int edits) {
        int x = a, y = b;

        for (int n = edits; n > 0; n--) {
                int k = x - y;
                bool down = diff_down(d, n, k);
                int from = diff_at(d, n - 1, down ? k + 1 : k - 1);

                if (down)
                        d->b.changed[d->head + (size_t)(from - (k + 1))] = true;
                else
                        d->a.changed[d->head + (size_t)from] = true;
                x = from;
                y = from - (down ? k + 1 : k - 1);
        }
}

static void diff_replace(DiffSide *s, size_t from, size_t to) {
        for (size_t i = from; i < to; i++)
                s->changed[i] = true;
}

static int diff_compare(Diff *d) {
        int a, b, most, edits;

        diff_trim(d);
        a = (int)(d->a.len - d->head - d->tail);
        b = (int)(d->b.len - d->head - d->tail);
        most = a + b < DIFF_EDITS ? a + b : DIFF_EDITS;
        d->trace = calloc((size_t)(most + 1) * (size_t)(most + 1), sizeof(*d->trace));
        if (!d->trace)
                return err_new(ENOMEM);
        edits = diff_search(d, a, b, most);
        if (edits >= 0) {
                diff_mark(d, a, b, edits);
                return 0;
        }
        diff_replace(&d->a, d->head, d->a.len - d->tail);
        diff_replace(&d->b, d->head, d->b.len - d->tail);
        return 0;
}

/* Printing */

/* NAME of a line NAME=VALUE; 0: nothing of it is to be seen. Capitals only, so that a line of a
 * base64 value is no name. */
static size_t diff_name(const DiffLine *line) {
        size_t n = 0;

        while (n < line->len && n < DIFF_NAME_MAX &&
               ((line->text[n] >= 'A' && line->text[n] <= 'Z') || line->text[n] == '_' ||
                (n > 0 && line->text[n] >= '0' && line->text[n] <= '9')))
                n++;
        return n > 0 && n < line->len && line->text[n] == '=' ? n + 1 : 0;
}

static int diff_add_line(char sign, const DiffLine *line, DiffFlags flags, Str *out) {
        bool ended = line->len > 0 && line->text[line->len - 1] == '\n';
        size_t len = line->len - ended;
        int r = str_addc(out, sign);

        if (r == 0)
                r = str_add(out, line->text, flags & DIFF_HIDE ? diff_name(line) : len);
        if (r == 0 && flags & DIFF_HIDE && len > 0)
                r = str_adds(out, "(hidden)");
        if (r == 0)
                r = str_addc(out, '\n');
        return r < 0 || ended ? r : str_adds(out, "\\ No newline at end of file\n");
}

typedef struct DiffSpan { /* of a hunk */
        size_t a, b, a_end, b_end;
} DiffSpan;

static int diff_add_hunk(const Diff *d, const DiffSpan *s, DiffFlags flags, Str *out) {
        size_t i = s->a, j = s->b, a_len = s->a_end - s->a, b_len = s->b_end - s->b;
        int r = str_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", a_len ? s->a + 1 : s->a, a_len,
                         b_len ? s->b + 1 : s->b, b_len);

        while (r == 0 && (i < s->a_end || j < s->b_end)) {
                if (i < s->a_end && d->a.changed[i])
                        r = diff_add_line('-', &d->a.lines[i++], flags, out);
                else if (j < s->b_end && d->b.changed[j])
                        r = diff_add_line('+', &d->b.lines[j++], flags, out);
                else {
                        r = diff_add_line(' ', &d->a.lines[i++], flags, out);
                        j++;
                }
        }
        return r;
}

static bool diff_change(const Diff *d, size_t i, size_t j) {
        return (i < d->a.len && d->a.changed[i]) || (j < d->b.len && d->b.changed[j]);
}

/* From the change at i, j: as long as the next one is within two contexts. */
static DiffSpan diff_span(const Diff *d, size_t *i, size_t *j) {
        size_t before = *i < DIFF_CONTEXT ? *i : DIFF_CONTEXT, quiet = 0;
        DiffSpan s = {.a = *i - before, .b = *j - before};

        while (*i < d->a.len || *j < d->b.len) {
                if (*i < d->a.len && d->a.changed[*i]) {
                        quiet = 0;
                        (*i)++;
                } else if (*j < d->b.len && d->b.changed[*j]) {
                        quiet = 0;
                        (*j)++;
                } else if (++quiet > 2 * DIFF_CONTEXT) {
                        quiet--;
                        break;
                } else {
                        (*i)++;
                        (*j)++;
                }
        }
        quiet = quiet > DIFF_CONTEXT ? quiet - DIFF_CONTEXT : 0;
        s.a_end = *i - quiet;
        s.b_end = *j - quiet;
        return s;
}

static int diff_add_hunks(const Diff *d, DiffFlags flags, Str *out) {
        size_t i = 0, j = 0;
        int r = 0;

        while (r == 0 && (i < d->a.len || j < d->b.len)) {
                if (diff_change(d, i, j)) {
                        DiffSpan s = diff_span(d, &i, &j);

                        r = diff_add_hunk(d, &s, flags, out);
                } else {
                        i++;
                        j++;
                }
        }
        return r;
}

static bool diff_binary(const Str *s) {
        return s->len > 0 && memchr(s->data, '\0', s->len);
}

int diff_add(const char *name, const Str *before, const Str *after, DiffFlags flags, Str *out) {
        CLEANUP(diff_done) Diff d = {0};
        const Str none = {.data = (char[]){""}};
        const Str *a = before ? before : &none, *b = after ? after : &none;
        size_t a_len = diff_count(a), b_len = diff_count(b);
        int r;

        if (!before == !after && a->len == b->len &&
            (a->len == 0 || memcmp(a->data, b->data, a->len) == 0))
                return 0;
        r = str_addf(out, "--- %s%s\n+++ %s%s\n", name, before ? "" : " (absent)", name,
                     after ? "" : " (absent)");
        if (r < 0)
                return r;
        if (diff_binary(a) || diff_binary(b) || a_len > DIFF_LINES || b_len > DIFF_LINES)
                return str_adds(out, "they differ, and are too long or too binary to be shown\n");
        if (a->len == 0 && b->len == 0)
                return str_adds(out, "an empty file\n");
        r = diff_split(a->data ? a : &none, a_len, &d.a);
        if (r == 0)
                r = diff_split(b->data ? b : &none, b_len, &d.b);
        if (r == 0)
                r = diff_compare(&d);
        return r < 0 ? r : diff_add_hunks(&d, flags, out);
}
