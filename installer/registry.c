#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "installer/registry.h"
#include "installer/resolve.h"

static int registry_load(const Layout *l, const PinRule *rule, Bridge **ret, Str *why) {
        CLEANUP(fd_closep) int dir = -EBADF;
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_freep) char *message = NULL;
        int r;

        r = pin_host_dir(l->config, rule, &dir);
        if (r == 0)
                r = pin_read_at(dir, "bridge.json", rule, PIN_ANY_LINKS, REGISTRY_BRIDGE_MAX,
                                &bytes);
        if (r == PIN_E_ABSENT)
                return REGISTRY_E_ABSENT;
        if (r > 0)
                return str_addf(why, "%s/bridge.json %s", l->config, pin_reason(r)) < 0
                               ? -ENOMEM
                               : REGISTRY_E_INVALID;
        if (r == 0)
                r = bridge_parse(bytes.data, bytes.len, ret, &message);
        if (r == BRIDGE_E_INVALID)
                return str_addf(why, "%s/%s", l->config, message) < 0 ? -ENOMEM
                                                                      : REGISTRY_E_INVALID;
        return r;
}

int registry_read(const Layout *l, Bridge **ret, Str *why) {
        return registry_load(l, &(PinRule){geteuid(), 0022}, ret, why);
}

/* Whatever its mode: a name is taken also by a project whose files need mending first. */
static int registry_holds(const char *slug, const char *root, bool *ret) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        CLEANUP(bridge_freep) Bridge *b = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r;

        *ret = false;
        r = layout_init(&l, slug);
        if (r == 0)
                r = registry_load(&l, &(PinRule){geteuid(), 0}, &b, &why);
        if (r == 0)
                *ret = resolve_below(root, b->checkout.path);
        return r < 0 ? r : 0;
}

int registry_holding(const char *root, char **ret) {
        CLEANUP(strv_done) Strv slugs = STRV_NULL;
        int r;

        *ret = NULL;
        r = layout_list(&slugs);
        if (r != 0)
                return r < 0 ? r : 0; /* no home: nothing is installed */
        for (size_t i = 0; i < slugs.len; i++) {
                bool holds;

                r = registry_holds(slugs.items[i], root, &holds);
                if (r < 0)
                        return r;
                if (holds)
                        return str_dup(slugs.items[i], ret);
        }
        return 0;
}
