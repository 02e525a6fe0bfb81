/* installer/auth.h - the keys of a project that is installed already; nothing else changes */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "installer/install.h"

enum { AUTH_E_REFUSED = 1 };

/* Is it about keys alone? With an option of another kind the install is a whole one. */
bool auth_alone(const InstallOptions *o);
/* *ret_done false: no such project is installed yet, or its bridge file is no good: nothing was
 * looked at further. report, warnings and why as of install_run. */
MUST_CHECK int auth_run(const InstallOptions *o, Str *report, Strv *warnings, Str *why,
                        bool *ret_done);
