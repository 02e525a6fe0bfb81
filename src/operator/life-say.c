/* life_format, life_json: a Life for people and for programs */
#include <string.h>

#include "base/hash.h"
#include "operator/gatelist.h"
#include "operator/history.h"
#include "operator/life.h"

const char *life_tail(const char *text, size_t len, size_t n, size_t *ret_len) {
        size_t at = len;

        if (n > 0 && at > 0 && text[at - 1] == '\n')
                at--;
        for (; n > 0 && at > 0; at--)
                if (text[at - 1] == '\n' && --n == 0)
                        break;
        *ret_len = len - at;
        return text + at;
}

/* Every line behind a bar, so that nothing in it passes for a line of ours. */
static int life_quote(Str *out, const char *text, size_t len) {
        int r = 0;

        for (size_t at = 0; r == 0 && at < len;) {
                const char *end = memchr(text + at, '\n', len - at);
                size_t n = end ? (size_t)(end - text) - at : len - at;

                r = str_adds(out, "  | ");
                if (r == 0)
                        r = str_add_escaped(out, text + at, n, false);
                if (r == 0)
                        r = str_addc(out, '\n');
                at += n + 1;
        }
        return r;
}

static const Record *life_event(const Life *l, const char *event) {
        for (size_t i = 0; i < l->len; i++)
                if (str_eq(record_str(l->events[i], "event"), event))
                        return l->events[i];
        return NULL;
}

static int life_gates(const Life *l, Str *out) {
        const Record *start = life_event(l, "start"), *refused = life_event(l, "refused");
        const char *gate = refused ? record_str(refused, "gate") : NULL;
        const char *about = gatelist_about(gate);
        CLEANUP(str_done) Str passed = STR_NULL;
        int r = 0;

        if (!start && !gate)
                return 0;
        /* With a ledger key or not: only mutating verbs always have one. */
        r = gatelist_before(start ? NULL : gate, true, &passed);
        if (r == 0 && passed.len > 0)
                r = str_addf(out, "gates passed  %s%s\n", passed.data,
                             start && !record_str(start, "key") ? " (those that apply)" : "");
        if (r == 0 && !start)
                r = str_addf(out, "decided by    %s%s%s%s\n", gate, about ? " (" : "",
                             about ? about : "", about ? ")" : "");
        return r;
}

static int life_start(const Life *l, Str *out) {
        const Record *start = life_event(l, "start");
        const char *argv = start ? record_str(start, "argv") : NULL;
        const char *unit = start ? record_str(start, "unit") : NULL;
        int r = 0;

        if (argv)
                r = str_addf(out, "argv          %s\n", argv);
        if (r == 0 && unit)
                r = str_addf(out, "scope         %s\n", unit);
        return r;
}

static int life_answer(const Life *l, Str *out) {
        const Response *a;
        int r;

        if (!l->response)
                return str_adds(out, "answer        none yet\n");
        a = response_of(l->response);
        r = str_addf(out, "answer        %s%s%s%s\n", state_name(a->state), a->reason ? ": " : "",
                     a->reason ? reason_name(a->reason) : "",
                     l->from_ledger ? " (from the ledger)" : " (from the spool)");
        if (r == 0 && a->has_exit)
                r = str_addf(out, "exit          %d\n", a->exit);
        if (r == 0 && a->has_signal)
                r = str_addf(out, "signal        %d\n", a->signal);
        if (r == 0 && a->duration_ms >= 0)
                r = str_addf(out, "duration      %lld.%03lld s\n",
                             (long long)(a->duration_ms / 1000),
                             (long long)(a->duration_ms % 1000));
        if (r == 0 && a->message)
                r = life_quote(out, a->message, strlen(a->message));
        return r;
}

static int life_output(const Life *l, size_t lines, Str *out) {
        const Response *a = l->response ? response_of(l->response) : NULL;
        const char *text = l->has_log ? l->log.data : a && a->has_output ? a->output : NULL;
        size_t len = l->has_log ? l->log.len : a && a->has_output ? a->output_len : 0;
        int r;

        if (!text || len == 0)
                return 0;
        text = life_tail(text, len, lines, &len);
        r = str_addf(out, "%s\n", l->has_log ? "log           (from the spool)" : "output");
        return r == 0 ? life_quote(out, text, len) : r;
}

