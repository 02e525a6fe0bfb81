#include "verb/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verb/own.h"
#include "verb/stacks.h"

enum { TABLE_VERB_MAX = 32, TABLE_ARG_MAX = 64, TABLE_OWN_CAP_SEC = 7200 };

typedef struct OwnRow { /* what an own verb's row points at */
        Elem *argv;
        Strv args;
        Strv env;
} OwnRow;

struct VerbTable {
        VerbSetup setup; /* its plain pointers point into memory */
        Strv memory;     /* every string that the table made or copied */
        Strv units, build_units;
        const char *project_label;
        Verb *verbs;
        size_t len;
        OwnRow *own;
        size_t own_len;
};

void setup_done(VerbSetup *s) {
        strv_done(&s->services);
        strv_done(&s->buildable);
        strv_done(&s->files);
        strv_done(&s->env_files);
        strv_done(&s->bins);
        strv_done(&s->env);
}

VerbTable *table_free(VerbTable *t) {
        if (!t)
                return NULL;
        setup_done(&t->setup);
        strv_done(&t->memory);
        strv_done(&t->units);
        strv_done(&t->build_units);
        for (size_t i = 0; i < t->own_len; i++) {
                free(t->own[i].argv);
                strv_done(&t->own[i].args);
                strv_done(&t->own[i].env);
        }
        free(t->own);
        free(t->verbs);
        free(t);
        return NULL;
}

void table_freep(VerbTable **t) {
        *t = table_free(*t);
}

/* A copy in t->memory; NULL and "" give NULL, which is how a table says "not there". */
static int table_keep(VerbTable *t, const char *text, const char **ret) {
        int r;

        if (!text || !*text) {
                *ret = NULL;
                return 0;
        }
        r = strv_add(&t->memory, text);
        if (r < 0)
                return r;
        *ret = t->memory.items[t->memory.len - 1];
        return 0;
}

static int table_keep_take(VerbTable *t, char **text, const char **ret) {
        int r = strv_add_take(&t->memory, text);

        if (r < 0)
                return r;
        *ret = t->memory.items[t->memory.len - 1];
        return 0;
}

