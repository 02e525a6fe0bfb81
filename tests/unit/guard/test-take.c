/* guard/take: opened once, read once, held */
#include "room.h"

#include "fs/pin.h"
#include "guard/take.h"

#define SHA_HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static Taken *take_one(const char *path, TakenList *list) {
        CLEANUP(strv_done) Strv v = room_list(path, NULL);

        ck_assert_int_eq(take_files(room_fd, &v, NULL, list), 0);
        ck_assert_uint_eq(list->len, 1);
        return &list->items[0];
}

START_TEST(files_of_both_kinds_in_order) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        CLEANUP(strv_done) Strv guarded = room_list("a", "b"), env = room_list(".env", NULL);
        CLEANUP(str_done) Str bytes = STR_NULL;

        room_write("a", "hello", 0755);
        room_write(".env", "", 0600);
        ck_assert_int_eq(take_files(room_fd, &guarded, &env, &list), 0);
        ck_assert_uint_eq(list.len, 3);
        ck_assert_str_eq(list.items[0].path, "a");
        ck_assert_int_eq(list.items[0].refused, 0);
        ck_assert_str_eq(list.items[0].sha256, SHA_HELLO);
        ck_assert_uint_eq(list.items[0].st.st_mode, S_IFREG | 0755);
        ck_assert_int_eq(io_read_file(list.items[0].bytes_fd, 100, &bytes), 0);
        ck_assert_str_eq(bytes.data, "hello");
        ck_assert_int_eq(list.items[1].refused, PIN_E_ABSENT);
        ck_assert_int_eq(list.items[1].bytes_fd, -EBADF);
        ck_assert_int_eq(list.items[2].kind, TAKE_ENV);
        ck_assert_int_eq(list.items[2].refused, 0);
}
END_TEST

START_TEST(files_the_bytes_can_not_change) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        Taken *t;

        room_write("a", "hello", 0644);
        t = take_one("a", &list);
        ck_assert_int_eq(pwrite(t->bytes_fd, "x", 1, 0), -1);
        ck_assert_int_eq(ftruncate(t->bytes_fd, 0), -1);
        ck_assert_int_eq(fcntl(t->bytes_fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
        room_write("a", "HELLO", 0644);
        ck_assert_str_eq(t->sha256, SHA_HELLO);
}
END_TEST

static void refused(const char *path, int code) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        Taken *t = take_one(path, &list);

        ck_assert_int_eq(t->refused, code);
        ck_assert_int_eq(t->bytes_fd, -EBADF);
        ck_assert_str_eq(t->sha256, "");
}

START_TEST(files_that_are_none) {
        room_dir("dir");
        room_dir("sub");
        room_write("sub/f", "x", 0644);
        room_write("two", "x", 0644);
        ck_assert_int_eq(linkat(room_fd, "two", room_fd, "second", 0), 0);
        ck_assert_int_eq(symlinkat("sub/f", room_fd, "link"), 0);
        ck_assert_int_eq(symlinkat("sub", room_fd, "parent"), 0);
        ck_assert_int_eq(mkfifoat(room_fd, "fifo", 0600), 0);
        refused("dir", PIN_E_TYPE);
        refused("fifo", PIN_E_TYPE);
        refused("link", PIN_E_LINK);
        refused("parent/f", PIN_E_LINK);
        refused("../x", PIN_E_LINK);
        refused("two", PIN_E_LINKS);
        refused("none/x", PIN_E_ABSENT);
        room_write("big", "", 0644);
        ck_assert_int_eq(truncate(room_at("big"), (off_t)TAKE_MAX + 1), 0);
        refused("big", PIN_E_TOO_BIG);
}
END_TEST

START_TEST(files_too_many) {
        TakenList list = TAKEN_LIST_NULL;
        Strv v = STRV_NULL;

        for (int i = 0; i <= TAKE_FILES; i++)
                ck_assert_int_eq(strv_add(&v, "a"), 0);
        ck_assert_int_eq(take_files(room_fd, &v, NULL, &list), -E2BIG);
        ck_assert_uint_eq(list.len, 0);
        strv_done(&v);
}
END_TEST

static bool again(const Taken *t) {
        bool changed;

        ck_assert_int_eq(take_again(room_fd, t, &changed), 0);
        return changed;
}

START_TEST(again_sees_each_change) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        Taken *t;

        room_write("a", "hello", 0644);
        t = take_one("a", &list);
        ck_assert(!again(t));
        ck_assert_int_eq(renameat(room_fd, "a", room_fd, "b"), 0);
        ck_assert(again(t));
        room_write("a", "hello", 0644);
        ck_assert(again(t)); /* the same bytes in another inode */
        ck_assert_int_eq(renameat(room_fd, "b", room_fd, "a"), 0);
        ck_assert(again(t)); /* there and back */
}
END_TEST

START_TEST(again_reads_the_bytes_too) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        Taken *t;

        room_write("a", "hello", 0644);
        t = take_one("a", &list);
        room_write("a", "HELLO", 0644);
        ck_assert_int_eq(fstatat(room_fd, "a", &t->st, 0), 0); /* as if ctime had not moved */
        ck_assert(again(t));
}
END_TEST

START_TEST(again_absent_is_a_state) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        Taken *t = take_one("a", &list);

        ck_assert(!again(t));
        room_write("a", "", 0644);
        ck_assert(again(t));
}
END_TEST

int main(void) {
        TCase *tc = tcase_create("take");

        tcase_add_checked_fixture(tc, room_setup, room_teardown);
        tcase_add_test(tc, files_of_both_kinds_in_order);
        tcase_add_test(tc, files_the_bytes_can_not_change);
        tcase_add_test(tc, files_that_are_none);
        tcase_add_test(tc, files_too_many);
        tcase_add_test(tc, again_sees_each_change);
        tcase_add_test(tc, again_reads_the_bytes_too);
        tcase_add_test(tc, again_absent_is_a_state);
        return room_run("guard/take", tc);
}
