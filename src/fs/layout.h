/* fs/layout.h - where a project's host files are (design: "Where things are")
 *
 * From $HOME, $XDG_CONFIG_HOME, $XDG_STATE_HOME (XDG base directory specification: relative values
 * are ignored; unset is ~/.config, ~/.local/state). */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

enum { LAYOUT_E_SLUG = 1, LAYOUT_E_HOME /* no absolute HOME */ };

typedef struct Layout {
        char *slug;
        char *home;
        char *config_root; /* $XDG_CONFIG_HOME/spoolgate */
        char *config;      /* .../SLUG: bridge.json policy.conf verbs.json redact.conf */
        char *state;       /* $XDG_STATE_HOME/spoolgate/SLUG */
        char *lib;         /* ~/.local/lib/spoolgate/SLUG: the pinned programs */
        char *units;       /* $XDG_CONFIG_HOME/systemd/user */
} Layout;
#define LAYOUT_NULL ((Layout){0})

/* [a-z][a-z0-9-]{0,30} */
bool layout_slug_ok(const char *slug);
MUST_CHECK int layout_init(Layout *ret, const char *slug);
void layout_done(Layout *l);
/* Every slug that has a bridge file, sorted; none is not an error. */
MUST_CHECK int layout_list(Strv *ret);
