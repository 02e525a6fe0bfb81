/* spool/scan.h - what stands in a spool directory, oldest name first */
#pragma once
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

/* Visible entries (no leading dot), sorted bytewise, at most max of them (the smallest when more
 * are there and then *ret_more is true). Reads the directory afresh (its own offset: a duplicate
 * open by openat2 of "."), memory bounded by max names. */
MUST_CHECK int scan_visible(int dirfd, size_t max, Strv *ret, bool *ret_more);
/* true when a visible entry stands there; cheap */
MUST_CHECK int scan_any(int dirfd, bool *ret_any);

/* dirfd/name ("." for dirfd itself) for reading, an open file description of its own: one that is
 * shared would share the offset too. PIN_E_* as of pin_dir_at. */
MUST_CHECK int scan_open(int dirfd, const char *name, DIR **ret);
/* The next name but "." and ".."; NULL at the end. */
MUST_CHECK int scan_next(DIR *dir, const char **ret);
void scan_closep(DIR **dir);
