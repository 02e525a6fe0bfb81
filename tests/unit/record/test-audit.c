/* record/audit: the chain, its rotation, a torn tail, and each way to break it */
#include <inttypes.h>
#include <sys/resource.h>

#include "record/audit.h"
#include "tests/unit/fs/scratch.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static Audit *audit;
static int syncs, sync_errno;

/* In front of libc's: counted, and broken when asked. */
int fdatasync(int fd) {
        syncs++;
        errno = sync_errno;
        return sync_errno ? -1 : fsync(fd);
}

static PinRule ours(void) {
        return (PinRule){geteuid(), 0077};
}

static void audit_start(void) {
        PinRule rule = ours();
        int pin = 0;

        ck_assert_int_eq(hash_init(), 0);
        audit = audit_free(audit);
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &audit, &pin), 0);
}

static void append(const char *body) {
        char hash[HASH_HEX_SIZE];

        ck_assert_int_eq(audit_append(audit, body, false, hash), 0);
        ck_assert(hash_is_hex(hash, 64));
}

static void verifies(uint64_t expected) {
        PinRule rule = ours();
        AuditBreak broken = {0};
        uint64_t lines = UINT64_MAX;
        int r = audit_verify(scratch_fd, &rule, NULL, NULL, &broken, &lines);

        ck_assert_msg(r == 0, "%d: %s:%" PRIu64 " (%" PRIu64 ") %s", r, broken.file, broken.line,
                      broken.seq, broken.what);
        ck_assert_uint_eq(lines, expected);
}

static void breaks(const char *file, uint64_t line, uint64_t seq, const char *what) {
        PinRule rule = ours();
        AuditBreak broken = {0};
        uint64_t lines = 77;

        ck_assert_int_eq(audit_verify(scratch_fd, &rule, NULL, NULL, &broken, &lines),
                         AUDIT_E_BROKEN);
        ck_assert_str_eq(broken.file, file);
        ck_assert_uint_eq(broken.line, line);
        ck_assert_uint_eq(broken.seq, seq);
        ck_assert_msg(strstr(broken.what, what), "%s", broken.what);
        ck_assert_uint_eq(lines, 77); /* untouched */
}

/* A small file's bytes. */
static void slurp(const char *name, char bytes[16384], size_t *ret_len) {
        CLEANUP(fd_closep) int fd = openat(scratch_fd, name, O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, bytes, 16383);

        ck_assert_int_ge(n, 0);
        bytes[n] = '\0';
        *ret_len = (size_t)n;
}

static void plant(const char *name, const char *bytes, size_t len) {
        CLEANUP(fd_closep)
        int fd = openat(scratch_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
}

START_TEST(append_chain) {
        static char bytes[16384], expected[16384];
        char one[HASH_HEX_SIZE], two[HASH_HEX_SIZE], is[HASH_HEX_SIZE];
        size_t len;

        audit_start();
        ck_assert_uint_eq(audit_seq(audit), 0);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "audit.log") & 07777, 0600);
        ck_assert_int_eq(audit_append(audit, "{\"event\":\"a\"}", true, one), 0);
        ck_assert_int_eq(audit_append(audit, "{}", false, two), 0);
        ck_assert_int_eq(audit_sync(audit), 0);
        ck_assert_int_eq(audit_sync(audit), 0);
        ck_assert_uint_eq(audit_seq(audit), 2);
        slurp("audit.log", bytes, &len);
        (void)snprintf(expected, sizeof(expected),
                       "{\"seq\":1,\"prev\":\"" ZEROS "\",\"event\":\"a\"}\n"
                       "{\"seq\":2,\"prev\":\"%s\"}\n",
                       one);
        ck_assert_str_eq(bytes, expected);
        hash_sha256(bytes, strcspn(bytes, "\n"), is);
        ck_assert_str_eq(one, is);
        verifies(2);
        audit_start(); /* another process */
        ck_assert_uint_eq(audit_seq(audit), 2);
        append("{\"event\":\"c\"}");
        slurp("audit.log", bytes, &len);
        ck_assert_ptr_nonnull(strstr(bytes, two));
        verifies(3);
}
END_TEST

