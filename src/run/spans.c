#include <errno.h>
#include <stdlib.h>

#include "run/spans.h"

void spans_done(Spans *s) {
        free(s->items);
        *s = SPANS_NULL;
}

void spans_clear(Spans *s) {
        s->len = 0;
}

int spans_add(Spans *s, size_t start, size_t end, const char *name) {
        Span *last = s->len > 0 ? &s->items[s->len - 1] : NULL;

        if (start >= end)
                return 0;
        if (last && last->name == name && start >= last->start && start < last->end) {
                if (end > last->end)
                        last->end = end;
                return 0;
        }
        if (s->len == s->cap) {
                size_t cap = s->cap ? s->cap * 2 : 16;
                Span *items = reallocarray(s->items, cap, sizeof(*items));

                if (!items)
                        return err_new(ENOMEM);
                s->items = items;
                s->cap = cap;
        }
        s->items[s->len++] = (Span){start, end, name};
        return 0;
}

static int spans_compare(const void *a, const void *b) {
        const Span *x = a, *y = b;

        if (x->start != y->start)
                return x->start < y->start ? -1 : 1;
        return x->end > y->end ? -1 : x->end < y->end;
}

void spans_merge(Spans *s) {
        size_t kept = 0;

        if (s->len < 2)
                return;
        qsort(s->items, s->len, sizeof(*s->items), spans_compare);
        for (size_t i = 1; i < s->len; i++) {
                if (s->items[i].start >= s->items[kept].end)
                        s->items[++kept] = s->items[i];
                else if (s->items[i].end > s->items[kept].end)
                        s->items[kept].end = s->items[i].end;
        }
        s->len = kept + 1;
}
