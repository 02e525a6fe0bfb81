/* record/audit.h - the audit log: JSON lines, each with the SHA-256 of the one before, across
 * rotation
 *
 * STATE/audit.log and its rotated forms audit.log.1 .. audit.log.N (1 newest). A line is
 * {"seq":N,"prev":"HEX",<body>} + '\n', at most 4096 bytes, written by one write(2) with O_APPEND.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "fs/pin.h"
#include "record/refusals.h"

typedef struct Audit Audit;
enum { AUDIT_LINE_MAX = 4096, AUDIT_ROTATE_BYTES = 8 * 1024 * 1024, AUDIT_ROTATE_KEEP = 16 };
enum {
        AUDIT_E_TOO_LONG = 1,
        AUDIT_E_RULE /* owner, mode, type: see audit_open's ret_pin */,
        AUDIT_E_BODY
};

/* Opens or creates the log, repairs a torn last line (a gap record says how many bytes were cut and
 * their SHA-256), finds seq and the last hash. Under the drain's lock; the operator's commands take
 * the same lock. */
MUST_CHECK int audit_open(int state_fd, const PinRule *rule, Audit **ret, int *ret_pin);
Audit *audit_free(Audit *a);
void audit_freep(Audit **a);
/* body: one compact JSON object "{...}" without newline (wire/record). sync: fdatasync before 0 is
 * given; an error of it poisons the log: every later append gives -EIO. hash: SHA-256 of the line
 * without its newline. */
MUST_CHECK int audit_append(Audit *a, const char *body, bool sync, char ret_hash[HASH_HEX_SIZE]);
MUST_CHECK int audit_sync(Audit *a);
uint64_t audit_seq(const Audit *a);

/* Lines that nothing runs by are counted: true while the budget has room for one; else it is only
 * counted. *ret_summed: how many were left out in the window that just ended (0: none): the caller
 * writes one line for them. Kept in STATE/rate/refusals so that a restart forgets nothing. */
MUST_CHECK int audit_refusal(Audit *a, const RefusalsBudget *b, int64_t now_ms, bool *ret_write,
                             uint64_t *ret_summed);
/* A run that changes nothing always has its lines; they come out of the same day's budget. false:
 * it has to wait. */
enum { AUDIT_LOOK_LINES = 2 };
MUST_CHECK int audit_look(Audit *a, uint32_t day, int64_t now_ms, bool *ret_may);

typedef struct AuditBreak {
        uint64_t seq;
        char file[32];
        uint64_t line;
        char what[96];
} AuditBreak;
enum { AUDIT_E_BROKEN = 16 };
/* Walks every file oldest first. each (optional) gets every good line, and what it gives other than
 * 0 is passed up. AUDIT_E_BROKEN with the first record that doesn't fit; AUDIT_E_RULE with the
 * file. The first line has seq 1 and prev 000..., unless older files were rotated away (16 of them
 * stand, or 15 after a crash). */
typedef int (*AuditEach)(void *userdata, const char *line, size_t len, const char *hash);
MUST_CHECK int audit_verify(int state_fd, const PinRule *rule, AuditEach each, void *userdata,
                            AuditBreak *ret_break, uint64_t *ret_lines);
