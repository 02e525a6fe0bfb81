#define SD_JOURNAL_SUPPRESS_LOCATION
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include "base/str.h"
#include "record/journal.h"

enum { JOURNAL_ERR = 3, JOURNAL_WARNING = 4, JOURNAL_NOTICE = 5, JOURNAL_INFO = 6 }; /* syslog(3) */

typedef struct JournalRow {
        const char *message_id;
        int priority;
} JournalRow;

static const JournalRow journal_rows[JOURNAL_KIND_COUNT] = {
        [JOURNAL_DONE] = {"6ffdc26da2d779cf6ea439758922bfe2", JOURNAL_INFO},
        [JOURNAL_DENIED] = {"6f446eb5f627c7ed35b82f725f3be62d", JOURNAL_NOTICE},
        [JOURNAL_FAILED] = {"d32fb3c7178f83c74797e636b15b8965", JOURNAL_INFO},
        [JOURNAL_UNCERTAIN] = {"bb6c435c658ede6c3886eb618742b266", JOURNAL_INFO},
        [JOURNAL_CLAIMED] = {"7414b88ebb034a67ba9ec8f30d649ab7", JOURNAL_INFO},
        [JOURNAL_STARTED] = {"e108357971ddae2cd724571c76033193", JOURNAL_INFO},
        [JOURNAL_QUARANTINED] = {"43261102ef1496a28a539c2981827eb2", JOURNAL_INFO},
        [JOURNAL_SUMMED] = {"64d0e9a10046a6fc4343913892771322", JOURNAL_INFO},
        [JOURNAL_INTEGRITY] = {"6553215350ffc60e7dba49e547f1da76", JOURNAL_WARNING},
        [JOURNAL_HOST_ERROR] = {"749c9a791f2bdde104c67bdd07308ede", JOURNAL_ERR},
        [JOURNAL_SEALED] = {"46fdf3a3a2dd9f41c48af7a8536bf336", JOURNAL_INFO},
        [JOURNAL_PAUSED] = {"1702d89d1e42241eedf4517bcd23f81b", JOURNAL_INFO},
        [JOURNAL_RESUMED] = {"c4ed1c1391bf45d9ad9f1071fa7d3429", JOURNAL_INFO},
        [JOURNAL_OPERATOR] = {"716c709134aaad5a54410a953a459fb9", JOURNAL_INFO},
};

const char *journal_message_id(JournalKind kind) {
        return journal_rows[kind].message_id;
}

int journal_priority(JournalKind kind) {
        return journal_rows[kind].priority;
}

/* "KEY=value" */
static int journal_add(Strv *fields, const char *key, const char *value) {
        CLEANUP(str_freep) char *field = NULL;
        int r;

        if (!value)
                return 0;
        r = str_printf(&field, "%s=%s", key, value);
        return r == 0 ? strv_add_take(fields, &field) : r;
}

static int journal_fields(const JournalEntry *e, Strv *fields) {
        const char priority[2] = {(char)('0' + journal_priority(e->kind)), '\0'};
        const struct {
                const char *key, *value;
        } rows[] = {
                {"MESSAGE", e->message ? e->message : ""},
                {"MESSAGE_ID", journal_message_id(e->kind)},
                {"PRIORITY", priority},
                {"SYSLOG_IDENTIFIER", "spoolgate"},
                {"SPOOLGATE_PROJECT", e->project},
                {"SPOOLGATE_REQUEST", e->request},
                {"SPOOLGATE_VERB", e->verb},
                {"SPOOLGATE_ARG", e->arg},
                {"SPOOLGATE_OUTCOME", e->outcome},
                {"SPOOLGATE_REASON", e->reason},
                {"SPOOLGATE_HASH", e->hash},
        };
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
                r = journal_add(fields, rows[i].key, rows[i].value);
        return r;
}

void journal_send(const JournalEntry *e) {
        CLEANUP(strv_done) Strv fields = STRV_NULL;
        struct iovec iov[16];
        int n = 0;

        if (journal_fields(e, &fields) != 0)
                return;
        for (; (size_t)n < fields.len && (size_t)n < sizeof(iov) / sizeof(iov[0]); n++)
                iov[n] = (struct iovec){fields.items[n], strlen(fields.items[n])};
        (void)sd_journal_sendv(iov, n); /* a copy only: the audit log is the authority */
}
