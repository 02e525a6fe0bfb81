/* installer/resolve.h - a program's name becomes an absolute path, once, at install time */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

enum {
        RESOLVE_E_ABSENT = 1, /* not found; why says where was looked */
        RESOLVE_E_REFUSED,    /* found, and not to be used; why says what and how to go on */
};
enum { RESOLVE_SHELL_TIMEOUT_MS = 5000 };

/* name: "podman" (looked up in path, then, where `shell` is not NULL, by `SHELL -ic 'command -v
 * NAME'`, so that the operator's aliases count), or a path. The result is absolute, an executable
 * regular file. A program below the checkout (NULL: not asked) is passed over in the look-up, and
 * refused when it is all there is: the agent could write it. An alias must be one word. */
MUST_CHECK int resolve_program(const char *name, const char *path, const char *shell,
                               const char *checkout, char **ret, Str *why);
/* The PATH that is baked in for every child: the absolute, existing folders of path that are not
 * below the checkout and that only root or this user may write to; then the standard ones. */
MUST_CHECK int resolve_path(const char *path, const char *checkout, char **ret);
/* Lexically, both free of links: is path the checkout or below it? */
bool resolve_below(const char *path, const char *checkout);
