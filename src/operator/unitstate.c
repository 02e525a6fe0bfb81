#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

#include "installer/child.h"
#include "installer/systemctl.h"
#include "operator/unitstate.h"

enum { UNITSTATE_TIMEOUT_MS = 10 * 1000, UNITSTATE_MAX = 64 * 1024 };

void unitstates_done(UnitStates *s) {
        for (size_t i = 0; i < UNITS_COUNT; i++) {
                str_freep(&s->units[i].name);
                str_freep(&s->units[i].load);
                str_freep(&s->units[i].active);
                str_freep(&s->units[i].enabled);
                str_freep(&s->units[i].result);
                str_freep(&s->units[i].reload);
                str_freep(&s->units[i].limit);
        }
}

static int unitstate_take(UnitState *u, const char *line, size_t len) {
        const struct {
                const char *key;
                char **value;
        } keys[] = {{"LoadState=", &u->load},          {"ActiveState=", &u->active},
                    {"UnitFileState=", &u->enabled},   {"Result=", &u->result},
                    {"NeedDaemonReload=", &u->reload}, {"StartLimitIntervalUSec=", &u->limit}};

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
                size_t n = strlen(keys[i].key);

                if (len < n || memcmp(line, keys[i].key, n) != 0)
                        continue;
                str_freep(keys[i].value);
                return str_printf(keys[i].value, "%.*s", (int)(len - n), line + n);
        }
        return 0;
}

int unitstates_parse(const char *text, UnitStates *s) {
        size_t unit = 0;
        int r = 0;

        while (r == 0 && *text && unit < UNITS_COUNT) {
                size_t len = strcspn(text, "\n");

                if (len == 0)
                        unit++;
                else
                        r = unitstate_take(&s->units[unit], text, len);
                text += len + (text[len] == '\n');
        }
        for (size_t i = 0; r == 0 && i < UNITS_COUNT; i++) {
                char **all[] = {&s->units[i].load,   &s->units[i].active, &s->units[i].enabled,
                                &s->units[i].result, &s->units[i].reload, &s->units[i].limit};

                for (size_t k = 0; r == 0 && k < sizeof(all) / sizeof(all[0]); k++)
                        r = *all[k] ? 0 : str_dup("", all[k]);
        }
        return r;
}

static int unitstates_said(int added) {
        return added < 0 ? added : UNITSTATE_E_MANAGER;
}

static int unitstates_ask(UnitStates *s, Str *output, Str *why) {
        const char *argv[5 + UNITS_COUNT + 1] = {
                systemctl_path(), "--user", "show",
                "--property=LoadState,ActiveState,UnitFileState,Result,"
                "NeedDaemonReload,StartLimitIntervalUSec",
                "--"};
        int status, r;

        for (size_t i = 0; i < UNITS_COUNT; i++)
                argv[5 + i] = s->units[i].name;
        r = child_run(argv, UNITSTATE_TIMEOUT_MS, UNITSTATE_MAX, true, output, &status);
        if (r == CHILD_E_SPAWN)
                return unitstates_said(str_addf(why, "%s is not there", argv[0]));
        if (r == CHILD_E_TIMEOUT)
                return unitstates_said(str_adds(why, "systemctl --user show did not end"));
        if (r < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
                return r;
        while (output->len > 0 && output->data[output->len - 1] == '\n')
                output->data[--output->len] = '\0';
        return unitstates_said(str_adds(why, output->len > 0 ? output->data : "systemctl failed"));
}

int unitstates_read(const char *slug, UnitStates *ret, Str *why) {
        CLEANUP(unitstates_done) UnitStates s = {0};
        CLEANUP(str_done) Str output = STR_NULL;
        int r = 0;

        for (size_t i = 0; r == 0 && i < UNITS_COUNT; i++)
                r = units_name(slug, i, &s.units[i].name);
        if (r == 0)
                r = unitstates_ask(&s, &output, why);
        if (r == 0)
                r = unitstates_parse(output.data ? output.data : "", &s);
        if (r != 0)
                return r;
        *ret = s;
        s = (UnitStates){0};
        return 0;
}

bool unitstates_good(const UnitStates *s) {
        for (size_t i = 0; i < UNITS_COUNT; i++)
                if (!str_eq(s->units[i].load, "loaded") || str_eq(s->units[i].active, "failed"))
                        return false;
        return str_eq(s->units[0].active, "active") && str_eq(s->units[2].active, "active") &&
               str_eq(s->units[0].enabled, "enabled") && str_eq(s->units[2].enabled, "enabled");
}

int unitstate_word(const UnitState *u, Str *out) {
        if (str_eq(u->load, "not-found"))
                return str_adds(out, "not installed");
        if (str_eq(u->active, "failed"))
                return str_addf(out, "failed: %s", u->result);
        return str_adds(out, *u->active ? u->active : "unknown");
}