static int table_copy_strings(VerbTable *t, const VerbSetup *s) {
        const struct {
                const char *from, **to;
        } plain[] = {
                {s->stack, &t->setup.stack},
                {s->checkout, &t->setup.checkout},
                {s->project, &t->setup.project},
                {s->path, &t->setup.path},
                {s->home, &t->setup.home},
                {s->runtime_dir, &t->setup.runtime_dir},
                {s->network, &t->setup.network},
                {s->container, &t->setup.container},
                {s->compose_dir, &t->setup.compose_dir},
        };

        for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
                int r = table_keep(t, plain[i].from, plain[i].to);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int table_copy_lists(VerbTable *t, const VerbSetup *s) {
        const struct {
                const Strv *from;
                Strv *to;
        } lists[] = {
                {&s->services, &t->setup.services}, {&s->buildable, &t->setup.buildable},
                {&s->files, &t->setup.files},       {&s->env_files, &t->setup.env_files},
                {&s->bins, &t->setup.bins},         {&s->env, &t->setup.env},
        };

        for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
                int r = strv_copy(lists[i].from, lists[i].to);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int table_make_units(const Strv *names, const char *suffix, Strv *units) {
        for (size_t i = 0; i < names->len; i++) {
                CLEANUP(str_freep) char *unit = NULL;
                int r = str_printf(&unit, "%s%s.service", names->items[i], suffix);
                if (r < 0)
                        return r;
                r = strv_add_take(units, &unit);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int table_make_strings(VerbTable *t) {
        int r;

        if (t->setup.project) {
                CLEANUP(str_freep) char *label = NULL;
                r = str_printf(&label, "label=io.podman.compose.project=%s", t->setup.project);
                if (r < 0)
                        return r;
                r = table_keep_take(t, &label, &t->project_label);
                if (r < 0)
                        return r;
        }
        r = table_make_units(&t->setup.services, "", &t->units);
        if (r < 0)
                return r;
        return table_make_units(&t->setup.buildable, "-build", &t->build_units);
}

/* NULL when the element can be filled; else why not. */
static const char *table_lack(const VerbTable *t, const Elem *elem) {
        switch (elem->kind) {
        case ELEM_BIN:
                return table_bin(t, elem->text) ? NULL : "not found at install";
        case ELEM_PROJECT:
        case ELEM_PROJECT_LABEL:
                return t->setup.project ? NULL : "no project name is set";
        case ELEM_COMPOSE_DIR:
                return t->setup.compose_dir ? NULL : "no folder of compose files is set";
        case ELEM_FILES:
                return t->setup.files.len > 0 ? NULL : "no compose file is set";
        case ELEM_NETWORK:
        case ELEM_CONTAINER:
                return t->setup.network && t->setup.container
                               ? NULL
                               : "no network and container to join are set";
        case ELEM_UNITS: /* systemctl without a unit would speak of every unit */
                return t->units.len > 0 ? NULL : "no services are set";
        case ELEM_LITERAL:
        case ELEM_ARG:
        case ELEM_ENV_FILES:
        case ELEM_UNIT:
        case ELEM_BUILD_UNIT:
                return NULL;
        }
        return NULL;
}

static int table_find_missing(VerbTable *t, Verb *verb) {
        for (const Elem *e = verb->argv; e && (e->kind != ELEM_LITERAL || e->text); e++) {
                CLEANUP(str_freep) char *text = NULL;
                const char *lack = table_lack(t, e);
                int r;

                if (!lack)
                        continue;
                r = e->kind == ELEM_BIN ? str_printf(&text, "%s was not found at install", e->text)
                                        : str_dup(lack, &text);
                if (r < 0)
                        return r;
                return table_keep_take(t, &text, &verb->missing);
        }
        return 0;
}

static int table_own_argv(VerbTable *t, const OwnVerb *v, OwnRow *row) {
        row->argv = calloc(v->argv.len + 1, sizeof(Elem)); /* ended by {ELEM_LITERAL, NULL} */
        if (!row->argv)
                return err_new(ENOMEM);
        for (size_t i = 0; i < v->argv.len; i++) {
                int r;

                if (strcmp(v->argv.items[i], "{arg}") == 0) {
                        row->argv[i].kind = ELEM_ARG;
                        continue;
                }
                r = strv_add(&t->memory, v->argv.items[i]);
                if (r < 0)
                        return r;
                row->argv[i].text = t->memory.items[t->memory.len - 1];
        }
        return 0;
}

static int table_add_own(VerbTable *t, const OwnVerb *v) {
        OwnRow *row = &t->own[t->own_len++];
        Verb *verb = &t->verbs[t->len++];
        int r;

        r = table_own_argv(t, v, row);
        if (r < 0)
                return r;
        r = strv_copy(&v->args, &row->args);
        if (r < 0)
                return r;
        r = strv_copy(&v->env, &row->env);
        if (r < 0)
                return r;
        r = table_keep(t, v->name, &verb->name);
        if (r < 0)
                return r;
        r = table_keep(t, v->probe, &verb->probe);
        if (r < 0)
                return r;
        verb->class = v->class;
        verb->launch = v->launch;
        verb->arg = v->args.len > 0 ? VERB_ARG_OWN : VERB_ARG_NONE;
        verb->needs = v->needs;
        verb->cwd = v->cwd;
        verb->timeout_sec = v->timeout_sec;
        verb->timeout_cap_sec = TABLE_OWN_CAP_SEC;
        verb->argv = row->argv;
        verb->env = (const char *const *)row->env.items;
        verb->own_args = v->args.len > 0 ? &row->args : NULL;
        verb->own = true;
        return 0;
}

static int table_fill(VerbTable *t, const Stack *stack, const OwnVerbs *own) {
        size_t built_in = 0, n_own = own ? own->len : 0;
        int r;

        while (stack->verbs[built_in].name)
                built_in++;
        t->verbs = calloc(built_in + n_own, sizeof(Verb));
        t->own = calloc(n_own + 1, sizeof(OwnRow));
        if (!t->verbs || !t->own)
                return err_new(ENOMEM);
        for (; t->len < built_in; t->len++) {
                t->verbs[t->len] = stack->verbs[t->len];
                r = table_find_missing(t, &t->verbs[t->len]);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < n_own; i++) {
                r = table_add_own(t, &own->items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

int table_new(const VerbSetup *setup, const OwnVerbs *own, VerbTable **ret) {
        CLEANUP(table_freep) VerbTable *t = NULL;
        const Stack *stack = stacks_find(setup->stack);
        int r;

        if (!stack)
                return TABLE_E_STACK;
        t = calloc(1, sizeof(*t));
        if (!t)
                return err_new(ENOMEM);
        r = table_copy_strings(t, setup);
        if (r < 0)
                return r;
        r = table_copy_lists(t, setup);
        if (r < 0)
                return r;
        r = table_make_strings(t);
        if (r < 0)
                return r;
        r = table_fill(t, stack, own);
        if (r < 0)
                return r;
        *ret = t;
        t = NULL;
        return 0;
}

bool table_hard_denied(const char *verb) {
        static const char *const denied[] = {"exec", "eval", "shell", "sh", "bash", "reset-db"};

        for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++)
                if (strcmp(verb, denied[i]) == 0)
                        return true;
        return str_starts(verb, "shell:");
}

static bool table_is_lower(char c) {
        return c >= 'a' && c <= 'z';
}

bool table_verb_shape(const char *s, size_t len) {
        if (len < 1 || len > TABLE_VERB_MAX || !table_is_lower(s[0]))
                return false;
        for (size_t i = 1; i < len; i++)
                if (!table_is_lower(s[i]) && s[i] != '-')
                        return false;
        return true;
}

bool table_arg_shape(const char *s, size_t len) {
        if (len < 1 || len > TABLE_ARG_MAX || !table_is_lower(s[0]))
                return false;
        for (size_t i = 1; i < len; i++)
                if (!table_is_lower(s[i]) && !(s[i] >= '0' && s[i] <= '9') && s[i] != '_' &&
                    s[i] != '-')
                        return false;
        return true;
}

const Verb *table_find(const VerbTable *t, const char *name) {
        for (size_t i = 0; i < t->len; i++)
                if (strcmp(t->verbs[i].name, name) == 0)
                        return &t->verbs[i];
        return NULL;
}

const Verb *table_at(const VerbTable *t, size_t i) {
        return i < t->len ? &t->verbs[i] : NULL;
}

const Strv *table_args(const VerbTable *t, const Verb *verb) {
        switch (verb->arg) {
        case VERB_ARG_NONE:
                return NULL;
        case VERB_ARG_SERVICE:
                return &t->setup.services;
        case VERB_ARG_BUILDABLE:
                return &t->setup.buildable;
        case VERB_ARG_OWN:
                return verb->own_args;
        }
        return NULL;
}

const VerbSetup *table_setup(const VerbTable *t) {
        return &t->setup;
}

const char *table_bin(const VerbTable *t, const char *name) {
        size_t len = strlen(name);

        for (size_t i = 0; i < t->setup.bins.len; i++) {
                const char *bin = t->setup.bins.items[i];
                if (strncmp(bin, name, len) == 0 && bin[len] == '=' && bin[len + 1] == '/')
                        return bin + len + 1;
        }
        return NULL;
}

const char *table_project_label(const VerbTable *t) {
        return t->project_label;
}

const Strv *table_units(const VerbTable *t) {
        return &t->units;
}

const Strv *table_build_units(const VerbTable *t) {
        return &t->build_units;
}

int table_call(const VerbTable *t, const Verb *verb, const char *arg, VerbCall *ret) {
        const Strv *args = table_args(t, verb);
        const char *entry = NULL;

        if (!args && arg)
                return TABLE_E_ARG_UNEXPECTED;
        if (args) {
                if (!arg)
                        return TABLE_E_ARG_MISSING;
                if (!table_arg_shape(arg, strlen(arg)))
                        return TABLE_E_ARG_SHAPE;
                entry = strv_find(args, arg);
                if (!entry)
                        return TABLE_E_ARG_NOT_LISTED;
        }
        *ret = (VerbCall){.verb = verb, .arg = entry}; /* the enum's memory, never the request's */
        return 0;
}

const char *verb_class_name(VerbClass c) {
        return c == VERB_READONLY ? "read-only" : "mutating";
}

const char *verb_scope_name(VerbScope s) {
        static const char *const names[] = {
                [VERB_SCOPE_PLAN] = "plan",
                [VERB_SCOPE_READONLY] = "readonly",
                [VERB_SCOPE_EDIT] = "edit",
                [VERB_SCOPE_FULL] = "full",
        };

        return names[s];
}

bool verb_scope_parse(const char *s, VerbScope *ret) {
        for (VerbScope i = VERB_SCOPE_PLAN; i <= VERB_SCOPE_FULL; i++)
                if (strcmp(s, verb_scope_name(i)) == 0) {
                        *ret = i;
                        return true;
                }
        return false;
}
