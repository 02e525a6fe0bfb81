/* survey_services: the two enums */
#include <string.h>

#include "installer/survey.h"
#include "verb/table.h"

static int services_refused(int added) {
        return added < 0 ? added : SURVEY_E_REFUSED;
}

static int services_warn(Survey *s, const char *before, const char *name, const char *after) {
        CLEANUP(str_freep) char *text = NULL;
        int r = str_printf(&text, "%s %s %s", before, name, after);

        return r < 0 ? r : strv_add_take(&s->warnings, &text);
}

static bool services_shape(const char *name) {
        return table_arg_shape(name, strlen(name));
}

/* What --service and --buildable name must be there, and must be a name that a request can carry.
 */
static int services_check(const char *option, const char *name, const Compose *c, bool from_compose,
                          const char *file, Str *why) {
        if (!services_shape(name))
                return services_refused(str_addf(
                        why, "%s %s: no request can name it: [a-z][a-z0-9_-]*", option, name));
        if (from_compose && !compose_find(c, name))
                return services_refused(
                        str_addf(why, "%s %s: no such service in %s", option, name, file));
        return 0;
}

static int services_found(const InstallOptions *o, const Compose *c, Survey *s) {
        int r = 0;

        for (size_t i = 0; i < c->services_len && r == 0; i++) {
                const ComposeService *service = &c->services[i];

                if (strv_find(&o->exclude, service->name))
                        continue;
                if (!services_shape(service->name))
                        r = services_warn(s, service->where, service->name,
                                          "is left out: no request can name it ([a-z][a-z0-9_-]*)");
                else if (service->profiled)
                        r = services_warn(s, service->where, service->name,
                                          "is left out: it stands behind a profile; name it with "
                                          "--service to have it");
                else
                        r = strv_add(&s->bridge.services, service->name);
        }
        return r;
}

static int services_given(const InstallOptions *o, const Compose *c, bool from_compose, Survey *s,
                          Str *why) {
        const char *file = s->bridge.compose.len > 0 ? s->bridge.compose.items[0] : "";
        int r = 0;

        for (size_t i = 0; i < o->services.len && r == 0; i++) {
                const char *name = o->services.items[i];

                r = services_check("--service", name, c, from_compose, file, why);
                if (r == 0 && !strv_find(&o->exclude, name) &&
                    !strv_find(&s->bridge.services, name))
                        r = strv_add(&s->bridge.services, name);
        }
        return r;
}

static int services_buildable(const InstallOptions *o, const Compose *c, Survey *s, Str *why) {
        int r = 0;

        for (size_t i = 0; i < o->buildable.len && r == 0; i++) {
                const char *name = o->buildable.items[i];

                if (!strv_find(&s->bridge.services, name))
                        return services_refused(
                                str_addf(why, "--buildable %s: is not among the services", name));
                if (!strv_find(&s->bridge.buildable, name))
                        r = strv_add(&s->bridge.buildable, name);
        }
        for (size_t i = 0; i < s->bridge.services.len && o->buildable.len == 0 && r == 0; i++) {
                const ComposeService *service = compose_find(c, s->bridge.services.items[i]);

                if (service && service->build)
                        r = strv_add(&s->bridge.buildable, service->name);
        }
        return r;
}

int survey_services(const InstallOptions *o, const Compose *c, bool from_compose, Survey *s,
                    Str *why) {
        int r = 0;

        for (size_t i = 0; i < o->exclude.len && r == 0; i++)
                if (!compose_find(c, o->exclude.items[i]) &&
                    !strv_find(&o->services, o->exclude.items[i]))
                        r = services_warn(s, "--exclude", o->exclude.items[i],
                                          "excludes nothing: there is no such service");
        if (r == 0)
                r = o->services.len > 0 ? services_given(o, c, from_compose, s, why)
                                        : services_found(o, c, s);
        if (r != 0)
                return r;
        if (from_compose && s->bridge.services.len == 0)
                return services_refused(
                        str_addf(why,
                                 "%s: no services that a request could name\nspoolgate install "
                                 "--compose FILE --service NAME",
                                 s->bridge.compose.items[0]));
        if (s->bridge.services.len == 0)
                r = strv_add(&s->warnings, "no services: restart, rebuild and logs will refuse "
                                           "every argument; name them with --service");
        return r != 0 ? r : services_buildable(o, c, s, why);
}
