/* installer/agentfiles.h - what tells an agent how to use its bridge: SPOOL/agent/
 *
 * An AGENTS.md snippet, a skill, a Stop hook and the settings that name it. Advice only: they lie
 * in the agent's reach, and nothing on the host reads them. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "installer/plan.h"

#define AGENTFILES_DIR "agent"
enum { AGENTFILES_E_REFUSED = 1 };

/* The steps; spool is relative to the checkout. @SPOOL@ in a file stands for it. */
MUST_CHECK int agentfiles_add(Plan *p, int checkout_fd, const char *spool, Str *why);
