/* installer/uninstall.h - remove what install made, by the fixed paths of fs/layout
 *
 * Without purge: units, programs, bridge.json, the signing keys, the agent's client, and of the
 * spool's and the state's folders those that are empty; policy.conf, verbs.json, redact.conf, state
 * and the spool's contents stay. With purge: all of it. bridge.json goes last, so that an uninstall
 * that was cut short can be run again. */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "wire/bridge.h"

enum { UNINSTALL_E_REFUSED = 1 };

/* b NULL: there is no readable bridge file; the spool is left then, with a warning. */
MUST_CHECK int uninstall_run(const Layout *l, const Bridge *b, bool purge, bool dry_run,
                             Str *report, Strv *warnings, Str *why);
