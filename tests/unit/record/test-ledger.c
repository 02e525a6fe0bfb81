/* record/ledger: at most once, attacks.md rows 44 to 48 and the faults of its files */
#include <time.h>

#include "record/ledger.h"
#include "tests/unit/fs/scratch.h"

static Ledger ledger; /* ledger_start fills it */
static char key_a[HASH_HEX_SIZE], key_b[HASH_HEX_SIZE], print_a[HASH_HEX_SIZE];

static PinRule ours(void) {
        return (PinRule){geteuid(), 0077};
}

static void ledger_start(void) {
        PinRule rule = ours();

        ck_assert_int_eq(hash_init(), 0);
        ck_assert_int_eq(ledger_open(scratch_fd, &rule, &ledger), 0);
        ledger_key("key-a", "name-a", key_a);
        ledger_key(NULL, "name-b", key_b);
        hash_sha256("up", 2, print_a);
}

/* Borrowed texts: never ledger_entry_done. */
static LedgerEntry entry(const char *key) {
        static char name[] = "20260101T000000Z-up-0123456789abcdef.json", verb[] = "restart";
        static char arg[] = "web", unit[] = "spoolgate-x.restart-0123.scope";
        static char response[] = "{\"state\":\"done\"}\n\0binary\n\ntoo";
        LedgerEntry e = {.name = name,
                         .verb = verb,
                         .arg = arg,
                         .unit = unit,
                         .began_ms = 1767323045678,
                         .ended_ms = 1767323050000,
                         .response = {response, sizeof(response) - 1, 0}};

        memcpy(e.key, key, sizeof(e.key));
        memcpy(e.fingerprint, print_a, sizeof(e.fingerprint));
        return e;
}

static void finds(const char *key, int expected) {
        CLEANUP(ledger_entry_done) LedgerEntry e = LEDGER_ENTRY_NULL;

        ck_assert_int_eq(ledger_find(&ledger, key, &e), expected);
        if (expected != 0)
                ck_assert_ptr_null(e.name); /* untouched */
}

