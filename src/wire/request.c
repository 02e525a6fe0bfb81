#include "wire/request.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/str.h"
#include "wire/alloc.h"

enum { REQUEST_KEY_MAX = 128, REQUEST_MAC_HEX = 64, REQUEST_SKEW_MS = 60 * 1000 };

static const char *const request_keys[] = {
        "verb",        "arg",         "requested_at",     "idempotency_key",
        "max_age_sec", "timeout_sec", "permission_scope", "mac",
        NULL,
};

typedef struct RequestFault {
        Reason reason;
        const char *detail;
} RequestFault;

Request *request_free(Request *r) {
        if (!r)
                return NULL;
        free(r->verb);
        free(r->arg);
        free(r->idempotency_key);
        free(r->mac);
        free(r);
        return NULL;
}

void request_freep(Request **r) {
        *r = request_free(*r);
}

static int request_refuse(RequestFault *fault, Reason reason, const char *detail) {
        fault->reason = reason;
        fault->detail = detail;
        return REQUEST_E_REFUSED;
}

static int request_malformed(RequestFault *fault, const char *detail) {
        return request_refuse(fault, REASON_MALFORMED, detail);
}

/* Before the parser sees a byte: how deep do brackets outside strings nest? */
static bool request_too_deep(const char *bytes, size_t len) {
        bool in_string = false;
        int depth = 0;

        for (size_t i = 0; i < len; i++) {
                char c = bytes[i];

                if (in_string) {
                        if (c == '\\')
                                i++;
                        else if (c == '"')
                                in_string = false;
                } else if (c == '"') {
                        in_string = true;
                } else if (c == '{' || c == '[') {
                        if (++depth > REQUEST_MAX_DEPTH)
                                return true;
                } else if (c == '}' || c == ']') {
                        depth--;
                }
        }
        return false;
}

static int request_check_keys(json_t *body, RequestFault *fault) {
        const char *key;
        json_t *value;

        if (json_object_size(body) > REQUEST_MAX_KEYS)
                return request_malformed(fault, "the body has more than 16 keys");
        json_object_foreach(body, key, value) {
                size_t i = 0;

                while (request_keys[i] && strcmp(request_keys[i], key) != 0)
                        i++;
                if (!request_keys[i])
                        return request_refuse(
                                fault, REASON_UNKNOWN_KEY,
                                "the body has a key that protocol version 1 does not know");
        }
        return 0;
}

/* *ret_text points into body, NULL when the key is absent. */
static int request_string(const json_t *body, const char *key, const char *not_string,
                          RequestFault *fault, const char **ret_text) {
        const json_t *j = json_object_get(body, key);

        if (j && !json_is_string(j))
                return request_malformed(fault, not_string);
        *ret_text = json_string_value(j);
        return 0;
}

static int request_uint(const json_t *body, const char *key, const char *not_uint,
                        RequestFault *fault, uint32_t *ret) {
        const json_t *j = json_object_get(body, key);

        if (!j) {
                *ret = 0;
                return 0;
        }
        if (!json_is_integer(j) || json_integer_value(j) < 1 || json_integer_value(j) > UINT32_MAX)
                return request_malformed(fault, not_uint);
        *ret = (uint32_t)json_integer_value(j);
        return 0;
}

static bool request_key_shape(const char *s) {
        size_t len = strlen(s);

        return len >= 1 && len <= REQUEST_KEY_MAX &&
               strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") ==
                       len;
}

static int request_take_verb(const json_t *body, Request *q, RequestFault *fault) {
        const char *verb, *arg;
        int r;

        r = request_string(body, "verb", "verb must be a string", fault, &verb);
        if (r > 0)
                return r;
        if (!verb)
                return request_malformed(fault, "verb is missing");
        r = request_string(body, "arg", "arg must be a string", fault, &arg);
        if (r > 0)
                return r;
        if (strcmp(verb, q->name.verb) != 0)
                return request_refuse(fault, REASON_NAME_MISMATCH,
                                      "the body's verb is not the file name's verb");
        r = str_dup(verb, &q->verb);
        return r < 0 ? r : str_dup(arg, &q->arg);
}

