/* spool/retire: attacks.md rows 17, 18, 20, 31, 55, 56 */
#include "spool/retire.h"
#include "tests/unit/spool/pool.h"

static const char request[] = "20260101T000000Z-ping-0123456789abcdef.json";
static const char response[] = "20260101T000000Z-ping-0123456789abcdef.json.response.json";
static const char log_name[] = "20260101T000000Z-ping-0123456789abcdef.json.log";

START_TEST(request_is_the_judged_bytes) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_PROCESSING], request, "edited since");
        ck_assert_int_eq(retire_request(&pool, request, "judged", 6), 0);
        ck_assert(!scratch_exists(pool.dirs[SPOOL_PROCESSING], request));
        scratch_has(pool.dirs[SPOOL_ARCHIVE], request, "judged");
        ck_assert_uint_eq(scratch_mode(pool.dirs[SPOOL_ARCHIVE], request) & 07777, 0644);
        ck_assert_int_eq(retire_request(&pool, request, "again", 5), 0); /* row 44: a replay */
        scratch_has(pool.dirs[SPOOL_ARCHIVE], request, "again");
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_ARCHIVE], "", NULL), 1); /* no litter */
}
END_TEST

START_TEST(request_processing_holds_a_directory) {
        char name[NAME_MAX + 1];
        int dirfd;

        pool_open();
        scratch_dir(pool.dirs[SPOOL_PROCESSING], request);
        dirfd = scratch_open_dir(pool.dirs[SPOOL_PROCESSING], request);
        scratch_file(dirfd, "full", "");
        ck_assert_int_eq(retire_request(&pool, request, "judged", 6), 0);
        scratch_has(pool.dirs[SPOOL_ARCHIVE], request, "judged");
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_PROCESSING], "", NULL), 0);
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_QUARANTINE], "", name), 1);
        (void)fd_close(dirfd);
}
END_TEST

