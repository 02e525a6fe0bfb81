#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "installer/registry.h"
#include "operator/project.h"

static int project_none(int added) {
        return added < 0 ? added : PROJECT_E_NONE;
}

static int project_only(char **ret, Str *why) {
        CLEANUP(strv_done) Strv slugs = STRV_NULL;
        int r;

        r = layout_list(&slugs);
        if (r != 0)
                return r < 0 ? r
                             : project_none(str_adds(why, "HOME is not set to an absolute path"));
        if (slugs.len == 1)
                return str_dup(slugs.items[0], ret);
        if (slugs.len == 0)
                return project_none(str_adds(why, "no project is installed\nspoolgate install"));
        r = str_adds(why, "which project? This folder is in none of them; name one with -s:");
        for (size_t i = 0; i < slugs.len && r == 0; i++)
                r = str_addf(why, " %s", slugs.items[i]);
        return project_none(r);
}

int project_select(const char *slug, Layout *ret, Str *why) {
        CLEANUP(str_freep) char *chosen = NULL;
        CLEANUP(str_freep) char *here = NULL;
        int r = 0;

        if (slug)
                r = str_dup(slug, &chosen);
        here = realpath(".", NULL);
        if (r == 0 && !chosen && here)
                r = registry_holding(here, &chosen);
        if (r == 0 && !chosen)
                r = project_only(&chosen, why);
        if (r != 0)
                return r;
        r = layout_init(ret, chosen);
        if (r == LAYOUT_E_SLUG)
                return project_none(str_addf(why, "'%s' is no slug: [a-z][a-z0-9-]{0,30}", chosen));
        return r > 0 ? project_none(str_adds(why, "HOME is not set to an absolute path")) : r;
}

int project_open(const char *slug, Layout *ret_layout, Bridge **ret_bridge, Str *why) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        int r;

        r = project_select(slug, &l, why);
        if (r != 0)
                return r;
        r = registry_read(&l, ret_bridge, why);
        if (r == REGISTRY_E_ABSENT)
                return project_none(str_addf(
                        why, "%s is not installed\nspoolgate install --slug %s", l.slug, l.slug));
        if (r == REGISTRY_E_INVALID)
                return str_addf(why, "\nspoolgate install --slug %s", l.slug) < 0
                               ? -ENOMEM
                               : PROJECT_E_BROKEN;
        if (r < 0)
                return r;
        *ret_layout = l;
        l = LAYOUT_NULL;
        return 0;
}