static int request_take_time(const json_t *body, Request *q, RequestFault *fault) {
        const char *text;
        int64_t apart;
        int r;

        r = request_string(body, "requested_at", "requested_at must be a string", fault, &text);
        if (r > 0)
                return r;
        if (!text)
                return request_malformed(fault, "requested_at is missing");
        if (clock_parse(text, &q->requested_ms) > 0 || q->requested_ms < 0)
                return request_malformed(
                        fault, "requested_at must be RFC 3339 in UTC: YYYY-MM-DDTHH:MM:SSZ");
        apart = q->requested_ms - q->name.stamp_ms;
        if (apart > REQUEST_SKEW_MS || apart < -REQUEST_SKEW_MS)
                return request_refuse(
                        fault, REASON_NAME_MISMATCH,
                        "requested_at and the file name's stamp are more than 60 seconds apart");
        return 0;
}

static int request_take_key(const json_t *body, Request *q, RequestFault *fault) {
        const char *text;
        int r;

        r = request_string(body, "idempotency_key", "idempotency_key must be a string", fault,
                           &text);
        if (r > 0)
                return r;
        if (text && !request_key_shape(text))
                return request_malformed(fault,
                                         "idempotency_key must be 1 to 128 of A-Z a-z 0-9 . _ : -");
        r = str_dup(text, &q->idempotency_key);
        if (r < 0)
                return r;
        r = request_string(body, "mac", "mac must be a string", fault, &text);
        if (r > 0)
                return r;
        if (text && !hash_is_hex(text, REQUEST_MAC_HEX))
                return request_malformed(fault, "mac must be 64 lower-case hexadecimal digits");
        return str_dup(text, &q->mac);
}

static int request_take_limits(const json_t *body, Request *q, RequestFault *fault) {
        const char *scope;
        int r;

        r = request_uint(body, "max_age_sec", "max_age_sec must be an integer of 1 or more", fault,
                         &q->max_age_sec);
        if (r > 0)
                return r;
        r = request_uint(body, "timeout_sec", "timeout_sec must be an integer of 1 or more", fault,
                         &q->timeout_sec);
        if (r > 0)
                return r;
        r = request_string(body, "permission_scope", "permission_scope must be a string", fault,
                           &scope);
        if (r > 0)
                return r;
        q->has_scope = scope != NULL;
        if (scope && !verb_scope_parse(scope, &q->scope))
                return request_malformed(fault,
                                         "permission_scope must be plan, readonly, edit or full");
        return 0;
}

/* Types first, so that a body that is wrong in itself is malformed whatever its name says. */
static int request_take(json_t *body, Request *q, RequestFault *fault) {
        int r;

        if (!json_is_object(body))
                return request_malformed(fault, "the body must be one JSON object");
        r = request_check_keys(body, fault);
        if (r == 0)
                r = request_take_limits(body, q, fault);
        if (r == 0)
                r = request_take_key(body, q, fault);
        if (r == 0)
                r = request_take_verb(body, q, fault);
        if (r == 0)
                r = request_take_time(body, q, fault);
        return r;
}

static int request_load(const char *bytes, size_t len, RequestFault *fault, json_t **ret) {
        json_error_t e;

        if (len > REQUEST_MAX_BYTES)
                return request_malformed(fault, "the body is larger than 64 KiB");
        if (request_too_deep(bytes, len))
                return request_malformed(fault, "the body nests deeper than 4");
        alloc_watch();
        *ret = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &e);
        if (alloc_failed()) {
                json_decref(*ret);
                *ret = NULL;
                return err_new(ENOMEM);
        }
        if (*ret)
                return 0;
        switch (json_error_code(&e)) {
        case json_error_out_of_memory:
                return err_new(ENOMEM);
        case json_error_duplicate_key:
                return request_malformed(fault, "the body has a key twice");
        case json_error_invalid_utf8:
                return request_malformed(fault, "the body is not valid UTF-8");
        case json_error_null_character:
        case json_error_null_byte_in_key:
                return request_malformed(fault, "the body has a NUL character");
        case json_error_numeric_overflow:
                return request_malformed(fault, "the body has a number out of range");
        case json_error_unknown:
        case json_error_stack_overflow:
        case json_error_invalid_argument:
        case json_error_cannot_open_file:
        case json_error_premature_end_of_input:
        case json_error_end_of_input_expected:
        case json_error_invalid_syntax:
        case json_error_invalid_format:
        case json_error_wrong_type:
        case json_error_null_value:
        case json_error_item_not_found:
        case json_error_index_out_of_range:
                break;
        }
        return request_malformed(fault, "the body is not valid JSON");
}

