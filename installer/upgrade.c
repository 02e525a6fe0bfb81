#include "installer/upgrade.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "fs/pin.h"
#include "guard/diff.h"
#include "installer/notice.h"
#include "installer/pieces.h"
#include "installer/resolve.h"
#include "installer/systemctl.h"

enum { UPGRADE_UNIT_MAX = 1024 * 1024 };

typedef struct Upgrade {
        Survey survey;
        Plan plan;
        size_t units; /* the first step that is a unit's */
} Upgrade;

static void upgrade_done(Upgrade *u) {
        plan_done(&u->plan);
        survey_done(&u->survey);
}

static int upgrade_refused(int added) {
        return added < 0 ? added : UPGRADE_E_REFUSED;
}

static bool upgrade_has_units(const Layout *l) {
        CLEANUP(str_freep) char *unit = NULL;
        struct stat st;

        return str_printf(&unit, "%s/spoolgate-%s.service", l->units, l->slug) == 0 &&
               stat(unit, &st) == 0;
}

/* The bridge as it stands, but for the version. */
static int upgrade_bridge(const Bridge *b, Bridge *ret, Str *why) {
        CLEANUP(bridge_freep) Bridge *copy = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_freep) char *message = NULL;
        int r = bridge_format(b, &text);

        if (r == 0)
                r = bridge_parse(text, strlen(text), &copy, &message);
        if (r > 0)
                return upgrade_refused(str_adds(why, message));
        if (r < 0)
                return r;
        str_freep(&copy->version);
        r = str_dup(SPOOLGATE_VERSION, &copy->version);
        if (r < 0)
                return r;
        *ret = *copy;
        *copy = BRIDGE_NULL;
        return 0;
}

/* A program that is gone from where it was found is looked for again, on the PATH that verbs get. A
 * path which the operator gave by hand goes by another name than the file's, and stays. */
static int upgrade_bin(const Bridge *b, char **bin, Strv *warnings) {
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(str_freep) char *found = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        const char *path = strchr(*bin, '=');
        const char *last = path ? strrchr(path, '/') : NULL;
        int r;

        if (!last || access(path + 1, X_OK) == 0)
                return 0;
        r = str_printf(&name, "%.*s", (int)(path - *bin), *bin);
        if (r < 0 || !str_eq(name, last + 1))
                return r;
        r = resolve_program(name, b->path, NULL, b->checkout.path, &found, &why);
        if (r > 0) {
                r = str_printf(&text, "%s is gone: %s", path + 1, why.data);
                return r < 0 ? r : strv_add_take(warnings, &text);
        }
        if (r == 0)
                r = str_printf(&text, "%s=%s", name, found);
        if (r < 0)
                return r;
        str_freep(bin);
        *bin = text;
        text = NULL;
        return 0;
}

static int upgrade_bins(Bridge *b, Strv *warnings) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < b->bins.len; i++)
                r = upgrade_bin(b, &b->bins.items[i], warnings);
        return r;
}

static int upgrade_survey(const Layout *l, const Bridge *b, Survey *s, Str *why) {
        int r = upgrade_bridge(b, &s->bridge, why);

        if (r == 0)
                r = layout_init(&s->layout, l->slug);
        if (r == 0)
                r = detect_checkout(b->checkout.path, &s->checkout, why);
        if (r != 0)
                return r < 0 ? r : UPGRADE_E_REFUSED;
        if (s->checkout.root.device == b->checkout.device &&
            s->checkout.root.inode == b->checkout.inode)
                return 0;
        return upgrade_refused(str_addf(why,
                                        "%s is another folder than the one installed for\n"
                                        "spoolgate install --slug %s",
                                        b->checkout.path, l->slug));
}

static int upgrade_plan(Upgrade *u, Strv *warnings, Str *why) {
        CLEANUP(str_done) Str bridge = STR_NULL;
        Survey *s = &u->survey;
        int r = upgrade_bins(&s->bridge, warnings);

        if (r == 0)
                r = pieces_bridge(s, &bridge, why);
        if (r == 0)
                r = pieces_programs(&u->plan, &s->layout, warnings, why);
        if (r == 0)
                r = pieces_state(&u->plan, &s->layout);
        if (r == 0)
                r = pieces_spool(&u->plan, s, why);
        if (r == 0)
                r = plan_add_file(&u->plan, -EBADF, s->layout.config, "bridge.json", &bridge, 0600,
                                  0);
        u->units = u->plan.len;
        if (r == 0 && upgrade_has_units(&s->layout))
                r = pieces_units(&u->plan, s, why);
        if (r == 0)
                r = plan_check(&u->plan, why);
        return r > 0 ? UPGRADE_E_REFUSED : r;
}

