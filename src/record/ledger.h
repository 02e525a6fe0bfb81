/* record/ledger.h - at most once: one small file per key, ledger/begun/HASH -> ledger/ended/HASH
 *
 * HASH is the SHA-256 of "k:" + idempotency key or "n:" + request name, so no agent byte becomes a
 * path. A file is "spoolgate-ledger 1\n", "sum HEX\n" (the SHA-256 of all that follows), header
 * lines "field value\n", an empty line, then (ended) the stored response's bytes. O(1) per request:
 * opens by name, never a scan. */
#pragma once
#include <errno.h>
#include <stdint.h>
#include <stddef.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "fs/pin.h"

typedef struct Ledger {
        int begun_fd, ended_fd;
        PinRule rule;
} Ledger;
#define LEDGER_NULL ((Ledger){.begun_fd = -EBADF, .ended_fd = -EBADF})

typedef enum LedgerState { LEDGER_BEGUN, LEDGER_ENDED } LedgerState;
typedef struct LedgerEntry {
        char key[HASH_HEX_SIZE]; /* the file's name */
        LedgerState state;
        char fingerprint[HASH_HEX_SIZE];
        char *name;       /* request name that began it */
        char *verb, *arg; /* arg NULL: none */
        char *unit;       /* scope unit, or NULL: direct */
        char *by;         /* the operator who ordered it; NULL: the agent */
        int64_t began_ms;
        int64_t ended_ms; /* 0 while begun */
        Str response;     /* ended: the stored response line */
} LedgerEntry;
#define LEDGER_ENTRY_NULL ((LedgerEntry){0})
void ledger_entry_done(LedgerEntry *e);

/* Makes ledger/{begun,ended} when absent. -EPERM: what stands there is not ours by the rule. */
MUST_CHECK int ledger_open(int state_fd, const PinRule *rule, Ledger *ret);
void ledger_close(Ledger *l);
void ledger_key(const char *idempotency_key, const char *name, char ret_hash[HASH_HEX_SIZE]);

enum { LEDGER_E_ABSENT = 1, LEDGER_E_CORRUPT, LEDGER_E_NEWER, LEDGER_E_EXISTS };
/* ended wins over begun (a crash may leave both). */
MUST_CHECK int ledger_find(const Ledger *l, const char *key, LedgerEntry *ret);
/* Synced (file, directory) before 0 is given. LEDGER_E_EXISTS: begun or ended already. -EINVAL: a
 * text with control characters, a key that is no hash. */
MUST_CHECK int ledger_begin(const Ledger *l, const LedgerEntry *e);
/* ended/ published and synced first, then begun/ removed and synced. */
MUST_CHECK int ledger_end(const Ledger *l, const LedgerEntry *e);
/* Operator's retry, or a run that never started: forgets a begun entry; synced; absent is 0. */
MUST_CHECK int ledger_forget(const Ledger *l, const char *key);
/* Hashes of all begun entries, bounded by max; a foreign or dot name is skipped. */
MUST_CHECK int ledger_list_begun(const Ledger *l, size_t max, Strv *ret);
MUST_CHECK int ledger_load_begun(const Ledger *l, const char *key, LedgerEntry *ret);
/* Oldest ended entries beyond keep_count or older than keep_ms (by the file's time, which is the
 * host's) go; begun ones never, nor an ended one whose begun file is still there. budget bounds the
 * unlinks of one call. Sweeps tmp files of processes that died. Under the drain's lock. A
 * pass costs one stat per kept entry; a big directory gets one in ten minutes at the most. */
MUST_CHECK int ledger_prune(const Ledger *l, size_t keep_count, int64_t keep_ms, int64_t now_ms,
                            size_t budget, size_t *ret_removed);
