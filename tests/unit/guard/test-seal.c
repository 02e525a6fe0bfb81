/* guard/seal: one form only, and copies that are what they are called */
#include "room.h"

#include "fs/pin.h"
#include "guard/seal.h"

#define SHA "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define HEAD "spoolgate-seal 1\ntime 2026-01-02T03:04:05.678Z\nby jane\ncommit " COMMIT "\n"
#define FILE_A "file guarded tracked 100755 5 " SHA " a\n"
#define FILE_ENV "file env untracked - - absent .env\n"

static int parse(const char *text) {
        Seal s = SEAL_NULL;
        int r = seal_parse(text, strlen(text), &s);

        if (r != 0)
                ck_assert_ptr_null(s.entries);
        seal_done(&s);
        return r;
}

START_TEST(parse_each_field) {
        CLEANUP(seal_done) Seal s = SEAL_NULL;
        CLEANUP(str_freep) char *again = NULL;
        const char *text = HEAD FILE_A FILE_ENV "end 2\n";

        ck_assert_int_eq(seal_parse(text, strlen(text), &s), 0);
        ck_assert_int_eq(s.time_ms, 1767323045678);
        ck_assert_str_eq(s.by, "jane");
        ck_assert_str_eq(s.commit, COMMIT);
        ck_assert_uint_eq(s.len, 2);
        ck_assert_int_eq(s.entries[0].kind, TAKE_GUARDED);
        ck_assert(s.entries[0].tracked && !s.entries[0].absent);
        ck_assert_uint_eq(s.entries[0].mode, 0100755);
        ck_assert_uint_eq(s.entries[0].size, 5);
        ck_assert_str_eq(s.entries[0].sha256, SHA);
        ck_assert_str_eq(s.entries[0].path, "a");
        ck_assert(s.entries[1].absent && !s.entries[1].tracked);
        ck_assert_int_eq(s.entries[1].kind, TAKE_ENV);
        ck_assert_ptr_eq(seal_find(&s, TAKE_ENV, ".env"), &s.entries[1]);
        ck_assert_ptr_null(seal_find(&s, TAKE_GUARDED, ".env"));
        ck_assert_int_eq(seal_format(&s, &again), 0);
        ck_assert_str_eq(again, text);
}
END_TEST

static const char *const bad[] = {
        "",
        "spoolgate-seal 1\n",
        "spoolgate-seal 2\ntime 2026-01-02T03:04:05.678Z\nby jane\ncommit -\nend 0\n",
        HEAD,
        HEAD "end 1\n",
        HEAD "end 0",
        HEAD "end 0\nx",
        HEAD "end 00\n",
        HEAD "\nend 0\n",
        HEAD FILE_A "end 2\n",
        HEAD FILE_A FILE_A "end 2\n",
        HEAD "file guarded tracked 100755 5 " SHA " \nend 1\n",
        HEAD "file guarded tracked 100755 5 " SHA " /a\nend 1\n",
        HEAD "file guarded tracked 100755 5 " SHA " \\x61\nend 1\n",
        HEAD "file guarded tracked 100755 5 " SHA " \\x00\nend 1\n",
        HEAD "file guarded tracked 100755 5 " SHA " \\xC3\nend 1\n",
        HEAD "file guarded tracked 100755 5 " SHA " \\\nend 1\n",
        HEAD "file guarded tracked 100755 5 " SHA " \\x\nend 1\n",
        HEAD "file guarded tracked 100755 5 " SHA " \xc3\xa9\nend 1\n",
        HEAD "file guarded tracked 40755 5 " SHA " a\nend 1\n",
        HEAD "file guarded tracked 040755 5 " SHA " a\nend 1\n",
        HEAD "file guarded tracked 100758 5 " SHA " a\nend 1\n",
        HEAD "file guarded tracked 100755 05 " SHA " a\nend 1\n",
        HEAD "file guarded tracked 100755 -5 " SHA " a\nend 1\n",
        HEAD "file guarded tracked 100755 99999999999 " SHA " a\nend 1\n",
        HEAD "file guarded tracked 100755 5 2cf2 a\nend 1\n",
        HEAD "file guarded tracked 100755 5 absent a\nend 1\n",
        HEAD "file guarded tracked - - " SHA " a\nend 1\n",
        HEAD "file other tracked 100755 5 " SHA " a\nend 1\n",
        HEAD "file guarded maybe 100755 5 " SHA " a\nend 1\n",
        HEAD "file guarded  tracked 100755 5 " SHA " a\nend 1\n",
        "spoolgate-seal 1\ntime 2026-01-02T03:04:05Z\nby jane\ncommit -\nend 0\n",
        "spoolgate-seal 1\ntime never\nby jane\ncommit -\nend 0\n",
        "spoolgate-seal 1\ntime 2026-01-02T03:04:05.678Z\nby jane\ncommit 0123\nend 0\n",
        "spoolgate-seal 1\nby jane\ntime 2026-01-02T03:04:05.678Z\ncommit -\nend 0\n",
};

