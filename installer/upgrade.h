/* installer/upgrade.h - the running program's own files to one installed project: pinned programs,
 * the agent's client, units, the version in bridge.json. Policy, state and what the bridge says
 * otherwise stay. */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "wire/bridge.h"

enum { UPGRADE_E_REFUSED = 1 };
/* diff: of the units, unified, unescaped. report: one line a changed step, then the outcome.
 * UPGRADE_E_REFUSED: why says what, and nothing has been written. Units are renewed where the
 * project's service is there, and then the path and timer are started again. A drain that runs goes
 * on with the program it was started from. */
MUST_CHECK int upgrade_run(const Layout *l, const Bridge *b, bool dry_run, Str *diff, Str *report,
                           Strv *warnings, Str *why);
