/* status_format: a Status for people */
#include <string.h>

#include "base/clock.h"
#include "operator/status.h"

bool status_bad(const Status *s) {
        return s->trouble.len > 0 || s->policy_trouble || s->own_trouble || s->spool_bad ||
               s->rate_broken || s->audit_trouble.len > 0 || s->guard != GUARD_OK || s->seal_bad ||
               (s->has_units && str_eq(s->units.units[0].load, "loaded") &&
                !unitstates_good(&s->units));
}

int status_age(int64_t ms, Str *out) {
        int64_t sec = ms < 0 ? 0 : ms / 1000;

        if (sec < 120)
                return str_addf(out, "%lld s", (long long)sec);
        if (sec < 120 * 60)
                return str_addf(out, "%lld min", (long long)(sec / 60));
        if (sec < 48 * 3600)
                return str_addf(out, "%lld h", (long long)(sec / 3600));
        return str_addf(out, "%lld days", (long long)(sec / 86400));
}

static int status_say_units(const Status *s, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = 0;

        if (!s->has_units)
                return paint_row(p, "units", PAINT_WARN, "no user manager answers");
        if (unitstates_good(&s->units))
                return paint_row(p, "units", PAINT_GOOD, "path and timer active, enabled");
        for (size_t i = 0; r == 0 && i < UNITS_COUNT; i++) {
                const UnitState *u = &s->units.units[i];

                r = str_addf(&text, "%s%s ", i ? ", " : "", units_suffix(i));
                if (r == 0)
                        r = unitstate_word(u, &text);
                if (r == 0 && *u->enabled && i % 2 == 0) /* path and timer have an [Install] */
                        r = str_addf(&text, " (%s)", u->enabled);
        }
        return r < 0 ? r : paint_row(p, "units", PAINT_BAD, text.data);
}

static int status_say_queue(const Status *s, int64_t now_ms, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        if (s->spool_bad)
                return paint_row(p, "queue", PAINT_BAD, "the spool can't be opened");
        r = str_addf(&text, "%zu waiting, %zu in hand, %zu read-only running; drain %s", s->waiting,
                     s->processing, s->reading, s->draining ? "at work" : "idle");
        if (r == 0)
                r = paint_row(p, "queue", s->waiting > 0 && !s->draining ? PAINT_WARN : PAINT_PLAIN,
                              text.data);
        for (size_t i = 0; r == 0 && i < s->runs_len; i++) {
                const StatusRun *run = &s->runs[i];

                str_clear(&text);
                r = str_addf(&text, "%s%s%s for ", run->verb, run->arg ? " " : "",
                             run->arg ? run->arg : "");
                if (r == 0)
                        r = status_age(now_ms - run->began_ms, &text);
                if (r == 0)
                        r = paint_row(p, run->alive ? "running" : "unsettled",
                                      run->alive ? PAINT_PLAIN : PAINT_WARN, text.data);
        }
        return r;
}

static int status_say_rate(const Status *s, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        bool full = false;
        int r;

        if (s->rate_broken)
                return paint_row(p, "rate", PAINT_BAD, "STATE/rate/window doesn't parse");
        if (s->policy_trouble)
                return 0;
        r = str_addf(&text, "%u of %u in %u s", s->rate_used, s->rate_limit, s->rate_window_sec);
        for (size_t i = 0; r == 0 && i < s->rates_len; i++) {
                const StatusRate *one = &s->rates[i];

                r = str_addf(&text, "; %s %u of %u", one->what, one->used, one->limit);
                if (r == 0 && one->retry_ms > 0)
                        r = str_adds(&text, ", free in ");
                if (r == 0 && one->retry_ms > 0)
                        r = status_age(one->retry_ms + 999, &text);
                full = full || one->retry_ms > 0;
        }
        return r < 0 ? r : paint_row(p, "rate", full ? PAINT_WARN : PAINT_PLAIN, text.data);
}

/* Only where it is nearly used up: looks wait then. */
static int status_say_budget(const Status *s, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        if (s->audit_used < s->audit_day / 10 * 9)
                return 0;
        r = str_addf(&text,
                     "%u of AUDIT_DAY's %u lines are used up: what changes nothing waits, or is "
                     "only counted",
                     s->audit_used, s->audit_day);
        if (r == 0)
                r = paint_row(p, "audit", PAINT_WARN, text.data);
        str_clear(&text);
        if (r == 0)
                r = str_addf(&text, "spoolgate audit -s %s", s->slug);
        return r < 0 ? r : paint_command(p, text.data);
}

static PaintTone status_tone(State state) {
        switch (state) {
        case STATE_DONE:
                return PAINT_GOOD;
        case STATE_FAILED:
        case STATE_UNCERTAIN:
                return PAINT_BAD;
        case STATE_DENIED:
        case STATE_EXPIRED:
                return PAINT_WARN;
        case STATE_QUEUED:
        case STATE_RUNNING:
                break;
        }
        return PAINT_PLAIN;
}

