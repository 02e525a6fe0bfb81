#include "wire/record.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "wire/alloc.h"

struct Record { /* a json_t under another name: jansson.h stays in this room */
        json_t json;
};

static const json_t *record_json(const Record *r) {
        return &r->json;
}

/* jansson's iterators and lists take no const, but change nothing. */
static json_t *record_mutable(const Record *r) {
        return (json_t *)(uintptr_t)&r->json;
}

static Record *record_of(json_t *j) {
        return (Record *)j;
}

int record_new(Record **ret) {
        json_t *j = json_object();

        if (!j)
                return err_new(ENOMEM);
        *ret = record_of(j);
        return 0;
}

Record *record_free(Record *r) {
        if (r)
                json_decref(&r->json);
        return NULL;
}

void record_freep(Record **r) {
        *r = record_free(*r);
}

/* Steals value, NULL (no memory) included. */
static int record_put(Record *r, const char *key, json_t *value) {
        if (!value)
                return err_new(ENOMEM);
        return json_object_set_new(&r->json, key, value) < 0 ? err_new(ENOMEM) : 0;
}

/* jansson gives NULL for bad UTF-8 and for no memory alike. */
static int record_string(const char *value, size_t len, json_t **ret) {
        alloc_watch();
        *ret = json_stringn(value, len);
        if (*ret)
                return 0;
        return err_new(alloc_failed() ? ENOMEM : EILSEQ);
}

int record_put_bytes(Record *r, const char *key, const char *value, size_t len) {
        json_t *j = NULL;
        int e = record_string(value, len, &j);

        return e < 0 ? e : record_put(r, key, j);
}

int record_put_str(Record *r, const char *key, const char *value) {
        return value ? record_put_bytes(r, key, value, strlen(value)) : record_put_null(r, key);
}

int record_put_int(Record *r, const char *key, int64_t value) {
        return record_put(r, key, json_integer(value));
}

int record_put_bool(Record *r, const char *key, bool value) {
        return record_put(r, key, json_boolean(value));
}

int record_put_null(Record *r, const char *key) {
        return record_put(r, key, json_null());
}

int record_put_strv(Record *r, const char *key, const Strv *value) {
        json_t *list = json_array();

        if (!list)
                return err_new(ENOMEM);
        for (size_t i = 0; i < value->len; i++) {
                json_t *j = NULL;
                int e = record_string(value->items[i], strlen(value->items[i]), &j);
                if (e >= 0 && json_array_append_new(list, j) < 0)
                        e = err_new(ENOMEM);
                if (e < 0) {
                        json_decref(list);
                        return e;
                }
        }
        return record_put(r, key, list);
}

int record_put_list(Record *r, const char *key) {
        return record_put(r, key, json_array());
}

int record_put_take(Record *r, const char *key, Record **value) {
        if (json_object_set(&r->json, key, &(*value)->json) < 0)
                return err_new(ENOMEM);
        *value = record_free(*value); /* r holds the reference now */
        return 0;
}

int record_append_take(Record *r, const char *key, Record **value) {
        json_t *list = json_object_get(&r->json, key);

        if (!json_is_array(list)) {
                int e = record_put_list(r, key);
                if (e < 0)
                        return e;
                list = json_object_get(&r->json, key);
        }
        if (json_array_append(list, &(*value)->json) < 0)
                return err_new(ENOMEM);
        *value = record_free(*value);
        return 0;
}

static int record_dump(const Record *r, size_t flags, char **ret) {
        CLEANUP(str_freep) char *text = NULL;

        alloc_watch();
        text = json_dumps(record_json(r), flags);
        if (!text || alloc_failed())
                return err_new(ENOMEM);
        *ret = text;
        text = NULL;
        return 0;
}

/* ASCII, so that a line of the audit log drives no viewer whatever it carries. jansson leaves DEL
 * as it is. */
int record_format(const Record *r, char **ret) {
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_done) Str s = STR_NULL;
        const char *at, *del;
        int e = record_dump(r, JSON_COMPACT | JSON_ENSURE_ASCII, &text);

        if (e < 0)
                return e;
        for (at = text; e >= 0 && (del = strchr(at, 0x7f)); at = del + 1) {
                e = str_add(&s, at, (size_t)(del - at));
                if (e >= 0)
                        e = str_adds(&s, "\\u007F");
        }
        if (e >= 0)
                e = str_adds(&s, at);
        return e < 0 ? e : str_take(&s, ret);
}

