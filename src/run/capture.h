/* run/capture.h - a child's output: redacted, escaped, capped; nothing raw reaches a sink */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "run/redact.h"

enum { CAPTURE_LOG_MAX = 4 * 1024 * 1024, CAPTURE_TAIL_MAX = 64 * 1024 };
typedef struct Capture Capture;
/* log_fd is borrowed; negative: no log. The first half of CAPTURE_LOG_MAX streams to the log at
 * once; what exceeds it goes through a ring of the second half, written at the end after a line
 * "[spoolgate: N bytes dropped here]" (N counts the log's bytes, redacted and escaped). Memory is
 * bounded whatever the child writes. */
MUST_CHECK int capture_new(int log_fd, const Redact *redact, Capture **ret);
Capture *capture_free(Capture *c);
void capture_freep(Capture **c);
/* Raw bytes as read; CR LF becomes LF, every other control byte but TAB is shown as \xNN. An error
 * of the log ends the log only (the tail goes on) and makes the output truncated. -ENOMEM. */
MUST_CHECK int capture_feed(Capture *c, const void *bytes, size_t len);
/* Flushes redactor and ring; then *ret_tail (last CAPTURE_TAIL_MAX bytes at a UTF-8 boundary, valid
 * UTF-8) and the counts: raw bytes, and whether the tail is not the whole output or the log lacks
 * some of it. Once per Capture. */
MUST_CHECK int capture_end(Capture *c, Str *ret_tail, uint64_t *ret_output_bytes,
                           bool *ret_truncated);