static int status_say_past(const Status *s, int64_t now_ms, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = 0;

        if (s->audit_trouble.len > 0)
                r = paint_row(p, "audit", PAINT_BAD, s->audit_trouble.data);
        for (State i = STATE_DONE; r == 0 && i <= STATE_EXPIRED; i++)
                if (s->day[i] > 0)
                        r = str_addf(&text, "%s%llu %s", text.len ? ", " : "",
                                     (unsigned long long)s->day[i], state_name(i));
        if (r == 0)
                r = paint_row(p, "last day", PAINT_PLAIN, text.len ? text.data : "nothing");
        for (size_t i = 0; r == 0 && i < s->last_len; i++) {
                const StatusLast *one = &s->last[i];

                str_clear(&text);
                r = str_addf(&text, "%s: %s%s%s, ", one->what, state_name(one->state),
                             one->reason ? ": " : "", one->reason ? one->reason : "");
                if (r == 0)
                        r = status_age(now_ms - one->at_ms, &text);
                if (r == 0)
                        r = str_adds(&text, " ago");
                if (r == 0)
                        r = paint_row(p, i ? "" : "latest", status_tone(one->state), text.data);
        }
        return r;
}

static int status_say_guard(const Status *s, int64_t now_ms, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = paint_row(p, "integrity", s->guard == GUARD_OK ? PAINT_GOOD : PAINT_BAD,
                          s->guard_text.data);

        if (r == 0 && s->sealed) {
                r = status_age(now_ms - s->seal_ms, &text);
                if (r == 0)
                        r = str_addf(&text, " old, by %s%s%.12s", s->seal_by,
                                     s->seal_commit ? ", commit " : "",
                                     s->seal_commit ? s->seal_commit : "");
        } else if (r == 0) {
                r = str_adds(&text, s->seal_bad ? "damaged" : "none");
        }
        return r < 0 ? r
                     : paint_row(p, "seal",
                                 s->seal_bad ? PAINT_BAD
                                 : s->sealed ? PAINT_PLAIN
                                             : PAINT_WARN,
                                 text.data);
}

static int status_say_pause(const Status *s, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        const HostPause *pause = &s->pause;
        int r;

        if (!pause->paused)
                return paint_row(p, "paused", PAINT_PLAIN, "no");
        r = str_addf(&text, "yes%s%s%s%s", pause->by ? ", by " : "", pause->by ? pause->by : "",
                     pause->at ? " at " : "", pause->at ? pause->at : "");
        if (r == 0 && pause->reason)
                r = str_addf(&text, ": %s", pause->reason);
        return r < 0 ? r : paint_row(p, "paused", PAINT_WARN, text.data);
}

static int status_say_disk(const Status *s, Paint *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = str_adds(&text, "spool ");

        if (r == 0)
                r = disk_text(s->spool.bytes, &text);
        if (r == 0)
                r = str_addf(&text, "%s, state ", s->spool.more ? " or more" : "");
        if (r == 0)
                r = disk_text(s->state.bytes, &text);
        if (r == 0)
                r = str_adds(&text, "; free ");
        if (r == 0)
                r = disk_text(s->spool.free_bytes < s->state.free_bytes ? s->spool.free_bytes
                                                                        : s->state.free_bytes,
                              &text);
        return r < 0 ? r : paint_row(p, "disk", PAINT_PLAIN, text.data);
}

/* Its last line is a command when it has several. */
static int status_say_trouble(const char *label, const char *text, Paint *p) {
        CLEANUP(str_freep) char *copy = NULL;
        char *command;
        int r = str_dup(text, &copy);

        if (r < 0)
                return r;
        command = strrchr(copy, '\n');
        if (command)
                *command++ = '\0';
        r = paint_row(p, label, PAINT_BAD, copy);
        return r == 0 && command ? paint_command(p, command) : r;
}

int status_format(const Status *s, int64_t now_ms, Paint *p) {
        CLEANUP(str_done) Str title = STR_NULL;
        int r = str_addf(&title, "%s%s%s%s", s->slug, s->stack ? "  (" : "",
                         s->stack ? s->stack : "", s->stack ? ")" : "");

        if (r == 0)
                r = paint_title(p, PAINT_STRONG, title.data);
        if (r == 0 && s->trouble.len > 0)
                return status_say_trouble("broken", s->trouble.data, p);
        if (r == 0)
                r = paint_row(p, "checkout", PAINT_PLAIN, s->checkout);
        if (r == 0 && s->policy_trouble)
                r = paint_row(p, "policy", PAINT_BAD, s->policy_trouble);
        if (r == 0 && s->own_trouble)
                r = paint_row(p, "own verbs", PAINT_BAD, s->own_trouble);
        if (r == 0)
                r = status_say_units(s, p);
        if (r == 0)
                r = paint_row(p, "lingering", s->linger ? PAINT_GOOD : PAINT_WARN,
                              s->linger ? "on" : "off: it all ends with your last login");
        if (r == 0)
                r = status_say_queue(s, now_ms, p);
        if (r == 0)
                r = status_say_rate(s, p);
        if (r == 0 && !s->policy_trouble)
                r = status_say_budget(s, p);
        if (r == 0)
                r = status_say_past(s, now_ms, p);
        if (r == 0)
                r = status_say_guard(s, now_ms, p);
        if (r == 0)
                r = status_say_pause(s, p);
        if (r == 0)
                r = status_say_disk(s, p);
        if (r == 0 && status_bad(s)) {
                str_clear(&title);
                r = str_addf(&title, "spoolgate doctor -s %s", s->slug);
                if (r == 0)
                        r = paint_command(p, title.data);
        }
        return r;
}
