/* operator/policy-edit.h - policy.conf edited as a copy, which becomes policy.conf only when it
 * holds */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"

enum { POLICY_EDIT_E_REFUSED = 1 };
/* The copy is CONFIG/policy.conf.edit; one that was refused before is taken up again. said: what
 * came of it. POLICY_EDIT_E_REFUSED: nothing was saved; said says why and where the text is, its
 * last line the command to go on with. */
MUST_CHECK int policy_edit(const Config *c, Str *said);