START_TEST(parse_refuses) {
        ck_assert_msg(parse(bad[_i]) == SEAL_E_INVALID, "accepted: %s", bad[_i]);
}
END_TEST

START_TEST(parse_each_cut) {
        const char *text = HEAD FILE_A FILE_ENV "end 2\n";
        Seal s = SEAL_NULL;

        for (size_t len = 0; len < strlen(text); len++)
                ck_assert_int_eq(seal_parse(text, len, &s), SEAL_E_INVALID);
        ck_assert_int_eq(seal_parse("spoolgate-seal 1\n\0", 18, &s), SEAL_E_INVALID);
}
END_TEST

START_TEST(format_escapes_a_path) {
        CLEANUP(seal_done) Seal s = { .time_ms = 0 }, back = SEAL_NULL;
        CLEANUP(str_freep) char *text = NULL;
        char path[] = "a \n\\\x1b\xc3\xa9\x7f";
        SealEntry e = { .absent = true, .path = path };

        ck_assert_int_eq(seal_add(&s, &e), 0);
        ck_assert_int_eq(str_dup("j\nane", &s.by), 0);
        ck_assert_int_eq(seal_format(&s, &text), 0);
        ck_assert_str_eq(text, "spoolgate-seal 1\ntime 1970-01-01T00:00:00.000Z\nby j\\x0aane\ncommit -\n"
                               "file guarded untracked - - absent a \\x0a\\x5c\\x1b\\xc3\\xa9\\x7f\nend 1\n");
        ck_assert_int_eq(seal_parse(text, strlen(text), &back), 0);
        ck_assert_str_eq(back.entries[0].path, path);
        ck_assert_str_eq(back.by, "j\nane");
}
END_TEST

static void take(TakenList *list, Seal *s) {
        CLEANUP(strv_done) Strv v = room_list("a", "none");

        ck_assert_int_eq(take_files(room_fd, &v, NULL, list), 0);
        for (size_t i = 0; s && i < list->len; i++) {
                SealEntry e;

                ck_assert_int_eq(seal_entry(&list->items[i], true, &e), 0);
                ck_assert_int_eq(seal_add(s, &e), 0);
                seal_entry_done(&e);
        }
}

START_TEST(matches_state_mode_and_bytes) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        CLEANUP(seal_done) Seal s = SEAL_NULL;

        room_write("a", "hello", 0755);
        take(&list, &s);
        ck_assert(seal_matches(&s.entries[0], &list.items[0]));
        ck_assert(seal_matches(&s.entries[1], &list.items[1]));
        ck_assert(!seal_matches(&s.entries[0], &list.items[1]));
        ck_assert(!seal_matches(&s.entries[1], &list.items[0]));
        s.entries[0].mode = S_IFREG | 0754;
        ck_assert(!seal_matches(&s.entries[0], &list.items[0]));
        s.entries[0].mode = S_IFREG | 0755;
        s.entries[0].sha256[0] = '3';
        ck_assert(!seal_matches(&s.entries[0], &list.items[0]));
        list.items[1].refused = PIN_E_LINK;
        ck_assert(!seal_matches(&s.entries[1], &list.items[1]));
}
END_TEST

START_TEST(entry_of_a_refused_file) {
        Taken t = { .refused = PIN_E_LINK };
        SealEntry e;

        ck_assert_int_eq(seal_entry(&t, true, &e), SEAL_E_REFUSED);
}
END_TEST

