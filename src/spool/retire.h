/* spool/retire.h - a finished request goes to archive/, from memory */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "spool/spool.h"

enum { RETIRE_E_BLOCKED = 1 };
/* Writes the judged bytes (not the file, which a writer may still hold open) to archive/NAME, then
 * removes processing/NAME. */
MUST_CHECK int retire_request(const Spool *s, const char *name, const void *bytes, size_t len);
/* Opens archive/NAME.log fresh for writing (O_EXCL; what the agent planted there is renamed away to
 * a dot name), mode 0644. */
MUST_CHECK int retire_open_log(const Spool *s, const char *name, int *ret_fd);
/* Publishes responses/NAME.response.json; sync only where asked. RETIRE_E_BLOCKED: undeliverable
 * (the ledger stays the record). */
MUST_CHECK int retire_respond(const Spool *s, const char *name, const void *bytes, size_t len,
                              bool sync);
/* The acknowledgement: never covers a newer state. RETIRE_E_EXISTS is success for the caller. */
enum { RETIRE_E_EXISTS = 2 };
MUST_CHECK int retire_acknowledge(const Spool *s, const char *name, const void *bytes, size_t len);
bool retire_has_response(const Spool *s, const char *name);
/* Its first bytes, at most size: the agent can write it. RETIRE_E_BLOCKED: nothing readable. */
MUST_CHECK int retire_peek_response(const Spool *s, const char *name, char *ret, size_t size,
                                    size_t *ret_len);
/* diagnostics/NAME, atomic, no sync; RETIRE_E_BLOCKED is harmless. */
MUST_CHECK int retire_diagnostic(const Spool *s, const char *name, const void *bytes, size_t len);