START_TEST(append_refuses) {
        static char body[AUDIT_LINE_MAX + 1];
        char hash[HASH_HEX_SIZE] = "x";
        size_t fits = AUDIT_LINE_MAX - strlen("{\"seq\":1,\"prev\":\"" ZEROS "\",}\n");

        audit_start();
        ck_assert_int_eq(audit_append(audit, "", true, hash), AUDIT_E_BODY);
        ck_assert_int_eq(audit_append(audit, "[1]", true, hash), AUDIT_E_BODY);
        ck_assert_int_eq(audit_append(audit, "{\"a\":1}\n", true, hash), AUDIT_E_BODY);
        ck_assert_int_eq(audit_append(audit, "{\"a\":\"\n\"}", true, hash), AUDIT_E_BODY);
        memset(body, 'a', sizeof(body) - 1);
        body[0] = '{';
        body[fits + 2] = '}';
        body[fits + 3] = '\0';
        ck_assert_int_eq(audit_append(audit, body, true, hash), AUDIT_E_TOO_LONG);
        ck_assert_str_eq(hash, "x");
        ck_assert_uint_eq(audit_seq(audit), 0);
        body[fits + 1] = '}';
        body[fits + 2] = '\0';
        ck_assert_int_eq(audit_append(audit, body, true, hash), 0); /* 4096 bytes */
        append("{}");
        verifies(2);
        audit_start();
        ck_assert_uint_eq(audit_seq(audit), 2);
}
END_TEST

START_TEST(open_refused_by_the_rule) {
        PinRule rule = ours();
        AuditBreak broken;
        Audit *a = NULL;
        uint64_t lines;
        int pin = 0;

        audit_start();
        append("{}");
        ck_assert_int_eq(fchmodat(scratch_fd, "audit.log", 0666, 0), 0);
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &a, &pin), AUDIT_E_RULE);
        ck_assert_int_eq(pin, PIN_E_MODE);
        ck_assert_int_eq(audit_verify(scratch_fd, &rule, NULL, NULL, &broken, &lines),
                         AUDIT_E_RULE);
        ck_assert_str_eq(broken.file, "audit.log");
        ck_assert_str_eq(broken.what, pin_reason(PIN_E_MODE));
        ck_assert_int_eq(fchmodat(scratch_fd, "audit.log", 0600, 0), 0);
        ck_assert_int_eq(renameat(scratch_fd, "audit.log", scratch_fd, "elsewhere"), 0);
        scratch_link("elsewhere", scratch_fd, "audit.log");
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &a, &pin), AUDIT_E_RULE);
        ck_assert_int_eq(pin, PIN_E_LINK);
        ck_assert_int_eq(unlinkat(scratch_fd, "audit.log", 0), 0);
        scratch_dir(scratch_fd, "audit.log");
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &a, &pin), AUDIT_E_RULE);
        ck_assert_int_eq(pin, PIN_E_TYPE);
        ck_assert_int_eq(unlinkat(scratch_fd, "audit.log", AT_REMOVEDIR), 0);
        ck_assert_int_eq(renameat(scratch_fd, "elsewhere", scratch_fd, "audit.log.1"), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "audit.log.1", 0644, 0), 0);
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &a, &pin), AUDIT_E_RULE);
        ck_assert_int_eq(pin, PIN_E_MODE);
        ck_assert_ptr_null(a);
}
END_TEST

START_TEST(open_repairs_each_torn_length) {
        static char bytes[16384], now[16384], said[256];
        char hash[HASH_HEX_SIZE];
        size_t whole, len, line;

        audit_start();
        append("{\"n\":1}");
        slurp("audit.log", bytes, &whole);
        append("{\"n\":2}");
        slurp("audit.log", bytes, &len);
        line = len - whole;
        for (size_t cut = 1; cut < line; cut++) {
                plant("audit.log", bytes, whole + cut);
                breaks("audit.log", 2, 2, "torn");
                audit_start();
                ck_assert_uint_eq(audit_seq(audit), 2);
                hash_sha256(bytes + whole, cut, hash);
                (void)snprintf(said, sizeof(said), "\"bytes\":%zu,\"sha256\":\"%s\"}\n", cut, hash);
                slurp("audit.log", now, &len);
                ck_assert_mem_eq(now, bytes, whole);
                ck_assert_ptr_nonnull(strstr(now + whole, "\"event\":\"gap\",\"at\":\"20"));
                ck_assert_ptr_nonnull(strstr(now + whole, said));
                verifies(2);
                append("{\"n\":3}");
                verifies(3);
        }
}
END_TEST