START_TEST(request_archive_blocked) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_PROCESSING], request, "{}");
        ck_assert_int_eq(fchmodat(pool.root_fd, "archive", 0555, 0), 0);
        if (geteuid() == 0)
                ck_assert_int_eq(fchmodat(pool.root_fd, "processing", 0777, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(retire_request(&pool, request, "judged", 6), RETIRE_E_BLOCKED);
        ck_assert(!scratch_exists(pool.dirs[SPOOL_PROCESSING], request)); /* out of the line */
}
END_TEST

START_TEST(request_processing_blocked) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_PROCESSING], request, "{}");
        ck_assert_int_eq(fchmodat(pool.root_fd, "processing", 0555, 0), 0);
        if (geteuid() == 0)
                ck_assert_int_eq(fchmodat(pool.root_fd, "archive", 0777, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(retire_request(&pool, request, "judged", 6), RETIRE_E_BLOCKED);
        scratch_has(pool.dirs[SPOOL_ARCHIVE], request, "judged");
}
END_TEST

static void log_opens(int expected) {
        CLEANUP(fd_closep) int fd = -EBADF;

        ck_assert_int_eq(retire_open_log(&pool, request, &fd), expected);
        if (expected != 0) {
                ck_assert_int_eq(fd, -EBADF);
                return;
        }
        ck_assert_int_eq(write(fd, "ours", 4), 4);
        scratch_has(pool.dirs[SPOOL_ARCHIVE], log_name, "ours");
        ck_assert_uint_eq(scratch_mode(pool.dirs[SPOOL_ARCHIVE], log_name) & 07777, 0644);
}

START_TEST(open_log_planted) {
        char name[NAME_MAX + 1];
        int dirfd;

        pool_open();
        (void)umask(077);
        dirfd = pool.dirs[SPOOL_ARCHIVE];
        log_opens(0);
        log_opens(0); /* over an old file: it is kept under a dot name */
        ck_assert_uint_eq(pool_count(dirfd, ".old-", name), 1);
        scratch_has(dirfd, name, "ours");
        ck_assert_int_eq(unlinkat(dirfd, log_name, 0), 0);
        scratch_file(scratch_fd, "canary", "untouched");
        scratch_link("../../../canary", dirfd, log_name);
        log_opens(0);
        scratch_has(scratch_fd, "canary", "untouched");
        ck_assert_int_eq(unlinkat(dirfd, log_name, 0), 0);
        ck_assert_int_eq(mkfifoat(dirfd, log_name, 0666), 0);
        log_opens(0); /* and doesn't hang */
        ck_assert_int_eq(unlinkat(dirfd, log_name, 0), 0);
        scratch_dir(dirfd, log_name);
        log_opens(0);
        ck_assert_uint_eq(pool_count(dirfd, ".old-", NULL), 4);
        ck_assert_int_eq(unlinkat(dirfd, log_name, 0), 0);
        scratch_file(dirfd, log_name, "");
        log_opens(0); /* nothing in it: nothing to keep */
        ck_assert_uint_eq(pool_count(dirfd, ".old-", NULL), 4);
}
END_TEST

START_TEST(open_log_blocked) {
        char longest[NAME_MAX + 1];
        int fd = -EBADF;

        pool_open();
        memset(longest, 'z', NAME_MAX);
        longest[NAME_MAX] = '\0';
        ck_assert_int_eq(retire_open_log(&pool, longest, &fd), RETIRE_E_BLOCKED);
        ck_assert_int_eq(fchmodat(pool.root_fd, "archive", 0555, 0), 0);
        scratch_drop_root();
        log_opens(RETIRE_E_BLOCKED);
}
END_TEST

START_TEST(open_log_planted_and_blocked) {
        pool_open();
        scratch_file(pool.dirs[SPOOL_ARCHIVE], log_name, "planted");
        ck_assert_int_eq(fchmodat(pool.root_fd, "archive", 0555, 0), 0);
        scratch_drop_root();
        log_opens(RETIRE_E_BLOCKED);
        scratch_has(pool.dirs[SPOOL_ARCHIVE], log_name, "planted");
}
END_TEST

START_TEST(respond_over_what_is_planted) {
        char head[8];
        size_t len;
        int dirfd;

        pool_open();
        dirfd = pool.dirs[SPOOL_RESPONSES];
        ck_assert(!retire_has_response(&pool, request));
        ck_assert_int_eq(retire_peek_response(&pool, request, head, 2, &len), RETIRE_E_BLOCKED);
        ck_assert_int_eq(retire_respond(&pool, request, "one", 3, false), 0);
        ck_assert_int_eq(retire_peek_response(&pool, request, head, 2, &len), 0);
        ck_assert(len == 2 && memcmp(head, "on", 2) == 0);
        ck_assert_int_eq(retire_peek_response(&pool, request, head, sizeof(head), &len), 0);
        ck_assert(len == 3 && memcmp(head, "one", 3) == 0);
        ck_assert(retire_has_response(&pool, request));
        ck_assert_int_eq(retire_respond(&pool, request, "two", 3, true), 0);
        scratch_has(dirfd, response, "two");
        ck_assert_uint_eq(scratch_mode(dirfd, response) & 07777, 0644);
        ck_assert_int_eq(unlinkat(dirfd, response, 0), 0);
        scratch_file(scratch_fd, "canary", "untouched"); /* row 17 */
        scratch_link("../../../canary", dirfd, response);
        ck_assert_int_eq(retire_peek_response(&pool, request, head, sizeof(head), &len), RETIRE_E_BLOCKED);
        ck_assert(retire_has_response(&pool, request));
        ck_assert_int_eq(retire_respond(&pool, request, "three", 5, false), 0);
        scratch_has(dirfd, response, "three");
        scratch_has(scratch_fd, "canary", "untouched");
        ck_assert_int_eq(unlinkat(dirfd, response, 0), 0);
        scratch_dir(dirfd, response); /* row 18 */
        scratch_dir(scratch_open_dir(dirfd, response), "full");
        ck_assert_int_eq(retire_respond(&pool, request, "four", 4, false), 0);
        scratch_has(dirfd, response, "four");
}
END_TEST

START_TEST(acknowledge_never_covers) {
        pool_open();
        ck_assert_int_eq(retire_acknowledge(&pool, request, "queued", 6), 0);
        scratch_has(pool.dirs[SPOOL_RESPONSES], response, "queued");
        ck_assert_int_eq(retire_respond(&pool, request, "done", 4, false), 0);
        ck_assert_int_eq(retire_acknowledge(&pool, request, "queued", 6), RETIRE_E_EXISTS);
        scratch_has(pool.dirs[SPOOL_RESPONSES], response, "done");
        ck_assert_uint_eq(pool_count(pool.dirs[SPOOL_RESPONSES], "", NULL), 1);
}
END_TEST

/* A losing drain acknowledges while the winner answers: whoever comes last, "done" stays. */
START_TEST(acknowledge_race) {
        pid_t pid;
        int status;

        pool_open();
        for (int i = 0; i < 100; i++) {
                char name[32], full[64];

                (void)snprintf(name, sizeof(name), "%d", i);
                (void)snprintf(full, sizeof(full), "%d.response.json", i);
                pid = fork();
                ck_assert_int_ge(pid, 0);
                if (pid == 0) {
                        int r = retire_acknowledge(&pool, name, "queued", 6);

                        _exit(r == 0 || r == RETIRE_E_EXISTS ? 0 : 1);
                }
                ck_assert_int_eq(retire_respond(&pool, name, "done", 4, false), 0);
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert_int_eq(status, 0);
                scratch_has(pool.dirs[SPOOL_RESPONSES], full, "done");
        }
}
END_TEST

/* row 20 */
START_TEST(respond_blocked) {
        char longest[NAME_MAX + 1];

        pool_open();
        memset(longest, 'z', NAME_MAX);
        longest[NAME_MAX] = '\0';
        ck_assert_int_eq(retire_respond(&pool, longest, "x", 1, false), RETIRE_E_BLOCKED);
        ck_assert_int_eq(retire_acknowledge(&pool, longest, "x", 1), RETIRE_E_BLOCKED);
        ck_assert(!retire_has_response(&pool, longest));
        ck_assert_int_eq(fchmodat(pool.root_fd, "responses", 0555, 0), 0);
        ck_assert_int_eq(fchmodat(pool.root_fd, "diagnostics", 0555, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(retire_respond(&pool, request, "x", 1, true), RETIRE_E_BLOCKED);
        ck_assert_int_eq(retire_acknowledge(&pool, request, "x", 1), RETIRE_E_BLOCKED);
        ck_assert_int_eq(retire_diagnostic(&pool, "heartbeat.json", "x", 1), RETIRE_E_BLOCKED);
}
END_TEST

START_TEST(diagnostic_replaces) {
        pool_open();
        ck_assert_int_eq(retire_diagnostic(&pool, "heartbeat.json", "1", 1), 0);
        ck_assert_int_eq(retire_diagnostic(&pool, "heartbeat.json", "22", 2), 0);
        scratch_has(pool.dirs[SPOOL_DIAGNOSTICS], "heartbeat.json", "22");
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, request_is_the_judged_bytes);
        tcase_add_test(tc, request_processing_holds_a_directory);
        tcase_add_test(tc, request_archive_blocked);
        tcase_add_test(tc, request_processing_blocked);
        tcase_add_test(tc, open_log_planted);
        tcase_add_test(tc, open_log_blocked);
        tcase_add_test(tc, open_log_planted_and_blocked);
        tcase_add_test(tc, respond_over_what_is_planted);
        tcase_add_test(tc, acknowledge_never_covers);
        tcase_add_test(tc, acknowledge_race);
        tcase_add_test(tc, respond_blocked);
        tcase_add_test(tc, diagnostic_replaces);
}

int main(void) {
        return scratch_main("spool/retire", add_tests);
}
