#include "installer/auth.h"

#include <errno.h>
#include <string.h>

#include "installer/detect.h"
#include "installer/keys.h"
#include "installer/pieces.h"
#include "installer/registry.h"

bool auth_alone(const InstallOptions *o) {
        bool lists = o->compose.len || o->services.len || o->buildable.len || o->exclude.len ||
                     o->env_files.len || o->guard.len;
        bool texts = o->stack || o->stack_bin || o->spool || o->launch || o->network ||
                     o->container || o->jail || o->inspect_memory;

        return (o->auth || o->rotate_key || o->no_auth) && !lists && !texts && o->agent_uid < 0 &&
               !o->agent_files;
}

/* --slug, or whose checkout this is; *ret NULL: nobody's. */
static int auth_slug(const InstallOptions *o, char **ret, Str *why) {
        CLEANUP(checkout_done) Checkout c = CHECKOUT_NULL;
        int r;

        if (o->slug)
                return layout_slug_ok(o->slug) ? str_dup(o->slug, ret) : 0;
        r = detect_checkout(o->project, &c, why);
        if (r == 0)
                r = registry_holding(c.root.path, ret);
        return r > 0 ? AUTH_E_REFUSED : r;
}

/* A copy, with other keys. */
static int auth_bridge(const Bridge *b, const Strv *keys, Bridge *ret) {
        CLEANUP(bridge_freep) Bridge *copy = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_freep) char *message = NULL;
        int r = bridge_format(b, &text);

        if (r == 0)
                r = bridge_parse(text, strlen(text), &copy, &message);
        if (r > 0)
                return err_new(EBADMSG);
        if (r < 0)
                return r;
        strv_done(&copy->keys);
        r = strv_copy(keys, &copy->keys);
        if (r < 0)
                return r;
        *ret = *copy;
        *copy = BRIDGE_NULL;
        return 0;
}

static int auth_plan(Survey *s, const Bridge *b, Keys *k, Plan *p, Str *why) {
        CLEANUP(str_done) Str bridge = STR_NULL;
        int r = auth_bridge(b, &k->names, &s->bridge);

        if (r == 0)
                r = pieces_bridge(s, &bridge, why);
        if (r == 0)
                r = keys_add(p, &s->layout, k);
        if (r == 0)
                r = plan_add_file(p, -EBADF, s->layout.config, "bridge.json", &bridge, 0600, 0);
        return r != 0 ? r : plan_check(p, why);
}

static int auth_change(const InstallOptions *o, Survey *s, const Bridge *b, Str *report, Str *why) {
        CLEANUP(plan_done) Plan p = PLAN_NULL;
        CLEANUP(keys_done) Keys k = KEYS_NULL;
        bool changes;
        int r = keys_decide(o, &s->layout, &b->keys, &k, &s->warnings);

        if (r == 0)
                r = auth_plan(s, b, &k, &p, why);
        changes = r == 0 && (plan_changes(&p) || k.drop.len > 0);
        if (r == 0 && !o->dry_run)
                r = plan_apply(&p, why);
        if (r == 0)
                r = plan_report(&p, b->checkout.path, o->dry_run, report);
        if (r == 0)
                r = keys_drop(&k, &s->layout, o->dry_run, report);
        if (r == 0)
                r = o->dry_run ? 0 : keys_note(&k, &s->layout);
        if (r == 0)
                r = keys_advise(&k, &s->layout, report);
        if (r == 0)
                r = str_addf(report, "%s: %s\n", s->layout.slug,
                             o->dry_run        ? "nothing was written"
                             : !changes        ? "nothing changed"
                             : k.names.len > 0 ? "requests must be signed"
                                               : "requests need no signature");
        return r > 0 ? AUTH_E_REFUSED : r;
}

int auth_run(const InstallOptions *o, Str *report, Strv *warnings, Str *why, bool *ret_done) {
        CLEANUP(survey_done) Survey s = SURVEY_NULL;
        CLEANUP(bridge_freep) Bridge *b = NULL;
        CLEANUP(str_freep) char *slug = NULL;
        CLEANUP(str_done) Str broken = STR_NULL;
        int r = auth_slug(o, &slug, why);

        *ret_done = false;
        if (r != 0 || !slug)
                return r;
        r = layout_init(&s.layout, slug);
        if (r == 0)
                r = registry_read(&s.layout, &b, &broken);
        if (r != 0)
                return r < 0 ? r : 0;
        *ret_done = true;
        r = auth_change(o, &s, b, report, why);
        if (r != 0)
                return r;
        strv_done(warnings);
        *warnings = s.warnings;
        s.warnings = STRV_NULL;
        return 0;
}
