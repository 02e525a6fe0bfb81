#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "installer/install.h"
#include "installer/plan.h"
#include "installer/programs.h"
#include "installer/resolve.h"
#include "installer/sealing.h"
#include "installer/survey.h"
#include "installer/systemctl.h"
#include "installer/units.h"
#include "policy/policy.h"
#include "spool/spool.h"

enum {
        INSTALL_POLICY_MAX = POLICY_MAX_BYTES,
        INSTALL_REQUEST_MAX = 1024 * 1024,
        INSTALL_TEXT_MAX = 64 * 1024
};

void install_options_done(InstallOptions *o) {
        strv_done(&o->compose);
        strv_done(&o->services);
        strv_done(&o->buildable);
        strv_done(&o->exclude);
        strv_done(&o->env_files);
        strv_done(&o->guard);
}

static int install_refused(int added) {
        return added < 0 ? added : INSTALL_E_REFUSED;
}

/* Formatted and parsed again: what we write, the drain will take. */
static int install_bridge(const Survey *s, Str *ret, Str *why) {
        CLEANUP(bridge_freep) Bridge *again = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_freep) char *message = NULL;
        int r;

        r = bridge_format(&s->bridge, &text);
        if (r == -EILSEQ)
                return install_refused(
                        str_addf(why, "%s: a name that is not UTF-8", s->checkout.root.path));
        if (r == 0)
                r = bridge_parse(text, strlen(text), &again, &message);
        if (r == BRIDGE_E_INVALID)
                return install_refused(str_addf(why, "this can't be a bridge file: %s", message));
        return r < 0 ? r : str_adds(ret, text);
}

/* Every verb that can't run, with its reason; join-network is only spoken of when it was asked for.
 */
static int install_missing(const Survey *s, Strv *warnings) {
        CLEANUP(table_freep) VerbTable *t = NULL;
        CLEANUP(setup_done) VerbSetup setup = {0};
        const Verb *verb;
        int r;

        r = bridge_setup(&s->bridge, &setup);
        if (r == 0)
                r = table_new(&setup, NULL, &t);
        if (r != 0)
                return r < 0 ? r : err_new(EINVAL);
        for (size_t i = 0; (verb = table_at(t, i)) && r == 0; i++) {
                CLEANUP(str_freep) char *text = NULL;

                if (!verb->missing || (str_eq(verb->name, "join-network") && !s->bridge.network &&
                                       !s->bridge.container))
                        continue;
                r = str_printf(&text, "%s can't run: %s", verb->name, verb->missing);
                if (r == 0)
                        r = strv_add_take(warnings, &text);
        }
        return r;
}

static int install_add_program(Plan *p, const Layout *l, const char *name, bool needed,
                               Strv *warnings, Str *why) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_done) Str reason = STR_NULL;
        int r;

        r = programs_read(PROGRAMS_BINARY, name, PROGRAMS_MAX_BYTES, &bytes, &reason);
        if (r > 0)
                return needed ? install_refused(str_adds(why, reason.data))
                              : strv_add(warnings, reason.data);
        return r < 0 ? r : plan_add_file(p, -EBADF, l->lib, name, &bytes, 0755, 0);
}

static int install_plan_programs(Plan *p, const Layout *l, Strv *warnings, Str *why) {
        int r;

        r = plan_add_dir(p, -EBADF, l->lib, 0700, 0);
        if (r == 0)
                r = install_add_program(p, l, "spoolgate-drain", true, warnings, why);
        return r != 0 ? r : install_add_program(p, l, "spoolgate-inspect", false, warnings, why);
}

static int install_plan_config(Plan *p, const Layout *l, Str *why) {
        CLEANUP(str_done) Str policy = STR_NULL;
        int r;

        r = programs_read(PROGRAMS_POLICY, "policy.conf", INSTALL_POLICY_MAX, &policy, why);
        if (r > 0)
                return INSTALL_E_REFUSED;
        if (r == 0)
                r = plan_add_dir(p, -EBADF, l->config, 0700, 0);
        return r < 0 ? r
                     : plan_add_file(p, -EBADF, l->config, "policy.conf", &policy, 0600, PLAN_ONCE);
}