/* Replaces dirfd/key by these bytes. */
static void plant(int dirfd, const char *key, const void *bytes, size_t len) {
        CLEANUP(fd_closep) int fd = -EBADF;

        (void)unlinkat(dirfd, key, 0);
        fd = openat(dirfd, key, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
}

/* A file whose sum is right, so that only its body can be wrong. */
static void plant_body(int dirfd, const char *key, const char *body) {
        CLEANUP(str_done) Str s = STR_NULL;
        char sum[HASH_HEX_SIZE];

        hash_sha256(body, strlen(body), sum);
        ck_assert_int_eq(str_addf(&s, "spoolgate-ledger 1\nsum %s\n%s", sum, body), 0);
        plant(dirfd, key, s.data, s.len);
}

static void slurp(int dirfd, const char *key, char *bytes, size_t size, size_t *ret_len) {
        CLEANUP(fd_closep) int fd = openat(dirfd, key, O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, bytes, size);

        ck_assert_int_gt(n, 0);
        *ret_len = (size_t)n;
}

START_TEST(key_forms) {
        char a[HASH_HEX_SIZE], b[HASH_HEX_SIZE];

        ck_assert_int_eq(hash_init(), 0);
        ledger_key("x", "ignored", a);
        hash_sha256("k:x", 3, b);
        ck_assert_str_eq(a, b);
        ledger_key(NULL, "x", a);
        ck_assert_str_ne(a, b); /* a key never meets a name */
        hash_sha256("n:x", 3, b);
        ck_assert_str_eq(a, b);
        ledger_key("../../x", NULL, a); /* row 48 */
        ck_assert(hash_is_hex(a, 64));
}
END_TEST

START_TEST(open_again_and_refused) {
        PinRule foreign = {geteuid() + 1, 0};
        PinRule rule = ours();
        Ledger other = LEDGER_NULL;

        ledger_start();
        ck_assert_uint_eq(scratch_mode(scratch_fd, "ledger/begun") & 07777, 0700);
        ck_assert_int_eq(ledger_open(scratch_fd, &rule, &other), 0);
        ledger_close(&other);
        ck_assert_int_eq(other.begun_fd, -EBADF);
        ck_assert_int_eq(ledger_open(scratch_fd, &foreign, &other), -EPERM);
        ck_assert_int_eq(fchmodat(scratch_fd, "ledger/ended", 0770, 0), 0);
        ck_assert_int_eq(ledger_open(scratch_fd, &rule, &other), -EPERM);
        ck_assert_int_eq(unlinkat(scratch_fd, "ledger/ended", AT_REMOVEDIR), 0);
        scratch_link("begun", scratch_fd, "ledger/ended");
        ck_assert_int_eq(ledger_open(scratch_fd, &rule, &other), -EPERM);
        ck_assert_int_eq(other.begun_fd, -EBADF);
}
END_TEST

START_TEST(begin_find_end) {
        CLEANUP(ledger_entry_done) LedgerEntry got = LEDGER_ENTRY_NULL;
        LedgerEntry e;

        ledger_start();
        e = entry(key_a);
        finds(key_a, LEDGER_E_ABSENT);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        ck_assert_uint_eq(scratch_mode(ledger.begun_fd, key_a) & 07777, 0600);
        ck_assert_int_eq(ledger_find(&ledger, key_a, &got), 0);
        ck_assert_int_eq(got.state, LEDGER_BEGUN);
        ck_assert_str_eq(got.key, key_a);
        ck_assert_str_eq(got.fingerprint, print_a);
        ck_assert_str_eq(got.name, e.name);
        ck_assert_str_eq(got.verb, "restart");
        ck_assert_str_eq(got.arg, "web");
        ck_assert_str_eq(got.unit, e.unit);
        ck_assert_int_eq(got.began_ms, 1767323045678);
        ck_assert_int_eq(got.ended_ms, 0);
        ck_assert_uint_eq(got.response.len, 0);
        ledger_entry_done(&got);
        ck_assert_int_eq(ledger_begin(&ledger, &e), LEDGER_E_EXISTS);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        ck_assert(!scratch_exists(ledger.begun_fd, key_a));
        ck_assert_int_eq(ledger_find(&ledger, key_a, &got), 0);
        ck_assert_int_eq(got.state, LEDGER_ENDED);
        ck_assert_int_eq(got.ended_ms, 1767323050000);
        ck_assert_uint_eq(got.response.len, e.response.len);
        ck_assert_mem_eq(got.response.data, e.response.data, e.response.len);
        ck_assert_int_eq(ledger_begin(&ledger, &e), LEDGER_E_EXISTS); /* ended is begun as well */
        ck_assert(!scratch_exists(ledger.begun_fd, key_a));
}
END_TEST

START_TEST(begin_optional_fields) {
        CLEANUP(ledger_entry_done) LedgerEntry got = LEDGER_ENTRY_NULL;
        LedgerEntry e;

        ledger_start();
        e = entry(key_b);
        e.arg = e.unit = NULL;
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        ck_assert_int_eq(ledger_load_begun(&ledger, key_b, &got), 0);
        ck_assert_ptr_null(got.arg);
        ck_assert_ptr_null(got.unit);
        e.response = STR_NULL;
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        ledger_entry_done(&got);
        ck_assert_int_eq(ledger_find(&ledger, key_b, &got), 0);
        ck_assert_uint_eq(got.response.len, 0);
}
END_TEST

START_TEST(begin_refuses_bad_texts) {
        LedgerEntry e;
        char evil[] = "web\nended_ms 1", empty[] = "", long_text[1026], esc[] = "a\x1b";

        ledger_start();
        memset(long_text, 'a', 1025);
        long_text[1025] = '\0';
        e = entry(key_a);
        e.arg = evil;
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        e.arg = empty;
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        e.arg = esc;
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        e.arg = long_text;
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        long_text[1024] = '\0';
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        e = entry(key_b);
        e.name = NULL;
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        e = entry(key_b);
        e.fingerprint[3] = 'X';
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        e = entry("../archive");
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        e = entry(key_b);
        e.began_ms = -1;
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EINVAL);
        finds("zz", -EINVAL);
        ck_assert_int_eq(ledger_forget(&ledger, "../x"), -EINVAL);
        finds(key_b, LEDGER_E_ABSENT);
}
END_TEST

