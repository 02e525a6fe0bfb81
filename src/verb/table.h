/* verb/table.h - the closed set: every verb this bridge can ever run
 *
 * A table is made once from a stack, the install-time setup and the operator's own verbs. Whatever
 * runs is a VerbCall, and a VerbCall holds only the table's own memory: a row and, where the verb
 * takes one, the enum's own string. No byte of a request ever reaches an argv. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

typedef enum VerbClass { VERB_READONLY, VERB_MUTATING } VerbClass;
typedef enum VerbLaunch {
        VERB_SELF,   /* answered by the drain: ping */
        VERB_DIRECT, /* a child in the drain's own cgroup */
        VERB_SCOPE,  /* a transient scope, unless the bridge says launch: direct */
} VerbLaunch;
typedef enum VerbArg { VERB_ARG_NONE, VERB_ARG_SERVICE, VERB_ARG_BUILDABLE, VERB_ARG_OWN } VerbArg;
/* permission_scope of a request, and what a verb needs; ordered, each admits those below it */
typedef enum VerbScope {
        VERB_SCOPE_PLAN,
        VERB_SCOPE_READONLY,
        VERB_SCOPE_EDIT,
        VERB_SCOPE_FULL
} VerbScope;
typedef enum VerbCwd { VERB_CWD_HOST, VERB_CWD_CHECKOUT } VerbCwd;

/* One argv element is a literal or exactly one placeholder, never a substring. */
typedef enum ElemKind {
        ELEM_LITERAL,
        ELEM_BIN,           /* the absolute path of the binary `text` ("podman", "stack", ...) */
        ELEM_ARG,           /* the request's enum entry */
        ELEM_PROJECT,       /* the compose project name */
        ELEM_PROJECT_LABEL, /* "label=io.podman.compose.project=PROJECT", made once from
                               install-time data */
        ELEM_COMPOSE_DIR,   /* the folder that compose files' relative paths are seen from */
        ELEM_FILES,         /* -f FILE for each compose file */
        ELEM_ENV_FILES,     /* --env-file FILE for each env file */
        ELEM_NETWORK,       /* join-network's network */
        ELEM_CONTAINER,     /* join-network's container */
        ELEM_UNIT,          /* the arg's "NAME.service", made once for each service */
        ELEM_BUILD_UNIT,    /* the arg's "NAME-build.service", made once for each buildable */
        ELEM_UNITS,         /* "NAME.service" of every service */
} ElemKind;
typedef struct Elem {
        ElemKind kind;
        const char *text; /* ELEM_LITERAL, ELEM_BIN */
} Elem;
enum { VERB_ARGV_MAX = 32 }; /* elements of a template, before lists are spread */

typedef struct Verb {
        const char *name;
        VerbClass class;
        VerbLaunch launch;
        VerbArg arg;
        VerbScope needs;
        VerbCwd cwd;
        uint32_t timeout_sec;     /* default */
        uint32_t timeout_cap_sec; /* what policy may set at most */
        const Elem *argv;         /* ended by {ELEM_LITERAL, NULL} */
        const char *const *env;   /* K=V literals, NULL-ended; NULL: none */
        const Strv *own_args;     /* VERB_ARG_OWN */
        const char *probe;        /* own verbs: a read-only verb's name, or NULL */
        const char
                *missing; /* why it can't run here ("podman was not found at install"), or NULL */
        bool exit_lines;  /* the status is said in the output (run/exitlines.h) */
        bool own;
} Verb;

/* What the installer found; copied by table_new. Paths absolute. Empty strings and NULL mean "not
 * there". */
typedef struct VerbSetup {
        const char *stack; /* "script", "podman-compose", "docker-compose", "quadlet" */
        const char *checkout;
        const char *compose_dir; /* ELEM_COMPOSE_DIR */
        const char *project;     /* compose -p */
        const char *path;        /* PATH of every child */
        const char *home;
        const char *runtime_dir;         /* XDG_RUNTIME_DIR */
        const char *network, *container; /* join-network */
        Strv services, buildable;
        Strv files;     /* compose files, absolute: the sealed copies where the stack runs copies */
        Strv env_files; /* absolute */
        Strv bins;      /* "name=/absolute/path" */
        Strv env;       /* the bridge file's K=V for every child */
} VerbSetup;
void setup_done(VerbSetup *s); /* the Strv members only */

typedef struct VerbTable VerbTable;
typedef struct VerbCall {
        const Verb *verb;
        const char *arg; /* the enum's own memory, or NULL */
} VerbCall;

struct OwnVerbs;
enum { TABLE_E_STACK = 1 /* no such stack */ };
/* own may be NULL; it is not kept. */
MUST_CHECK int table_new(const VerbSetup *setup, const struct OwnVerbs *own, VerbTable **ret);
VerbTable *table_free(VerbTable *t);
void table_freep(VerbTable **t);

/* The hard deny list, in code, before any table: exec eval shell sh bash reset-db, and whatever
 * begins with "shell:". */
bool table_hard_denied(const char *verb);
/* [a-z][a-z-]{0,31} / [a-z][a-z0-9_-]{0,63}, by length, so that an embedded NUL is refused */
bool table_verb_shape(const char *s, size_t len);
bool table_arg_shape(const char *s, size_t len);
const Verb *table_find(const VerbTable *t, const char *name); /* NULL: unknown */
/* Every row in print order: built-in, then own. */
const Verb *table_at(const VerbTable *t, size_t i); /* NULL past the end */
/* The enum of a verb's arg, NULL when it takes none. */
const Strv *table_args(const VerbTable *t, const Verb *verb);
const VerbSetup *table_setup(const VerbTable *t);
/* What ELEM_BIN, ELEM_PROJECT_LABEL and ELEM_UNITS stand for, in the table's own memory. */
const char *table_bin(const VerbTable *t, const char *name); /* NULL: not found at install */
const char *table_project_label(const VerbTable *t);         /* NULL: no project name */
const Strv *table_units(const VerbTable *t);                 /* in the order of setup->services */
const Strv *table_build_units(const VerbTable *t);           /* in the order of setup->buildable */

enum { TABLE_E_ARG_MISSING = 1, TABLE_E_ARG_UNEXPECTED, TABLE_E_ARG_SHAPE, TABLE_E_ARG_NOT_LISTED };
/* The only maker of a VerbCall; arg NULL when the request has none. */
MUST_CHECK int table_call(const VerbTable *t, const Verb *verb, const char *arg, VerbCall *ret);

const char *verb_class_name(VerbClass c); /* "read-only", "mutating" */
const char *verb_scope_name(VerbScope s); /* "plan" "readonly" "edit" "full" */
MUST_CHECK bool verb_scope_parse(const char *s, VerbScope *ret);
