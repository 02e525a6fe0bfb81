#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "installer/agentfiles.h"
#include "installer/auth.h"
#include "installer/keys.h"
#include "installer/install.h"
#include "installer/pieces.h"
#include "installer/plan.h"
#include "installer/registry.h"
#include "installer/resolve.h"
#include "installer/sealing.h"
#include "installer/survey.h"
#include "installer/systemctl.h"

void install_options_done(InstallOptions *o) {
        strv_done(&o->compose);
        strv_done(&o->services);
        strv_done(&o->buildable);
        strv_done(&o->exclude);
        strv_done(&o->env_files);
        strv_done(&o->guard);
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

/* What is signed with stays what it is, unless the options say otherwise. */
static int install_keys(const InstallOptions *o, Survey *s, Keys *k) {
        CLEANUP(bridge_freep) Bridge *old = NULL;
        CLEANUP(str_done) Str broken = STR_NULL;
        int r = registry_read(&s->layout, &old, &broken);

        if (r >= 0)
                r = keys_decide(o, &s->layout, old ? &old->keys : NULL, k, &s->warnings);
        return r < 0 ? r : strv_copy(&k->names, &s->bridge.keys);
}

/* In the order of writing: whatever names something comes after it. */
static int install_plan(const InstallOptions *o, Survey *s, Keys *k, Plan *p, size_t *ret_units,
                        Str *why) {
        CLEANUP(str_done) Str bridge = STR_NULL;
        int r;

        r = install_keys(o, s, k);
        if (r == 0)
                r = pieces_bridge(s, &bridge, why);
        if (r == 0)
                r = pieces_programs(p, &s->layout, &s->warnings, why);
        if (r == 0)
                r = pieces_config(p, &s->layout, why);
        if (r == 0)
                r = pieces_state(p, &s->layout);
        if (r == 0)
                r = pieces_spool(p, s, why);
        if (r == 0 && o->agent_files)
                r = agentfiles_add(p, s->checkout.fd, s->bridge.spool, why);
        if (r == 0)
                r = keys_add(p, &s->layout, k);
        if (r == 0)
                r = plan_add_file(p, -EBADF, s->layout.config, "bridge.json", &bridge, 0600, 0);
        *ret_units = p->len;
        if (r == 0 && !o->no_units)
                r = pieces_units(p, s, why);
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
        CLEANUP(keys_done) Keys k = KEYS_NULL;
        size_t units;
        int r;

        r = install_plan(o, s, &k, &p, &units, why);
        if (r == 0)
                r = install_missing(s, &s->warnings);
        if (r == 0)
                r = install_advise(o, s);
        if (r == 0 && !o->dry_run)
                r = plan_apply(&p, why);
        if (r == 0)
                r = plan_report(&p, s->checkout.root.path, o->dry_run, report);
        if (r == 0)
                r = keys_drop(&k, &s->layout, o->dry_run, report);
        if (r == 0 && !o->dry_run)
                r = keys_note(&k, &s->layout);
        if (r == 0 && (o->auth || o->rotate_key || k.fresh))
                r = keys_advise(&k, &s->layout, report);
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
        bool done = false;
        int r;

        if (o->no_auth && (o->auth || o->rotate_key)) {
                r = str_adds(why, "--no-auth goes with neither --auth nor --rotate-key");
                return r < 0 ? r : INSTALL_E_REFUSED;
        }
        r = hash_init();
        if (r == 0 && auth_alone(o))
                r = auth_run(o, report, warnings, why, &done);
        if (r == 0 && done)
                return 0;
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
