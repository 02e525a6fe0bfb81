/* policy/policy.h - policy.conf: KEY=value, parsed, never sourced */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "verb/table.h"

typedef enum PolicyMode { POLICY_DENY, POLICY_AUTO } PolicyMode;
typedef enum PolicyIntegrity { POLICY_BOTH, POLICY_SEAL, POLICY_HEAD } PolicyIntegrity;
typedef struct PolicyRate {
        uint32_t count, window_sec;
} PolicyRate; /* "6/600" */

/* KEY             default   bounds
 * RATE_PER_VERB   6/600     1..100000 / 1..86400
 * RATE_TOTAL      20/600
 * AUDIT_REFUSALS  600/60               audit lines of claims and refusals
 * MAX_AGE         300       1..86400 s
 * TIMEOUT_<verb>  the verb's default   1..the verb's cap
 * QUEUE_DEPTH     256       1..10000
 * LINGER_MS       1000      250..60000
 * LANES_READ      3         1..16
 * KEEP_DAYS       7         1..3650
 * KEEP_FILES      1000      10..1000000
 * KEEP_MIB        64        1..102400
 * KEEP_LEDGER     100000    100..10000000   ended ledger entries
 * AUDIT_DAY       20000     1000..10000000  audit lines a day of what changes nothing
 * INTEGRITY       both      both|seal|head
 * SCOPE_CEILING   full      readonly|edit|full
 * MODE_<verb>     deny      auto|deny */
typedef struct Policy Policy;

enum { POLICY_E_INVALID = 1 };
enum { POLICY_MAX_BYTES = 64 * 1024 };
/* Lines end in \n or \r\n; blank lines and lines beginning with # are skipped; spaces around KEY
 * and value are not allowed; a duplicate, unknown or out-of-bounds key, a MODE_ or TIMEOUT_ of no
 * verb of the table, a NUL: POLICY_E_INVALID, *ret_message (caller's) "policy.conf:LINE: what". */
MUST_CHECK int policy_parse(const char *bytes, size_t len, const VerbTable *table, Policy **ret,
                            char **ret_message);
/* The same while verbs.json is broken: MODE_ and TIMEOUT_ of a well-shaped verb that the table
 * lacks are passed over, so that the built-in verbs go on. */
MUST_CHECK int policy_parse_built_in(const char *bytes, size_t len, const VerbTable *table,
                                     Policy **ret, char **ret_message);
Policy *policy_free(Policy *p);
void policy_freep(Policy **p);

PolicyMode policy_mode(const Policy *p, const Verb *verb);
uint32_t policy_timeout(const Policy *p, const Verb *verb); /* seconds */
PolicyRate policy_rate_verb(const Policy *p);
PolicyRate policy_rate_total(const Policy *p);
PolicyRate policy_audit_refusals(const Policy *p);
uint32_t policy_max_age(const Policy *p);
uint32_t policy_queue_depth(const Policy *p);
uint32_t policy_linger_ms(const Policy *p);
uint32_t policy_lanes_read(const Policy *p);
uint32_t policy_keep_days(const Policy *p);
uint32_t policy_keep_files(const Policy *p);
uint32_t policy_keep_mib(const Policy *p);
uint32_t policy_keep_ledger(const Policy *p);
uint32_t policy_audit_day(const Policy *p);
PolicyIntegrity policy_integrity(const Policy *p);
VerbScope policy_ceiling(const Policy *p);
/* Defaults alone: every mode deny. */
MUST_CHECK int policy_default(const VerbTable *table, Policy **ret);
