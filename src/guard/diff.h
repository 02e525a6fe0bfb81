/* guard/diff.h - what changed since the last seal, for a person to read (unified diff, 3 lines of
 * context)
 *
 * Shortest edit script after E. W. Myers, "An O(ND) Difference Algorithm and Its Variations"
 * (1986), up to DIFF_EDITS edits; what differs more is shown as replaced. */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

enum { DIFF_LINES = 20000, DIFF_EDITS = 1000 };

typedef enum DiffFlags {
        DIFF_HIDE = 1, /* an env file: names are shown, values and whatever else stands there not */
} DiffFlags;

/* Appends to out; nothing when both are equal. before, after: NULL is absent. The bytes are not
 * escaped: they are the enemy's, and whoever prints them must. Binary files and those of more than
 * DIFF_LINES lines: one line says that they differ. */
MUST_CHECK int diff_add(const char *name, const Str *before, const Str *after, DiffFlags flags,
                        Str *out);