static int install_plan_state(Plan *p, const Layout *l) {
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
static mode_t install_spool_mode(const Bridge *b, SpoolDir d) {
        bool foreign = b->agent_uid >= 0 && b->agent_uid != (int64_t)geteuid();

        return foreign && (d == SPOOL_REQUESTS || d == SPOOL_TMP) ? 01777 : 0755;
}

static int install_plan_spool(Plan *p, const Survey *s, Str *why) {
        CLEANUP(str_done) Str client = STR_NULL;
        int fd = s->checkout.fd, r;

        r = programs_read(PROGRAMS_AGENT, "spoolgate-request", INSTALL_REQUEST_MAX, &client, why);
        if (r > 0)
                return INSTALL_E_REFUSED;
        if (r == 0)
                r = plan_add_dir(p, fd, s->bridge.spool, 0755, 0);
        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT && r == 0; d++) {
                CLEANUP(str_freep) char *path = NULL;

                r = str_printf(&path, "%s/%s", s->bridge.spool, spool_dir_name(d));
                if (r == 0)
                        r = plan_add_dir(p, fd, path, install_spool_mode(&s->bridge, d), 0);
        }
        return r < 0 ? r
                     : plan_add_file(p, fd, s->bridge.spool, "spoolgate-request", &client, 0755, 0);
}

static int install_add_unit(Plan *p, const Layout *l, size_t i, const UnitsFill *fill, Str *why) {
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
                return INSTALL_E_REFUSED;
        if (r == 0)
                r = str_adds(&filled, text);
        return r < 0 ? r : plan_add_file(p, -EBADF, l->units, name, &filled, 0644, 0);
}

/* XDG_CONFIG_HOME or XDG_STATE_HOME again, out of ".../spoolgate" or ".../spoolgate/SLUG". */
static int install_base_of(const char *path, int parts, char **ret) {
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

static int install_plan_units(Plan *p, const Survey *s, Str *why) {
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
                r = install_base_of(s->layout.config_root, 1, &config);
        if (r == 0)
                r = install_base_of(s->layout.state, 2, &state);
        if (r == 0)
                r = plan_add_dir(p, -EBADF, s->layout.units, 0755, PLAN_SHARED);
        for (size_t i = 0; i < UNITS_COUNT && r == 0; i++)
                r = install_add_unit(p, &s->layout, i,
                                     &(UnitsFill){s->layout.slug, requests, drain, s->bridge.path,
                                                  config, state, systemctl_path(),
                                                  access("/usr/bin/sleep", X_OK) == 0
                                                          ? "/usr/bin/sleep"
                                                          : "/bin/sleep"},
                                     why);
        return r;
}

/* In the order of writing: whatever names something comes after it. */
static int install_plan(const InstallOptions *o, Survey *s, Plan *p, size_t *ret_units, Str *why) {
        CLEANUP(str_done) Str bridge = STR_NULL;
        int r;

        r = install_bridge(s, &bridge, why);
        if (r == 0)
                r = install_plan_programs(p, &s->layout, &s->warnings, why);
        if (r == 0)
                r = install_plan_config(p, &s->layout, why);
        if (r == 0)
                r = install_plan_state(p, &s->layout);
        if (r == 0)
                r = install_plan_spool(p, s, why);
        if (r == 0)
                r = plan_add_file(p, -EBADF, s->layout.config, "bridge.json", &bridge, 0600, 0);
        *ret_units = p->len;
        if (r == 0 && !o->no_units)
                r = install_plan_units(p, s, why);
        if (r == 0)
                r = plan_check(p, why);
        return r > 0 ? INSTALL_E_REFUSED : r;
}

static int install_warn(Survey *s, Str *text) {
        CLEANUP(str_freep) char *taken = NULL;
        int r = str_take(text, &taken);

        return r < 0 ? r : strv_add_take(&s->warnings, &taken);
}

/* One word of a command to paste. */
static int install_quote(Str *s, const char *word) {
        int r = str_addc(s, '\'');

        for (; *word && r == 0; word++)
                r = *word == '\'' ? str_adds(s, "'\\''") : str_addc(s, *word);
        return r < 0 ? r : str_addc(s, '\'');
}

static int install_advise_ignore(Survey *s) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(str_freep) char *file = NULL;
        CLEANUP(str_freep) char *line = NULL;
        const char *root = s->checkout.root.path;
        bool own = resolve_below(s->checkout.git_dir.path,
                                 root); /* else a linked worktree, which has no info/exclude */
        int r;

        r = str_printf(&file, "%s/%s", root, own ? ".git/info/exclude" : ".gitignore");
        if (r == 0)
                r = str_printf(&line, "/%.*s/", (int)strcspn(s->bridge.spool, "/"),
                               s->bridge.spool);
        if (r == 0)
                r = str_adds(&text, "git does not ignore the spool\necho ");
        if (r == 0)
                r = install_quote(&text, line);
        if (r == 0)
                r = str_adds(&text, " >> ");
        if (r == 0)
                r = install_quote(&text, file);
        return r < 0 ? r : install_warn(s, &text);
}

