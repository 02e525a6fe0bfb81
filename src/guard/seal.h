/* guard/seal.h - STATE/seal: what the operator approved
 *
 *   spoolgate-seal 1
 *   time 2026-01-02T03:04:05.678Z
 *   by NAME
 *   commit HEX|-
 *   file guarded|env tracked|untracked MODE SIZE SHA256 PATH
 *   file guarded|env tracked|untracked - - absent PATH
 *   end COUNT
 *
 * MODE is octal with the type ("100644"). In NAME and PATH a backslash and each byte outside
 * printable ASCII is \xNN. One form only: what parses formats to the same bytes. Copies of sealed
 * bytes are kept as STATE/seal/files/SHA256. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/hash.h"
#include "guard/take.h"

enum { SEAL_E_ABSENT = 1, SEAL_E_INVALID, SEAL_E_REFUSED };
enum { SEAL_MAX_BYTES = 2 * 1024 * 1024, SEAL_COMMIT_SIZE = 65 };

typedef struct SealEntry {
        TakeKind kind;
        bool absent;
        bool tracked; /* in HEAD when it was sealed; an untracked one is held by the seal alone */
        mode_t mode;  /* with S_IFREG; 0 when absent */
        uint64_t size;
        char sha256[HASH_HEX_SIZE]; /* "" when absent */
        char *path;
} SealEntry;

typedef struct Seal {
        int64_t time_ms;
        char *by;
        char commit[SEAL_COMMIT_SIZE]; /* "" when HEAD was not read */
        SealEntry *entries;
        size_t len;
} Seal;
#define SEAL_NULL ((Seal){0})

void seal_done(Seal *s);
/* Appends a copy of e. */
MUST_CHECK int seal_add(Seal *s, const SealEntry *e);
const SealEntry *seal_find(const Seal *s, TakeKind kind, const char *path);

MUST_CHECK int seal_parse(const char *bytes, size_t len, Seal *ret); /* SEAL_E_INVALID */
MUST_CHECK int seal_format(const Seal *s, char **ret);

/* How a taken file stands to its entry: the same state, mode (07777 and type) and bytes. */
bool seal_matches(const SealEntry *e, const Taken *t);
/* The entry for a taken file. SEAL_E_REFUSED when it was refused for anything but absence. */
MUST_CHECK int seal_entry(const Taken *t, bool tracked, SealEntry *ret);
void seal_entry_done(SealEntry *e);

/* STATE/seal/seal: regular, ours, not writable by others. SEAL_E_ABSENT, SEAL_E_INVALID. */
MUST_CHECK int seal_load(int state_fd, Seal *ret);
/* Copies the bytes of each taken file below STATE/seal/files first, then publishes the seal,
 * synced. */
MUST_CHECK int seal_store(int state_fd, const Seal *s, const TakenList *taken);
/* Opens the copy of a sealed file and proves its bytes. SEAL_E_ABSENT, SEAL_E_INVALID (other
 * bytes). */
MUST_CHECK int seal_open_copy(int state_fd, const SealEntry *e, int *ret_fd);
/* Removes copies that the seal doesn't name. */
MUST_CHECK int seal_prune(int state_fd, const Seal *s);
