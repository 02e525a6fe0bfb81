#include "wire/response.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "wire/alloc.h"

struct ResponseDoc {
        json_t *root;
        Response response;
};

/* Length of the well-formed UTF-8 sequence of two or more bytes at s (RFC 3629 section 4), 0 when
 * it is not one. */
static size_t response_utf8(const unsigned char *s, size_t left) {
        unsigned char low = 0x80, high = 0xbf;
        size_t n;

        if (s[0] >= 0xc2 && s[0] <= 0xdf)
                n = 2;
        else if (s[0] >= 0xe0 && s[0] <= 0xef)
                n = 3;
        else if (s[0] >= 0xf0 && s[0] <= 0xf4)
                n = 4;
        else
                return 0;
        if (left < n)
                return 0;
        if (s[0] == 0xe0)
                low = 0xa0; /* overlong */
        else if (s[0] == 0xed)
                high = 0x9f; /* surrogates */
        else if (s[0] == 0xf0)
                low = 0x90; /* overlong */
        else if (s[0] == 0xf4)
                high = 0x8f; /* above U+10FFFF */
        if (s[1] < low || s[1] > high)
                return 0;
        for (size_t i = 2; i < n; i++)
                if (s[i] < 0x80 || s[i] > 0xbf)
                        return 0;
        return n;
}

static bool response_plain(unsigned char c) {
        return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static int response_add_escape(Str *s, unsigned char c) {
        switch (c) {
        case '"':
                return str_adds(s, "\\\"");
        case '\\':
                return str_adds(s, "\\\\");
        case '\n':
                return str_adds(s, "\\n");
        case '\r':
                return str_adds(s, "\\r");
        case '\t':
                return str_adds(s, "\\t");
        case '\0':
                return err_new(EILSEQ); /* no reader of ours accepts a NUL */
        default:
                return str_addf(s, "\\u%04x", (unsigned)c);
        }
}

/* A JSON string; runs of plain bytes are copied whole, because 64 KiB of output pass here for each
 * run. */
static int response_add_text(Str *s, const char *text, size_t len) {
        const unsigned char *p = (const unsigned char *)text;
        size_t i = 0;
        int r;

        r = str_reserve(s, len + 2);
        if (r >= 0)
                r = str_addc(s, '"');
        while (r >= 0 && i < len) {
                size_t from = i, n;

                while (i < len) {
                        if (response_plain(p[i]))
                                i++;
                        else if (p[i] >= 0x80 && (n = response_utf8(p + i, len - i)) > 0)
                                i += n;
                        else
                                break;
                }
                if (i > from)
                        r = str_add(s, text + from, i - from);
                if (r < 0 || i == len)
                        continue;
                if (p[i] >= 0x80)
                        return err_new(EILSEQ);
                r = response_add_escape(s, p[i++]);
        }
        return r < 0 ? r : str_addc(s, '"');
}

static int response_add_str(Str *s, const char *key, const char *value, size_t len) {
        int r = str_addf(s, ",\"%s\":", key);

        if (r < 0)
                return r;
        return value ? response_add_text(s, value, len) : str_adds(s, "null");
}

static int response_add_cstr(Str *s, const char *key, const char *value) {
        return response_add_str(s, key, value, value ? strlen(value) : 0);
}

static int response_add_int(Str *s, const char *key, bool has, int64_t value) {
        return has ? str_addf(s, ",\"%s\":%lld", key, (long long)value)
                   : str_addf(s, ",\"%s\":null", key);
}

static int response_add_bool(Str *s, const char *key, bool value) {
        return str_addf(s, ",\"%s\":%s", key, value ? "true" : "false");
}

static int response_add_time(Str *s, const char *key, int64_t ms) {
        char text[CLOCK_TEXT_SIZE];

        if (ms == 0)
                return response_add_cstr(s, key, NULL);
        clock_format(ms, text);
        return response_add_cstr(s, key, text);
}

static int response_add_head(Str *s, const Response *p) {
        int r = str_adds(s, "{\"v\":1");

        if (r >= 0)
                r = response_add_cstr(s, "request", p->request);
        if (r >= 0)
                r = response_add_cstr(s, "state", state_name(p->state));
        if (r >= 0)
                r = response_add_cstr(s, "reason", reason_name(p->reason));
        if (r >= 0)
                r = response_add_cstr(s, "message", p->message);
        if (r >= 0)
                r = response_add_cstr(s, "verb", p->verb);
        if (r >= 0)
                r = response_add_cstr(s, "arg", p->arg);
        if (r >= 0)
                r = response_add_int(s, "exit", p->has_exit, p->exit);
        if (r >= 0)
                r = response_add_int(s, "signal", p->has_signal, p->signal);
        if (r >= 0)
                r = response_add_time(s, "started_at", p->started_ms);
        if (r >= 0)
                r = response_add_time(s, "finished_at", p->finished_ms);
        if (r >= 0)
                r = response_add_int(s, "duration_ms", p->duration_ms >= 0, p->duration_ms);
        return r;
}

static int response_add_tail(Str *s, const Response *p) {
        const char *output = p->has_output ? (p->output ? p->output : "") : NULL;
        int r = response_add_str(s, "output", output, p->output_len);

        if (r >= 0)
                r = response_add_int(s, "output_bytes", p->has_output, (int64_t)p->output_bytes);
        if (r >= 0)
                r = response_add_bool(s, "truncated", p->truncated);
        if (r >= 0)
                r = response_add_cstr(s, "log", p->log);
        if (r >= 0)
                r = response_add_bool(s, "replayed", p->replayed);
        if (r >= 0)
                r = response_add_int(s, "retry_after_sec", p->retry_after_sec >= 0,
                                     p->retry_after_sec);
        if (r >= 0)
                r = response_add_int(s, "ahead", p->ahead >= 0, p->ahead);
        return r < 0 ? r : str_adds(s, "}\n");
}

int response_format(const Response *p, Str *ret) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r;

        if (p->output_len > RESPONSE_OUTPUT_MAX || (p->output_len > 0 && !p->output) ||
            p->output_bytes > INT64_MAX)
                return err_new(EINVAL);
        r = response_add_head(&s, p);
        if (r >= 0)
                r = response_add_tail(&s, p);
        if (r < 0)
                return r;
        str_done(ret);
        *ret = s;
        s = STR_NULL;
        return 0;
}

