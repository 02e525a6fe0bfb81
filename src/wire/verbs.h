/* wire/verbs.h - verbs.json -> OwnVerbs
 *
 * {"v":1,"verbs":[{"name", "class":"read-only|mutating", "launch":"direct|scope", "argv":[...],
 * "arg":{"enum":[...]}|null, "timeout_sec", "cwd":"host|checkout", "env":{"K":"V"},
 * "permission_scope":"edit|full", "probe"}]}. name, class and argv must be there. Without the rest:
 * launch direct for a read-only and scope for a mutating verb, no arg, 60 s, cwd host, no env,
 * permission_scope edit for a mutating verb, no probe. */
#pragma once
#include "base/err.h"
#include "verb/own.h"

enum { VERBS_E_INVALID = 1 };
/* Parse, closed schema, then own_check. On VERBS_E_INVALID *ret_message (caller's) says line or
 * verb and what. */
MUST_CHECK int verbs_parse(const char *bytes, size_t len, const char *checkout, OwnVerbs *ret,
                           char **ret_message);