START_TEST(open_repairs_the_only_line) {
        plant("audit.log", "{\"seq\":1,\"pr", 12);
        audit_start();
        ck_assert_uint_eq(audit_seq(audit), 1);
        verifies(1);
        audit_start(); /* and no second gap */
        ck_assert_uint_eq(audit_seq(audit), 1);
}
END_TEST

START_TEST(open_damage_is_no_torn_tail) {
        PinRule rule = ours();
        Audit *a = NULL;
        int pin;

        ck_assert_int_eq(hash_init(), 0);
        plant("audit.log", "x", 1);
        ck_assert_int_eq(ftruncate(openat(scratch_fd, "audit.log", O_WRONLY), 3 * 1024 * 1024), 0);
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &a, &pin), -EBADMSG);
        plant("audit.log", "", 0);
        plant("audit.log.1", "x", 1);
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &a, &pin), -EBADMSG);
        plant("audit.log.1", "", 0);
        ck_assert_int_eq(audit_open(scratch_fd, &rule, &a, &pin), -EBADMSG);
        ck_assert_ptr_null(a);
}
END_TEST

/* The start of the nth line, 0 the first; of the one past the last too. */
static size_t line_at(const char *bytes, int n) {
        size_t at = 0;

        while (n-- > 0)
                at += strcspn(bytes + at, "\n") + 1;
        return at;
}

START_TEST(verify_broken) {
        static char good[16384], bad[16384];
        size_t len, at[6];
        char body[32];

        audit_start();
        for (int i = 1; i <= 5; i++) {
                (void)snprintf(body, sizeof(body), "{\"n\":%d}", i);
                append(body);
        }
        slurp("audit.log", good, &len);
        for (int i = 0; i < 6; i++)
                at[i] = line_at(good, i);
        verifies(5);

        memcpy(bad, good, len); /* an edited byte of record 2 */
        bad[at[2] - 3] = '9';
        plant("audit.log", bad, len);
        breaks("audit.log", 3, 3, "hash");

        memcpy(bad, good, at[2]); /* record 3 taken out */
        memcpy(bad + at[2], good + at[3], len - at[3]);
        plant("audit.log", bad, len - (at[3] - at[2]));
        breaks("audit.log", 3, 4, "missing");

        plant("audit.log", good + at[1], len - at[1]); /* the first one */
        breaks("audit.log", 1, 2, "missing");

        memcpy(bad, good, len); /* 3 and 4 swapped */
        memcpy(bad + at[2], good + at[3], at[4] - at[3]);
        memcpy(bad + at[2] + (at[4] - at[3]), good + at[2], at[3] - at[2]);
        plant("audit.log", bad, len);
        breaks("audit.log", 3, 4, "missing");

        memcpy(bad, good, len); /* 3 taken out, 4 and 5 given its number and the next */
        memcpy(bad + at[2], good + at[3], len - at[3]);
        bad[at[2] + 7] = '3';
        bad[at[2] + (at[4] - at[3]) + 7] = '4';
        plant("audit.log", bad, len - (at[3] - at[2]));
        breaks("audit.log", 3, 3, "hash");

        memcpy(bad, good, len); /* a number given twice */
        bad[at[3] + 7] = '3';
        plant("audit.log", bad, len);
        breaks("audit.log", 4, 3, "too low");

        memcpy(bad, good, len); /* a forged first prev */
        bad[at[0] + 20] = '1';
        plant("audit.log", bad, len);
        breaks("audit.log", 1, 1, "hash");

        memcpy(bad, good, len); /* no record at all */
        bad[at[3]] = ' ';
        plant("audit.log", bad, len);
        breaks("audit.log", 4, 4, "not a whole");

        memcpy(bad, good, len); /* a record twice */
        memcpy(bad + len, good + at[4], len - at[4]);
        plant("audit.log", bad, 2 * len - at[4]);
        breaks("audit.log", 6, 5, "too low");

        memset(bad, 'x', sizeof(bad)); /* no end in sight */
        memcpy(bad, good, len);
        plant("audit.log", bad, sizeof(bad));
        breaks("audit.log", 6, 6, "torn");

        plant("audit.log", good, len);
        verifies(5);
}
END_TEST

