#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "run/capture.h"

static Redact *redact;

static void setup(void) {
        ck_assert_int_eq(redact_new(&redact), 0);
        ck_assert_int_eq(redact_add_value(redact, "known-secret-1"), 0);
        ck_assert_int_eq(redact_compile(redact), 0);
}

static void teardown(void) {
        redact_freep(&redact);
}

typedef struct Sink {
        int fd;
        Capture *capture;
        Str tail, log;
        uint64_t bytes;
        bool truncated;
} Sink;

static void sink_open(Sink *s) {
        *s = (Sink){.fd = memfd_create("log", MFD_CLOEXEC)};
        ck_assert_int_ge(s->fd, 0);
        ck_assert_int_eq(capture_new(s->fd, redact, &s->capture), 0);
}

static void sink_end(Sink *s) {
        ck_assert_int_eq(capture_end(s->capture, &s->tail, &s->bytes, &s->truncated), 0);
        ck_assert_int_eq(io_read_file(s->fd, (size_t)16 * 1024 * 1024, &s->log), 0);
}

static void sink_done(Sink *s) {
        capture_freep(&s->capture);
        str_done(&s->tail);
        str_done(&s->log);
        s->fd = fd_close(s->fd);
}

/* len bytes of lines of 16 which tell their own number. */
static void sink_fill(Sink *s, uint64_t len) {
        char block[16 * 64];
        uint64_t line = 0;

        for (uint64_t at = 0; at < len;) {
                size_t n = len - at < sizeof(block) ? (size_t)(len - at) : sizeof(block);

                for (size_t i = 0; i < sizeof(block); i += 16, line++) {
                        char text[17];

                        snprintf(text, sizeof(text), "%015llu\n", (unsigned long long)line);
                        memcpy(block + i, text, 16);
                }
                ck_assert_int_eq(capture_feed(s->capture, block, n), 0);
                at += n;
        }
}

static void check_shown(const char *bytes, size_t len, const char *want) {
        for (size_t at = 0; at <= len; at++) {
                Sink s;

                sink_open(&s);
                ck_assert_int_eq(capture_feed(s.capture, bytes, at), 0);
                ck_assert_int_eq(capture_feed(s.capture, bytes + at, len - at), 0);
                sink_end(&s);
                ck_assert_msg(strcmp(s.tail.data, want) == 0, "split at %zu: %s", at, s.tail.data);
                ck_assert_uint_eq(s.tail.len, strlen(want));
                ck_assert_str_eq(s.log.data, want);
                ck_assert_uint_eq(s.bytes, len);
                ck_assert(!s.truncated);
                sink_done(&s);
        }
}

START_TEST(capture_end_empty) {
        Sink s;

        sink_open(&s);
        sink_end(&s);
        ck_assert_str_eq(s.tail.data, "");
        ck_assert_uint_eq(s.log.len, 0);
        ck_assert_uint_eq(s.bytes, 0);
        ck_assert(!s.truncated);
        sink_done(&s);
}
END_TEST

START_TEST(capture_feed_escapes) {
        static const char raw[] =
                "a\tb\r\nred "
                "\x1b[31mx\x1b[0m\r\rlone\rcr\r\r\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 "
                "\xff\xc3(\xe2\x80\xae \0 \\ \"q\"\xf0\x9f";

        check_shown(raw, sizeof(raw) - 1,
                    "a\tb\nred "
                    "\\x1b[31mx\\x1b["
                    "0m\\x0d\\x0dlone\\x0dcr\\x0d\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 "
                    "\\xff\\xc3(\\xe2\\x80\\xae \\x00 \\ \"q\"\\xf0\\x9f");
        check_shown("end\r", 4, "end\\x0d");
}
END_TEST

START_TEST(capture_feed_redacts_first) {
        static const char raw[] = "x known-\x1b[1msecret-1 y\r\nDB_PASSWORD=p\xc3\xa4ss\n";

        check_shown(raw, sizeof(raw) - 1, "x [redacted:env] y\nDB_PASSWORD=[redacted:value]\n");
}
END_TEST

START_TEST(capture_feed_log_is_live) {
        Sink s;

        sink_open(&s);
        ck_assert_int_eq(capture_feed(s.capture, "one\ntw", 6), 0);
        ck_assert_int_eq(io_read_file(s.fd, 100, &s.log), 0);
        ck_assert_str_eq(s.log.data, "one\n");
        ck_assert_int_eq(capture_feed(s.capture, "o\n", 2), 0);
        ck_assert_int_eq(io_read_file(s.fd, 100, &s.log), 0);
        ck_assert_str_eq(s.log.data, "one\ntwo\n");
        sink_end(&s);
        ck_assert_str_eq(s.log.data, "one\ntwo\n");
        sink_done(&s);
}
END_TEST

