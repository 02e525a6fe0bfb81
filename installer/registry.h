/* installer/registry.h - the projects that are installed on this host */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "wire/bridge.h"

enum { REGISTRY_E_ABSENT = 1, REGISTRY_E_INVALID };
enum { REGISTRY_BRIDGE_MAX = 1024 * 1024 };

/* The layout and bridge file of one slug (its shape is the caller's to check). REGISTRY_E_INVALID:
 * why says which file and what. */
MUST_CHECK int registry_read(const Layout *l, Bridge **ret, Str *why);
/* The slug whose checkout is `root` or holds it; *ret NULL: none. Broken bridge files are passed
 * over. */
MUST_CHECK int registry_holding(const char *root, char **ret);