typedef struct Seen {
        uint64_t lines;
        char hash[HASH_HEX_SIZE];
        uint64_t stop_at;
} Seen;

static int see(void *userdata, const char *line, size_t len, const char *hash) {
        Seen *seen = userdata;
        char is[HASH_HEX_SIZE];

        hash_sha256(line, len, is);
        ck_assert_str_eq(hash, is);
        ck_assert_int_eq(line[len - 1], '}');
        memcpy(seen->hash, is, sizeof(is));
        seen->lines++;
        return seen->lines == seen->stop_at ? -ECANCELED : 0;
}

START_TEST(verify_each) {
        char last[HASH_HEX_SIZE];
        PinRule rule = ours();
        Seen seen = {0};
        AuditBreak broken;
        uint64_t lines = 0;

        verifies(0); /* nothing there yet */
        audit_start();
        verifies(0);
        append("{}");
        append("{}");
        ck_assert_int_eq(audit_append(audit, "{\"x\":1}", false, last), 0);
        ck_assert_int_eq(audit_verify(scratch_fd, &rule, see, &seen, &broken, &lines), 0);
        ck_assert(seen.lines == 3 && lines == 3);
        ck_assert_str_eq(seen.hash, last);
        seen = (Seen){.stop_at = 2};
        ck_assert_int_eq(audit_verify(scratch_fd, &rule, see, &seen, &broken, &lines), -ECANCELED);
        ck_assert_uint_eq(seen.lines, 2);
}
END_TEST

/* Appends until audit.log is rotated; the records so far. */
static uint64_t fill(void) {
        static char body[4000];

        memset(body, 'a', sizeof(body) - 1);
        memcpy(body, "{\"a\":\"", 6);
        memcpy(body + sizeof(body) - 3, "\"}", 3);
        for (off_t before = 0;;) {
                struct stat st;

                append(body);
                ck_assert_int_eq(fstatat(scratch_fd, "audit.log", &st, 0), 0);
                ck_assert_int_le(st.st_size, AUDIT_ROTATE_BYTES);
                if (st.st_size < before)
                        return audit_seq(audit);
                before = st.st_size;
        }
}

START_TEST(append_rotates) {
        uint64_t n;

        audit_start();
        append("{\"first\":true}");
        n = fill();
        ck_assert_uint_gt(n, 2000);
        ck_assert(scratch_exists(scratch_fd, "audit.log.1"));
        ck_assert(!scratch_exists(scratch_fd, "audit.log.2"));
        verifies(n);
        audit_start();
        ck_assert_uint_eq(audit_seq(audit), n);
        n = fill();
        ck_assert(scratch_exists(scratch_fd, "audit.log.2"));
        verifies(n);
        /* a crash between the renames: the numbers have a hole, or audit.log is not there yet */
        ck_assert_int_eq(renameat(scratch_fd, "audit.log.2", scratch_fd, "audit.log.3"), 0);
        verifies(n);
        ck_assert_int_eq(renameat(scratch_fd, "audit.log.1", scratch_fd, "audit.log.2"), 0);
        ck_assert_int_eq(renameat(scratch_fd, "audit.log", scratch_fd, "audit.log.1"), 0);
        verifies(n);
        audit_start();
        ck_assert_uint_eq(audit_seq(audit), n);
        append("{}");
        verifies(n + 1);
        ck_assert_int_eq(unlinkat(scratch_fd, "audit.log.2", 0), 0); /* a whole file taken out */
        breaks("audit.log.1", 1, n, "missing");
}
END_TEST

START_TEST(rotate_fills_the_hole) {
        uint64_t n;

        audit_start();
        n = fill();
        ck_assert_int_eq(renameat(scratch_fd, "audit.log.1", scratch_fd, "audit.log.2"), 0);
        n = fill();
        ck_assert(scratch_exists(scratch_fd, "audit.log.1"));
        ck_assert(!scratch_exists(scratch_fd, "audit.log.3"));
        verifies(n);
}
END_TEST

