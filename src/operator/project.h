/* operator/project.h - which project does a command speak of */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "wire/bridge.h"

enum { PROJECT_E_NONE = 1, PROJECT_E_BROKEN };

/* slug, else the project whose checkout holds the current directory, else the only one installed.
 * PROJECT_E_NONE: why says why not and lists them. The slug need not be installed when it is given.
 */
MUST_CHECK int project_select(const char *slug, Layout *ret, Str *why);
/* project_select, then its bridge file. PROJECT_E_NONE too when it is not installed;
 * PROJECT_E_BROKEN: the bridge file is no good. */
MUST_CHECK int project_open(const char *slug, Layout *ret_layout, Bridge **ret_bridge, Str *why);
