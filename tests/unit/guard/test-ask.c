/* guard/ask: nothing but one whole verdict is believed */
#include "verdicts.h"

#include "base/clock.h"
#include "guard/ask.h"

static AskAnswer answer;

static int ask(size_t len) {
        AskFile files[4] = { { "a", S_IFREG | 0644, room_fd }, { "b", 0, -EBADF }, { "c", S_IFREG | 0755, room_fd } };
        AskGit git = { room_fd, room_fd };
        char path[512];

        snprintf(path, sizeof(path), "%s/inspect", room_path);
        return ask_inspect(path, "landlock", 0, &git, files, len, &answer);
}

START_TEST(inspect_a_whole_verdict) {
        Words w = words_of(INSPECT_OK, 3);

        memset(w.head.head, 'a', VERDICT_HEX);
        w.files[1].file = INSPECT_FILE_GONE;
        w.files[2].file = INSPECT_FILE_MODE;
        program_says(&w, words_len(3));
        ck_assert_int_eq(ask(3), 0);
        ck_assert_str_eq(answer.head, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        ck_assert_int_eq(answer.files[0], INSPECT_FILE_SAME);
        ck_assert_int_eq(answer.files[1], INSPECT_FILE_GONE);
        ck_assert_int_eq(answer.files[2], INSPECT_FILE_MODE);
}
END_TEST

START_TEST(inspect_a_refusal) {
        Words w = words_of(INSPECT_SHA256, 0);

        program_says(&w, words_len(0));
        ck_assert_int_eq(ask(3), INSPECT_SHA256);
        ck_assert_str_eq(answer.head, "");
}
END_TEST

static void garble_magic(Words *w) { w->head.magic++; }
static void garble_version(Words *w) { w->head.version++; }
static void garble_code(Words *w) { w->head.code = 0; }
static void garble_code_high(Words *w) { w->head.code = INSPECT_COUNT; }
static void garble_count(Words *w) { w->head.count = 1; }
static void garble_refusal(Words *w) { w->head.code = INSPECT_HEAD; }
static void garble_head(Words *w) { w->head.head[0] = '/'; }
static void garble_file_magic(Words *w) { w->files[1].magic = 0; }
static void garble_index(Words *w) { w->files[1].index = 0; }
static void garble_file(Words *w) { w->files[1].file = 0; }
static void garble_file_high(Words *w) { w->files[1].file = INSPECT_FILE_COUNT; }
static void garble_zero(Words *w) { w->files[1].zero = 1; }

static void (*const garbles[])(Words *) = { garble_magic, garble_version, garble_code, garble_code_high, garble_count,
                                            garble_refusal, garble_head, garble_file_magic, garble_index,
                                            garble_file, garble_file_high, garble_zero };

START_TEST(inspect_a_wrong_field) {
        Words w = words_of(INSPECT_OK, 2);

        garbles[_i](&w);
        program_says(&w, words_len(2));
        ck_assert_int_eq(ask(2), ASK_E_GARBLED);
}
END_TEST

START_TEST(inspect_wrong_lengths) {
        Words w = words_of(INSPECT_OK, 2);
        size_t lens[] = { 0, 1, sizeof(VerdictHead) - 1, sizeof(VerdictHead), words_len(2) - 1, words_len(2) + 1 };

        for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
                program_says(&w, lens[i]);
                ck_assert_int_eq(ask(2), ASK_E_GARBLED);
        }
        program("exec /bin/cat /dev/zero");
        ck_assert_int_ne(ask(2), 0);
}
END_TEST

START_TEST(inspect_a_program_that_fails) {
        Words w = words_of(INSPECT_OK, 1);
        CLEANUP(str_freep) char *script = NULL;

        ck_assert_int_eq(ask(1), ASK_E_START);
        room_write("inspect", "#!/bin/sh\n", 0600);
        ck_assert_int_eq(ask(1), ASK_E_START);
        room_write("inspect", "nothing that runs", 0700);
        ck_assert_int_eq(ask(1), ASK_E_START);
        program("exit 3");
        ck_assert_int_eq(ask(1), ASK_E_DIED);
        program("kill -9 $$");
        ck_assert_int_eq(ask(1), ASK_E_DIED);
        program_says(&w, words_len(1));
        ck_assert_int_ge(str_printf(&script, "/bin/cat %s/words; exit 1", room_path), 0);
        program(script);
        ck_assert_int_eq(ask(1), ASK_E_DIED); /* a whole verdict, and then not a clean end */
}
END_TEST

