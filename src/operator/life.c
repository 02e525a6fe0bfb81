#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "operator/gatelist.h"
#include "operator/history.h"
#include "operator/life.h"
#include "record/ledger.h"
#include "wire/request.h"

enum { LIFE_LOG_MAX = 16 * 1024 * 1024, LIFE_RESPONSE_MAX = 1024 * 1024, LIFE_NAMED = 10 };

void life_done(Life *l) {
        str_freep(&l->name);
        for (size_t i = 0; i < l->len; i++)
                l->events[i] = record_free(l->events[i]);
        free(l->events);
        str_done(&l->body);
        l->response = response_free(l->response);
        str_done(&l->log);
        *l = LIFE_NULL;
}

typedef struct LifeSearch {
        Life *life;
        const char *name;
        Strv found;
} LifeSearch;

static int life_keep(Life *l, const char *raw, size_t len) {
        CLEANUP(record_freep) Record *copy = NULL;
        RecordError error;
        Record **events;
        int r = record_parse(raw, len, &copy, &error);

        if (r != 0)
                return r < 0 ? r : 0;
        events = reallocarray(l->events, l->len + 1, sizeof(*events));
        if (!events)
                return err_new(ENOMEM);
        l->events = events;
        l->events[l->len++] = copy;
        copy = NULL;
        return 0;
}

static int life_each(void *userdata, const Record *r, const char *raw, size_t len,
                     const char *hash) {
        LifeSearch *s = userdata;
        const char *request = record_str(r, "request");
        int x = 0;

        (void)hash;
        if (!request || !strstr(request, s->name))
                return 0;
        if (!strv_find(&s->found, request)) {
                if (s->found.len > LIFE_NAMED && !str_eq(request, s->name))
                        return 0;
                x = strv_add(&s->found, request);
        }
        return x < 0 ? x : life_keep(s->life, raw, len);
}

/* A request that is still waiting has no record yet. */
static int life_search_dir(const Config *c, const char *dir, LifeSearch *s) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        struct stat st;
        Name name;
        int r;

        if (name_parse(s->name, &name) != 0)
                return 0;
        r = str_printf(&path, "%s/%s", c->bridge->spool, dir);
        if (r == 0)
                r = pin_dir_at(c->checkout_fd, path, &any, 0, &fd);
        if (r != 0)
                return r < 0 ? r : 0;
        if (fstatat(fd, name.text, &st, AT_SYMLINK_NOFOLLOW) < 0 || strv_find(&s->found, name.text))
                return 0;
        return strv_add(&s->found, name.text);
}

static int life_none(int added) {
        return added < 0 ? added : LIFE_E_NONE;
}

static int life_choose(LifeSearch *s, Str *why) {
        size_t kept = 0;
        int r;

        if (s->found.len == 0)
                return life_none(str_addf(why, "no request is named %s\nspoolgate audit", s->name));
        if (s->found.len > 1 && !strv_find(&s->found, s->name)) {
                r = str_adds(why, "which one?");
                for (size_t i = 0; r == 0 && i < s->found.len && i < LIFE_NAMED; i++)
                        r = str_addf(why, "\nspoolgate show %s", s->found.items[i]);
                return life_none(r);
        }
        r = str_dup(s->found.len > 1 ? s->name : s->found.items[0], &s->life->name);
        for (size_t i = 0; r == 0 && i < s->life->len; i++) {
                Record **e = &s->life->events[i];

                if (str_eq(record_str(*e, "request"), s->life->name))
                        s->life->events[kept++] = *e;
                else
                        *e = record_free(*e);
        }
        if (r == 0)
                s->life->len = kept;
        return r;
}

/* What the agent may have put there is looked at as everywhere: no link, regular, bounded. */
static int life_read(const Config *c, const char *dir, const char *name, const char *suffix,
                     size_t max, Str *ret, bool *ret_found) {
        CLEANUP(str_freep) char *path = NULL;
        PinRule any = {(uid_t)-1, 0};
        int r = str_printf(&path, "%s/%s/%s%s", c->bridge->spool, dir, name, suffix);

        if (r == 0)
                r = pin_read_at(c->checkout_fd, path, &any, 0, max, ret);
        *ret_found = r == 0;
        return r < 0 ? r : 0;
}

static int life_body(const Config *c, Life *l) {
        static const char *const places[] = {"requests", "processing", "archive"};
        bool found = false;
        int r = 0;

        for (size_t i = 0; r == 0 && !found && i < sizeof(places) / sizeof(places[0]); i++) {
                r = life_read(c, places[i], l->name, "", REQUEST_MAX_BYTES, &l->body, &found);
                if (found)
                        l->place = places[i];
        }
        return r;
}

static const char *life_text(const Life *l, const char *key) {
        const char *found = NULL;

        for (size_t i = 0; i < l->len; i++)
                if (record_str(l->events[i], key))
                        found = record_str(l->events[i], key);
        return found;
}

static int life_parse_response(Life *l, const Str *text) {
        int r = response_parse(text->data ? text->data : "", text->len, &l->response);

        return r < 0 ? r : 0;
}

static int life_from_ledger(const Config *c, Life *l) {
        PinRule rule = config_rule(c);
        Ledger ledger = LEDGER_NULL;
        LedgerEntry e = LEDGER_ENTRY_NULL;
        const char *key = life_text(l, "key");
        int r;

        if (!key || !hash_is_hex(key, HASH_HEX_SIZE - 1))
                return 0;
        r = ledger_open(c->state_fd, &rule, &ledger);
        if (r == 0)
                r = ledger_find(&ledger, key, &e);
        if (r == 0 && e.state == LEDGER_ENDED && str_eq(e.name, l->name)) {
                r = life_parse_response(l, &e.response);
                l->from_ledger = l->response != NULL;
        }
        ledger_entry_done(&e);
        ledger_close(&ledger);
        return r < 0 ? r : 0;
}

static int life_response(const Config *c, Life *l) {
        CLEANUP(str_done) Str text = STR_NULL;
        bool found;
        int r = life_from_ledger(c, l);

        if (r < 0 || l->response)
                return r;
        r = life_read(c, "responses", l->name, ".response.json", LIFE_RESPONSE_MAX, &text, &found);
        return r < 0 || !found ? r : life_parse_response(l, &text);
}

int life_load(const Config *c, const char *name, Life *ret, Str *why) {
        CLEANUP(life_done) Life l = LIFE_NULL;
        LifeSearch s = {.life = &l, .name = name};
        uint64_t lines;
        int r, x;

        r = history_read(c->state_fd, life_each, &s, why, &lines);
        x = r < 0 ? r : life_search_dir(c, "requests", &s);
        if (x == 0)
                x = life_search_dir(c, "processing", &s);
        if (x == 0)
                x = life_choose(&s, why);
        strv_done(&s.found);
        if (x != 0)
                return x;
        x = life_body(c, &l);
        if (x == 0)
                x = life_response(c, &l);
        if (x == 0)
                x = life_read(c, "archive", l.name, ".log", LIFE_LOG_MAX, &l.log, &l.has_log);
        if (x < 0)
                return x;
        *ret = l;
        l = LIFE_NULL;
        return 0;
}
