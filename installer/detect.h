/* installer/detect.h - what the host says about a checkout; never by running git, never by libgit2
 */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "wire/bridge.h"

enum { DETECT_E_REFUSED = 1 }; /* why says what, and the remedy alone on its last line */

typedef struct Checkout {
        int fd;            /* held */
        BridgePin root;    /* path without links */
        BridgePin git_dir; /* .git, or what a linked worktree's gitfile names */
} Checkout;
#define CHECKOUT_NULL ((Checkout){.fd = -EBADF})
void checkout_done(Checkout *c);

/* The checkout whose root is `project`; NULL: the one that holds the current directory. */
MUST_CHECK int detect_checkout(const char *project, Checkout *ret, Str *why);
/* Is the path, or the nearest folder above it that exists, the checkout or below it? */
MUST_CHECK int detect_below(const char *path, int checkout_fd, bool *ret_below);
/* The name of a file system that gives no inotify events for what others write (nfs, 9p, fuse and
 * virtiofs, smb, ceph), or NULL. */
MUST_CHECK int detect_blind(int fd, const char **ret_name);
/* A line of .gitignore or .git/info/exclude covers the spool: one that names any leading part of
 * its path, with or without slashes at its ends, or with "/" "*" behind. Not read: negations, other
 * patterns, core.excludesFile; so "no" may be a false alarm. */
MUST_CHECK int detect_ignored(const Checkout *c, const char *spool, bool *ret_ignored);
/* One line of an ignore file against a path. */
bool detect_line_covers(const char *line, const char *spool);
/* Does this user's manager go on without a login? (/var/lib/systemd/linger/USER) *ret_user: the
 * name, owned by the caller. */
MUST_CHECK int detect_linger(bool *ret_linger, char **ret_user);
/* A slug out of a folder's name: lower case, other characters as '-', cut to 31; NULL when no
 * letter is in it. */
MUST_CHECK int detect_slug(const char *root, char **ret);
