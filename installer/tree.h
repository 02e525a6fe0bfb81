/* installer/tree.h - removing below a held directory: through no link, onto no other mount */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

enum { TREE_MAX_DEPTH = 128 };

/* Removes name, with everything in it where it is a directory. What can't be removed (another
 * user's, a mount, too deep) stays and is named, one line each, in kept: at most a few. Absent is
 * fine. */
MUST_CHECK int tree_remove(int dirfd, const char *name, Str *kept);
/* rmdir; *ret_gone false: not empty, or not a directory, or not there. */
MUST_CHECK int tree_remove_empty(int dirfd, const char *name, bool *ret_gone);
bool tree_has(int dirfd, const char *name);
