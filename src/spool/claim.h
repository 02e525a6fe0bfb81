/* spool/claim.h - requests/ -> processing/, then one bounded read into memory */
#pragma once
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "spool/spool.h"

enum {
        CLAIM_E_GONE = 1,
        CLAIM_E_EXISTS,
        CLAIM_E_STUCK /* can't be moved: quarantine_take decides */
};
/* renameat2(RENAME_NOREPLACE). CLAIM_E_EXISTS: processing/ holds that name already. No sync: the
 * ledger is the record. */
MUST_CHECK int claim_take(const Spool *s, const char *name);
/* processing/ -> requests/ (recovery: back in line). */
MUST_CHECK int claim_return(const Spool *s, const char *name);

enum {
        CLAIM_E_ABSENT = 1,
        CLAIM_E_NOT_FILE /* link, fifo, socket, device, directory */,
        CLAIM_E_LINKS,
        CLAIM_E_TOO_BIG,
        CLAIM_E_UNREADABLE,
        CLAIM_E_CHANGED
};
/* Of processing/NAME: O_NOFOLLOW | O_NONBLOCK, regular, one link, at most max bytes, read once; any
 * owner. */
MUST_CHECK int claim_read(const Spool *s, const char *name, size_t max, Str *ret);
const char *claim_reason(int code); /* a fixed sentence for each CLAIM_E_* of claim_read */
