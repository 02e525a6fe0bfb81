/* operator/journal-check.h - the journal's copies of audit records against the audit log itself */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

typedef struct JournalCheck {
        char (*hashes)[HASH_HEX_SIZE]; /* of the audit log */
        size_t len, cap;
        int64_t first_ms; /* the oldest record's time */
        uint64_t seen;    /* copies in the journal */
        uint64_t missing; /* copies of records that the log doesn't have */
        Str foreign;      /* some of those, a line each */
} JournalCheck;
#define JOURNAL_CHECK_NULL ((JournalCheck){0})
void journal_check_done(JournalCheck *c);

MUST_CHECK int journal_check_add(JournalCheck *c, const char *hash);
/* After the last add. text: what `journalctl -o json` gives, an object a line. */
MUST_CHECK int journal_check_compare(JournalCheck *c, const char *text, size_t len);

enum { JOURNAL_CHECK_E_ABSENT = 1 };
/* Asks journalctl for this user's records of slug since the oldest audit record, and compares.
 * JOURNAL_CHECK_E_ABSENT: why says why the journal can't be read. */
MUST_CHECK int journal_check_run(JournalCheck *c, const char *slug, Str *why);
