/* verb/argv.h - a VerbCall becomes a Plan: the child's whole world in strings
 *
 * Environment from nothing: PATH HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS LANG=C.UTF-8
 * GIT_DIR=/nonexistent GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none
 * BUILDX_GIT_INFO=false, SPOOLGATE_CHECKOUT for the script stack, then the bridge file's env, then
 * the own verb's. cwd "/" unless the own verb asks for the checkout. */
#pragma once
#include "verb/table.h"

typedef struct Plan Plan; /* only plan_new makes one */

/* t must outlive the plan; verb must not be VERB_SELF or missing: -EINVAL. */
MUST_CHECK int plan_new(const VerbTable *t, VerbCall call, Plan **ret);
Plan *plan_free(Plan *p);
void plan_freep(Plan **p);
const char *const *plan_argv(const Plan *p); /* NULL-ended, argv[0] absolute */
const char *const *plan_envp(const Plan *p); /* NULL-ended */
const char *plan_cwd(const Plan *p);
const Verb *plan_verb(const Plan *p);
/* argv as one line for people: elements with other than [A-Za-z0-9_./:=@%+,-] in single quotes.
 * Owned by the caller. */
MUST_CHECK int plan_format(const Plan *p, char **ret);
/* The same for a row of `spoolgate verbs`, with <arg> for the placeholder; "(answered by the
 * drain)" for VERB_SELF. */
MUST_CHECK int argv_format_row(const VerbTable *t, const Verb *verb, char **ret);