/* A crash between publishing ended and removing begun. */
START_TEST(find_both) {
        CLEANUP(ledger_entry_done) LedgerEntry got = LEDGER_ENTRY_NULL;
        CLEANUP(strv_done) Strv keys = STRV_NULL;
        LedgerEntry e;

        ledger_start();
        e = entry(key_a);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0); /* without a begin: a read-only verb */
        ck_assert_int_eq(renameat(ledger.ended_fd, key_a, scratch_fd, "keep"), 0);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        ck_assert_int_eq(renameat(scratch_fd, "keep", ledger.ended_fd, key_a), 0);
        ck_assert_int_eq(ledger_find(&ledger, key_a, &got), 0);
        ck_assert_int_eq(got.state, LEDGER_ENDED);
        ck_assert_int_eq(ledger_list_begun(&ledger, 10, &keys), 0);
        ck_assert_uint_eq(keys.len, 1);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0); /* recovery: again */
        ck_assert_int_eq(ledger_list_begun(&ledger, 10, &keys), 0);
        ck_assert_uint_eq(keys.len, 0);
}
END_TEST

START_TEST(forget_begun) {
        LedgerEntry e;

        ledger_start();
        e = entry(key_a);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        ck_assert_int_eq(ledger_forget(&ledger, key_a), 0);
        ck_assert_int_eq(ledger_forget(&ledger, key_a), 0);
        finds(key_a, LEDGER_E_ABSENT);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        ck_assert_int_eq(ledger_forget(&ledger, key_a), 0); /* never the ended one */
        finds(key_a, 0);
}
END_TEST

/* Each byte flipped and each length cut off is seen. */
START_TEST(find_corrupt_bytes) {
        char bytes[4096], was;
        LedgerEntry e;
        size_t len;

        ledger_start();
        e = entry(key_a);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        slurp(ledger.ended_fd, key_a, bytes, sizeof(bytes), &len);
        for (size_t i = 0; i < len; i++) {
                was = bytes[i];
                bytes[i] = (char)(was ^ 1);
                plant(ledger.ended_fd, key_a, bytes, len);
                finds(key_a, LEDGER_E_CORRUPT);
                bytes[i] = was;
                plant(ledger.ended_fd, key_a, bytes, i);
                finds(key_a, LEDGER_E_CORRUPT);
        }
        plant(ledger.ended_fd, key_a, bytes, len);
        finds(key_a, 0);
        plant(ledger.ended_fd, key_b, bytes, len); /* under another key */
        finds(key_b, LEDGER_E_CORRUPT);
        ck_assert_int_eq(ledger_begin(&ledger, &e), LEDGER_E_EXISTS);
}
END_TEST

START_TEST(find_corrupt_fields) {
        char good[1024], bad[2048];
        static const char *const extra[] = {"odd 1\n",       "odd\n",        "arg\n",
                                            "arg \n",        "verb up\n",    "ended_ms 1x\n",
                                            "ended_ms -1\n", "ended_ms 1\n", "arg a\x1b\n",
                                            "unit u\x7f\n",  "\nresponse"};

        ledger_start();
        (void)snprintf(good, sizeof(good), "key %s\nfingerprint %s\nname n\nverb up\nbegan_ms 5\n",
                       key_a, print_a);
        (void)snprintf(bad, sizeof(bad), "%s\n", good);
        plant_body(ledger.begun_fd, key_a, bad);
        finds(key_a, 0);
        for (size_t i = 0; i < sizeof(extra) / sizeof(extra[0]); i++) {
                (void)snprintf(bad, sizeof(bad), "%s%s\n", good, extra[i]);
                plant_body(ledger.begun_fd, key_a, bad);
                finds(key_a, LEDGER_E_CORRUPT);
        }
        plant_body(ledger.begun_fd, key_a, good); /* no empty line */
        finds(key_a, LEDGER_E_CORRUPT);
        (void)snprintf(bad, sizeof(bad), "key %s\nfingerprint %s\nname n\nbegan_ms 5\n\n", key_a,
                       print_a);
        plant_body(ledger.begun_fd, key_a, bad); /* no verb */
        finds(key_a, LEDGER_E_CORRUPT);
        (void)snprintf(bad, sizeof(bad), "key %s\nfingerprint x\nname n\nverb up\nbegan_ms 5\n\n",
                       key_a);
        plant_body(ledger.begun_fd, key_a, bad);
        finds(key_a, LEDGER_E_CORRUPT);
        (void)snprintf(bad, sizeof(bad), "%s\n", good);
        plant_body(ledger.ended_fd, key_a, bad); /* ended without its time */
        finds(key_a, LEDGER_E_CORRUPT);
}
END_TEST

