/* verb/own.h - the operator's own verbs, linted; wire/verbs makes them from verbs.json */
#pragma once
#include "verb/table.h"

typedef struct OwnVerb {
        char *name;
        VerbClass class;
        VerbLaunch launch; /* VERB_DIRECT or VERB_SCOPE */
        Strv argv; /* argv[0] absolute; an element "{arg}" is the placeholder; braces elsewhere are
                      refused */
        Strv args; /* empty: takes none */
        Strv env;  /* K=V */
        uint32_t timeout_sec;
        VerbCwd cwd;
        VerbScope needs; /* read-only class: VERB_SCOPE_READONLY; else edit or full */
        char *probe;
} OwnVerb;
typedef struct OwnVerbs {
        OwnVerb *items;
        size_t len;
} OwnVerbs;
#define OWN_VERBS_NULL ((OwnVerbs){0})

void own_done(OwnVerbs *v);
void own_verb_done(OwnVerb *v);
/* K=V with K [A-Z_][A-Z0-9_]*, and none of the names below: what a child may be given beyond its
 * fixed environment. */
bool own_env_allowed(const char *kv);
enum { OWN_E_INVALID = 1 };
/* Every rule: name shape, not hard-denied, not built-in, no duplicate; argv 1..30 elements, argv[0]
 * absolute and not below the checkout (NULL: not checked); arg entries of the right shape, "{arg}"
 * used iff args is not empty; env names [A-Z_][A-Z0-9_]* and none of LD_*, PATH, GIT_*, BASH_ENV,
 * ENV, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR, HOME; timeout 1..7200; a probe names a read-only
 * verb without an arg that runs something (not ping). On OWN_E_INVALID *ret_message (owned by the
 * caller) says which verb and what. */
MUST_CHECK int own_check(const OwnVerbs *v, const char *checkout, char **ret_message);
