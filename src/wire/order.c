#include "wire/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "verb/table.h"
#include "wire/record.h"

static const char *const order_keys[] = {
        "v",   "order",       "request",     "verb",  "arg",    "by", "at",
        "key", "fingerprint", "timeout_sec", "event", "detail", NULL,
};
static const char *const order_kinds[] = {"run", "approve", "cancel", "note"};
static const char *const order_events[] = {
        "paused", "resumed", "sealed", "told", "reaped", "resolved", "upgraded", "keyed", "edited",
};
enum {
        ORDER_KINDS = sizeof(order_kinds) / sizeof(order_kinds[0]),
        ORDER_EVENTS = sizeof(order_events) / sizeof(order_events[0]),
};

void order_done(Order *o) {
        str_freep(&o->verb);
        str_freep(&o->arg);
        str_freep(&o->by);
        str_freep(&o->key);
        str_freep(&o->fingerprint);
        str_freep(&o->detail);
        *o = ORDER_NULL;
}

const char *order_name(OrderKind k) {
        return order_kinds[k];
}

const char *order_event_at(size_t i) {
        return i < ORDER_EVENTS ? order_events[i] : NULL;
}

static bool order_find(const char *word, const char *const *words, size_t len, size_t *ret) {
        for (size_t i = 0; word && i < len; i++)
                if (str_eq(word, words[i])) {
                        *ret = i;
                        return true;
                }
        return false;
}

static bool order_line_ok(const char *s, size_t max) {
        size_t len = strlen(s);

        for (size_t i = 0; i < len; i++)
                if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
                        return false;
        return len >= 1 && len <= max;
}

static bool order_verb_ok(const Order *o) {
        return o->verb && table_verb_shape(o->verb, strlen(o->verb)) &&
               str_eq(o->verb, o->name.verb) &&
               (!o->arg || table_arg_shape(o->arg, strlen(o->arg)));
}

static bool order_hex_ok(const char *hex) {
        return hex && hash_is_hex(hex, HASH_HEX_SIZE - 1);
}

/* Which members a kind has, and their form. */
static bool order_check(const Order *o) {
        bool runs = o->kind == ORDER_RUN || o->kind == ORDER_APPROVE;
        size_t event;

        if (!o->by || !order_line_ok(o->by, ORDER_BY_MAX) || o->at_ms < 0)
                return false;
        if (runs ? !order_verb_ok(o) || o->timeout_sec > ORDER_TIMEOUT_MAX
                 : o->verb || o->arg || o->timeout_sec > 0)
                return false;
        if (o->kind == ORDER_APPROVE ? !order_hex_ok(o->key) || !order_hex_ok(o->fingerprint)
                                     : o->key || o->fingerprint)
                return false;
        if (o->kind == ORDER_NOTE ? !order_find(o->event, order_events, ORDER_EVENTS, &event)
                                  : o->event != NULL)
                return false;
        return !o->detail || (o->kind == ORDER_NOTE && order_line_ok(o->detail, ORDER_DETAIL_MAX));
}

/* A text, or null, or absent. */
static int order_text(const Record *r, const char *key, char **ret) {
        RecordType type = record_type(r, key);

        if (type != RECORD_ABSENT && type != RECORD_NULL && type != RECORD_STR)
                return ORDER_E_INVALID;
        return str_dup(record_str(r, key), ret);
}

static int order_texts(const Record *r, Order *o) {
        const struct {
                const char *key;
                char **to;
        } texts[] = {
                {"verb", &o->verb},
                {"arg", &o->arg},
                {"by", &o->by},
                {"key", &o->key},
                {"fingerprint", &o->fingerprint},
                {"detail", &o->detail},
        };
        int e = 0;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && e == 0; i++)
                e = order_text(r, texts[i].key, texts[i].to);
        return e;
}

static bool order_timeout(const Record *r, uint32_t *ret) {
        RecordType type = record_type(r, "timeout_sec");
        int64_t value;

        if (type == RECORD_ABSENT || type == RECORD_NULL)
                return true;
        if (!record_int(r, "timeout_sec", &value) || value < 1 || value > ORDER_TIMEOUT_MAX)
                return false;
        *ret = (uint32_t)value;
        return true;
}

