#include <stdbool.h>
#include <string.h>

#include "installer/units.h"

static const char *const units_suffixes[UNITS_COUNT] = {"path", "service", "timer",
                                                        "rearm.service"};

const char *units_suffix(size_t i) {
        return units_suffixes[i];
}

int units_template_name(size_t i, char **ret) {
        return str_printf(ret, "spoolgate.%s.in", units_suffixes[i]);
}

int units_name(const char *slug, size_t i, char **ret) {
        return str_printf(ret, "spoolgate-%s.%s", slug, units_suffixes[i]);
}

static int units_refused(int added) {
        return added < 0 ? added : UNITS_E_INVALID;
}

/* What a unit file can't hold: a line break would begin a directive of its own. */
static int units_check(const char *key, size_t key_len, const char *value, Str *why) {
        CLEANUP(str_done) Str escaped = STR_NULL;
        int r;

        r = str_add_escaped(&escaped, value, strlen(value), false);
        if (r < 0 || str_eq(escaped.data, value))
                return r;
        return units_refused(str_addf(
                why, "%.*s: a path with control characters or bad UTF-8 can't stand in a unit: %s",
                (int)key_len, key, escaped.data));
}

static int units_escape(const char *value, const char *backslashed, Str *out) {
        int r = 0;

        for (; *value && r == 0; value++) {
                if (strchr(backslashed, *value))
                        r = str_addc(out, '\\');
                if (r == 0 && *value == '%')
                        r = str_addc(out, '%');
                if (r == 0)
                        r = str_addc(out, *value);
        }
        return r;
}

static int units_put(const UnitsFill *f, const char *key, size_t len, Str *out, Str *why) {
        const struct {
                const char *key, *value, *backslashed;
                bool runs;
        } fields[] = {
                {"SLUG", f->slug, "", false},
                {"REQUESTS", f->requests, "",
                 false}, /* no quotes there: DirectoryNotEmpty= takes the whole line as it is */
                {"DRAIN", f->drain, "", true},
                {"PATH", f->path, "\"\\", false},
                {"CONFIG_HOME", f->config_home, "\"\\", false},
                {"STATE_HOME", f->state_home, "\"\\", false},
                {"SYSTEMCTL", f->systemctl, "", true},
                {"SLEEP", f->sleep, "", true},
        };

        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
                int r;

                if (strlen(fields[i].key) != len || memcmp(fields[i].key, key, len) != 0)
                        continue;
                r = units_check(key, len, fields[i].value, why);
                if (r == 0 && fields[i].runs && strpbrk(fields[i].value, "\"'\\"))
                        return units_refused(str_addf(why,
                                                      "systemd runs no program with a quote or a "
                                                      "backslash in its path: %s",
                                                      fields[i].value));
                return r != 0 ? r : units_escape(fields[i].value, fields[i].backslashed, out);
        }
        return units_refused(str_addf(why, "@%.*s@ is no word of a unit template", (int)len, key));
}

int units_fill(const char *text, const UnitsFill *fill, char **ret, Str *why) {
        CLEANUP(str_done) Str out = STR_NULL;
        int r = 0;

        while (*text && r == 0) {
                size_t plain = strcspn(text, "@"), key;

                r = str_add(&out, text, plain);
                text += plain;
                if (r < 0 || !*text)
                        break;
                key = strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
                if (key == 0 || text[1 + key] != '@') { /* an @ of its own */
                        r = str_addc(&out, *text++);
                        continue;
                }
                r = units_put(fill, text + 1, key, &out, why);
                text += key + 2;
        }
        return r != 0 ? r : str_take(&out, ret);
}
