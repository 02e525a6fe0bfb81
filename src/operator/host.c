#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "drain/judge.h"
#include "operator/host.h"
#include "operator/project.h"
#include "record/rate.h"

enum { HOST_FILES_NAMED = 8, HOST_PAUSE_MAX = 4096 };

int host_load(const char *slug, Config *ret, Str *why) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        CLEANUP(bridge_freep) Bridge *b = NULL;
        CLEANUP(str_freep) char *message = NULL;
        int r;

        r = project_open(slug, &l, &b, why);
        if (r != 0)
                return r == PROJECT_E_NONE ? HOST_E_NONE : r > 0 ? HOST_E_BROKEN : r;
        r = config_load(l.slug, ret, &message);
        if (r <= 0)
                return r;
        r = str_adds(why, message);
        return r < 0 ? r : HOST_E_BROKEN;
}

int host_guard_text(const Guard *g, Str *out) {
        const Strv *files = guard_files(g);
        int r = str_adds(out, guard_message(g));

        for (size_t i = 0; r == 0 && i < files->len && i < HOST_FILES_NAMED; i++) {
                r = str_adds(out, i == 0 ? ": " : ", ");
                if (r == 0)
                        r = str_add_escaped(out, files->items[i], strlen(files->items[i]), false);
                if (r == 0)
                        r = str_addf(out, " %s", guard_why(g, i));
        }
        if (r == 0 && files->len > HOST_FILES_NAMED)
                r = str_addf(out, " and %zu more", files->len - HOST_FILES_NAMED);
        return r;
}

void host_pause_done(HostPause *p) {
        str_freep(&p->at);
        str_freep(&p->by);
        str_freep(&p->reason);
}

static int host_pause_line(const char *line, size_t len, HostPause *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        const struct {
                const char *key;
                char **value;
        } keys[] = {{"at ", &p->at}, {"by ", &p->by}, {"reason ", &p->reason}};

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
                size_t n = strlen(keys[i].key);
                int r;

                if (*keys[i].value || len <= n || memcmp(line, keys[i].key, n) != 0)
                        continue;
                r = str_add_escaped(&text, line + n, len - n, false);
                return r == 0 ? str_take(&text, keys[i].value) : r;
        }
        return 0;
}

int host_pause_parse(const char *text, HostPause *ret) {
        int r = 0;

        ret->paused = true;
        while (r == 0 && *text) {
                size_t len = strcspn(text, "\n");

                r = host_pause_line(text, len, ret);
                text += len + (text[len] == '\n');
        }
        return r;
}

int host_pause(const Config *c, HostPause *ret) {
        CLEANUP(host_pause_done) HostPause p = HOST_PAUSE_NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        PinRule rule = config_rule(c);
        int r = 0;

        p.paused = judge_paused(c);
        if (p.paused)
                r = pin_read_at(c->state_fd, "paused", &rule, PIN_ANY_LINKS, HOST_PAUSE_MAX, &text);
        if (p.paused && r == 0 && text.len > 0)
                r = host_pause_parse(text.data, &p);
        if (r < 0)
                return r;
        *ret = p;
        p = HOST_PAUSE_NULL;
        return 0;
}

int host_rate(const Config *c, const char *verb, const char *arg, HostRate *ret) {
        CLEANUP(str_freep) char *key = NULL;
        PolicyRate one = policy_rate_verb(c->policy), all = policy_rate_total(c->policy);
        HostRate rate = {.limit = one.count, .limit_total = all.count};
        PinRule rule = config_rule(c);
        int r = str_printf(&key, "%s%s%s", verb, arg ? "." : "", arg ? arg : "");

        if (r == 0)
                r = rate_peek(c->state_fd, &rule, key,
                              (RateLimit){one.count, (int64_t)one.window_sec * 1000},
                              (RateLimit){all.count, (int64_t)all.window_sec * 1000},
                              clock_wall_ms(), &rate.retry_ms, &rate.used, &rate.used_total);
        if (r < 0)
                return r;
        rate.broken = r > 0;
        *ret = rate;
        return 0;
}
