/* operator/unitstate.h - what the user manager says of a project's units, by `systemctl --user
 * show` */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "installer/units.h"

typedef struct UnitState {
        char *name;
        /* "loaded" "active" "enabled" "success"; "yes" where a daemon-reload is due; "0" or "10s",
         * the start limit's interval; "" unknown */
        char *load, *active, *enabled, *result, *reload, *limit;
} UnitState;

typedef struct UnitStates {
        UnitState
                units[UNITS_COUNT]; /* in the order of installer/units: path service timer rearm */
} UnitStates;
void unitstates_done(UnitStates *s);

enum { UNITSTATE_E_MANAGER = 1 };
/* UNITSTATE_E_MANAGER: no user manager answers; why holds what systemctl said. */
MUST_CHECK int unitstates_read(const char *slug, UnitStates *ret, Str *why);
/* systemctl's output: blocks of KEY=VALUE, an empty line between two, in the order asked for. */
MUST_CHECK int unitstates_parse(const char *text, UnitStates *s);
/* Path and timer run, are enabled, and nothing has failed. */
bool unitstates_good(const UnitStates *s);
/* One word for a table: "active", "failed: start-limit-hit", "not installed", "inactive". */
MUST_CHECK int unitstate_word(const UnitState *u, Str *out);