int request_parse(const Name *name, const char *bytes, size_t len, Request **ret,
                  Reason *ret_reason, const char **ret_detail) {
        CLEANUP(request_freep) Request *q = NULL;
        RequestFault fault = {REASON_NONE, NULL};
        json_t *body = NULL;
        int r;

        q = calloc(1, sizeof(*q));
        if (!q)
                return err_new(ENOMEM);
        q->name = *name;
        r = request_load(bytes, len, &fault, &body);
        if (r == 0) {
                r = request_take(body, q, &fault);
                json_decref(body);
        }
        if (r > 0) {
                *ret_reason = fault.reason;
                *ret_detail = fault.detail;
        }
        if (r != 0)
                return r;
        *ret = q;
        q = NULL;
        return 0;
}

void request_fingerprint(const Request *r, char hex[65]) {
        char verb[HASH_HEX_SIZE], arg[HASH_HEX_SIZE] = "-", text[256];
        int len;

        /* Each free text is hashed first: fixed memory, and no value can pass for another's. */
        hash_sha256(r->verb, strlen(r->verb), verb);
        if (r->arg)
                hash_sha256(r->arg, strlen(r->arg), arg);
        len = snprintf(text, sizeof(text), "spoolgate-1 %s %s %s %lu %lu", verb, arg,
                       r->has_scope ? verb_scope_name(r->scope) : "-",
                       (unsigned long)r->timeout_sec, (unsigned long)r->max_age_sec);
        hash_sha256(text, (size_t)len, hex);
}

static int request_put(json_t *body, const char *key, json_t *value) {
        return value && json_object_set_new(body, key, value) == 0 ? 0 : err_new(ENOMEM);
}

static int request_put_all(const Request *q, json_t *body) {
        char at[CLOCK_TEXT_SIZE];
        int r;

        clock_format(q->requested_ms, at);
        r = request_put(body, "verb", json_string(q->verb));
        if (r == 0 && q->arg)
                r = request_put(body, "arg", json_string(q->arg));
        if (r == 0)
                r = request_put(body, "requested_at", json_string(at));
        if (r == 0 && q->idempotency_key)
                r = request_put(body, "idempotency_key", json_string(q->idempotency_key));
        if (r == 0 && q->max_age_sec)
                r = request_put(body, "max_age_sec", json_integer(q->max_age_sec));
        if (r == 0 && q->timeout_sec)
                r = request_put(body, "timeout_sec", json_integer(q->timeout_sec));
        if (r == 0 && q->has_scope)
                r = request_put(body, "permission_scope", json_string(verb_scope_name(q->scope)));
        if (r == 0 && q->mac)
                r = request_put(body, "mac", json_string(q->mac));
        return r;
}

int request_format(const Request *q, char **ret) {
        CLEANUP(str_freep) char *text = NULL;
        json_t *body = json_object();
        int r;

        if (!body)
                return err_new(ENOMEM);
        r = request_put_all(q, body);
        if (r == 0) {
                alloc_watch();
                text = json_dumps(body, JSON_COMPACT);
                if (!text || alloc_failed())
                        r = err_new(ENOMEM);
        }
        json_decref(body);
        if (r == 0) {
                *ret = text;
                text = NULL;
        }
        return r;
}