START_TEST(capture_end_tail_limit) {
        for (int more = -1; more <= 1; more++) {
                uint64_t len = (uint64_t)(CAPTURE_TAIL_MAX + more);
                Sink s;

                sink_open(&s);
                sink_fill(&s, len);
                sink_end(&s);
                ck_assert_uint_eq(s.bytes, len);
                ck_assert_uint_eq(s.log.len, len);
                ck_assert_uint_eq(s.tail.len, more < 0 ? len : CAPTURE_TAIL_MAX);
                ck_assert(memcmp(s.tail.data, s.log.data + (more > 0), s.tail.len) == 0);
                ck_assert_int_eq(s.truncated, more > 0);
                sink_done(&s);
        }
}
END_TEST

START_TEST(capture_end_tail_at_character) {
        static char block[CAPTURE_TAIL_MAX * 3];
        Sink s;

        for (size_t i = 0; i < CAPTURE_TAIL_MAX; i++)
                memcpy(block + i * 3, "\xe2\x82\xac", 3);
        sink_open(&s);
        ck_assert_int_eq(capture_feed(s.capture, block, sizeof(block)), 0);
        ck_assert_int_eq(capture_feed(s.capture, "\n", 1), 0);
        sink_end(&s);
        ck_assert_uint_eq(s.tail.len,
                          CAPTURE_TAIL_MAX / 3 * 3 + 1 - 3 * (CAPTURE_TAIL_MAX % 3 == 0));
        ck_assert(memcmp(s.tail.data, "\xe2\x82\xac", 3) == 0);
        ck_assert(s.truncated);
        sink_done(&s);
}
END_TEST

START_TEST(capture_end_log_limit) {
        for (int more = -1; more <= 1; more++) {
                uint64_t len = (uint64_t)(CAPTURE_LOG_MAX + more);
                static const char notice[] = "[spoolgate: 1 bytes dropped here]\n";
                char *dropped;
                Sink s;

                sink_open(&s);
                sink_fill(&s, len);
                sink_end(&s);
                ck_assert_uint_eq(s.bytes, len);
                ck_assert(s.truncated); /* the tail is not all of it */
                dropped = strstr(s.log.data, notice);
                ck_assert_int_eq(dropped != NULL, more > 0);
                ck_assert_uint_eq(s.log.len, more > 0 ? CAPTURE_LOG_MAX + strlen(notice) : len);
                if (dropped) {
                        ck_assert_uint_eq((size_t)(dropped - s.log.data), CAPTURE_LOG_MAX / 2);
                        ck_assert(memcmp(dropped + strlen(notice), "00000000131072\n", 15) == 0);
                }
                sink_done(&s);
        }
}
END_TEST

START_TEST(capture_end_log_counts_dropped) {
        Sink s;
        char *at;

        sink_open(&s);
        ck_assert_int_eq(capture_feed(s.capture, "x", 1), 0);
        sink_fill(&s, (uint64_t)3 * CAPTURE_LOG_MAX);
        sink_end(&s);
        at = strstr(s.log.data,
                    "\n[spoolgate: 8388609 bytes dropped here]\n"); /* on a line of its own */
        ck_assert_ptr_nonnull(at);
        ck_assert_uint_eq((size_t)(at - s.log.data), CAPTURE_LOG_MAX / 2);
        ck_assert_uint_eq(s.log.len,
                          CAPTURE_LOG_MAX + strlen("\n[spoolgate: 8388609 bytes dropped here]\n"));
        ck_assert(memcmp(s.tail.data + s.tail.len - 16, "000000000786431\n", 16) == 0);
        ck_assert(memcmp(s.log.data + s.log.len - s.tail.len, s.tail.data, s.tail.len) == 0);
        sink_done(&s);
}
END_TEST

START_TEST(capture_end_log_halves_at_character) {
        char block[64 * 3];
        bool good = true;
        Sink s;

        for (size_t i = 0; i < 64; i++)
                memcpy(block + i * 3, i ? "\xe2\x82\xac" : "\xe2\x82\n", 3);
        sink_open(&s);
        for (size_t at = 0; at < CAPTURE_LOG_MAX * 3 / 2; at += sizeof(block))
                ck_assert_int_eq(capture_feed(s.capture, block, sizeof(block)), 0);
        sink_end(&s);
        ck_assert_ptr_nonnull(strstr(s.log.data, " bytes dropped here]\n"));
        for (size_t i = 0; i < s.log.len; i++) {
                size_t n = (unsigned char)s.log.data[i] >= 0xe0 ? 2 : 0;

                good = good && (s.log.data[i] & 0xc0) != 0x80;
                for (; n > 0; n--)
                        good = good && (s.log.data[++i] & 0xc0) == 0x80;
        }
        ck_assert(good);
        sink_done(&s);
}
END_TEST