static int upgrade_diff(const Upgrade *u, Str *diff) {
        PinRule rule = {.owner = geteuid(), .forbid = 0022};
        int r = 0;

        for (size_t i = u->units; i < u->plan.len && r == 0; i++) {
                CLEANUP(fd_closep) int dir = -EBADF;
                CLEANUP(str_done) Str before = STR_NULL;
                const PlanStep *step = &u->plan.steps[i];
                bool there;

                if (!step->name)
                        continue;
                r = pin_host_dir(step->dir, &rule, &dir);
                if (r == 0)
                        r = pin_read_at(dir, step->name, &rule, PIN_ANY_LINKS, UPGRADE_UNIT_MAX,
                                        &before);
                there = r == 0;
                if (r >= 0)
                        r = diff_add(step->name, there ? &before : NULL, &step->bytes, 0, diff);
        }
        return r;
}

static int upgrade_report(const Upgrade *u, bool dry_run, Str *report) {
        CLEANUP(str_done) Str all = STR_NULL;
        int r = plan_report(&u->plan, u->survey.checkout.root.path, dry_run, &all);
        const char *line = all.data ? all.data : "";

        while (r == 0 && *line) {
                size_t len = strcspn(line, "\n") + 1;

                if (!str_starts(line, "unchanged ") && !str_starts(line, "kept "))
                        r = str_add(report, line, len);
                line += len;
        }
        return r;
}

static int upgrade_note(const Layout *l, const Bridge *b) {
        CLEANUP(fd_closep) int state = -EBADF;
        CLEANUP(str_freep) char *detail = NULL;
        PinRule rule = {.owner = geteuid(), .forbid = 0022};
        int r = str_printf(&detail, "%s -> %s", b->version ? b->version : "-", SPOOLGATE_VERSION);

        if (r == 0)
                r = pin_host_dir(l->state, &rule, &state);
        if (r == 0)
                r = notice_note(state, "upgraded", NULL, detail);
        return r > 0 ? err_new(EACCES) : r;
}

static int upgrade_apply(const Upgrade *u, const Bridge *b, Strv *warnings, Str *why) {
        const Plan units = {u->plan.steps + u->units, u->plan.len - u->units};
        CLEANUP(str_done) Str trouble = STR_NULL;
        CLEANUP(str_freep) char *warning = NULL;
        int r = plan_apply(&u->plan, why);

        if (r == 0)
                r = upgrade_note(&u->survey.layout, b);
        if (r != 0 || !plan_changes(&units))
                return r > 0 ? UPGRADE_E_REFUSED : r;
        r = systemctl_enable(u->survey.layout.slug, true, &trouble);
        if (r > 0)
                r = str_printf(&warning,
                               "%s; the units are written and not started again\n"
                               "systemctl --user daemon-reload && systemctl --user restart "
                               "spoolgate-%s.path spoolgate-%s.timer",
                               trouble.data, u->survey.layout.slug, u->survey.layout.slug);
        return r < 0 || !warning ? r : strv_add_take(warnings, &warning);
}

int upgrade_run(const Layout *l, const Bridge *b, bool dry_run, Str *diff, Str *report,
                Strv *warnings, Str *why) {
        CLEANUP(upgrade_done) Upgrade u = {.survey = SURVEY_NULL, .plan = PLAN_NULL};
        bool changes;
        int r = hash_init();

        if (r == 0)
                r = upgrade_survey(l, b, &u.survey, why);
        if (r == 0)
                r = upgrade_plan(&u, warnings, why);
        if (r == 0)
                r = upgrade_diff(&u, diff);
        changes = r == 0 && plan_changes(&u.plan);
        if (changes && !dry_run)
                r = upgrade_apply(&u, b, warnings, why);
        if (r == 0)
                r = upgrade_report(&u, dry_run, report);
        if (r == 0)
                r = str_addf(report, "%s: %s\n", l->slug,
                             !changes  ? "up to date"
                             : dry_run ? "nothing was written"
                                       : "upgraded to " SPOOLGATE_VERSION);
        return r;
}
