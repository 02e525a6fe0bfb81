/* guard/head.h - from a git directory to the commit that HEAD names, without libgit2
 *
 * Reads HEAD, refs, packed-refs and the [extensions] of config as gitrepository-layout(5) tells,
 * each by openat2 beneath the directory, regular files only, bounded: no include, no symlink, no
 * FIFO that blocks. Opening a repository by libgit2 reads far more of what the enemy writes, and
 * costs more. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "guard/verdict.h"

enum { HEAD_CONFIG_MAX = 1024 * 1024, HEAD_REF_MAX = 4096, HEAD_DEPTH = 5 };

/* The positive codes are InspectCode. The common directory of a linked worktree is up_fd, two above
 * its git directory, or it is refused (INSPECT_COMMON, INSPECT_OWNER); otherwise the git directory
 * itself. The caller owns *ret_fd. */
MUST_CHECK int head_common(int git_fd, int up_fd, int *ret_fd);
/* INSPECT_CONFIG, _SHA256, _REFTABLE, _PARTIAL. */
MUST_CHECK int head_extensions(int common_fd);
/* INSPECT_HEAD, _SHA256, _UNBORN. */
MUST_CHECK int head_resolve(int git_fd, int common_fd, char hex[VERDICT_HEX + 1]);

/* The pure parts. head_config: 0 or INSPECT_SHA256, _REFTABLE, _PARTIAL. */
int head_config(const char *bytes, size_t len);
bool head_ref_ok(const char *name);