int record_format_pretty(const Record *r, char **ret) {
        CLEANUP(str_freep) char *text = NULL;
        int e = record_dump(r, JSON_INDENT(2), &text);

        return e < 0 ? e : str_printf(ret, "%s\n", text);
}

static void record_fail(RecordError *error, int line, int column, const char *text) {
        error->line = line;
        error->column = column;
        (void)snprintf(error->text, sizeof(error->text), "%s", text);
}

int record_parse(const char *bytes, size_t len, Record **ret, RecordError *error) {
        json_error_t e;
        json_t *j;

        alloc_watch();
        j = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &e);
        if (alloc_failed()) {
                json_decref(j);
                return err_new(ENOMEM);
        }
        if (!j) {
                record_fail(error, e.line, e.column, e.text);
                return RECORD_E_SYNTAX;
        }
        if (!json_is_object(j)) {
                json_decref(j);
                record_fail(error, 1, 1, "an object is expected at the top");
                return RECORD_E_TYPE;
        }
        *ret = record_of(j);
        return 0;
}

bool record_has(const Record *r, const char *key) {
        return json_object_get(record_json(r), key) != NULL;
}

RecordType record_type(const Record *r, const char *key) {
        const json_t *j = json_object_get(record_json(r), key);

        if (!j)
                return RECORD_ABSENT;
        switch (json_typeof(j)) {
        case JSON_OBJECT:
                return RECORD_OBJECT;
        case JSON_ARRAY:
                return RECORD_LIST;
        case JSON_STRING:
                return RECORD_STR;
        case JSON_INTEGER:
                return RECORD_INT;
        case JSON_REAL:
                return RECORD_REAL;
        case JSON_TRUE:
        case JSON_FALSE:
                return RECORD_BOOL;
        case JSON_NULL:
                break;
        }
        return RECORD_NULL;
}

const char *record_str(const Record *r, const char *key) {
        return json_string_value(json_object_get(record_json(r), key));
}

bool record_int(const Record *r, const char *key, int64_t *ret) {
        const json_t *j = json_object_get(record_json(r), key);

        if (!json_is_integer(j))
                return false;
        *ret = json_integer_value(j);
        return true;
}

bool record_bool(const Record *r, const char *key, bool *ret) {
        const json_t *j = json_object_get(record_json(r), key);

        if (!json_is_boolean(j))
                return false;
        *ret = json_is_true(j);
        return true;
}

const Record *record_object(const Record *r, const char *key) {
        json_t *j = json_object_get(record_json(r), key);

        return json_is_object(j) ? record_of(j) : NULL;
}

size_t record_list_len(const Record *r, const char *key) {
        return json_array_size(
                json_object_get(record_json(r), key)); /* 0 for anything but a list */
}

const Record *record_list_at(const Record *r, const char *key, size_t i) {
        json_t *j = json_array_get(json_object_get(record_json(r), key), i);

        return json_is_object(j) ? record_of(j) : NULL;
}

int record_strv(const Record *r, const char *key, Strv *ret) {
        CLEANUP(strv_done) Strv v = STRV_NULL;
        const json_t *list = json_object_get(record_json(r), key);

        if (list && !json_is_null(list) && !json_is_array(list))
                return RECORD_E_TYPE;
        for (size_t i = 0; i < json_array_size(list); i++) {
                const char *text = json_string_value(json_array_get(list, i));
                int e;

                if (!text)
                        return RECORD_E_TYPE;
                e = strv_add(&v, text);
                if (e < 0)
                        return e;
        }
        *ret = v;
        v = STRV_NULL;
        return 0;
}

const char *record_key_at(const Record *r, size_t i) {
        json_t *j = record_mutable(r);
        void *at = json_object_iter(j);

        for (; at && i > 0; i--)
                at = json_object_iter_next(j, at);
        return at ? json_object_iter_key(at) : NULL;
}

const char *record_unknown(const Record *r, const char *const *known) {
        json_t *j = record_mutable(r);

        for (void *at = json_object_iter(j); at; at = json_object_iter_next(j, at)) {
                const char *key = json_object_iter_key(at);
                size_t i = 0;

                while (known[i] && strcmp(known[i], key) != 0)
                        i++;
                if (!known[i])
                        return key;
        }
        return NULL;
}
