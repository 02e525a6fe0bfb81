#include "verb/argv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct Plan {
        const Verb *verb;
        const char **argv; /* the array is ours, its strings are the table's */
        Strv env;
        const char *cwd;
};

Plan *plan_free(Plan *p) {
        if (!p)
                return NULL;
        free(p->argv);
        strv_done(&p->env);
        free(p);
        return NULL;
}

void plan_freep(Plan **p) {
        *p = plan_free(*p);
}

static const char *const argv_blank[] = {
        /* what a row of `spoolgate verbs` shows for a placeholder */
        [ELEM_ARG] = "<arg>",
        [ELEM_PROJECT] = "<project>",
        [ELEM_PROJECT_LABEL] = "<project-label>",
        [ELEM_COMPOSE_DIR] = "<compose-dir>",
        [ELEM_NETWORK] = "<network>",
        [ELEM_CONTAINER] = "<container>",
        [ELEM_UNIT] = "<arg>.service",
        [ELEM_BUILD_UNIT] = "<arg>-build.service",
        [ELEM_UNITS] = NULL,
};

static bool argv_end(const Elem *e) {
        return e->kind == ELEM_LITERAL && !e->text;
}

/* The string of `made` that belongs to arg, which is an entry of `names`. */
static const char *argv_twin(const Strv *names, const Strv *made, const char *arg) {
        for (size_t i = 0; i < names->len && i < made->len; i++)
                if (str_eq(names->items[i], arg))
                        return made->items[i];
        return NULL;
}

static const char *argv_single(const VerbTable *t, const Elem *e, const char *arg) {
        const VerbSetup *s = table_setup(t);

        switch (e->kind) {
        case ELEM_LITERAL:
                return e->text;
        case ELEM_BIN:
                return table_bin(t, e->text);
        case ELEM_ARG:
                return arg;
        case ELEM_PROJECT:
                return s->project;
        case ELEM_PROJECT_LABEL:
                return table_project_label(t);
        case ELEM_COMPOSE_DIR:
                return s->compose_dir;
        case ELEM_NETWORK:
                return s->network;
        case ELEM_CONTAINER:
                return s->container;
        case ELEM_UNIT:
                return argv_twin(&s->services, table_units(t), arg);
        case ELEM_BUILD_UNIT:
                return argv_twin(&s->buildable, table_build_units(t), arg);
        case ELEM_FILES:
        case ELEM_ENV_FILES:
        case ELEM_UNITS:
                return NULL;
        }
        return NULL;
}

/* The list behind a list element and the flag before each item (NULL: none); NULL for single
 * elements. */
static const Strv *argv_list(const VerbTable *t, const Elem *e, const char **ret_flag) {
        const VerbSetup *s = table_setup(t);

        *ret_flag = e->kind == ELEM_FILES ? "-f" : e->kind == ELEM_ENV_FILES ? "--env-file" : NULL;
        if (e->kind == ELEM_FILES)
                return &s->files;
        if (e->kind == ELEM_ENV_FILES)
                return &s->env_files;
        return e->kind == ELEM_UNITS ? table_units(t) : NULL;
}

/* Spreads a template. With out NULL only counts. row: argv_blank stands for what can't be filled,
 * else an error. */
static int argv_spread(const VerbTable *t, VerbCall call, bool row, const char **out,
                       size_t *ret_n) {
        size_t n = 0;

        for (const Elem *e = call.verb->argv; !argv_end(e); e++) {
                const char *flag, *text;
                const Strv *list = argv_list(t, e, &flag);

                for (size_t i = 0; list && i < list->len; i++) {
                        if (flag) {
                                if (out)
                                        out[n] = flag;
                                n++;
                        }
                        if (out)
                                out[n] = list->items[i];
                        n++;
                }
                if (list)
                        continue;
                text = argv_single(t, e, call.arg);
                if (!text && row)
                        text = e->kind == ELEM_BIN ? e->text : argv_blank[e->kind];
                if (!text)
                        return err_new(EINVAL);
                if (out)
                        out[n] = text;
                n++;
        }
        *ret_n = n;
        return 0;
}

static int argv_new(const VerbTable *t, VerbCall call, bool row, const char ***ret) {
        const char **argv;
        size_t n;
        int r;

        r = argv_spread(t, call, row, NULL, &n);
        if (r < 0)
                return r;
        argv = calloc(n + 1, sizeof(*argv));
        if (!argv)
                return err_new(ENOMEM);
        r = argv_spread(t, call, row, argv, &n);
        if (r < 0) {
                free(argv);
                return r;
        }
        *ret = argv;
        return 0;
}

/* K=V; a K that is there already gets the new value, so that no child sees a name twice. */
static int env_put(Strv *env, const char *kv) {
        const char *eq = strchr(kv, '=');
        size_t key = eq ? (size_t)(eq - kv) + 1 : 0;

        for (size_t i = 0; key && i < env->len; i++)
                if (strncmp(env->items[i], kv, key) == 0) {
                        char *copy = NULL;
                        int r = str_dup(kv, &copy);
                        if (r < 0)
                                return r;
                        free(env->items[i]);
                        env->items[i] = copy;
                        return 0;
                }
        return key ? strv_add(env, kv) : err_new(EINVAL);
}

static int env_put_pair(Strv *env, const char *key, const char *value) {
        CLEANUP(str_freep) char *kv = NULL;
        int r;

        if (!value)
                return 0;
        r = str_printf(&kv, "%s=%s", key, value);
        return r < 0 ? r : env_put(env, kv);
}

