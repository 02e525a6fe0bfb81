/* guard/reach: attacks.md row 94 */
#include "room.h"

#include "fs/pin.h"
#include "guard/reach.h"

static void setup(void) {
        room_setup();
        room_dir("seal");
        room_dir("seal/run");
}

static void loads(const char *text, int code, size_t len) {
        CLEANUP(strv_done) Strv v = STRV_NULL;

        room_write("seal/run/sources", text, 0400);
        ck_assert_int_eq(reach_load(room_fd, &v), code);
        ck_assert_uint_eq(v.len, len);
        ck_assert_int_eq(unlinkat(room_fd, "seal/run/sources", 0), 0);
}

START_TEST(load_each_line) {
        CLEANUP(strv_done) Strv v = STRV_NULL;

        ck_assert_int_eq(reach_load(room_fd, &v), 0);
        ck_assert_uint_eq(v.len, 0);
        loads("", 0, 0);
        loads("web\ndata/a b\n", 0, 2);
        room_write("seal/run/sources", "web\ndata/a b\n", 0400);
        ck_assert_int_eq(reach_load(room_fd, &v), 0);
        ck_assert_str_eq(v.items[1], "data/a b");
}
END_TEST

START_TEST(load_refuses) {
        CLEANUP(strv_done) Strv v = STRV_NULL;

        loads("web", REACH_E_INVALID, 0);
        loads("web\n\n", REACH_E_INVALID, 0);
        loads("web\n/etc\n", REACH_E_INVALID, 0);
        room_write("seal/run/sources", "web\n", 0666);
        ck_assert_int_eq(reach_load(room_fd, &v), REACH_E_INVALID);
        ck_assert_int_eq(unlinkat(room_fd, "seal/run/sources", 0), 0);
        ck_assert_int_eq(symlinkat("/etc/hostname", room_fd, "seal/run/sources"), 0);
        ck_assert_int_eq(reach_load(room_fd, &v), REACH_E_INVALID);
        ck_assert_uint_eq(v.len, 0);
}
END_TEST

START_TEST(look_where_it_leads) {
        room_dir("web");
        room_write("file", "", 0);
        ck_assert_int_eq(symlinkat("/", room_fd, "root"), 0);
        ck_assert_int_eq(reach_look(room_fd, "web"), 0);
        ck_assert_int_eq(reach_look(room_fd, "file"), 0);
        ck_assert_int_eq(reach_look(room_fd, "none/yet"), 0);
        ck_assert_int_eq(reach_look(room_fd, "file/x"), 0);
        ck_assert_int_eq(reach_look(room_fd, "root"), PIN_E_LINK);
        ck_assert_int_eq(reach_look(room_fd, "root/etc"), PIN_E_LINK);
        ck_assert_int_eq(reach_look(room_fd, "web/../web"), PIN_E_LINK);
        if (geteuid() == 0)
                return;
        ck_assert_int_eq(fchmodat(room_fd, "web", 0, 0), 0);
        ck_assert_int_eq(reach_look(room_fd, "web/a"), PIN_E_ACCESS);
        ck_assert_int_eq(fchmodat(room_fd, "web", 0700, 0), 0);
}
END_TEST

int main(void) {
        TCase *tc = tcase_create("reach");

        tcase_add_checked_fixture(tc, setup, room_teardown);
        tcase_add_test(tc, load_each_line);
        tcase_add_test(tc, load_refuses);
        tcase_add_test(tc, look_where_it_leads);
        return room_run("guard/reach", tc);
}
