/* survey_stack: what the bridge can run, and what it reads on the way */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/pin.h"
#include "installer/resolve.h"
#include "installer/sealed.h"
#include "installer/survey.h"
#include "verb/stacks.h"

static const char *const equip_compose_names[] = {
        "compose.yaml",           "compose.yml",           "docker-compose.yaml",
        "docker-compose.yml",     "podman-compose.yaml",   "podman-compose.yml",
        "container-compose.yaml", "container-compose.yml", NULL,
};
static const char *const equip_override_names[] = {
        "compose.override.yaml",
        "compose.override.yml",
        "docker-compose.override.yaml",
        "docker-compose.override.yml",
        NULL,
};

static int equip_refused(int added) {
        return added < 0 ? added : SURVEY_E_REFUSED;
}

static int equip_warn(Survey *s, const char *format, ...) PRINTF_LIKE(2, 3);
static int equip_warn(Survey *s, const char *format, ...) {
        CLEANUP(str_freep) char *text = NULL;
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(&text, format, args);
        va_end(args);
        if (n < 0) {
                text = NULL;
                return err_new(ENOMEM);
        }
        return strv_add_take(&s->warnings, &text);
}

static bool equip_is_file(const Survey *s, const char *name) {
        struct stat st;

        return fstatat(s->checkout.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode));
}

/* A path of the operator's, relative to the checkout or absolute below it; refused elsewhere. Each
 * once. */
static int equip_add_path(Survey *s, const char *option, const char *path, Strv *to, Str *why) {
        CLEANUP(str_freep) char *beneath = NULL;
        int r;

        r = compose_beneath(s->checkout.root.path, "", path, &beneath);
        if (r < 0)
                return r;
        if (!beneath || !*beneath)
                return equip_refused(str_addf(why, "%s %s: lies outside the checkout %s", option,
                                              path, s->checkout.root.path));
        return strv_find(to, beneath) ? 0 : strv_add_take(to, &beneath);
}

static int equip_add_paths(Survey *s, const char *option, const Strv *paths, Strv *to, Str *why) {
        int r = 0;

        for (size_t i = 0; i < paths->len && r == 0; i++)
                r = equip_add_path(s, option, paths->items[i], to, why);
        return r;
}

static int equip_choose(const InstallOptions *o, Survey *s, const Stack **ret, Str *why) {
        const char *name = o->stack;
        int r;

        if (!name && o->stack_bin)
                name = "script";
        else if (!name && s->bridge.compose.len > 0)
                name = "podman-compose";
        *ret = stacks_find(name);
        if (*ret)
                return str_dup((*ret)->name, &s->bridge.stack);
        r = name ? str_addf(why, "unknown stack '%s'; there are", name)
                 : str_addf(why, "%s has no compose file: which stack is it? There are",
                            s->checkout.root.path);
        for (size_t i = 0; stacks_at(i) && r == 0; i++)
                r = str_addf(why, " %s", stacks_at(i)->name);
        return equip_refused(
                r < 0 ? r : str_adds(why, "\nspoolgate install --stack script --stack-bin PATH"));
}

/* -f files: the options', else the first of the usual names. An override is merged by no one unless
 * it is named. */
