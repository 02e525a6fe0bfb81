#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "operator/history.h"

enum { HISTORY_LOOKS = 3, HISTORY_PAUSE_NS = 100 * 1000 * 1000 };

int history_open(const Layout *l, int *ret_state_fd, Str *why) {
        PinRule rule = {geteuid(), 0022};
        int r = pin_host_dir(l->state, &rule, ret_state_fd);

        if (r <= 0)
                return r;
        r = str_addf(why, "%s %s\nspoolgate install --slug %s", l->state, pin_reason(r), l->slug);
        return r < 0 ? r : HISTORY_E_NONE;
}

static int history_ago(const char *text, size_t len, int64_t now_ms, int64_t *ret_ms) {
        static const struct {
                char unit;
                int64_t ms;
        } units[] = {{'s', 1000},
                     {'m', 60 * 1000},
                     {'h', 3600 * 1000},
                     {'d', 86400 * 1000LL},
                     {'w', 7 * 86400 * 1000LL}};
        char digits[16];
        unsigned long long n;

        if (len < 2 || len > sizeof(digits))
                return HISTORY_E_FORMAT;
        memcpy(digits, text, len - 1);
        digits[len - 1] = '\0';
        if (!str_parse_uint(digits, 1000 * 1000 * 1000, &n))
                return HISTORY_E_FORMAT;
        for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
                if (units[i].unit == text[len - 1]) {
                        int64_t ago = (int64_t)n * units[i].ms;

                        *ret_ms = ago < now_ms ? now_ms - ago : 0;
                        return 0;
                }
        return HISTORY_E_FORMAT;
}

int history_since(const char *text, int64_t now_ms, int64_t *ret_ms) {
        char whole[CLOCK_TEXT_SIZE];
        size_t len = strlen(text);

        if (clock_parse(text, ret_ms) == 0)
                return 0;
        if (len == 10) {
                memcpy(whole, text, len);
                memcpy(whole + len, "T00:00:00Z", sizeof("T00:00:00Z"));
                if (clock_parse(whole, ret_ms) == 0)
                        return 0;
        }
        return history_ago(text, len, now_ms, ret_ms);
}

int64_t history_time(const Record *r) {
        const char *text = record_str(r, "ts");
        int64_t ms;

        if (!text)
                text = record_str(r, "at");
        return text && clock_parse(text, &ms) == 0 ? ms : 0;
}

bool history_matches(const HistoryFilter *f, const Record *r) {
        const char *request = record_str(r, "request");

        if (history_time(r) < f->since_ms)
                return false;
        if (f->verb && !str_eq(f->verb, record_str(r, "verb")))
                return false;
        if (f->state && !str_eq(f->state, record_str(r, "state")))
                return false;
        return !f->request || (request && strstr(request, f->request));
}

static int history_add_what(const Record *r, Str *out) {
        const char *verb = record_str(r, "verb"), *arg = record_str(r, "arg");
        const char *state = record_str(r, "state"), *reason = record_str(r, "reason");
        const char *detail = record_str(r, "detail");
        int64_t n;
        int x = str_addf(out, "%s%s%s", verb ? verb : "-", arg ? " " : "", arg ? arg : "");

        if (x == 0 && (state || reason))
                x = str_addf(out, ": %s%s%s", state ? state : "", state && reason ? ": " : "",
                             reason ? reason : "");
        if (x == 0 && record_int(r, "exit", &n) && n != 0)
                x = str_addf(out, " %lld", (long long)n);
        if (x == 0 && record_int(r, "duration_ms", &n))
                x = str_addf(out, ", %lld.%03lld s", (long long)(n / 1000), (long long)(n % 1000));
        if (x == 0 && record_int(r, "left_out", &n))
                x = str_addf(out, ": %lld lines more, counted only", (long long)n);
        if (x == 0 && record_int(r, "bytes", &n))
                x = str_addf(out, ": %lld bytes of a torn line were cut off", (long long)n);
        if (x == 0 && detail)
                x = str_addf(out, " (%s)", detail);
        return x;
}

int history_format(const Record *r, Str *out) {
        const char *event = record_str(r, "event"), *request = record_str(r, "request");
        const char *by = record_str(r, "by");
        char when[CLOCK_TEXT_SIZE];
        int x;

        clock_format(history_time(r), when);
        x = str_addf(out, "%.10s %.8sZ  %-11s  ", when, when + 11, event ? event : "?");
        if (x == 0)
                x = history_add_what(r, out);
        if (x == 0 && by)
                x = str_addf(out, "  by %s", by);
        if (x == 0 && request)
                x = str_addf(out, "  %s", request);
        return x == 0 ? str_addc(out, '\n') : x;
}

typedef struct HistoryWalk {
        HistoryEach each;
        void *userdata;
        int64_t given; /* seq of the last record given */
} HistoryWalk;

static int history_line(void *userdata, const char *line, size_t len, const char *hash) {
        CLEANUP(record_freep) Record *r = NULL;
        HistoryWalk *w = userdata;
        RecordError error;
        int64_t seq;
        int x = record_parse(line, len, &r, &error);

        if (x < 0)
                return x;
        if (x > 0 || !record_int(r, "seq", &seq)) /* in the chain, but no JSON: seen by verify */
                return 0;
        if (seq <= w->given)
                return 0;
        w->given = seq;
        return w->each ? w->each(w->userdata, r, line, len, hash) : 0;
}

int history_read(int state_fd, HistoryEach each, void *userdata, Str *why, uint64_t *ret_lines) {
        HistoryWalk w = {each, userdata, 0};
        PinRule rule = {geteuid(), 0022};
        AuditBreak broken = {0};
        int r = 0;

        for (int look = 0; look < HISTORY_LOOKS; look++) {
                if (look > 0)
                        (void)nanosleep(&(struct timespec){0, HISTORY_PAUSE_NS}, NULL);
                r = audit_verify(state_fd, &rule, history_line, &w, &broken, ret_lines);
                if (r != AUDIT_E_BROKEN && r != AUDIT_E_RULE)
                        return r;
        }
        r = r == AUDIT_E_RULE ? str_addf(why, "%s %s", broken.file, broken.what)
                              : str_addf(why, "%s line %llu, record %llu, %s", broken.file,
                                         (unsigned long long)broken.line,
                                         (unsigned long long)broken.seq, broken.what);
        return r < 0 ? r : HISTORY_E_BROKEN;
}