static bool order_event(const Record *r, Order *o) {
        RecordType type = record_type(r, "event");
        size_t found;

        if (o->kind != ORDER_NOTE)
                return type == RECORD_ABSENT || type == RECORD_NULL;
        if (!order_find(record_str(r, "event"), order_events, ORDER_EVENTS, &found))
                return false;
        o->event = order_events[found];
        return true;
}

static bool order_frame(const Record *r, Order *o) {
        const char *name = record_str(r, "request"), *at = record_str(r, "at");
        int64_t version;
        size_t kind;

        if (record_unknown(r, order_keys) || !record_int(r, "v", &version) || version != 1 ||
            !order_find(record_str(r, "order"), order_kinds, ORDER_KINDS, &kind))
                return false;
        o->kind = (OrderKind)kind;
        return name && at && name_parse(name, &o->name) == 0 && clock_parse(at, &o->at_ms) == 0 &&
               order_timeout(r, &o->timeout_sec) && order_event(r, o);
}

int order_parse(const char *bytes, size_t len, Order *ret) {
        CLEANUP(record_freep) Record *record = NULL;
        CLEANUP(order_done) Order o = ORDER_NULL;
        RecordError error;
        int r;

        if (len > ORDER_MAX_BYTES)
                return ORDER_E_INVALID;
        r = record_parse(bytes, len, &record, &error);
        if (r != 0)
                return r < 0 ? r : ORDER_E_INVALID;
        if (!order_frame(record, &o))
                return ORDER_E_INVALID;
        r = order_texts(record, &o);
        if (r != 0)
                return r;
        if (!order_check(&o))
                return ORDER_E_INVALID;
        *ret = o;
        o = ORDER_NULL;
        return 0;
}

int order_format(const Order *o, char **ret) {
        CLEANUP(record_freep) Record *record = NULL;
        CLEANUP(str_freep) char *line = NULL;
        char at[CLOCK_TEXT_SIZE];
        int r;

        if (!order_check(o))
                return err_new(EINVAL);
        clock_format(o->at_ms, at);
        r = record_new(&record);
        if (r == 0)
                r = record_put_int(record, "v", 1);
        if (r == 0)
                r = record_put_str(record, "order", order_kinds[o->kind]);
        if (r == 0)
                r = record_put_str(record, "request", o->name.text);
        if (r == 0)
                r = record_put_str(record, "verb", o->verb);
        if (r == 0)
                r = record_put_str(record, "arg", o->arg);
        if (r == 0)
                r = record_put_str(record, "by", o->by);
        if (r == 0)
                r = record_put_str(record, "at", at);
        if (r == 0)
                r = record_put_str(record, "key", o->key);
        if (r == 0)
                r = record_put_str(record, "fingerprint", o->fingerprint);
        if (r == 0)
                r = o->timeout_sec > 0 ? record_put_int(record, "timeout_sec", o->timeout_sec)
                                       : record_put_null(record, "timeout_sec");
        if (r == 0)
                r = record_put_str(record, "event", o->event);
        if (r == 0)
                r = record_put_str(record, "detail", o->detail);
        if (r == 0)
                r = record_format(record, &line);
        return r < 0 ? r : str_printf(ret, "%s\n", line);
}

void order_file(const Order *o, int64_t now_ms, Name *ret) {
        if (o->kind == ORDER_RUN || o->kind == ORDER_APPROVE)
                *ret = o->name;
        else
                name_make(order_kinds[o->kind], now_ms, ret);
}

void order_done_name(const Name *file, char ret[ORDER_DONE_SIZE]) {
        static const char suffix[] = ".json";
        size_t len = strlen(file->text) - (sizeof(suffix) - 1);

        (void)snprintf(ret, ORDER_DONE_SIZE, "%.*s.done%s", (int)len, file->text, suffix);
}