START_TEST(find_versions) {
        static const struct {
                const char *text;
                int expected;
        } rows[] = {
                {"spoolgate-ledger 2\nwhatever", LEDGER_E_NEWER},
                {"spoolgate-ledger 999999999\n", LEDGER_E_NEWER},
                {"spoolgate-ledger 0\n", LEDGER_E_CORRUPT},
                {"spoolgate-ledger 9999999999\n", LEDGER_E_CORRUPT},
                {"spoolgate-ledger -1\n", LEDGER_E_CORRUPT},
                {"spoolgate-ledger \n", LEDGER_E_CORRUPT},
                {"spoolgate-ledger 2", LEDGER_E_CORRUPT},
                {"spoolgate-ledger 1\n", LEDGER_E_CORRUPT},
                {"something else\n", LEDGER_E_CORRUPT},
                {"", LEDGER_E_CORRUPT},
        };

        ledger_start();
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                plant(ledger.ended_fd, key_a, rows[i].text, strlen(rows[i].text));
                finds(key_a, rows[i].expected);
        }
}
END_TEST

START_TEST(find_not_a_file) {
        LedgerEntry e;

        ledger_start();
        e = entry(key_a);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        ck_assert_int_eq(fchmodat(ledger.ended_fd, key_a, 0666, 0), 0);
        finds(key_a, LEDGER_E_CORRUPT); /* the rule */
        ck_assert_int_eq(unlinkat(ledger.ended_fd, key_a, 0), 0);
        scratch_link("nowhere", ledger.ended_fd, key_a);
        finds(key_a, LEDGER_E_CORRUPT);
        ck_assert_int_eq(unlinkat(ledger.ended_fd, key_a, 0), 0);
        scratch_dir(ledger.ended_fd, key_a);
        finds(key_a, LEDGER_E_CORRUPT);
}
END_TEST

START_TEST(faults_of_the_directory) {
        LedgerEntry e;

        ledger_start();
        e = entry(key_a);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        if (geteuid() == 0) { /* closed to whoever we turn into */
                ck_assert_int_eq(fchmodat(scratch_fd, "ledger/begun", 0555, 0), 0);
                ck_assert_int_eq(fchmodat(scratch_fd, "ledger/ended", 0555, 0), 0);
        } else {
                ck_assert_int_eq(fchmod(ledger.begun_fd, 0500), 0);
                ck_assert_int_eq(fchmod(ledger.ended_fd, 0500), 0);
        }
        scratch_drop_root();
        ck_assert_int_eq(ledger_end(&ledger, &e), -EACCES);
        ck_assert_int_eq(ledger_forget(&ledger, key_a), -EACCES);
        e = entry(key_b);
        ck_assert_int_eq(ledger_begin(&ledger, &e), -EACCES);
        ck_assert(scratch_exists(ledger.begun_fd, key_a));
}
END_TEST