/* One record a file, all sixteen numbers in use: the oldest goes, and the chain begins later. */
START_TEST(rotate_prunes_the_oldest) {
        char from[32], to[32];
        uint64_t n;

        for (int i = 0; i < AUDIT_ROTATE_KEEP; i++) {
                audit_start();
                append("{}");
                for (int k = i; k >= 0; k--) {
                        (void)snprintf(from, sizeof(from), k ? "audit.log.%d" : "audit.log", k);
                        (void)snprintf(to, sizeof(to), "audit.log.%d", k + 1);
                        ck_assert_int_eq(renameat(scratch_fd, from, scratch_fd, to), 0);
                }
        }
        verifies(AUDIT_ROTATE_KEEP);
        audit_start();
        ck_assert_uint_eq(audit_seq(audit), AUDIT_ROTATE_KEEP);
        n = fill();
        ck_assert(scratch_exists(scratch_fd, "audit.log.16"));
        ck_assert(!scratch_exists(scratch_fd, "audit.log.17"));
        verifies(n - 1); /* record 1 is gone */
        /* a crash just after the oldest was removed */
        ck_assert_int_eq(unlinkat(scratch_fd, "audit.log.16", 0), 0);
        verifies(n - 2);
        n = fill();
        ck_assert(scratch_exists(scratch_fd, "audit.log.16"));
        verifies(n - 2);
        /* with fewer files nothing can have been pruned */
        ck_assert_int_eq(unlinkat(scratch_fd, "audit.log.16", 0), 0);
        ck_assert_int_eq(unlinkat(scratch_fd, "audit.log.15", 0), 0);
        breaks("audit.log.14", 1, 5, "missing");
}
END_TEST

/* The disk is full in the middle of a line: what got there goes, and the next one fits. */
START_TEST(append_full_disk) {
        struct rlimit limit = {0, 0}, wide;
        char hash[HASH_HEX_SIZE];
        struct stat st;

        audit_start();
        append("{\"n\":1}");
        ck_assert_int_eq(fstatat(scratch_fd, "audit.log", &st, 0), 0);
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &wide), 0);
        ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
        limit = wide;
        limit.rlim_cur = (rlim_t)st.st_size + 20;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        ck_assert_int_eq(audit_append(audit, "{\"n\":2}", false, hash), -ENOSPC); /* short */
        limit.rlim_cur = (rlim_t)st.st_size;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        ck_assert_int_eq(audit_append(audit, "{\"n\":2}", false, hash), -EFBIG); /* nothing */
        ck_assert_uint_eq(audit_seq(audit), 1);
        verifies(1);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &wide), 0);
        append("{\"n\":2}");
        verifies(2);
}
END_TEST

/* A rotation that fails half-way: no later line may go into what is a rotated file by now. */
START_TEST(rotate_failure_poisons) {
        char hash[HASH_HEX_SIZE];
        uint64_t n;

        audit_start();
        n = fill();
        ck_assert_int_eq(unlinkat(scratch_fd, "audit.log.1", 0), 0);
        scratch_dir(scratch_fd, "audit.log.16");
        for (int i = 1; i < AUDIT_ROTATE_KEEP; i++) {
                char name[32];

                (void)snprintf(name, sizeof(name), "audit.log.%d", i);
                plant(name, "", 0);
        }
        scratch_dir(scratch_fd, "audit.log.16/full");
        for (int r = 0; r == 0; n = audit_seq(audit)) {
                static char body[4000];

                memset(body, 'a', sizeof(body) - 1);
                body[0] = '{';
                body[sizeof(body) - 2] = '}';
                r = audit_append(audit, body, false, hash);
                if (r != 0)
                        ck_assert_int_eq(r, -EEXIST);
        }
        ck_assert_int_eq(audit_append(audit, "{}", false, hash), -EIO);
        ck_assert_int_eq(audit_sync(audit), -EIO);
        ck_assert_uint_eq(audit_seq(audit), n);
}
END_TEST

static const RefusalsBudget small = { 3, 1000, 1000 };