/* The file in the spool against what was claimed; an approved run has left its order's there. */
static bool life_changed(const Life *l) {
        char is[HASH_HEX_SIZE];
        bool claimed = false;

        if (life_event(l, "approved"))
                return false;
        hash_sha256(l->body.data ? l->body.data : "", l->body.len, is);
        for (size_t i = 0; i < l->len; i++) { /* its name may have come more than once */
                const char *was = record_str(l->events[i], "sha256");

                if (was && str_eq(is, was))
                        return false;
                claimed = claimed || was;
        }
        return claimed;
}

int life_format(const Life *l, size_t log_lines, Str *out) {
        int r = str_addf(out, "request       %s\n", l->name);

        if (r == 0)
                r = l->place ? str_addf(out, "file          %s/%s\n", l->place,
                                        life_changed(l) ? " (not the bytes that were claimed)" : "")
                             : str_adds(out, "file          gone\n");
        if (r == 0 && l->place)
                r = life_quote(out, l->body.data ? l->body.data : "", l->body.len);
        if (r == 0 && l->len > 0)
                r = str_adds(out, "audit\n");
        for (size_t i = 0; r == 0 && i < l->len; i++) {
                r = str_adds(out, "  ");
                if (r == 0)
                        r = history_format(l->events[i], out);
        }
        if (r == 0)
                r = life_gates(l, out);
        if (r == 0)
                r = life_start(l, out);
        if (r == 0)
                r = life_answer(l, out);
        return r == 0 ? life_output(l, log_lines, out) : r;
}

static int life_put(Record *r, const char *key, const char *text, size_t len) {
        CLEANUP(str_done) Str escaped = STR_NULL;
        int x = str_add_escaped(&escaped, text, len, true);

        return x == 0 ? record_put_bytes(r, key, escaped.data ? escaped.data : "", escaped.len) : x;
}

static int life_put_answer(const Life *l, Record *root) {
        CLEANUP(record_freep) Record *answer = NULL;
        CLEANUP(str_done) Str line = STR_NULL;
        RecordError error;
        int r;

        if (!l->response)
                return record_put_null(root, "response");
        r = response_format(response_of(l->response), &line);
        if (r == 0)
                r = record_parse(line.data, line.len, &answer, &error);
        if (r > 0)
                return record_put_null(root, "response");
        if (r == 0)
                r = record_put_take(root, "response", &answer);
        return r == 0 ? record_put_bool(root, "from_ledger", l->from_ledger) : r;
}

static int life_put_events(const Life *l, Record *root) {
        int r = record_put_list(root, "events");

        for (size_t i = 0; r == 0 && i < l->len; i++) {
                CLEANUP(record_freep) Record *copy = NULL;
                CLEANUP(str_freep) char *text = NULL;
                RecordError error;

                r = record_format(l->events[i], &text);
                if (r == 0)
                        r = record_parse(text, strlen(text), &copy, &error);
                if (r == 0)
                        r = record_append_take(root, "events", &copy);
        }
        return r;
}

int life_json(const Life *l, size_t log_lines, Str *out) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(str_freep) char *text = NULL;
        const char *tail;
        size_t len;
        int r = record_new(&root);

        if (r == 0)
                r = record_put_str(root, "request", l->name);
        if (r == 0)
                r = record_put_str(root, "place", l->place);
        if (r == 0 && l->place)
                r = life_put(root, "body", l->body.data ? l->body.data : "", l->body.len);
        if (r == 0)
                r = life_put_events(l, root);
        if (r == 0)
                r = life_put_answer(l, root);
        if (r == 0 && l->has_log) {
                tail = life_tail(l->log.data ? l->log.data : "", l->log.len, log_lines, &len);
                r = life_put(root, "log_tail", tail, len);
        }
        if (r == 0)
                r = record_format_pretty(root, &text);
        return r == 0 ? str_adds(out, text) : r;
}
