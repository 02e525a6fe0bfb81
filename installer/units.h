/* installer/units.h - the four units of a project, filled from units/spoolgate.*.in */
#pragma once
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

enum { UNITS_COUNT = 4, UNITS_TEMPLATE_MAX = 64 * 1024 };
enum { UNITS_E_INVALID = 1 };

typedef struct UnitsFill { /* all set; paths absolute, free of control characters */
        const char *slug;
        const char *requests; /* @REQUESTS@, to the end of a line: % is doubled */
        const char *drain;    /* the others stand in double quotes: % doubled, " and \ escaped
                                 (systemd.syntax(7), systemd.unit(5)) */
        const char *path;
        const char *config_home;
        const char *state_home;
        const char *systemctl;
        const char *sleep;
} UnitsFill;

/* "path" "service" "timer" "rearm.service": i < UNITS_COUNT. */
const char *units_suffix(size_t i);
MUST_CHECK int units_template_name(size_t i, char **ret);          /* spoolgate.SUFFIX.in */
MUST_CHECK int units_name(const char *slug, size_t i, char **ret); /* spoolgate-SLUG.SUFFIX */
/* UNITS_E_INVALID, with why: a control character or bad UTF-8 in a value, a quote or a backslash in
 * a program's path (systemd refuses those), an @WORD@ that is none of ours. */
MUST_CHECK int units_fill(const char *text, const UnitsFill *fill, char **ret, Str *why);
