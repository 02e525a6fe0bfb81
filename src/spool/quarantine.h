/* spool/quarantine.h - what is no request leaves the line and is kept as evidence */
#pragma once
#include <stdint.h>
#include "base/err.h"
#include "spool/spool.h"

enum { QUARANTINE_NAME_SIZE = 64 };
enum {
        QUARANTINE_E_GONE = 1,
        QUARANTINE_E_IN_PLACE /* renamed to a dot name where it stood; the name is set */,
        QUARANTINE_E_STUCK /* nothing worked */
};
/* Moves dirs[from]/name to quarantine/STAMP-RANDOM16 (a generated name; the entry's own bytes live
 * in the audit log only). Where the move is refused (a directory of a foreign uid): rename in place
 * to ".bad-RANDOM16". Never recurses, never opens the entry. */
MUST_CHECK int quarantine_take(const Spool *s, SpoolDir from, const char *name, int64_t now_ms,
                               char ret_name[QUARANTINE_NAME_SIZE]);