ResponseDoc *response_free(ResponseDoc *d) {
        if (!d)
                return NULL;
        json_decref(d->root);
        free(d);
        return NULL;
}

void response_freep(ResponseDoc **d) {
        *d = response_free(*d);
}

const Response *response_of(const ResponseDoc *d) {
        return &d->response;
}

/* Present and of the type, or null: false is a syntax error. */
static bool response_get_str(const json_t *root, const char *key, const char **ret,
                             size_t *ret_len) {
        const json_t *j = json_object_get(root, key);

        if (!json_is_string(j) && !json_is_null(j))
                return false;
        *ret = json_string_value(j);
        if (ret_len)
                *ret_len = json_string_length(j);
        return true;
}

static bool response_get_int(const json_t *root, const char *key, int64_t min, int64_t max,
                             bool *ret_has, int64_t *ret) {
        const json_t *j = json_object_get(root, key);

        if (json_is_null(j)) {
                *ret_has = false;
                return true;
        }
        if (!json_is_integer(j) || json_integer_value(j) < min || json_integer_value(j) > max)
                return false;
        *ret_has = true;
        *ret = json_integer_value(j);
        return true;
}

static bool response_get_bool(const json_t *root, const char *key, bool *ret) {
        const json_t *j = json_object_get(root, key);

        *ret = json_is_true(j);
        return json_is_boolean(j);
}

