/* record/journal.h - structured copies for the journal (sd_journal_sendv(3)); never the authority
 */
#pragma once
#include "base/err.h"

typedef enum JournalKind {
        JOURNAL_DONE,
        JOURNAL_DENIED,
        JOURNAL_FAILED,
        JOURNAL_UNCERTAIN,
        JOURNAL_CLAIMED,
        JOURNAL_STARTED,
        JOURNAL_QUARANTINED,
        JOURNAL_SUMMED,
        JOURNAL_INTEGRITY,
        JOURNAL_HOST_ERROR,
        JOURNAL_SEALED,
        JOURNAL_PAUSED,
        JOURNAL_RESUMED,
        JOURNAL_OPERATOR,
        JOURNAL_KIND_COUNT
} JournalKind;
typedef struct JournalEntry {
        JournalKind kind;
        const char *message;                                                  /* escaped already */
        const char *project, *request, *verb, *arg, *outcome, *reason, *hash; /* NULL: left out */
} JournalEntry;
/* A fixed 32-hex MESSAGE_ID per kind (catalog). */
const char *journal_message_id(JournalKind kind);
/* syslog priority: a denial is notice, a tampered guard warning, a host error err, the rest info.
 */
int journal_priority(JournalKind kind);
/* Best effort: a missing journal is no error. */
void journal_send(const JournalEntry *e);
