#include <string.h>

#include "fs/pin.h"
#include "operator/policy-show.h"
#include "wire/record.h"

typedef struct PolicyShow {
        Str text; /* policy.conf */
        Str *out; /* one of these two */
        Record *json;
} PolicyShow;

/* Has the file a line for it? It parses, so KEY= at a line's beginning is one. */
static bool policy_show_said(const char *text, const char *key) {
        size_t n = strlen(key);

        for (const char *line = text; line; line = strchr(line, '\n')) {
                line += *line == '\n';
                if (strncmp(line, key, n) == 0 && line[n] == '=')
                        return true;
        }
        return false;
}

static int policy_show_text(PolicyShow *s, const char *key, const char *value) {
        bool said = s->text.data && policy_show_said(s->text.data, key);

        if (s->json)
                return record_put_str(s->json, key, value);
        return said ? str_addf(s->out, "%s=%s\n", key, value)
                    : str_addf(s->out, "%s=%-*s  (default)\n", key, 28 - (int)strlen(key), value);
}

static int policy_show_number(PolicyShow *s, const char *key, uint32_t value) {
        CLEANUP(str_freep) char *text = NULL;
        int r;

        if (s->json)
                return record_put_int(s->json, key, value);
        r = str_printf(&text, "%u", value);
        return r == 0 ? policy_show_text(s, key, text) : r;
}

static int policy_show_rate(PolicyShow *s, const char *key, PolicyRate rate) {
        CLEANUP(str_freep) char *text = NULL;
        int r = str_printf(&text, "%u/%u", rate.count, rate.window_sec);

        return r == 0 ? policy_show_text(s, key, text) : r;
}

static int policy_show_verb(PolicyShow *s, const Policy *p, const Verb *verb) {
        CLEANUP(str_freep) char *mode = NULL;
        CLEANUP(str_freep) char *timeout = NULL;
        int r = str_printf(&mode, "MODE_%s", verb->name);

        if (r == 0)
                r = str_printf(&timeout, "TIMEOUT_%s", verb->name);
        if (r == 0)
                r = policy_show_text(s, mode,
                                     policy_mode(p, verb) == POLICY_AUTO ? "auto" : "deny");
        if (r == 0 && verb->launch != VERB_SELF)
                r = policy_show_number(s, timeout, policy_timeout(p, verb));
        return r;
}

static const char *policy_show_integrity(PolicyIntegrity i) {
        switch (i) {
        case POLICY_SEAL:
                return "seal";
        case POLICY_HEAD:
                return "head";
        case POLICY_BOTH:
                break;
        }
        return "both";
}

static int policy_show_all(PolicyShow *s, const Config *c) {
        const Policy *p = c->policy;
        const struct {
                const char *key;
                uint32_t value;
        } numbers[] = {
                {"MAX_AGE", policy_max_age(p)},     {"QUEUE_DEPTH", policy_queue_depth(p)},
                {"LINGER_MS", policy_linger_ms(p)}, {"LANES_READ", policy_lanes_read(p)},
                {"KEEP_DAYS", policy_keep_days(p)}, {"KEEP_FILES", policy_keep_files(p)},
                {"KEEP_MIB", policy_keep_mib(p)},   {"KEEP_LEDGER", policy_keep_ledger(p)},
                {"AUDIT_DAY", policy_audit_day(p)},
        };
        const Verb *verb;
        int r = 0;

        for (size_t i = 0; r == 0 && (verb = table_at(c->table, i)); i++)
                r = policy_show_verb(s, p, verb);
        if (r == 0)
                r = policy_show_text(s, "SCOPE_CEILING", verb_scope_name(policy_ceiling(p)));
        if (r == 0)
                r = policy_show_text(s, "INTEGRITY", policy_show_integrity(policy_integrity(p)));
        if (r == 0)
                r = policy_show_rate(s, "RATE_PER_VERB", policy_rate_verb(p));
        if (r == 0)
                r = policy_show_rate(s, "RATE_TOTAL", policy_rate_total(p));
        if (r == 0)
                r = policy_show_rate(s, "AUDIT_REFUSALS", policy_audit_refusals(p));
        for (size_t i = 0; r == 0 && i < sizeof(numbers) / sizeof(numbers[0]); i++)
                r = policy_show_number(s, numbers[i].key, numbers[i].value);
        return r;
}

int policy_show(const Config *c, Str *out) {
        PolicyShow s = {.out = out};
        PinRule rule = config_rule(c);
        int r = pin_read_at(c->config_fd, "policy.conf", &rule, PIN_ANY_LINKS, POLICY_MAX_BYTES,
                            &s.text);

        if (r >= 0)
                r = policy_show_all(&s, c);
        str_done(&s.text);
        return r;
}

int policy_show_json(const Config *c, Str *out) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(record_freep) Record *settings = NULL;
        CLEANUP(str_freep) char *text = NULL;
        PolicyShow s = {0};
        int r = record_new(&root);

        if (r == 0)
                r = record_new(&settings);
        s.json = settings;
        if (r == 0)
                r = policy_show_all(&s, c);
        if (r == 0)
                r = record_put_str(root, "project", c->layout.slug);
        if (r == 0)
                r = record_put_take(root, "settings", &settings);
        if (r == 0)
                r = record_format_pretty(root, &text);
        return r == 0 ? str_adds(out, text) : r;
}