static bool response_get_time(const json_t *root, const char *key, int64_t *ret) {
        const char *text;

        if (!response_get_str(root, key, &text, NULL))
                return false;
        *ret = 0;
        return !text || (clock_parse(text, ret) == 0 && *ret >= 0);
}

static bool response_take_codes(const json_t *root, Response *p) {
        const char *state, *reason;

        if (!response_get_str(root, "state", &state, NULL) || !state ||
            !state_parse(state, &p->state))
                return false;
        if (!response_get_str(root, "reason", &reason, NULL))
                return false;
        p->reason = REASON_NONE;
        return !reason || reason_parse(reason, &p->reason);
}

static bool response_take_numbers(const json_t *root, Response *p) {
        int64_t v = 0;
        bool has;

        if (!response_get_int(root, "exit", 0, 255, &p->has_exit, &v))
                return false;
        p->exit = p->has_exit ? (int)v : 0;
        if (!response_get_int(root, "signal", 1, 127, &p->has_signal, &v))
                return false;
        p->signal = p->has_signal ? (int)v : 0;
        return response_get_int(root, "duration_ms", 0, INT64_MAX, &has, &p->duration_ms) &&
               response_get_int(root, "retry_after_sec", 0, INT64_MAX, &has, &p->retry_after_sec) &&
               response_get_int(root, "ahead", 0, INT64_MAX, &has, &p->ahead);
}

static bool response_take_output(const json_t *root, Response *p) {
        int64_t bytes = 0;
        bool has;

        if (!response_get_str(root, "output", &p->output, &p->output_len) ||
            p->output_len > RESPONSE_OUTPUT_MAX ||
            !response_get_int(root, "output_bytes", 0, INT64_MAX, &has, &bytes))
                return false;
        p->has_output = p->output != NULL;
        p->output_bytes = (uint64_t)bytes;
        return has == p->has_output;
}

static bool response_take(const json_t *root, Response *p) {
        enum { RESPONSE_KEYS = 19 };

        *p = RESPONSE_NULL;
        return json_is_object(root) && json_object_size(root) == RESPONSE_KEYS &&
               json_integer_value(json_object_get(root, "v")) == 1 &&
               response_get_str(root, "request", &p->request, NULL) &&
               response_take_codes(root, p) &&
               response_get_str(root, "message", &p->message, NULL) &&
               response_get_str(root, "verb", &p->verb, NULL) &&
               response_get_str(root, "arg", &p->arg, NULL) && response_take_numbers(root, p) &&
               response_get_time(root, "started_at", &p->started_ms) &&
               response_get_time(root, "finished_at", &p->finished_ms) &&
               response_take_output(root, p) &&
               response_get_bool(root, "truncated", &p->truncated) &&
               response_get_str(root, "log", &p->log, NULL) &&
               response_get_bool(root, "replayed", &p->replayed);
}

bool response_peek(const char *bytes, size_t len, const char *request, State *ret) {
        char head[RESPONSE_HEAD_MAX], word[16] = "";
        int n = snprintf(head, sizeof(head), "{\"v\":1,\"request\":\"%s\",\"state\":\"", request);
        size_t at = (size_t)n, i = 0;

        if (n < 0 || at >= sizeof(head) || len < at || memcmp(bytes, head, at) != 0)
                return false;
        while (at < len && bytes[at] != '"' && i < sizeof(word) - 1)
                word[i++] = bytes[at++];
        word[i] = '\0';
        return at < len && bytes[at] == '"' && state_parse(word, ret);
}

int response_parse(const char *bytes, size_t len, ResponseDoc **ret) {
        CLEANUP(response_freep) ResponseDoc *d = calloc(1, sizeof(*d));
        json_error_t e;

        if (!d)
                return err_new(ENOMEM);
        alloc_watch();
        d->root = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &e);
        if (alloc_failed())
                return err_new(ENOMEM);
        if (!d->root || !response_take(d->root, &d->response))
                return RESPONSE_E_SYNTAX;
        *ret = d;
        d = NULL;
        return 0;
}
