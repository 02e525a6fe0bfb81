#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/sieve.h"

enum { SIEVE_HIT = 0x8000, SIEVE_NODES_MAX = 0x7fff };

typedef struct SieveTree {
        uint16_t (*next)[256]; /* SIEVE_HIT is set in an edge to a node that has bits */
        uint64_t *bits;
        size_t len, cap;
} SieveTree;

struct Sieve {
        SieveTree exact, folded;
};

static int sieve_node(SieveTree *t) {
        if (t->len > SIEVE_NODES_MAX)
                return err_new(E2BIG);
        if (t->len == t->cap) {
                size_t cap = t->cap ? t->cap * 2 : 64;
                uint16_t(*next)[256] = reallocarray(t->next, cap, sizeof(*next));
                uint64_t *bits;

                if (!next)
                        return err_new(ENOMEM);
                t->next = next;
                bits = reallocarray(t->bits, cap, sizeof(*bits));
                if (!bits)
                        return err_new(ENOMEM);
                t->bits = bits;
                t->cap = cap;
        }
        memset(t->next[t->len], 0, sizeof(t->next[0]));
        t->bits[t->len++] = 0;
        return 0;
}

int sieve_new(Sieve **ret) {
        CLEANUP(sieve_freep) Sieve *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return err_new(ENOMEM);
        r = sieve_node(&s->exact);
        if (r < 0)
                return r;
        r = sieve_node(&s->folded);
        if (r < 0)
                return r;
        *ret = s;
        s = NULL;
        return 0;
}

Sieve *sieve_free(Sieve *s) {
        if (!s)
                return NULL;
        free(s->exact.next);
        free(s->exact.bits);
        free(s->folded.next);
        free(s->folded.bits);
        free(s);
        return NULL;
}

void sieve_freep(Sieve **s) {
        *s = sieve_free(*s);
}

static unsigned char sieve_lower(char c) {
        return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

int sieve_add(Sieve *s, const char *word, size_t len, bool exact, unsigned bit) {
        SieveTree *t = exact ? &s->exact : &s->folded;
        size_t node = 0;

        if (len == 0 || bit > 63)
                return err_new(EINVAL);
        for (size_t i = 0; i < len; i++) {
                unsigned char c = exact ? (unsigned char)word[i] : sieve_lower(word[i]);

                if (!t->next[node][c]) {
                        int r = sieve_node(t);

                        if (r < 0)
                                return r;
                        t->next[node][c] = (uint16_t)(t->len - 1);
                }
                node = t->next[node][c];
        }
        t->bits[node] |= UINT64_C(1) << bit;
        return 0;
}

/* Breadth first: a node's failure link is shorter, hence complete when the node's own row is filled
 * from it. */
static int sieve_links(SieveTree *t) {
        uint16_t *queue = calloc(t->len, sizeof(*queue)), *fail = calloc(t->len, sizeof(*fail));
        size_t head = 0, tail = 0;

        if (!queue || !fail) {
                free(queue);
                free(fail);
                return err_new(ENOMEM);
        }
        queue[tail++] = 0;
        while (head < tail) {
                size_t node = queue[head++];

                t->bits[node] |= t->bits[fail[node]];
                for (size_t c = 0; c < 256; c++) {
                        uint16_t child = t->next[node][c];

                        if (!child) {
                                t->next[node][c] = node ? t->next[fail[node]][c] : 0;
                                continue;
                        }
                        fail[child] = node ? t->next[fail[node]][c] : 0;
                        queue[tail++] = child;
                }
        }
        free(queue);
        free(fail);
        return 0;
}

int sieve_compile(Sieve *s) {
        int r = sieve_links(&s->exact);

        if (r < 0)
                return r;
        r = sieve_links(&s->folded);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->folded.len; i++)
                for (size_t c = 'A'; c <= 'Z'; c++)
                        s->folded.next[i][c] = s->folded.next[i][c - 'A' + 'a'];
        for (int k = 0; k < 2; k++) {
                SieveTree *t = k ? &s->folded : &s->exact;

                for (size_t i = 0; i < t->len; i++)
                        for (size_t c = 0; c < 256; c++)
                                if (t->bits[t->next[i][c]])
                                        t->next[i][c] |= SIEVE_HIT;
        }
        return 0;
}

uint64_t sieve_scan(const Sieve *s, const char *bytes, size_t len) {
        const unsigned char *at = (const unsigned char *)bytes;
        const uint16_t(*e)[256] = (const uint16_t(*)[256])s->exact.next;
        const uint16_t(*f)[256] = (const uint16_t(*)[256])s->folded.next;
        unsigned x = 0, y = 0;
        uint64_t found = 0;

        for (size_t i = 0; i < len; i++) {
                x = e[x][at[i]];
                y = f[y][at[i]];
                if ((x | y) & SIEVE_HIT) {
                        x &= ~(unsigned)SIEVE_HIT;
                        y &= ~(unsigned)SIEVE_HIT;
                        found |= s->exact.bits[x] | s->folded.bits[y];
                }
        }
        return found;
}
