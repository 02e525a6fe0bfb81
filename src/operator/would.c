#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "operator/history.h"
#include "operator/would.h"

enum { WOULD_GROUPS_MAX = 10000 };

void would_done(Would *w) {
        for (size_t i = 0; i < w->len; i++) {
                str_freep(&w->groups[i].setting);
                str_freep(&w->groups[i].what);
        }
        free(w->groups);
        *w = WOULD_NULL;
}

typedef struct WouldRow {
        const char *reason, *setting, *remedy;
} WouldRow;

static const WouldRow would_rows[] = {
        {"rate", "RATE_PER_VERB, RATE_TOTAL", "spoolgate policy --edit"},
        {"scope", "SCOPE_CEILING, or the request's permission_scope", "spoolgate policy --edit"},
        {"expired", "MAX_AGE, or the request's max_age_sec", "spoolgate policy --edit"},
        {"queue-full", "QUEUE_DEPTH", "spoolgate policy --edit"},
        {"paused", "pause", "spoolgate resume"},
        {"integrity-modified", "guarded files differ", "spoolgate seal"},
        {"integrity-unsealed", "guarded files are not sealed", "spoolgate seal"},
        {"integrity-env", "an env file differs", "spoolgate seal"},
        {"integrity-error", "the integrity check can't be made", "spoolgate doctor"},
        {"unknown-verb", "no such verb: verbs.json", "spoolgate verbs"},
        {"arg-not-listed", "the verb's list of args", "spoolgate verbs"},
        {"hard-denied", "none: denied in code", ""},
        {"host-config", "the configuration is broken", "spoolgate verbs --check"},
        {"host-error", "the host's state directory", "spoolgate doctor"},
        {"bad-mac", "the project's key", ""},
        {"future-dated", "the agent's clock", ""},
};

static const WouldRow *would_find(const char *reason) {
        for (size_t i = 0; reason && i < sizeof(would_rows) / sizeof(would_rows[0]); i++)
                if (str_eq(would_rows[i].reason, reason))
                        return &would_rows[i];
        return NULL;
}

const char *would_remedy(const char *reason) {
        const WouldRow *row = would_find(reason);

        return str_eq(reason, "policy") ? "spoolgate policy --edit" : row ? row->remedy : "";
}

int would_setting(const char *reason, const char *verb, char **ret) {
        const WouldRow *row = would_find(reason);

        if (str_eq(reason, "policy"))
                return str_printf(ret, "MODE_%s=deny", verb ? verb : "?");
        if (row)
                return str_dup(row->setting, ret);
        return str_printf(ret, "the request itself: %s", reason ? reason : "?");
}

static int would_count(Would *w, char **setting, char **what, int64_t when_ms) {
        WouldGroup *g;

        for (size_t i = 0; i < w->len; i++) {
                g = &w->groups[i];
                if (!str_eq(g->setting, *setting) || !str_eq(g->what, *what))
                        continue;
                g->count++;
                g->last_ms = when_ms > g->last_ms ? when_ms : g->last_ms;
                return 0;
        }
        if (w->len == WOULD_GROUPS_MAX)
                return 0;
        g = reallocarray(w->groups, w->len + 1, sizeof(*g));
        if (!g)
                return err_new(ENOMEM);
        w->groups = g;
        w->groups[w->len++] = (WouldGroup){*setting, *what, 1, when_ms};
        *setting = *what = NULL;
        return 0;
}

int would_add(Would *w, const Record *r) {
        CLEANUP(str_freep) char *setting = NULL;
        CLEANUP(str_freep) char *what = NULL;
        const char *event = record_str(r, "event"), *verb = record_str(r, "verb");
        const char *arg = record_str(r, "arg");
        int64_t left_out;
        int x;

        if (str_eq(event, "summed") && record_int(r, "left_out", &left_out) && left_out > 0)
                w->left_out += (uint64_t)left_out;
        if (!str_eq(event, "refused"))
                return 0;
        x = would_setting(record_str(r, "reason"), verb, &setting);
        if (x == 0)
                x = str_printf(&what, "%s%s%s", verb ? verb : "-", arg ? " " : "", arg ? arg : "");
        return x == 0 ? would_count(w, &setting, &what, history_time(r)) : x;
}

static int would_compare(const void *a, const void *b) {
        const WouldGroup *x = a, *y = b;
        int order;

        if (x->count != y->count)
                return x->count > y->count ? -1 : 1;
        if (x->last_ms != y->last_ms)
                return x->last_ms > y->last_ms ? -1 : 1;
        order = strcmp(x->setting, y->setting);
        return order ? order : strcmp(x->what, y->what);
}

void would_sort(Would *w) {
        if (w->len > 1)
                qsort(w->groups, w->len, sizeof(*w->groups), would_compare);
}

int would_format(const Would *w, Str *out) {
        int r = w->len == 0 ? str_adds(out, "nothing was refused\n") : 0;

        for (size_t i = 0; i < w->len && r == 0; i++) {
                const WouldGroup *g = &w->groups[i];
                char when[CLOCK_TEXT_SIZE];

                clock_format(g->last_ms, when);
                r = str_addf(out, "%6llu  %-28s  %s  (last %.10s %.8sZ)\n",
                             (unsigned long long)g->count, g->setting, g->what, when, when + 11);
        }
        if (r == 0 && w->left_out > 0)
                r = str_addf(out,
                             "%6llu  lines more were only counted (AUDIT_REFUSALS, AUDIT_DAY)\n",
                             (unsigned long long)w->left_out);
        return r;
}

int would_record(const Would *w, Record *ret) {
        int r = record_put_list(ret, "groups");

        for (size_t i = 0; i < w->len && r == 0; i++) {
                CLEANUP(record_freep) Record *row = NULL;
                char when[CLOCK_TEXT_SIZE];

                clock_format(w->groups[i].last_ms, when);
                r = record_new(&row);
                if (r == 0)
                        r = record_put_str(row, "setting", w->groups[i].setting);
                if (r == 0)
                        r = record_put_str(row, "what", w->groups[i].what);
                if (r == 0)
                        r = record_put_int(row, "count", (int64_t)w->groups[i].count);
                if (r == 0)
                        r = record_put_str(row, "last", when);
                if (r == 0)
                        r = record_append_take(ret, "groups", &row);
        }
        return r < 0 ? r : record_put_int(ret, "left_out", (int64_t)w->left_out);
}