/* A log that can't be written ends there; the run and its tail go on. */
START_TEST(capture_feed_log_full) {
        Sink s;

        sink_open(&s);
        ck_assert_int_eq(ftruncate(s.fd, 8), 0);
        ck_assert_int_eq(fcntl(s.fd, F_ADD_SEALS, F_SEAL_GROW),
                         -1); /* made without MFD_ALLOW_SEALING */
        sink_done(&s);
        s = (Sink){.fd = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
        ck_assert_int_eq(ftruncate(s.fd, 8), 0);
        ck_assert_int_eq(fcntl(s.fd, F_ADD_SEALS, F_SEAL_GROW), 0);
        ck_assert_int_eq(capture_new(s.fd, redact, &s.capture), 0);
        ck_assert_int_eq(capture_feed(s.capture, "1234\n", 5), 0);
        ck_assert_int_eq(capture_feed(s.capture, "too long for it\n", 16), 0);
        ck_assert_int_eq(capture_feed(s.capture, "x\n", 2), 0);
        sink_end(&s);
        ck_assert_str_eq(s.tail.data, "1234\ntoo long for it\nx\n");
        ck_assert_uint_eq(s.bytes, 23);
        ck_assert(s.truncated);
        ck_assert(memcmp(s.log.data, "1234\n", 5) == 0);
        ck_assert_ptr_null(strstr(s.log.data, "x\n"));
        sink_done(&s);
}
END_TEST

START_TEST(capture_new_without_log) {
        CLEANUP(capture_freep) Capture *c = NULL;
        CLEANUP(str_done) Str tail = STR_NULL;
        uint64_t bytes = 0;
        bool truncated = true;

        ck_assert_int_eq(capture_new(-EBADF, redact, &c), 0);
        ck_assert_int_eq(capture_feed(c, "a\nb", 3), 0);
        ck_assert_int_eq(capture_end(c, &tail, &bytes, &truncated), 0);
        ck_assert_str_eq(tail.data, "a\nb");
        ck_assert_uint_eq(bytes, 3);
        ck_assert(!truncated);
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
enum { ENDLESS = 96 }; /* blocks of 64 KiB */
#else
enum { ENDLESS = 1024 };
#endif

static void check_endless(const char *unit) {
        CLEANUP(fd_closep) int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
        CLEANUP(capture_freep) Capture *c = NULL;
        CLEANUP(str_done) Str tail = STR_NULL;
        static char block[64 * 1024];
        struct rusage before, after;
        uint64_t bytes = 0;
        bool truncated = false;

        for (size_t i = 0; i < sizeof(block); i++)
                block[i] = unit[i % strlen(unit)];
        ck_assert_int_eq(capture_new(log, redact, &c), 0);
        ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
        for (int i = 0; i < ENDLESS; i++)
                ck_assert_int_eq(capture_feed(c, block, sizeof(block)), 0);
        ck_assert_int_eq(capture_end(c, &tail, &bytes, &truncated), 0);
        ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
        ck_assert_uint_eq(bytes, (uint64_t)ENDLESS * sizeof(block));
        ck_assert(truncated);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory */
        ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 12 * 1024);
#endif
}

START_TEST(capture_feed_endless) {
        check_endless("y\n");
}
END_TEST

START_TEST(capture_feed_endless_line) {
        check_endless("\x01zz");
}
END_TEST

int main(void) {
        Suite *suite = suite_create("capture");
        TCase *t = tcase_create("capture");
        SRunner *runner = srunner_create(suite);
        int failed;

        tcase_set_timeout(t, 120);
        tcase_add_unchecked_fixture(t, setup, teardown);
        tcase_add_test(t, capture_end_empty);
        tcase_add_test(t, capture_feed_escapes);
        tcase_add_test(t, capture_feed_redacts_first);
        tcase_add_test(t, capture_feed_log_is_live);
        tcase_add_test(t, capture_end_tail_limit);
        tcase_add_test(t, capture_end_tail_at_character);
        tcase_add_test(t, capture_end_log_limit);
        tcase_add_test(t, capture_end_log_counts_dropped);
        tcase_add_test(t, capture_end_log_halves_at_character);
        tcase_add_test(t, capture_feed_log_full);
        tcase_add_test(t, capture_new_without_log);
        tcase_add_test(t, capture_feed_endless);
        tcase_add_test(t, capture_feed_endless_line);
        suite_add_tcase(suite, t);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed > 0;
}
