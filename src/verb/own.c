#include "verb/own.h"

#include <stdlib.h>
#include <string.h>

#include "verb/stacks.h"

enum { OWN_ARGV_MAX = 30, OWN_TIMEOUT_MAX_SEC = 7200 };

void own_verb_done(OwnVerb *v) {
        str_freep(&v->name);
        strv_done(&v->argv);
        strv_done(&v->args);
        strv_done(&v->env);
        str_freep(&v->probe);
}

void own_done(OwnVerbs *v) {
        for (size_t i = 0; i < v->len; i++)
                own_verb_done(&v->items[i]);
        free(v->items);
        *v = OWN_VERBS_NULL;
}

bool own_env_allowed(const char *kv) {
        static const char *const banned[] = {
                "PATH", "BASH_ENV", "ENV", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME",
        };
        const char *eq = strchr(kv, '=');
        size_t len = eq ? (size_t)(eq - kv) : 0;

        if (len == 0)
                return false;
        for (size_t i = 0; i < len; i++)
                if (!(kv[i] >= 'A' && kv[i] <= 'Z') && kv[i] != '_' &&
                    !(i > 0 && kv[i] >= '0' && kv[i] <= '9'))
                        return false;
        for (size_t i = 0; i < sizeof(banned) / sizeof(banned[0]); i++)
                if (strlen(banned[i]) == len && strncmp(kv, banned[i], len) == 0)
                        return false;
        return !str_starts(kv, "LD_") && !str_starts(kv, "GIT_");
}

/* A built-in verb of any stack: an own verb must not change its meaning when the stack changes. */
static const Verb *own_built_in(const char *name) {
        const Stack *s;

        for (size_t i = 0; (s = stacks_at(i)); i++)
                for (const Verb *v = s->verbs; v->name; v++)
                        if (strcmp(v->name, name) == 0)
                                return v;
        return NULL;
}

static const char *own_check_name(const OwnVerbs *v, size_t at) {
        const char *name = v->items[at].name;

        if (!name || !table_verb_shape(name, strlen(name)))
                return "its name must be [a-z][a-z-]*, at most 32 characters";
        if (table_hard_denied(name))
                return "this name is on the hard deny list";
        if (own_built_in(name))
                return "this name is a built-in verb's";
        for (size_t i = 0; i < at; i++)
                if (strcmp(v->items[i].name, name) == 0)
                        return "this name is there twice";
        return NULL;
}

/* Absolute, without empty, "." or ".." components, so that the comparison with the checkout means
 * something. */
static bool own_path_clean(const char *path) {
        if (path[0] != '/' || path[1] == '\0')
                return false;
        for (const char *p = path; *p;) {
                size_t len = strcspn(p + 1, "/");
                if (len == 0 || (len == 1 && p[1] == '.') ||
                    (len == 2 && p[1] == '.' && p[2] == '.'))
                        return false;
                p += 1 + len;
        }
        return true;
}

static bool own_below(const char *path, const char *dir) {
        size_t len = strlen(dir);

        while (len > 0 && dir[len - 1] == '/')
                len--;
        return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static const char *own_check_argv(const OwnVerb *v, const char *checkout) {
        bool uses_arg = false;

        if (v->argv.len < 1 || v->argv.len > OWN_ARGV_MAX)
                return "argv must have 1 to 30 elements";
        if (!own_path_clean(v->argv.items[0]))
                return "argv[0] must be an absolute path without empty, . or .. parts";
        if (checkout && own_below(v->argv.items[0], checkout))
                return "argv[0] must lie outside the checkout: the agent can write there";
        for (size_t i = 0; i < v->argv.len; i++) {
                if (i > 0 && strcmp(v->argv.items[i], "{arg}") == 0)
                        uses_arg = true;
                else if (strpbrk(v->argv.items[i], "{}"))
                        return "braces are allowed only as an element that is exactly {arg}, after "
                               "argv[0]";
        }
        if (uses_arg && v->args.len == 0)
                return "argv has {arg} but the verb has no arg enum";
        if (!uses_arg && v->args.len > 0)
                return "the verb has an arg enum but argv has no {arg}";
        return NULL;
}

static const char *own_check_args(const OwnVerb *v) {
        for (size_t i = 0; i < v->args.len; i++) {
                if (!table_arg_shape(v->args.items[i], strlen(v->args.items[i])))
                        return "an arg must be [a-z][a-z0-9_-]*, at most 64 characters";
                for (size_t k = 0; k < i; k++)
                        if (strcmp(v->args.items[k], v->args.items[i]) == 0)
                                return "an arg is there twice";
        }
        return NULL;
}

static const char *own_check_env(const OwnVerb *v) {
        for (size_t i = 0; i < v->env.len; i++)
                if (!own_env_allowed(v->env.items[i]))
                        return "an env name must be [A-Z_][A-Z0-9_]* and none of PATH HOME ENV "
                               "BASH_ENV "
                               "XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS LD_* GIT_*";
        return NULL;
}

static const char *own_check_class(const OwnVerb *v) {
        if (v->launch != VERB_DIRECT && v->launch != VERB_SCOPE)
                return "launch must be direct or scope";
        if (v->class == VERB_READONLY && v->needs != VERB_SCOPE_READONLY)
                return "a read-only verb has no permission_scope of its own";
        if (v->class == VERB_MUTATING && v->needs != VERB_SCOPE_EDIT && v->needs != VERB_SCOPE_FULL)
                return "a mutating verb needs permission_scope edit or full";
        if (v->timeout_sec < 1 || v->timeout_sec > OWN_TIMEOUT_MAX_SEC)
                return "timeout_sec must be 1 to 7200";
        return NULL;
}

static const char *own_check_probe(const OwnVerbs *v, const OwnVerb *verb) {
        const Verb *built_in = verb->probe ? own_built_in(verb->probe) : NULL;

        if (!verb->probe)
                return NULL;
        if (built_in && built_in->class == VERB_READONLY && built_in->arg == VERB_ARG_NONE &&
            built_in->launch != VERB_SELF)
                return NULL;
        for (size_t i = 0; !built_in && i < v->len; i++)
                if (strcmp(v->items[i].name, verb->probe) == 0 &&
                    v->items[i].class == VERB_READONLY && v->items[i].args.len == 0)
                        return NULL;
        return "its probe must name a read-only verb without an arg, other than ping";
}

int own_check(const OwnVerbs *v, const char *checkout, char **ret_message) {
        const char *fault = NULL;
        CLEANUP(str_done) Str s = STR_NULL;
        size_t i;
        int r;

        for (i = 0; i < v->len && !fault; i++) /* names first: the probes look at all of them */
                fault = own_check_name(v, i);
        for (i = fault ? i : 0; i < v->len && !fault; i++) {
                fault = own_check_class(&v->items[i]);
                if (!fault)
                        fault = own_check_args(&v->items[i]);
                if (!fault)
                        fault = own_check_argv(&v->items[i], checkout);
                if (!fault)
                        fault = own_check_env(&v->items[i]);
                if (!fault)
                        fault = own_check_probe(v, &v->items[i]);
        }
        if (!fault)
                return 0;
        i--;
        r = v->items[i].name ? str_adds(&s, "verb ") : str_addf(&s, "verb number %zu", i + 1);
        if (r >= 0 && v->items[i].name)
                r = str_add_escaped(&s, v->items[i].name, strlen(v->items[i].name), false);
        if (r >= 0)
                r = str_addf(&s, ": %s", fault);
        if (r < 0)
                return r;
        r = str_take(&s, ret_message);
        return r < 0 ? r : OWN_E_INVALID;
}