START_TEST(store_and_load) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        CLEANUP(seal_done) Seal s = { .time_ms = 5 }, back = SEAL_NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str bytes = STR_NULL;
        struct stat st;

        ck_assert_int_eq(seal_load(room_fd, &back), SEAL_E_ABSENT);
        room_write("a", "hello", 0755);
        take(&list, &s);
        ck_assert_int_eq(str_dup("jane", &s.by), 0);
        ck_assert_int_eq(seal_store(room_fd, &s, &list), 0);
        ck_assert_int_eq(seal_load(room_fd, &back), 0);
        ck_assert_uint_eq(back.len, 2);
        ck_assert_str_eq(back.entries[0].sha256, SHA);
        ck_assert_int_eq(seal_open_copy(room_fd, &back.entries[0], &fd), 0);
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0500);
        ck_assert_int_eq(io_read_file(fd, 100, &bytes), 0);
        ck_assert_str_eq(bytes.data, "hello");
        ck_assert_int_eq(seal_open_copy(room_fd, &back.entries[1], &fd), SEAL_E_ABSENT);
}
END_TEST

START_TEST(store_mends_a_copy_and_prune_removes_old_ones) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        CLEANUP(seal_done) Seal s = SEAL_NULL;
        int fd;

        room_write("a", "hello", 0755);
        take(&list, &s);
        ck_assert_int_eq(seal_store(room_fd, &s, &list), 0);
        ck_assert_int_eq(unlinkat(room_fd, "seal/files/" SHA, 0), 0);
        ck_assert_int_eq(seal_open_copy(room_fd, &s.entries[0], &fd), SEAL_E_ABSENT);
        room_write("seal/files/" SHA, "HELLO", 0500);
        ck_assert_int_eq(seal_open_copy(room_fd, &s.entries[0], &fd), SEAL_E_INVALID);
        ck_assert_int_eq(seal_store(room_fd, &s, &list), 0);
        ck_assert_int_eq(seal_open_copy(room_fd, &s.entries[0], &fd), 0);
        fd_close(fd);
        room_write("seal/files/old", "x", 0400);
        ck_assert_int_eq(seal_prune(room_fd, &s), 0);
        ck_assert_int_eq(faccessat(room_fd, "seal/files/old", F_OK, 0), -1);
        ck_assert_int_eq(faccessat(room_fd, "seal/files/" SHA, F_OK, 0), 0);
}
END_TEST

START_TEST(load_refuses_what_others_could_write) {
        Seal s = SEAL_NULL;

        room_dir("seal");
        room_write("seal/seal", HEAD "end 0\n", 0622);
        ck_assert_int_eq(seal_load(room_fd, &s), SEAL_E_INVALID);
        room_write("seal/seal", HEAD "end 0\n", 0600);
        ck_assert_int_eq(seal_load(room_fd, &s), 0);
        seal_done(&s);
        ck_assert_int_eq(renameat(room_fd, "seal/seal", room_fd, "seal/x"), 0);
        ck_assert_int_eq(symlinkat("x", room_fd, "seal/seal"), 0);
        ck_assert_int_eq(seal_load(room_fd, &s), SEAL_E_INVALID);
}
END_TEST

START_TEST(prune_without_a_seal) {
        Seal s = SEAL_NULL;

        ck_assert_int_eq(seal_prune(room_fd, &s), 0);
}
END_TEST

int main(void) {
        TCase *tc = tcase_create("seal");

        tcase_add_checked_fixture(tc, room_setup, room_teardown);
        tcase_add_test(tc, parse_each_field);
        tcase_add_loop_test(tc, parse_refuses, 0, sizeof(bad) / sizeof(*bad));
        tcase_add_test(tc, parse_each_cut);
        tcase_add_test(tc, format_escapes_a_path);
        tcase_add_test(tc, matches_state_mode_and_bytes);
        tcase_add_test(tc, entry_of_a_refused_file);
        tcase_add_test(tc, store_and_load);
        tcase_add_test(tc, store_mends_a_copy_and_prune_removes_old_ones);
        tcase_add_test(tc, load_refuses_what_others_could_write);
        tcase_add_test(tc, prune_without_a_seal);
        return room_run("guard/seal", tc);
}