START_TEST(end_too_big) {
        char *big = calloc(1, 5 * 1024 * 1024);
        LedgerEntry e;

        ledger_start();
        e = entry(key_a);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        e.response = (Str){big, 5 * 1024 * 1024, 0};
        ck_assert_int_eq(ledger_end(&ledger, &e), -EFBIG);
        ck_assert(scratch_exists(ledger.begun_fd, key_a));
        e.response.len = 3 * 1024 * 1024;
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        finds(key_a, 0);
        free(big);
}
END_TEST

START_TEST(list_begun_bounded) {
        CLEANUP(strv_done) Strv keys = STRV_NULL;
        char key[HASH_HEX_SIZE], name[16];
        LedgerEntry e;

        ledger_start();
        for (int i = 0; i < 20; i++) {
                (void)snprintf(name, sizeof(name), "%d", i);
                ledger_key(NULL, name, key);
                e = entry(key);
                ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        }
        scratch_file(ledger.begun_fd, "foreign", "");
        scratch_file(ledger.begun_fd, ".tmp.0123", "");
        ck_assert_int_eq(ledger_list_begun(&ledger, 100, &keys), 0);
        ck_assert_uint_eq(keys.len, 20);
        for (size_t i = 1; i < 20; i++)
                ck_assert_int_lt(strcmp(keys.items[i - 1], keys.items[i]), 0);
        ck_assert_int_eq(ledger_list_begun(&ledger, 7, &keys), 0);
        ck_assert_uint_eq(keys.len, 7);
        ck_assert_int_eq(ledger_list_begun(&ledger, 0, &keys), 0);
        ck_assert_uint_eq(keys.len, 0);
}
END_TEST

static void ended_at(const char *name, int64_t ms, char key[HASH_HEX_SIZE]) {
        struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {ms / 1000, 0}};
        LedgerEntry e;

        ledger_key(NULL, name, key);
        e = entry(key);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        ck_assert_int_eq(utimensat(ledger.ended_fd, key, times, 0), 0);
}

START_TEST(prune_by_age_and_count) {
        char keys[10][HASH_HEX_SIZE], name[16];
        size_t removed = 99;
        LedgerEntry e;

        ledger_start();
        for (int i = 0; i < 10; i++) {
                (void)snprintf(name, sizeof(name), "%d", i);
                ended_at(name, 1000 * 1000 + i * 1000, keys[i]);
        }
        e = entry(key_a);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        scratch_file(ledger.ended_fd, ".tmp.0123456789abcdef", "");
        scratch_file(ledger.begun_fd, ".tmp.0123456789abcdef", "");
        scratch_file(ledger.ended_fd, "foreign", "");
        ck_assert_int_eq(ledger_prune(&ledger, 100, 1000000, 1009000, 100, &removed), 0);
        ck_assert_uint_eq(removed, 0);
        ck_assert(!scratch_exists(ledger.ended_fd, ".tmp.0123456789abcdef"));
        ck_assert(!scratch_exists(ledger.begun_fd, ".tmp.0123456789abcdef"));
        ck_assert(scratch_exists(ledger.ended_fd, "foreign"));
        ck_assert_int_eq(ledger_prune(&ledger, 100, 8000, 1009000, 100, &removed), 0);
        ck_assert_uint_eq(removed, 1); /* older than 8 s: number 0 */
        finds(keys[0], LEDGER_E_ABSENT);
        finds(keys[1], 0);
        ck_assert_int_eq(ledger_prune(&ledger, 4, 1000000, 1009000, 3, &removed), 0);
        ck_assert_uint_eq(removed, 3); /* the budget, of five beyond the count */
        ck_assert_int_eq(ledger_prune(&ledger, 4, 1000000, 1009000, 3, &removed), 0);
        ck_assert_uint_eq(removed, 2);
        finds(keys[5], LEDGER_E_ABSENT);
        for (int i = 6; i < 10; i++)
                finds(keys[i], 0);
        ck_assert_int_eq(ledger_prune(&ledger, 0, 0, INT64_MAX, 100, &removed), 0);
        ck_assert_uint_eq(removed, 4);
        finds(key_a, 0); /* begun ones never */
}
END_TEST

