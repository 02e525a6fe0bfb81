/* operator/pager.h - much text for a person: through $PAGER where stdout is a terminal */
#pragma once
#include "base/str.h"

/* Escaped on the way, lines stay lines. $PAGER's words are split at blanks; no shell. Plain output
 * where it is unset, empty or can't be started. */
void pager_show(const Str *text);
