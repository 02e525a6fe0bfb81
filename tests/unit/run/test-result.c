#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/lock.h"
#include "run/result.h"

static char dir[256];
static int run_fd;

static void make_dir(void) {
        const char *tmp = getenv("TMPDIR");

        (void)snprintf(dir, sizeof(dir), "%s/spoolgate-result.XXXXXX", tmp ? tmp : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        run_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(run_fd, 0);
}

static void remove_dir(void) {
        DIR *d = opendir(dir);
        struct dirent *entry;

        ck_assert_ptr_nonnull(d);
        while ((entry = readdir(d)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        (void)unlinkat(dirfd(d), entry->d_name, 0);
        (void)closedir(d);
        ck_assert_int_eq(rmdir(dir), 0);
        (void)close(run_fd);
}

static void put(const char *name, const char *bytes, size_t len, mode_t mode) {
        int fd = openat(run_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
        ck_assert_int_eq(fchmod(fd, mode), 0);
        (void)close(fd);
}

static RunResult sample(void) {
        RunResult r = {.kind = RESULT_EXIT,
                       .code = 7,
                       .started_ms = 1700000000123,
                       .ended_ms = 1700000001123,
                       .duration_ms = 1000,
                       .output_bytes = 18446744073709551615U,
                       .truncated = true};

        ck_assert_int_eq(str_adds(&r.tail, "first\nkind exit\n\nlast \xc3\xa4"), 0);
        return r;
}

static void same(const RunResult *a, const RunResult *b) {
        ck_assert_int_eq(a->kind, b->kind);
        ck_assert_int_eq(a->code, b->code);
        ck_assert_int_eq(a->started_ms, b->started_ms);
        ck_assert_int_eq(a->ended_ms, b->ended_ms);
        ck_assert_int_eq(a->duration_ms, b->duration_ms);
        ck_assert(a->output_bytes == b->output_bytes);
        ck_assert_int_eq(a->truncated, b->truncated);
        ck_assert_str_eq(a->spawn_stage, b->spawn_stage);
        ck_assert_uint_eq(a->tail.len, b->tail.len);
        ck_assert_int_eq(memcmp(a->tail.data ? a->tail.data : "", b->tail.data ? b->tail.data : "",
                                a->tail.len),
                         0);
}

static void round_trip(const RunResult *r) {
        RunResult back = RUN_RESULT_NULL;
        Str text = STR_NULL;

        ck_assert_int_eq(result_format(r, &text), 0);
        ck_assert_int_eq(result_parse(text.data, text.len, &back), 0);
        same(r, &back);
        result_done(&back);
        str_done(&text);
}

START_TEST(format_is_the_documented_text) {
        RunResult r = sample();
        Str text = STR_NULL;

        ck_assert_int_eq(result_format(&r, &text), 0);
        ck_assert_int_eq(strncmp(text.data, "spoolgate-result 1 ", 19), 0);
        ck_assert_str_eq(text.data + 19 + 64,
                         "\nkind exit\ncode 7\nstarted 1700000000123\nended 1700000001123\n"
                         "duration 1000\noutput 18446744073709551615\ntruncated 1\nstage \n"
                         "tail 24\n\nfirst\nkind exit\n\nlast \xc3\xa4");
        str_done(&text);
        result_done(&r);
}
END_TEST

START_TEST(parse_gives_back_each_kind) {
        RunResult r = sample();

        round_trip(&r);
        r.code = 0;
        round_trip(&r);
        r.code = 255;
        round_trip(&r);
        r.kind = RESULT_SIGNAL;
        r.code = SIGKILL;
        round_trip(&r);
        r.code = 0;
        r.kind = RESULT_TIMEOUT;
        round_trip(&r);
        r.kind = RESULT_CANCELLED;
        round_trip(&r);
        r.kind = RESULT_SPAWN;
        r.code = ENOENT;
        r.started_ms = 0;
        (void)strcpy(r.spawn_stage, "job-timeout");
        str_done(&r.tail);
        round_trip(&r);
        result_done(&r);
}
END_TEST

START_TEST(parse_gives_back_the_largest_tail) {
        RunResult r = sample();

        while (r.tail.len < RESULT_TAIL_MAX)
                ck_assert_int_eq(str_addc(&r.tail, (char)('a' + r.tail.len % 26)), 0);
        round_trip(&r);
        result_done(&r);
}
END_TEST

static void unformattable(const RunResult *r) {
        Str text = STR_NULL;

        ck_assert_int_eq(result_format(r, &text), -EINVAL);
        ck_assert_ptr_null(text.data);
}

START_TEST(format_refuses_what_parse_would) {
        RunResult r = sample(), bad;

        bad = r, bad.code = 256;
        unformattable(&bad);
        bad = r, bad.code = -1;
        unformattable(&bad);
        bad = r, bad.kind = RESULT_SIGNAL, bad.code = 0;
        unformattable(&bad);
        bad = r, bad.kind = RESULT_SIGNAL, bad.code = NSIG;
        unformattable(&bad);
        bad = r, bad.kind = RESULT_TIMEOUT, bad.code = 1;
        unformattable(&bad);
        bad = r, bad.kind = RESULT_SPAWN, bad.code = 2; /* no stage */
        unformattable(&bad);
        (void)strcpy(bad.spawn_stage, "a b");
        unformattable(&bad);
        memset(bad.spawn_stage, 'a', sizeof(bad.spawn_stage)); /* no NUL */
        unformattable(&bad);
        bad = r, bad.spawn_stage[0] = 'x'; /* a stage, but no RESULT_SPAWN */
        unformattable(&bad);
        bad = r, bad.started_ms = -1;
        unformattable(&bad);
        while (r.tail.len <= RESULT_TAIL_MAX)
                ck_assert_int_eq(str_addc(&r.tail, 'x'), 0);
        unformattable(&r);
        result_done(&r);
}
END_TEST

static void unparsable(const char *bytes, size_t len) {
        RunResult r = {.code = 77};
        char *exact = malloc(len ? len : 1); /* so that one byte too many is seen */

        ck_assert_ptr_nonnull(exact);
        memcpy(exact, bytes, len);
        ck_assert_int_eq(result_parse(exact, len, &r), RESULT_E_SYNTAX);
        ck_assert_int_eq(r.code, 77);
        free(exact);
}

START_TEST(parse_refuses_each_flipped_byte) {
        RunResult r = sample();
        Str text = STR_NULL;

        ck_assert_int_eq(result_format(&r, &text), 0);
        for (size_t i = 0; i < text.len; i++) {
                text.data[i] ^= 1;
                unparsable(text.data, text.len);
                text.data[i] ^= 1;
        }
        str_done(&text);
        result_done(&r);
}
END_TEST

START_TEST(parse_refuses_each_cut) {
        RunResult r = sample();
        Str text = STR_NULL;

        ck_assert_int_eq(result_format(&r, &text), 0);
        for (size_t i = 0; i < text.len; i++)
                unparsable(text.data, i);
        ck_assert_int_eq(str_addc(&text, 'x'), 0);
        unparsable(text.data, text.len);
        str_done(&text);
        result_done(&r);
}
END_TEST

START_TEST(store_and_load) {
        RunResult r = sample(), back = RUN_RESULT_NULL;
        struct stat st;

        make_dir();
        ck_assert_int_eq(result_load(run_fd, "A-1.x", &back), RESULT_E_ABSENT);
        ck_assert_int_eq(result_store(run_fd, "A-1.x", &r, true), 0);
        ck_assert_int_eq(fstatat(run_fd, "A-1.x.result", &st, 0), 0);
        ck_assert_int_eq((int)(st.st_mode & 07777), 0600);
        ck_assert_int_eq(result_load(run_fd, "A-1.x", &back), 0);
        same(&r, &back);
        result_done(&back);
        r.code = 8; /* again: replaced */
        ck_assert_int_eq(result_store(run_fd, "A-1.x", &r, false), 0);
        ck_assert_int_eq(result_load(run_fd, "A-1.x", &back), 0);
        ck_assert_int_eq(back.code, 8);
        result_done(&back);
        result_done(&r);
        remove_dir();
}
END_TEST

START_TEST(load_believes_no_strange_file) {
        RunResult r = sample(), back = RUN_RESULT_NULL;
        Str text = STR_NULL;

        make_dir();
        ck_assert_int_eq(result_format(&r, &text), 0);
        put("a.result", text.data, text.len, 0644); /* others could read it: not written by us */
        ck_assert_int_eq(result_load(run_fd, "a", &back), RESULT_E_SYNTAX);
        ck_assert_int_eq(symlinkat("a.result", run_fd, "b.result"), 0);
        ck_assert_int_eq(result_load(run_fd, "b", &back), RESULT_E_SYNTAX);
        ck_assert_int_eq(mkfifoat(run_fd, "c.result", 0600), 0);
        ck_assert_int_eq(result_load(run_fd, "c", &back), RESULT_E_SYNTAX);
        put("d.result", "", 0, 0600);
        ck_assert_int_eq(result_load(run_fd, "d", &back), RESULT_E_SYNTAX);
        while (text.len < 2 * RESULT_TAIL_MAX)
                ck_assert_int_eq(str_addc(&text, 'x'), 0);
        put("e.result", text.data, text.len, 0600);
        ck_assert_int_eq(result_load(run_fd, "e", &back), RESULT_E_SYNTAX);
        str_done(&text);
        result_done(&r);
        remove_dir();
}
END_TEST

START_TEST(ids_are_checked) {
        static const char *const bad[] = {"",    ".",    "..",  ".x",      "a/b",
                                          "a b", "../x", "a\n", "\xc3\xa4"};
        RunResult r = sample(), back;
        char longest[102];
        bool running;
        int fd;

        make_dir();
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                ck_assert_int_eq(result_store(run_fd, bad[i], &r, false), -EINVAL);
                ck_assert_int_eq(result_load(run_fd, bad[i], &back), -EINVAL);
                ck_assert_int_eq(result_lock(run_fd, bad[i], &fd), -EINVAL);
                ck_assert_int_eq(result_running(run_fd, bad[i], &running), -EINVAL);
                ck_assert_int_eq(result_forget(run_fd, bad[i]), -EINVAL);
                ck_assert_int_eq(result_cancel(run_fd, bad[i]), -EINVAL);
        }
        memset(longest, 'a', sizeof(longest));
        longest[101] = '\0';
        ck_assert_int_eq(result_forget(run_fd, longest), -EINVAL);
        longest[100] = '\0';
        ck_assert_int_eq(result_store(run_fd, longest, &r, false), 0);
        result_done(&r);
        remove_dir();
}
END_TEST

START_TEST(lock_means_running) {
        bool running = true;
        int fd, other = -77;

        make_dir();
        ck_assert_int_eq(result_running(run_fd, "a", &running), 0);
        ck_assert(!running);
        ck_assert_int_eq(result_lock(run_fd, "a", &fd), 0);
        ck_assert_int_eq(result_running(run_fd, "a", &running), 0);
        ck_assert(running);
        ck_assert_int_eq(result_lock(run_fd, "a", &other), LOCK_E_BUSY);
        ck_assert_int_eq(other, -77);
        (void)close(fd);
        ck_assert_int_eq(result_running(run_fd, "a", &running), 0);
        ck_assert(!running);
        remove_dir();
}
END_TEST

START_TEST(list_finds_each_id_once) {
        RunResult r = sample();
        Strv list = STRV_NULL;
        int fd;

        make_dir();
        ck_assert_int_eq(result_list(run_fd, 10, &list), 0);
        ck_assert_uint_eq(list.len, 0);
        strv_done(&list);
        ck_assert_int_eq(result_lock(run_fd, "b", &fd), 0);
        ck_assert_int_eq(result_store(run_fd, "b", &r, false), 0);
        ck_assert_int_eq(result_store(run_fd, "a.lock", &r, false), 0);
        put(".tmp.0123.result", "x", 1, 0600);
        put("c.log", "x", 1, 0600);
        put("d e.lock", "x", 1, 0600);
        put(".lock", "x", 1, 0600);
        for (int i = 0; i < 2; i++) { /* the offset that run_fd shares is no matter */
                ck_assert_int_eq(result_list(run_fd, 10, &list), 0);
                ck_assert_uint_eq(list.len, 2);
                ck_assert_str_eq(list.items[0], "a.lock");
                ck_assert_str_eq(list.items[1], "b");
                strv_done(&list);
        }
        ck_assert_int_eq(result_list(run_fd, 1, &list), 0);
        ck_assert_uint_eq(list.len, 1);
        strv_done(&list);
        (void)close(fd);
        result_done(&r);
        remove_dir();
}
END_TEST

START_TEST(forget_removes_both) {
        RunResult r = sample();
        Strv list = STRV_NULL;
        int fd;

        make_dir();
        ck_assert_int_eq(result_lock(run_fd, "a", &fd), 0);
        ck_assert_int_eq(result_store(run_fd, "a", &r, true), 0);
        (void)close(fd);
        ck_assert_int_eq(result_forget(run_fd, "a"), 0);
        ck_assert_int_eq(result_list(run_fd, 10, &list), 0);
        ck_assert_uint_eq(list.len, 0);
        ck_assert_int_eq(result_forget(run_fd, "a"), 0); /* again: nothing there is no trouble */
        strv_done(&list);
        result_done(&r);
        remove_dir();
}
END_TEST

/* A process that holds the lock with its pid in it, as a keeper does; lives until a signal. */
static pid_t hold(const char *id) {
        int pair[2], fd;
        char byte;
        pid_t pid;

        ck_assert_int_eq(pipe(pair), 0);
        pid = fork();
        if (pid == 0) {
                (void)signal(SIGTERM, SIG_DFL); /* libcheck's handler kills the whole group */
                if (result_lock(run_fd, id, &fd) != 0 || result_write_pid(fd, getpid()) < 0 ||
                    write(pair[1], "x", 1) != 1)
                        _exit(1);
                for (;;)
                        (void)pause();
        }
        ck_assert_int_eq(read(pair[0], &byte, 1), 1);
        (void)close(pair[0]);
        (void)close(pair[1]);
        return pid;
}

START_TEST(cancel_terminates_the_keeper) {
        pid_t pid;
        int status;

        make_dir();
        pid = hold("a");
        ck_assert_int_eq(result_cancel(run_fd, "a"), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), SIGTERM);
        ck_assert_int_eq(result_cancel(run_fd, "a"), RESULT_E_ABSENT); /* the file is still there */
        remove_dir();
}
END_TEST

START_TEST(cancel_hits_no_stranger) {
        pid_t stranger = fork();
        char text[32];
        int fd;

        if (stranger == 0)
                for (;;)
                        (void)pause();
        make_dir();
        ck_assert_int_eq(result_cancel(run_fd, "none"), RESULT_E_ABSENT);
        (void)snprintf(text, sizeof(text), "%d\n", stranger); /* nobody holds it: a leftover */
        put("a.lock", text, strlen(text), 0600);
        ck_assert_int_eq(result_cancel(run_fd, "a"), RESULT_E_ABSENT);
        ck_assert_int_eq(result_lock(run_fd, "a", &fd),
                         0); /* held, its keeper's pid not yet there */
        ck_assert_int_eq(result_cancel(run_fd, "a"), RESULT_E_ABSENT);
        ck_assert_int_eq(write(fd, "1\n", 2), 2);
        ck_assert_int_eq(result_cancel(run_fd, "a"), RESULT_E_ABSENT);
        ck_assert_int_eq(pwrite(fd, "-1\n", 3, 0), 3);
        ck_assert_int_eq(result_cancel(run_fd, "a"), RESULT_E_ABSENT);
        (void)close(fd);
        ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
        ck_assert_int_eq(kill(stranger, SIGKILL), 0);
        ck_assert_int_eq(waitpid(stranger, NULL, 0), stranger);
        remove_dir();
}
END_TEST

int main(void) {
        Suite *suite = suite_create("run/result");
        TCase *tc = tcase_create("result");
        SRunner *runner;
        int failed;

        tcase_set_timeout(tc, 30);
        tcase_add_test(tc, format_is_the_documented_text);
        tcase_add_test(tc, parse_gives_back_each_kind);
        tcase_add_test(tc, parse_gives_back_the_largest_tail);
        tcase_add_test(tc, format_refuses_what_parse_would);
        tcase_add_test(tc, parse_refuses_each_flipped_byte);
        tcase_add_test(tc, parse_refuses_each_cut);
        tcase_add_test(tc, store_and_load);
        tcase_add_test(tc, load_believes_no_strange_file);
        tcase_add_test(tc, ids_are_checked);
        tcase_add_test(tc, lock_means_running);
        tcase_add_test(tc, list_finds_each_id_once);
        tcase_add_test(tc, forget_removes_both);
        tcase_add_test(tc, cancel_terminates_the_keeper);
        tcase_add_test(tc, cancel_hits_no_stranger);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? 1 : 0;
}