/* D-Bus specification, "Server Addresses": bytes other than [-0-9A-Za-z_/.\*] are written %XX. */
static int env_put_bus(Strv *env, const char *runtime_dir) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_adds(&s, "unix:path=");

        for (const char *p = runtime_dir; r >= 0 && *p; p++) {
                bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                             (*p >= 'A' && *p <= 'Z') || strchr("-_/.\\*", *p);
                r = plain ? str_addc(&s, *p) : str_addf(&s, "%%%02x", (unsigned)(unsigned char)*p);
        }
        if (r >= 0)
                r = str_adds(&s, "/bus");
        return r < 0 ? r : env_put_pair(env, "DBUS_SESSION_BUS_ADDRESS", s.data);
}

static int env_build(const VerbTable *t, const Verb *verb, Strv *env) {
        static const char *const fixed[] = {
                "LANG=C.UTF-8",          "GIT_DIR=/nonexistent",
                "GIT_NO_LAZY_FETCH=1",   "GIT_ALLOW_PROTOCOL=none",
                "BUILDX_GIT_INFO=false",
        };
        const VerbSetup *s = table_setup(t);
        int r;

        r = env_put_pair(env, "PATH", s->path);
        if (r >= 0)
                r = env_put_pair(env, "HOME", s->home);
        if (r >= 0)
                r = env_put_pair(env, "XDG_RUNTIME_DIR", s->runtime_dir);
        if (r >= 0 && s->runtime_dir)
                r = env_put_bus(env, s->runtime_dir);
        for (size_t i = 0; r >= 0 && i < sizeof(fixed) / sizeof(fixed[0]); i++)
                r = env_put(env, fixed[i]);
        if (r >= 0 && strcmp(s->stack, "script") == 0)
                r = env_put_pair(env, "SPOOLGATE_CHECKOUT", s->checkout);
        for (size_t i = 0; r >= 0 && i < s->env.len; i++)
                r = env_put(env, s->env.items[i]);
        for (size_t i = 0; r >= 0 && verb->env && verb->env[i]; i++)
                r = env_put(env, verb->env[i]);
        return r;
}

int plan_new(const VerbTable *t, VerbCall call, Plan **ret) {
        CLEANUP(plan_freep) Plan *p = NULL;
        int r;

        if (!call.verb || call.verb->launch == VERB_SELF || call.verb->missing || !call.verb->argv)
                return err_new(EINVAL);
        p = calloc(1, sizeof(*p));
        if (!p)
                return err_new(ENOMEM);
        p->verb = call.verb;
        p->cwd = call.verb->cwd == VERB_CWD_CHECKOUT ? table_setup(t)->checkout : "/";
        if (!p->cwd)
                return err_new(EINVAL);
        r = argv_new(t, call, false, &p->argv);
        if (r < 0)
                return r;
        if (!p->argv[0] || p->argv[0][0] != '/')
                return err_new(EINVAL);
        r = env_build(t, call.verb, &p->env);
        if (r < 0)
                return r;
        *ret = p;
        p = NULL;
        return 0;
}

const char *const *plan_argv(const Plan *p) {
        return p->argv;
}

const char *const *plan_envp(const Plan *p) {
        static const char *const none[] = {NULL};

        return p->env.items ? (const char *const *)p->env.items : none;
}

const char *plan_cwd(const Plan *p) {
        return p->cwd;
}

const Verb *plan_verb(const Plan *p) {
        return p->verb;
}

static bool argv_plain(const char *s) {
        for (const char *p = s; *p; p++)
                if (!(*p >= '0' && *p <= '9') && !(*p >= 'a' && *p <= 'z') &&
                    !(*p >= 'A' && *p <= 'Z') && !strchr("_./:=@%+,-", *p))
                        return false;
        return *s;
}

static int argv_add_word(Str *s, const char *word) {
        const char *quote;
        int r;

        if (argv_plain(word))
                return str_adds(s, word);
        r = str_addc(s, '\'');
        while (r >= 0 && (quote = strchr(word, '\''))) {
                r = str_add_escaped(s, word, (size_t)(quote - word), false);
                if (r >= 0)
                        r = str_adds(s, "'\\''");
                word = quote + 1;
        }
        if (r >= 0)
                r = str_add_escaped(s, word, strlen(word), false);
        return r < 0 ? r : str_addc(s, '\'');
}

static bool argv_is_blank(const char *word) {
        for (size_t i = 0; i < sizeof(argv_blank) / sizeof(argv_blank[0]); i++)
                if (word == argv_blank[i])
                        return true;
        return false;
}

static int argv_join(const char *const *argv, char **ret) {
        CLEANUP(str_done) Str s = STR_NULL;

        for (size_t i = 0; argv[i]; i++) {
                int r = i > 0 ? str_addc(&s, ' ') : 0;
                if (r >= 0)
                        r = argv_is_blank(argv[i]) ? str_adds(&s, argv[i])
                                                   : argv_add_word(&s, argv[i]);
                if (r < 0)
                        return r;
        }
        return str_take(&s, ret);
}

int plan_format(const Plan *p, char **ret) {
        return argv_join(p->argv, ret);
}

int argv_format_row(const VerbTable *t, const Verb *verb, char **ret) {
        const char **argv = NULL;
        int r;

        if (verb->launch == VERB_SELF || !verb->argv)
                return str_dup("(answered by the drain)", ret);
        r = argv_new(t, (VerbCall){.verb = verb}, true, &argv);
        if (r < 0)
                return r;
        r = argv_join(argv, ret);
        free(argv);
        return r;
}
