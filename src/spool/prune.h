/* spool/prune.h - retention of archive/, responses/, quarantine/, inbox/ and stale dotfiles */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "spool/spool.h"

typedef struct PruneLimits {
        int64_t keep_ms; /* older (by mtime, for want of better: nothing but retention hangs on it)
                            goes */
        size_t keep_files;   /* per directory, newest kept */
        uint64_t keep_bytes; /* per directory */
        size_t budget; /* entries touched at most in one call: a tree of 10k files can't hold up the
                          drain */
} PruneLimits;
/* removed: every entry that went, those in trees too. stuck: entries of a foreign owner, mounts.
 * more: worth another call as long as removed > 0. */
typedef struct PruneReport {
        size_t removed, stuck;
        bool more;
} PruneReport;
/* Also sweeps dotfiles of requests/, tmp/, responses/, archive/, diagnostics/ older than an hour
 * (in tmp/ visible files too; also processing/, quarantine/ and inbox/). Trees are removed
 * iteratively beneath a pinned fd, never following links. Names in `busy` (requests in hand) are
 * left alone. */
MUST_CHECK int prune_run(const Spool *s, const PruneLimits *limits, const Strv *busy,
                         int64_t now_ms, PruneReport *ret);
