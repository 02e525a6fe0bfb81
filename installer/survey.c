#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "guard/jail.h"
#include "installer/registry.h"
#include "installer/survey.h"
#include "run/scope.h"

#define SURVEY_SPOOL "untracked/spoolgate"

void survey_done(Survey *s) {
        checkout_done(&s->checkout);
        layout_done(&s->layout);
        bridge_done(&s->bridge);
        strv_done(&s->warnings);
}

static int survey_refused(int added) {
        return added < 0 ? added : SURVEY_E_REFUSED;
}

/* --slug, else the one this checkout has already, else one made of its folder's name. */
static int survey_slug(const InstallOptions *o, const char *root, char **ret, Str *why) {
        CLEANUP(str_freep) char *slug = NULL;
        int r;

        if (o->slug) {
                if (!layout_slug_ok(o->slug))
                        return survey_refused(
                                str_addf(why, "'%s' is no slug: [a-z][a-z0-9-]{0,30}", o->slug));
                return str_dup(o->slug, ret);
        }
        r = registry_holding(root, &slug);
        if (r == 0 && !slug)
                r = detect_slug(root, &slug);
        if (r < 0)
                return r;
        if (!slug)
                return survey_refused(str_addf(why,
                                               "no slug can be made of the folder's name "
                                               "%s\nspoolgate install --slug NAME",
                                               root));
        *ret = slug;
        slug = NULL;
        return 0;
}

/* One checkout has one slug, and the other way round. */
static int survey_taken(const Survey *s, Str *why) {
        CLEANUP(bridge_freep) Bridge *old = NULL;
        CLEANUP(str_freep) char *holder = NULL;
        CLEANUP(str_done) Str broken = STR_NULL;
        int r;

        r = registry_read(&s->layout, &old, &broken);
        if (r == 0 && !str_eq(old->checkout.path, s->checkout.root.path))
                return survey_refused(str_addf(
                        why,
                        "the slug %s is taken by the checkout %s\nspoolgate install --slug ANOTHER",
                        s->layout.slug, old->checkout.path));
        if (r == 0 || r < 0)
                return r;
        r = registry_holding(s->checkout.root.path, &holder);
        if (r == 0 && holder && !str_eq(holder, s->layout.slug))
                return survey_refused(str_addf(why,
                                               "the checkout %s is installed as %s, or lies in "
                                               "that project's\nspoolgate uninstall -s %s",
                                               s->checkout.root.path, holder, holder));
        return r;
}

static int survey_outside(const Survey *s, Str *why) {
        const struct {
                const char *what, *path, *fix;
        } places[] = {
                {"configuration", s->layout.config, "XDG_CONFIG_HOME"},
                {"state", s->layout.state, "XDG_STATE_HOME"},
                {"programs", s->layout.lib, "HOME"},
                {"units", s->layout.units, "XDG_CONFIG_HOME"},
        };

        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
                bool below;
                int r = detect_below(places[i].path, s->checkout.fd, &below);

                if (r < 0)
                        return r;
                if (r > 0)
                        return survey_refused(str_addf(why, "%s can't be looked at: %s",
                                                       places[i].path, pin_reason(r)));
                if (below)
                        return survey_refused(str_addf(why,
                                                       "the %s folder %s lies in the checkout %s, "
                                                       "where the agent can write; set %s",
                                                       places[i].what, places[i].path,
                                                       s->checkout.root.path, places[i].fix));
        }
        return 0;
}

static int survey_spool(const InstallOptions *o, Survey *s, Str *why) {
        const char *spool = o->spool ? o->spool : SURVEY_SPOOL;
        int r;

        if (spool[0] == '/')
                return survey_refused(str_addf(why,
                                               "--spool %s: must be relative to the "
                                               "checkout\nspoolgate install --spool %s",
                                               spool, SURVEY_SPOOL));
        r = compose_beneath(s->checkout.root.path, "", spool, &s->bridge.spool);
        if (r < 0)
                return r;
        if (!s->bridge.spool || !*s->bridge.spool)
                return survey_refused(str_addf(why,
                                               "--spool %s: lies outside the checkout %s, or is "
                                               "the checkout itself\nspoolgate install --spool %s",
                                               spool, s->checkout.root.path, SURVEY_SPOOL));
        if (str_eq(s->bridge.spool, ".git") || str_starts(s->bridge.spool, ".git/"))
                return survey_refused(str_addf(
                        why, "--spool %s: lies in git's own folder\nspoolgate install --spool %s",
                        spool, SURVEY_SPOOL));
        return 0;
}