static uint64_t refuse(int64_t now_ms, bool expected) {
        uint64_t summed = UINT64_MAX;
        bool written = !expected;

        ck_assert_int_eq(audit_refusal(audit, &small, now_ms, &written, &summed), 0);
        ck_assert_int_eq(written, expected);
        return summed;
}

START_TEST(append_syncs_as_asked) {
        char hash[HASH_HEX_SIZE];

        audit_start();
        append("{}");
        append("{}");
        ck_assert_int_eq(syncs, 0);
        ck_assert_int_eq(audit_append(audit, "{}", true, hash), 0);
        ck_assert_int_eq(syncs, 1);
        ck_assert_int_eq(audit_sync(audit), 0); /* nothing new */
        ck_assert_int_eq(syncs, 1);
        append("{}");
        ck_assert_int_eq(audit_sync(audit), 0);
        ck_assert_int_eq(syncs, 2);
}
END_TEST

/* Believed once: what failed to reach the disk is not asked about again. */
START_TEST(append_sync_error_poisons) {
        char hash[HASH_HEX_SIZE] = "x";

        audit_start();
        append("{}");
        sync_errno = EIO;
        ck_assert_int_eq(audit_append(audit, "{}", true, hash), -EIO);
        ck_assert_str_eq(hash, "x");
        sync_errno = 0;
        ck_assert_int_eq(audit_append(audit, "{}", true, hash), -EIO);
        ck_assert_int_eq(audit_append(audit, "{}", false, hash), -EIO);
        ck_assert_int_eq(audit_sync(audit), -EIO);
        ck_assert_int_eq(syncs, 1);
        verifies(2); /* no later line got there */
        audit_start();
        ck_assert_uint_eq(audit_seq(audit), 2);
        append("{}");
        verifies(3);
}
END_TEST

START_TEST(sync_error_poisons) {
        char hash[HASH_HEX_SIZE];

        audit_start();
        append("{}");
        sync_errno = ENOSPC;
        ck_assert_int_eq(audit_sync(audit), -ENOSPC);
        sync_errno = 0;
        ck_assert_int_eq(audit_sync(audit), -EIO);
        ck_assert_int_eq(audit_append(audit, "{}", false, hash), -EIO);
}
END_TEST

START_TEST(refusal_window) {
        audit_start();
        for (int i = 0; i < 3; i++)
                ck_assert_uint_eq(refuse(5000 + i, true), 0);
        for (int i = 0; i < 40; i++)
                ck_assert_uint_eq(refuse(5100, false), 0);
        audit_start(); /* a restart forgets nothing */
        ck_assert_uint_eq(refuse(5999, false), 0);
        ck_assert_uint_eq(refuse(6000, true), 41);
        ck_assert_uint_eq(refuse(6001, true), 0);
        audit_start();
        ck_assert_uint_eq(refuse(6002, true), 0);
        ck_assert_uint_eq(refuse(6003, false), 0);
        ck_assert_uint_eq(refuse(99000, true), 1);
        ck_assert_uint_eq(refuse(990000, true), 0); /* nothing was left out */
}
END_TEST

START_TEST(refusal_clock_back) {
        audit_start();
        for (int i = 0; i < 3; i++)
                ck_assert_uint_eq(refuse(50000, true), 0);
        ck_assert_uint_eq(refuse(100, false), 0); /* no fresh window */
        ck_assert_uint_eq(refuse(1099, false), 0);
        ck_assert_uint_eq(refuse(1100, true), 2); /* and no wait till 51000 */
}
END_TEST

START_TEST(refusal_none_allowed) {
        const RefusalsBudget none = { 0, 1000, 1000 };
        bool written = true;
        uint64_t summed;

        audit_start();
        ck_assert_int_eq(audit_refusal(audit, &none, 1, &written, &summed), 0);
        ck_assert(!written);
        ck_assert_int_eq(audit_refusal(audit, &none, -1, &written, &summed), -EINVAL);
}
END_TEST

static bool look(uint32_t day, int64_t now_ms) {
        bool may;

        ck_assert_int_eq(audit_look(audit, day, now_ms, &may), 0);
        return may;
}