static int equip_compose_files(const InstallOptions *o, Survey *s, Str *why) {
        Strv *files = &s->bridge.compose;
        int r;

        r = equip_add_paths(s, "--compose", &o->compose, files, why);
        if (r != 0 || o->compose.len > 0)
                return r;
        for (const char *const *name = equip_compose_names; *name && files->len == 0; name++) {
                if (equip_is_file(s, *name))
                        r = strv_add(files, *name);
                if (r < 0)
                        return r;
        }
        for (const char *const *name = equip_override_names; *name && files->len > 0; name++) {
                if (equip_is_file(s, *name))
                        r = equip_warn(s,
                                       "%s is not used; to use it, name both\n"
                                       "spoolgate install --compose %s --compose %s",
                                       *name, files->items[0], *name);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The stack's own program may lie in the checkout: it is guarded then, as the first of all, and its
 * sealed copy is what runs. Every other one must not. */
static int equip_stack_bin(const char *given, Survey *s, char **ret, Str *why) {
        CLEANUP(str_freep) char *path = NULL;
        const char *root = s->checkout.root.path;
        int r;

        if (strchr(given, '/') && given[0] != '/') {
                r = str_printf(&path, "%s/%s", root, given);
                if (r < 0)
                        return r;
                given = path;
        }
        if (strchr(given, '/') && resolve_below(given, root)) {
                CLEANUP(str_freep) char *seen = NULL;

                r = equip_warn(s,
                               "%s lies in the checkout: what runs is its sealed copy in %s, from "
                               "which SPOOLGATE_CHECKOUT leads back; whatever it reads or starts "
                               "in the checkout is not sealed, unless --guard names it",
                               given, s->layout.state);
                if (r == 0)
                        r = equip_add_path(s, "--stack-bin", given, &s->bridge.guarded, why);
                if (r == 0)
                        r = resolve_program(given, getenv("PATH"), getenv("SHELL"), NULL, &seen,
                                            why);
                return r != 0 ? r : sealed_stack(s->layout.state, ret);
        }
        return resolve_program(given, getenv("PATH"), getenv("SHELL"), root, ret, why);
}

static int equip_bin(const InstallOptions *o, Survey *s, const char *name, bool first, Str *why) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *entry = NULL;
        CLEANUP(str_done) Str missing = STR_NULL;
        const char *search = getenv("PATH");
        int r;

        if (first && o->stack_bin) {
                r = equip_stack_bin(o->stack_bin, s, &path, &missing);
                if (r > 0)
                        return equip_refused(
                                str_addf(why, "--stack-bin %s: %s", o->stack_bin, missing.data));
        } else {
                r = resolve_program(name, search ? search : "/usr/local/bin:/usr/bin:/bin",
                                    getenv("SHELL"), s->checkout.root.path, &path, &missing);
                if (r == RESOLVE_E_ABSENT) /* the verbs that need it say so themselves */
                        return 0;
                if (r > 0)
                        return equip_warn(s, "%s; the verbs that need %s stay off", missing.data,
                                          name);
        }
        if (r == 0)
                r = str_printf(&entry, "%s=%s", name, path);
        return r < 0 ? r : strv_add_take(&s->bridge.bins, &entry);
}

static int equip_bins(const InstallOptions *o, const Stack *stack, Survey *s, Str *why) {
        int r = 0;

        if (str_eq(stack->name, "script") && !o->stack_bin)
                return equip_refused(str_adds(why, "the script stack needs its program\nspoolgate "
                                                   "install --stack script --stack-bin PATH"));
        for (size_t i = 0; stack->bins[i] && r == 0; i++)
                r = equip_bin(o, s, stack->bins[i], i == 0, why);
        return r;
}

/* .env beside the first compose file is what compose tools read unasked; its values are secrets to
 * the redaction. Where there is none, that is what gets sealed; docker compose, whose argv would
 * have to name it, is told not to look for one. */
static int equip_env_files(const InstallOptions *o, Survey *s, Str *why) {
        CLEANUP(str_freep) char *env = NULL;
        const char *first = s->bridge.compose.len > 0 ? s->bridge.compose.items[0] : "",
                   *slash = strrchr(first, '/');
        int r;

        if (o->env_files.len > 0) {
                r = equip_add_paths(s, "--env-file", &o->env_files, &s->bridge.env_files, why);
                for (size_t i = 0; i < s->bridge.env_files.len && r == 0; i++)
                        if (!equip_is_file(s, s->bridge.env_files.items[i]))
                                r = equip_warn(s, "--env-file %s: there is no such file",
                                               s->bridge.env_files.items[i]);
                return r;
        }
        r = str_printf(&env, "%.*s.env", slash ? (int)(slash - first) + 1 : 0, first);
        if (r < 0 || (s->bridge.compose.len == 0 && !equip_is_file(s, env)))
                return r;
        if (str_eq(s->bridge.stack, "docker-compose") && !equip_is_file(s, env))
                return strv_add(&s->bridge.env, "COMPOSE_DISABLE_ENV_FILE=1");
        return strv_add_take(&s->bridge.env_files, &env);
}

/* What the compose specification sees relative paths from: the folder of the first -f file. */
static int equip_compose_dir(Survey *s) {
        const char *first = s->bridge.compose.len > 0 ? s->bridge.compose.items[0] : "",
                   *slash = strrchr(first, '/');

        return slash ? str_printf(&s->bridge.compose_dir, "%s/%.*s", s->checkout.root.path,
                                  (int)(slash - first), first)
                     : str_dup(s->checkout.root.path, &s->bridge.compose_dir);
}

static int equip_guard_part(const ComposePart *part, Survey *s) {
        struct stat st;

        if (!part->path || !*part->path)
                return equip_warn(s,
                                  "%s: %s %s is not guarded: it is outside the checkout, remote, "
                                  "or has a variable in it",
                                  part->where, compose_kind_name(part->kind), part->text);
        if (fstatat(s->checkout.fd, part->path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            !S_ISREG(st.st_mode))
                return equip_warn(s, "%s: %s %s is not guarded: it is no regular file", part->where,
                                  compose_kind_name(part->kind), part->text);
        if (strv_find(&s->bridge.guarded, part->path) ||
            strv_find(&s->bridge.env_files, part->path))
                return 0;
        return strv_add(&s->bridge.guarded, part->path);
}

static int equip_guarded(const InstallOptions *o, const Compose *c, Survey *s, Str *why) {
        int r = 0;

        for (size_t i = 0; i < s->bridge.compose.len && r == 0; i++)
                if (!strv_find(&s->bridge.guarded, s->bridge.compose.items[i]))
                        r = strv_add(&s->bridge.guarded, s->bridge.compose.items[i]);
        for (size_t i = 0; i < c->parts_len && r == 0; i++)
                r = equip_guard_part(&c->parts[i], s);
        return r != 0 ? r : equip_add_paths(s, "--guard", &o->guard, &s->bridge.guarded, why);
}

int survey_stack(const InstallOptions *o, Survey *s, Str *why) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;
        const char *path = getenv("PATH");
        const Stack *stack;
        bool from_compose;
        int r;

        r = equip_compose_files(o, s, why);
        if (r == 0)
                r = equip_choose(o, s, &stack, why);
        if (r != 0)
                return r;
        from_compose = str_ends(stack->name, "-compose");
        if (from_compose && s->bridge.compose.len == 0)
                return equip_refused(str_addf(
                        why,
                        "%s: no compose file in it\nspoolgate install --stack %s --compose FILE",
                        s->checkout.root.path, stack->name));
        r = compose_read(s->checkout.fd, s->checkout.root.path, &s->bridge.compose, &c, why);
        if (r == 0)
                r = sealed_run_files(s->layout.state, stack->name, &s->bridge.compose,
                                     &s->bridge.run_files);
        if (r == 0)
                r = resolve_path(path ? path : "", s->checkout.root.path, &s->bridge.path);
        if (r == 0)
                r = equip_bins(o, stack, s, why);
        if (r == 0)
                r = equip_env_files(o, s, why);
        if (r == 0)
                r = sealed_run_env_files(s->layout.state, stack->name, &s->bridge.env_files,
                                         &s->bridge.run_env_files);
        if (r == 0)
                r = equip_compose_dir(s);
        if (r == 0)
                r = equip_guarded(o, &c, s, why);
        return r != 0 ? r : survey_services(o, &c, from_compose, s, why);
}
