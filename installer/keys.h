/* installer/keys.h - the agent's signing keys: CONFIG/mac-N.key, which bridge.json names newest
 * first
 *
 * Two at the most: the newest, which the agent is given, and the one before it, which stays good
 * while the agent is moved to the new one. A bridge file that can't be read leaves the keys that
 * stand in CONFIG in force: a damaged file must not switch the signatures off. */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "installer/install.h"
#include "installer/plan.h"

enum { KEYS_MAX = 2 };

typedef struct Keys {
        Strv names;          /* as bridge.json gets them */
        Str bytes[KEYS_MAX]; /* of names, each a key file as it will stand */
        Strv drop;           /* key files that no bridge names any more */
        bool fresh;          /* names[0] is new: the agent has to be given it */
} Keys;
#define KEYS_NULL ((Keys){0})
void keys_done(Keys *k);

/* What o makes of `before` (the bridge's; NULL: none could be read) and of what stands in CONFIG.
 * Writes nothing. Warnings: a key others could read, one that had to be made anew. */
MUST_CHECK int keys_decide(const InstallOptions *o, const Layout *l, const Strv *before, Keys *ret,
                           Strv *warnings);
/* The key files as steps; before bridge.json's. */
MUST_CHECK int keys_add(Plan *p, const Layout *l, Keys *k);
/* After bridge.json is written: what nobody names goes, a line of the report each. */
MUST_CHECK int keys_drop(const Keys *k, const Layout *l, bool dry, Str *report);
/* A line for the audit log about the keys that are good from now on, where that has changed. */
MUST_CHECK int keys_note(const Keys *k, const Layout *l);
/* Where the newest key is and how the agent gets it; nothing when there is none. */
MUST_CHECK int keys_advise(const Keys *k, const Layout *l, Str *report);

/* The names of that form in the directory; dir < 0: none. */
MUST_CHECK int keys_list(int dir, Strv *ret);
/* "mac-N.key", N from 1 to 999999999 without leading zeros. */
MUST_CHECK bool keys_number(const char *name, unsigned long long *ret);
/* The names out of names (sorted newest first) and o: pure. files: the mac-N.key that stand there.
 */
MUST_CHECK int keys_choose(const InstallOptions *o, const Strv *before, const Strv *files,
                           Strv *ret);