/* A day's lines at once, and then as they drain: looks wait, counted lines are left out. */
START_TEST(day_budget) {
        const RefusalsBudget wide = { 100000, 1000, 1000 };
        const int64_t line_ms = 86400 * 1000 / 1000;
        int64_t now = 1000LL * 86400 * 1000;
        uint64_t summed;
        PinRule rule = ours();
        uint32_t used;
        bool written;

        audit_start();
        for (int i = 0; i < 300; i++)
                ck_assert(look(1000, now));
        for (int i = 0; i < 400; i++) {
                ck_assert_int_eq(audit_refusal(audit, &wide, now, &written, &summed), 0);
                ck_assert(written);
        }
        audit_start(); /* a restart forgets nothing */
        ck_assert(!look(1000, now));
        ck_assert_int_eq(audit_refusal(audit, &wide, now, &written, &summed), 0);
        ck_assert(!written);
        ck_assert(!look(1000, now + line_ms)); /* it takes two */
        ck_assert_int_eq(audit_refusal(audit, &wide, now + line_ms, &written, &summed), 0);
        ck_assert(written);
        ck_assert_uint_eq(summed, 1);
        ck_assert(!look(1000, now + 2 * line_ms));
        ck_assert(look(1000, now + 3 * line_ms));
        ck_assert(!look(1000, now + 3 * line_ms));
        ck_assert_int_eq(refusals_used(scratch_fd, &rule, 1000, now + 3 * line_ms, &used), 0);
        ck_assert_uint_eq(used, 1000);
        ck_assert_int_eq(refusals_used(scratch_fd, &rule, 1000, now + 90 * 86400LL * 1000, &used), 0);
        ck_assert_uint_eq(used, 0);
        ck_assert(look(10000000, now + 2 * 86400 * 1000)); /* drained */
        ck_assert(look(1000, now)); /* the clock went back by two days */
        ck_assert_int_eq(audit_look(audit, 0, now, &written), -EINVAL);
        ck_assert_int_eq(audit_look(audit, 1000, -1, &written), -EINVAL);
        ck_assert_int_eq(audit_look(audit, 1000, INT64_MAX, &written), -EINVAL);
}
END_TEST

START_TEST(refusal_files) {
        uint64_t summed;
        bool written;

        audit_start();
        ck_assert_int_eq(mkdirat(scratch_fd, "rate", 0700), 0);
        plant("rate/refusals",
              "rubbish that is longer than a record would be, and no number at all\n", 68);
        ck_assert_uint_eq(refuse(5000, true), 0);
        for (int i = 0; i < 5; i++)
                (void)refuse(5000, i < 2);
        audit_start();
        ck_assert_uint_eq(refuse(6000, true), 3);
        audit_start();
        ck_assert_int_eq(unlinkat(scratch_fd, "rate/refusals", 0), 0);
        scratch_link("../elsewhere", scratch_fd, "rate/refusals");
        ck_assert_int_eq(audit_refusal(audit, &small, 1, &written, &summed), -EPERM);
        ck_assert(!scratch_exists(scratch_fd, "elsewhere"));
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, append_chain);
        tcase_add_test(tc, append_refuses);
        tcase_add_test(tc, open_refused_by_the_rule);
        tcase_add_test(tc, open_repairs_each_torn_length);
        tcase_add_test(tc, open_repairs_the_only_line);
        tcase_add_test(tc, open_damage_is_no_torn_tail);
        tcase_add_test(tc, verify_broken);
        tcase_add_test(tc, verify_each);
        tcase_add_test(tc, append_rotates);
        tcase_add_test(tc, rotate_fills_the_hole);
        tcase_add_test(tc, rotate_prunes_the_oldest);
        tcase_add_test(tc, append_full_disk);
        tcase_add_test(tc, rotate_failure_poisons);
        tcase_add_test(tc, append_syncs_as_asked);
        tcase_add_test(tc, append_sync_error_poisons);
        tcase_add_test(tc, sync_error_poisons);
        tcase_add_test(tc, refusal_window);
        tcase_add_test(tc, refusal_clock_back);
        tcase_add_test(tc, refusal_none_allowed);
        tcase_add_test(tc, day_budget);
        tcase_add_test(tc, refusal_files);
}

int main(void) {
        return scratch_main("record/audit", add_tests);
}