static void late(const char *script) {
        int64_t began = clock_mono_ms(), took;

        program(script);
        ck_assert_int_eq(ask(1), ASK_E_TIME);
        took = clock_mono_ms() - began;
        ck_assert_int_ge(took, ASK_WALL_MS);
        ck_assert_int_lt(took, 10000);
}

START_TEST(inspect_a_program_that_does_not_end) {
        CLEANUP(str_freep) char *script = NULL;
        Words w = words_of(INSPECT_OK, 1);

        late("exec /bin/sleep 600");
        late("exec >&-; exec /bin/sleep 600");
        late("trap '' TERM HUP INT; exec /bin/sleep 600");
        program_says(&w, words_len(1));
        ck_assert_int_ge(str_printf(&script, "/bin/cat %s/words; exec /bin/sleep 600", room_path), 0);
        late(script);
}
END_TEST

START_TEST(inspect_gives_nothing_but_its_descriptors) {
        CLEANUP(str_done) Str seen = STR_NULL;
        CLEANUP(str_freep) char *script = NULL;
        int leak, fd;

        ck_assert_int_eq(setenv("LEAK", "secret", 1), 0);
        leak = open("/dev/null", O_RDONLY); /* not O_CLOEXEC */
        ck_assert_int_ge(leak, 0);
        ck_assert_int_ge(str_printf(&script,
                                    "{ echo \"$LEAK.$#.$1.$2.$3.$4.$5.$6\"; "
                                    "for f in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && echo $f; done; :; } >%s/seen",
                                    room_path), 0);
        program(script);
        ck_assert_int_eq(ask(3), ASK_E_GARBLED);
        fd = open(room_at("seen"), O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_read_file(fd, 1000, &seen), 0);
        fd_close(fd);
        fd_close(leak);
        /* 0 to 4, and what the shell itself holds from 10 on */
        ck_assert_str_eq(seen.data, ".5.landlock.536870912.100644:a.absent:b.100755:c.\n0\n1\n2\n3\n4\n");
}
END_TEST

START_TEST(open_git_pinned) {
        AskGit git = { -EBADF, -EBADF };
        struct stat st, up;
        char dir[512];

        room_dir("w");
        room_dir("w/x");
        snprintf(dir, sizeof(dir), "%s/w/x", room_path);
        ck_assert_int_eq(stat(dir, &st), 0);
        ck_assert_int_eq(ask_open_git(dir, st.st_dev, st.st_ino, &git), 0);
        ck_assert(fstat(git.up_fd, &up) == 0 && fstat(room_fd, &st) == 0 && up.st_ino == st.st_ino);
        ask_git_done(&git);
        ck_assert_int_eq(stat(dir, &st), 0);
        ck_assert_int_eq(ask_open_git(dir, st.st_dev, st.st_ino + 1, &git), ASK_E_DIR);
        ck_assert_int_eq(ask_open_git(dir, st.st_dev + 1, st.st_ino, &git), ASK_E_DIR);
        ck_assert_int_eq(renameat(room_fd, "w/x", room_fd, "w/y"), 0);
        ck_assert_int_eq(ask_open_git(dir, st.st_dev, st.st_ino, &git), ASK_E_DIR);
        ck_assert_int_eq(symlinkat("y", room_fd, "w/x"), 0);
        ck_assert_int_eq(ask_open_git(dir, st.st_dev, st.st_ino, &git), ASK_E_DIR);
        ck_assert_int_eq(git.fd, -EBADF);
}
END_TEST

START_TEST(reason_of_each_code) {
        for (int i = INSPECT_OK + 1; i <= ASK_E_DIR; i++)
                ck_assert_msg(strcmp(ask_reason(i), ask_reason(-1)) != 0, "code %d has no words", i);
        ck_assert_str_eq(ask_reason(INSPECT_OK), ask_reason(1000));
}
END_TEST

int main(void) {
        TCase *tc = tcase_create("ask");

        tcase_set_timeout(tc, 30);
        tcase_add_checked_fixture(tc, room_setup, room_teardown);
        tcase_add_test(tc, inspect_a_whole_verdict);
        tcase_add_test(tc, inspect_a_refusal);
        tcase_add_loop_test(tc, inspect_a_wrong_field, 0, sizeof(garbles) / sizeof(*garbles));
        tcase_add_test(tc, inspect_wrong_lengths);
        tcase_add_test(tc, inspect_a_program_that_fails);
        tcase_add_test(tc, inspect_a_program_that_does_not_end);
        tcase_add_test(tc, inspect_gives_nothing_but_its_descriptors);
        tcase_add_test(tc, open_git_pinned);
        tcase_add_test(tc, reason_of_each_code);
        return room_run("guard/ask", tc);
}
