/* The escaper and what capture makes of any bytes: always printable, valid UTF-8, and escaped once
 * is escaped for good. */
#include "fuzz.h"

#include <sys/mman.h>

#include "base/fd.h"
#include "base/io.h"
#include "run/capture.h"

static void check_escaped(const Str *s, bool keep_lines) {
        CLEANUP(str_done) Str again = STR_NULL;

        for (size_t i = 0; i < s->len; i++) {
                unsigned char c = (unsigned char)s->data[i];

                FUZZ_CHECK((c >= 0x20 && c != 0x7f) || (keep_lines && (c == '\n' || c == '\t')));
        }
        FUZZ_CHECK(str_add_escaped(&again, s->data, s->len, keep_lines) == 0);
        FUZZ_CHECK(again.len == s->len && memcmp(again.data, s->data, s->len) == 0);
}

static void check_capture(const Redact *r, const char *bytes, size_t len, size_t piece) {
        CLEANUP(fd_closep) int fd = memfd_create("log", MFD_CLOEXEC);
        CLEANUP(capture_freep) Capture *c = NULL;
        CLEANUP(str_done) Str tail = STR_NULL, log = STR_NULL;
        uint64_t output_bytes = 0;
        bool truncated = true;

        FUZZ_CHECK(fd >= 0);
        FUZZ_CHECK(capture_new(fd, r, &c) == 0);
        for (size_t at = 0; at < len; at += piece)
                FUZZ_CHECK(capture_feed(c, bytes + at, len - at < piece ? len - at : piece) == 0);
        FUZZ_CHECK(capture_end(c, &tail, &output_bytes, &truncated) == 0);
        FUZZ_CHECK(output_bytes == len);
        check_escaped(&tail, true);
        FUZZ_CHECK(io_read_file(fd, (size_t)2 * CAPTURE_LOG_MAX, &log) == 0);
        check_escaped(&log, true);
        FUZZ_CHECK(tail.len <= CAPTURE_TAIL_MAX && tail.len <= log.len);
        FUZZ_CHECK(memcmp(log.data + log.len - tail.len, tail.data, tail.len) == 0);
        FUZZ_CHECK(truncated == (tail.len < log.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static Redact *redact; /* compiled once for the whole run */

        if (!redact) {
                FUZZ_CHECK(redact_new(&redact) == 0);
                FUZZ_CHECK(redact_compile(redact) == 0);
        }
        for (int keep = 0; keep < 2; keep++) {
                CLEANUP(str_done) Str s = STR_NULL;

                FUZZ_CHECK(str_add_escaped(&s, data, size, keep) == 0);
                check_escaped(&s, keep);
        }
        if (size > 0)
                check_capture(redact, (const char *)data + 1, size - 1, (size_t)data[0] + 1);
        return 0;
}