/* Lingering, ignore files and file systems: nothing that stops an install, all of it worth a line.
 */
static int install_advise(const InstallOptions *o, Survey *s) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(str_freep) char *user = NULL;
        const char *blind;
        bool linger, ignored;
        int r;

        r = detect_ignored(&s->checkout, s->bridge.spool, &ignored);
        if (r == 0 && !ignored)
                r = install_advise_ignore(s);
        if (r == 0)
                r = detect_blind(s->checkout.fd, &blind);
        if (r == 0 && blind)
                r = str_addf(&text,
                             "the checkout is on %s, where inotify is blind: requests wait for the "
                             "sweep timer, up to a minute",
                             blind);
        if (r == 0 && text.len > 0)
                r = install_warn(s, &text);
        if (r < 0 || o->no_units)
                return r;
        r = detect_linger(&linger, &user);
        if (r == 0 && !linger)
                r = str_addf(&text,
                             "lingering is off: the bridge, and every container it starts, ends "
                             "with the last login\nloginctl enable-linger %s",
                             user);
        return r < 0 || text.len == 0 ? r : install_warn(s, &text);
}

static bool install_units_changed(const Plan *p, size_t units) {
        const Plan part = {p->steps + units, p->len - units};

        return plan_changes(&part);
}

static int install_start(Survey *s, bool changed) {
        CLEANUP(str_done) Str why = STR_NULL;
        int r = systemctl_enable(s->layout.slug, changed, &why);

        if (r > 0)
                r = str_addf(
                        &why,
                        "; the units are written and not started\nsystemctl --user daemon-reload "
                        "&& systemctl --user enable --now spoolgate-%s.path spoolgate-%s.timer",
                        s->layout.slug, s->layout.slug);
        return r < 0 || why.len == 0 ? r : install_warn(s, &why);
}

static int install_carry_out(const InstallOptions *o, Survey *s, Str *report, Str *why) {
        CLEANUP(plan_done) Plan p = PLAN_NULL;
        size_t units;
        int r;

        r = install_plan(o, s, &p, &units, why);
        if (r == 0)
                r = install_missing(s, &s->warnings);
        if (r == 0)
                r = install_advise(o, s);
        if (r == 0 && !o->dry_run)
                r = plan_apply(&p, why);
        if (r == 0)
                r = plan_report(&p, s->checkout.root.path, o->dry_run, report);
        if (r == 0 && !o->dry_run)
                r = sealing_first(&s->layout, &s->bridge, s->checkout.fd, report, &s->warnings);
        if (r == 0 && !o->dry_run && !o->no_units)
                r = install_start(s, install_units_changed(&p, units));
        if (r == 0)
                r = str_addf(report, "%s: %s, checkout %s\n", s->layout.slug,
                             o->dry_run         ? "nothing was written"
                             : plan_changes(&p) ? "installed"
                                                : "nothing changed",
                             s->checkout.root.path);
        return r > 0 ? INSTALL_E_REFUSED : r;
}

int install_run(const InstallOptions *o, Str *report, Strv *warnings, Str *why) {
        CLEANUP(survey_done) Survey s = SURVEY_NULL;
        int r;

        r = hash_init();
        if (r == 0)
                r = survey_place(o, &s, why);
        if (r == 0)
                r = survey_stack(o, &s, why);
        if (r == 0)
                r = install_carry_out(o, &s, report, why);
        if (r != 0)
                return r < 0 ? r : INSTALL_E_REFUSED;
        strv_done(warnings);
        *warnings = s.warnings;
        s.warnings = STRV_NULL;
        return 0;
}
