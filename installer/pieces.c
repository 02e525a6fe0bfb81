#include "installer/pieces.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "installer/programs.h"
#include "installer/systemctl.h"
#include "installer/units.h"
#include "policy/policy.h"
#include "spool/spool.h"

enum { PIECES_POLICY_MAX = POLICY_MAX_BYTES, PIECES_REQUEST_MAX = 1024 * 1024 };

static int pieces_refused(int added) {
        return added < 0 ? added : PIECES_E_REFUSED;
}

/* Formatted and parsed again: what we write, the drain will take. */
int pieces_bridge(const Survey *s, Str *ret, Str *why) {
        CLEANUP(bridge_freep) Bridge *again = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_freep) char *message = NULL;
        int r;

        r = bridge_format(&s->bridge, &text);
        if (r == -EILSEQ)
                return pieces_refused(
                        str_addf(why, "%s: a name that is not UTF-8", s->checkout.root.path));
        if (r == 0)
                r = bridge_parse(text, strlen(text), &again, &message);
        if (r == BRIDGE_E_INVALID)
                return pieces_refused(str_addf(why, "this can't be a bridge file: %s", message));
        return r < 0 ? r : str_adds(ret, text);
}

static int pieces_add_program(Plan *p, const Layout *l, const char *name, bool needed,
                              Strv *warnings, Str *why) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_done) Str reason = STR_NULL;
        int r;

        r = programs_read(PROGRAMS_BINARY, name, PROGRAMS_MAX_BYTES, &bytes, &reason);
        if (r > 0)
                return needed ? pieces_refused(str_adds(why, reason.data))
                              : strv_add(warnings, reason.data);
        return r < 0 ? r : plan_add_file(p, -EBADF, l->lib, name, &bytes, 0755, 0);
}

int pieces_programs(Plan *p, const Layout *l, Strv *warnings, Str *why) {
        int r;

        r = plan_add_dir(p, -EBADF, l->lib, 0700, 0);
        if (r == 0)
                r = pieces_add_program(p, l, "spoolgate-drain", true, warnings, why);
        return r != 0 ? r : pieces_add_program(p, l, "spoolgate-inspect", false, warnings, why);
}

int pieces_config(Plan *p, const Layout *l, Str *why) {
        CLEANUP(str_done) Str policy = STR_NULL;
        int r;

        r = programs_read(PROGRAMS_POLICY, "policy.conf", PIECES_POLICY_MAX, &policy, why);
        if (r > 0)
                return PIECES_E_REFUSED;
        if (r == 0)
                r = plan_add_dir(p, -EBADF, l->config, 0700, 0);
        return r < 0 ? r
                     : plan_add_file(p, -EBADF, l->config, "policy.conf", &policy, 0600, PLAN_ONCE);
}

int pieces_state(Plan *p, const Layout *l) {
        static const char *const dirs[] = {"",      "/ledger", "/ledger/begun", "/ledger/ended",
                                           "/rate", "/seal",   "/run"};
        int r = 0;

        for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && r == 0; i++) {
                CLEANUP(str_freep) char *path = NULL;

                r = str_printf(&path, "%s%s", l->state, dirs[i]);
                if (r == 0)
                        r = plan_add_dir(p, -EBADF, path, 0700, 0);
        }
        return r;
}

/* See install.h about an agent of another uid. */
static mode_t pieces_spool_mode(const Bridge *b, SpoolDir d) {
        bool foreign = b->agent_uid >= 0 && b->agent_uid != (int64_t)geteuid();

        return foreign && (d == SPOOL_REQUESTS || d == SPOOL_TMP) ? 01777 : 0755;
}

int pieces_spool(Plan *p, const Survey *s, Str *why) {
        CLEANUP(str_done) Str client = STR_NULL;
        int fd = s->checkout.fd, r;

        r = programs_read(PROGRAMS_AGENT, "spoolgate-request", PIECES_REQUEST_MAX, &client, why);
        if (r > 0)
                return PIECES_E_REFUSED;
        if (r == 0)
                r = plan_add_dir(p, fd, s->bridge.spool, 0755, 0);
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT && r == 0; d++) {
                CLEANUP(str_freep) char *path = NULL;

                r = str_printf(&path, "%s/%s", s->bridge.spool, spool_dir_name(d));
                if (r == 0)
                        r = plan_add_dir(p, fd, path, pieces_spool_mode(&s->bridge, d), 0);
        }
        return r < 0 ? r
                     : plan_add_file(p, fd, s->bridge.spool, "spoolgate-request", &client, 0755, 0);
}

static int pieces_add_unit(Plan *p, const Layout *l, size_t i, const UnitsFill *fill, Str *why) {
        CLEANUP(str_freep) char *template = NULL;
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_done) Str filled = STR_NULL;
        int r;

        r = units_template_name(i, &template);
        if (r == 0)
                r = units_name(l->slug, i, &name);
        if (r == 0)
                r = programs_read(PROGRAMS_UNITS, template, UNITS_TEMPLATE_MAX, &bytes, why);
        if (r == 0)
                r = units_fill(bytes.data, fill, &text, why);
        if (r > 0)
                return PIECES_E_REFUSED;
        if (r == 0)
                r = str_adds(&filled, text);
        return r < 0 ? r : plan_add_file(p, -EBADF, l->units, name, &filled, 0644, 0);
}

/* XDG_CONFIG_HOME or XDG_STATE_HOME again, out of ".../spoolgate" or ".../spoolgate/SLUG". */
static int pieces_base_of(const char *path, int parts, char **ret) {
        CLEANUP(str_freep) char *copy = NULL;
        int r = str_dup(path, &copy);

        for (; r == 0 && parts > 0; parts--)
                *strrchr(copy, '/') = '\0';
        if (r < 0)
                return r;
        *ret = copy;
        copy = NULL;
        return 0;
}

int pieces_units(Plan *p, const Survey *s, Str *why) {
        CLEANUP(str_freep) char *requests = NULL;
        CLEANUP(str_freep) char *drain = NULL;
        CLEANUP(str_freep) char *config = NULL;
        CLEANUP(str_freep) char *state = NULL;
        int r;

        r = str_printf(&requests, "%s/%s/%s", s->checkout.root.path, s->bridge.spool,
                       spool_dir_name(SPOOL_REQUESTS));
        if (r == 0)
                r = str_printf(&drain, "%s/spoolgate-drain", s->layout.lib);
        if (r == 0)
                r = pieces_base_of(s->layout.config_root, 1, &config);
        if (r == 0)
                r = pieces_base_of(s->layout.state, 2, &state);
        if (r == 0)
                r = plan_add_dir(p, -EBADF, s->layout.units, 0755, PLAN_SHARED);
        for (size_t i = 0; i < UNITS_COUNT && r == 0; i++)
                r = pieces_add_unit(p, &s->layout, i,
                                    &(UnitsFill){s->layout.slug, requests, drain, s->bridge.path,
                                                 config, state, systemctl_path(),
                                                 access("/usr/bin/sleep", X_OK) == 0
                                                         ? "/usr/bin/sleep"
                                                         : "/bin/sleep"},
                                    why);
        return r;
}
