/* operator/policy-show.h - every setting in force, in the form of policy.conf */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"

/* "KEY=value" a line; what policy.conf doesn't say is marked. c->policy must be there. */
MUST_CHECK int policy_show(const Config *c, Str *out);
MUST_CHECK int policy_show_json(const Config *c, Str *out); /* {"project", "settings": {...}} */