/* Else a done run would turn into an uncertain one. */
START_TEST(prune_keeps_ended_with_begun) {
        size_t removed = 99;
        LedgerEntry e;

        ledger_start();
        e = entry(key_a);
        ck_assert_int_eq(ledger_begin(&ledger, &e), 0);
        ck_assert_int_eq(linkat(ledger.begun_fd, key_a, scratch_fd, "keep", 0), 0);
        ck_assert_int_eq(ledger_end(&ledger, &e), 0);
        ck_assert_int_eq(renameat(scratch_fd, "keep", ledger.begun_fd, key_a), 0);
        ck_assert_int_eq(ledger_prune(&ledger, 0, 0, INT64_MAX, 10, &removed), 0);
        ck_assert_uint_eq(removed, 0);
        finds(key_a, 0);
        ck_assert_int_eq(ledger_forget(&ledger, key_a), 0);
        ck_assert_int_eq(ledger_prune(&ledger, 0, 0, INT64_MAX, 10, &removed), 0);
        ck_assert_uint_eq(removed, 1);
}
END_TEST

/* However many drains start, a big directory is gone through once in ten minutes. */
START_TEST(prune_big_is_rare) {
        int64_t now_ms = (int64_t)time(NULL) * 1000;
        char key[HASH_HEX_SIZE], name[16], old[HASH_HEX_SIZE];
        size_t removed = 99, entries = 0;
        struct stat st = {0};

        ledger_start();
        ended_at("old", 1000, old);
        scratch_file(scratch_fd, "one", "");
        for (; st.st_size < 256 * 1024 && entries < 40000; entries++) {
                (void)snprintf(name, sizeof(name), "%zu", entries);
                ledger_key(NULL, name, key);
                if (linkat(scratch_fd, "one", ledger.ended_fd, key, 0) < 0 ||
                    fstat(ledger.ended_fd, &st) < 0)
                        ck_abort_msg("%s", strerror(errno));
        }
        if (st.st_size < 256 * 1024) {
                scratch_skip("a file system whose directories don't tell their size");
                return;
        }
        ck_assert_int_eq(ledger_prune(&ledger, entries, 3600 * 1000, now_ms, 100, &removed), 0);
        ck_assert_uint_eq(removed, 1);
        finds(old, LEDGER_E_ABSENT);
        ended_at("old", 1000, old);
        ck_assert_int_eq(ledger_prune(&ledger, entries, 3600 * 1000, now_ms, 100, &removed), 0);
        ck_assert_uint_eq(removed, 0); /* not looked at */
        finds(old, 0);
        ck_assert_int_eq(
                ledger_prune(&ledger, entries, 7200 * 1000, now_ms + 660 * 1000, 100, &removed), 0);
        ck_assert_uint_eq(removed, 1);
        /* the budget ran out: the next call goes on at once */
        ck_assert_int_eq(unlinkat(ledger.ended_fd, ".pruned", 0), 0);
        for (int i = 0; i < 3; i++) {
                ck_assert_int_eq(ledger_prune(&ledger, 10, 3600 * 1000, now_ms, 100, &removed), 0);
                ck_assert_uint_eq(removed, 100);
        }
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, key_forms);
        tcase_add_test(tc, open_again_and_refused);
        tcase_add_test(tc, begin_find_end);
        tcase_add_test(tc, begin_optional_fields);
        tcase_add_test(tc, begin_refuses_bad_texts);
        tcase_add_test(tc, find_both);
        tcase_add_test(tc, forget_begun);
        tcase_add_test(tc, find_corrupt_bytes);
        tcase_add_test(tc, find_corrupt_fields);
        tcase_add_test(tc, find_versions);
        tcase_add_test(tc, find_not_a_file);
        tcase_add_test(tc, faults_of_the_directory);
        tcase_add_test(tc, end_too_big);
        tcase_add_test(tc, list_begun_bounded);
        tcase_add_test(tc, prune_by_age_and_count);
        tcase_add_test(tc, prune_keeps_ended_with_begun);
        tcase_add_test(tc, prune_big_is_rare);
}

int main(void) {
        return scratch_main("record/ledger", add_tests);
}
