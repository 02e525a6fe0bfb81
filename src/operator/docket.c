#include "operator/docket.h"

#include <errno.h>

#include "operator/history.h"
#include "wire/order.h"

void docket_done(Docket *d) {
        str_freep(&d->at);
        str_freep(&d->verb);
        str_freep(&d->arg);
        str_freep(&d->event);
        str_freep(&d->state);
        str_freep(&d->reason);
        str_freep(&d->key);
        str_freep(&d->fingerprint);
        str_freep(&d->begun_as);
        str_freep(&d->begun_at);
        *d = DOCKET_NULL;
}

typedef struct DocketWalk {
        const Name *name;
        Docket docket;
} DocketWalk;

static void docket_walk_done(DocketWalk *w) {
        docket_done(&w->docket);
}

static int docket_set(char **to, const char *text) {
        CLEANUP(str_freep) char *copy = NULL;
        int r = str_dup(text, &copy);

        if (r < 0)
                return r;
        str_freep(to);
        *to = copy;
        copy = NULL;
        return 0;
}

static int docket_words(Docket *d, const Record *r) {
        const char *key = record_str(r, "key");
        int x = docket_set(&d->at, record_str(r, "ts"));

        if (x == 0)
                x = docket_set(&d->verb, record_str(r, "verb"));
        if (x == 0)
                x = docket_set(&d->arg, record_str(r, "arg"));
        if (x == 0)
                x = docket_set(&d->event, record_str(r, "event"));
        if (x == 0)
                x = docket_set(&d->state, record_str(r, "state"));
        if (x == 0)
                x = docket_set(&d->reason, record_str(r, "reason"));
        return x == 0 && key ? docket_set(&d->key, key) : x;
}

/* That it came, and what an operator did about it, is not what became of it. */
static bool docket_note(const char *event) {
        if (str_eq(event, "claimed"))
                return true;
        for (size_t i = 0; order_event_at(i); i++)
                if (str_eq(event, order_event_at(i)))
                        return true;
        return false;
}

static int docket_each(void *userdata, const Record *r, const char *raw, size_t len,
                       const char *hash) {
        DocketWalk *w = userdata;
        Docket *d = &w->docket;
        const char *request = record_str(r, "request");
        int x;

        (void)raw;
        (void)len;
        (void)hash;
        if (!request || !str_eq(request, w->name->text) || docket_note(record_str(r, "event")))
                return 0;
        x = docket_words(d, r);
        if (x < 0)
                return x;
        if (str_eq(d->event, "start")) {
                d->started = true;
                x = docket_set(&d->begun_as, record_str(r, "fingerprint"));
                return x < 0 ? x : docket_set(&d->begun_at, d->at);
        }
        if (!str_eq(d->event, "refused"))
                return 0;
        d->by_policy = str_eq(d->reason, "policy");
        return d->by_policy ? docket_set(&d->fingerprint, record_str(r, "fingerprint")) : 0;
}

int docket_read(const Config *c, const Name *name, Docket *ret, Str *why) {
        CLEANUP(docket_walk_done) DocketWalk w = {.name = name};
        uint64_t lines;
        int r = history_read(c->state_fd, docket_each, &w, why, &lines);

        if (r > 0)
                return str_addf(why, "\nspoolgate audit verify -s %s", c->layout.slug) < 0
                               ? -ENOMEM
                               : DOCKET_E_BROKEN;
        if (r < 0)
                return r;
        if (!w.docket.event)
                return str_addf(why, "the audit log of %s knows no %s\nspoolgate audit -s %s",
                                c->layout.slug, name->text, c->layout.slug) < 0
                               ? -ENOMEM
                               : DOCKET_E_NONE;
        *ret = w.docket;
        w.docket = DOCKET_NULL;
        return 0;
}