static int survey_launch(const InstallOptions *o, Survey *s, Str *why) {
        bool manager = false;
        int r;

        if (o->launch) {
                if (!str_eq(o->launch, "scope") && !str_eq(o->launch, "direct"))
                        return survey_refused(str_addf(
                                why, "--launch %s: is neither scope nor direct", o->launch));
                return str_dup(o->launch, &s->bridge.launch);
        }
        r = scope_available(&manager);
        if (r < 0)
                return r;
        if (!manager)
                r = strv_add(&s->warnings, "no user manager answers: verbs run as children of the "
                                           "drain (launch: direct) and end with it");
        return r < 0 ? r : str_dup(manager ? "scope" : "direct", &s->bridge.launch);
}

/* Landlock unless it is said otherwise: what is weaker is never chosen for the operator, and never
 * without a word. */
static int survey_jail(const InstallOptions *o, Survey *s, Str *why) {
        CLEANUP(str_freep) char *text = NULL;
        const char *jail = o->jail ? o->jail : "landlock";
        bool seccomp = str_eq(jail, "seccomp");
        int r = 0;

        if (!seccomp && !str_eq(jail, "landlock"))
                return survey_refused(
                        str_addf(why, "--jail %s: is neither landlock nor seccomp", jail));
        if (seccomp)
                r = str_dup("--jail seccomp: the repository is read behind seccomp and resource "
                            "limits alone; a hole in libgit2 could read what this user can",
                            &text);
        else if (jail_landlock_abi() == 0)
                r = str_printf(&text,
                               "this kernel has no Landlock, or it is off: every verb that changes "
                               "something is refused, unless the weaker jail is asked for\n"
                               "spoolgate install --slug %s --jail seccomp",
                               s->layout.slug);
        if (r == 0 && text)
                r = strv_add_take(&s->warnings, &text);
        return r < 0 ? r : str_dup(jail, &s->bridge.jail);
}

/* The plain fields. */
static int survey_bridge(const InstallOptions *o, Survey *s) {
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        CLEANUP(str_freep) char *fallback = NULL;
        Bridge *b = &s->bridge;
        struct stat st;
        int r;

        b->checkout = s->checkout.root;
        b->git_dir = s->checkout.git_dir;
        b->checkout.path = b->git_dir.path = NULL; /* the survey's own */
        b->agent_uid = o->agent_uid;
        b->inspect_memory = o->inspect_memory;
        r = str_dup(s->checkout.root.path, &b->checkout.path);
        if (r == 0)
                r = str_dup(s->checkout.git_dir.path, &b->git_dir.path);
        if (r == 0)
                r = str_dup(s->layout.slug, &b->slug);
        if (r == 0)
                r = str_dup(s->layout.slug, &b->project);
        if (r == 0)
                r = str_dup(s->layout.home, &b->home);
        if (r == 0)
                r = str_printf(&fallback, "/run/user/%u", geteuid());
        if (r == 0 && (!runtime || runtime[0] != '/'))
                runtime = stat(fallback, &st) == 0 ? fallback : NULL;
        if (r == 0)
                r = str_dup(runtime, &b->runtime_dir);
        if (r == 0)
                r = str_dup(o->network, &b->network);
        if (r == 0)
                r = str_dup(o->container, &b->container);
        return r < 0 ? r : str_dup(SPOOLGATE_VERSION, &b->version);
}

int survey_place(const InstallOptions *o, Survey *s, Str *why) {
        CLEANUP(str_freep) char *slug = NULL;
        int r;

        if (geteuid() == 0)
                return survey_refused(
                        str_adds(why, "run this as the user who owns the checkout; a bridge of "
                                      "root's would run the agent's wishes as root"));
        r = detect_checkout(o->project, &s->checkout, why);
        if (r == 0)
                r = survey_slug(o, s->checkout.root.path, &slug, why);
        if (r != 0)
                return r;
        r = layout_init(&s->layout, slug);
        if (r == LAYOUT_E_HOME)
                return survey_refused(str_adds(why, "HOME is not set to an absolute path"));
        if (r > 0)
                return survey_refused(str_addf(why, "'%s' is no slug: [a-z][a-z0-9-]{0,30}", slug));
        if (r == 0)
                r = survey_outside(s, why);
        if (r == 0)
                r = survey_taken(s, why);
        if (r == 0)
                r = survey_spool(o, s, why);
        if (r == 0)
                r = survey_launch(o, s, why);
        if (r == 0)
                r = survey_jail(o, s, why);
        return r != 0 ? r : survey_bridge(o, s);
}
