/* fs/layout */
#include "fs/layout.h"
#include "tests/unit/fs/scratch.h"

START_TEST(slug_ok) {
        static const char *const good[] = {"a",    "web",  "a-",
                                           "a--b", "web2", "a23456789012345678901234567890x"};
        static const char *const bad[] = {
                "",       "-a",  "1a",  "A",           "aB",
                "a_b",    "a.b", "a/b", "..",          ".",
                "a ",     " a",  "a\n", "caf\xc3\xa9", "a23456789012345678901234567890xy",
                "a\\x2d", "a@b"};

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
                ck_assert_msg(layout_slug_ok(good[i]), "%s", good[i]);
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                ck_assert_msg(!layout_slug_ok(bad[i]), "%s", bad[i]);
}
END_TEST

static void set(const char *home, const char *config, const char *state) {
        ck_assert_int_eq(home ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
        ck_assert_int_eq(
                config ? setenv("XDG_CONFIG_HOME", config, 1) : unsetenv("XDG_CONFIG_HOME"), 0);
        ck_assert_int_eq(state ? setenv("XDG_STATE_HOME", state, 1) : unsetenv("XDG_STATE_HOME"),
                         0);
}

static void layout_is(const char *home, const char *config, const char *state) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        char want[256];

        ck_assert_int_eq(layout_init(&l, "web"), 0);
        ck_assert_str_eq(l.slug, "web");
        ck_assert_str_eq(l.home, home);
        (void)snprintf(want, sizeof(want), "%s/spoolgate", config);
        ck_assert_str_eq(l.config_root, want);
        (void)snprintf(want, sizeof(want), "%s/spoolgate/web", config);
        ck_assert_str_eq(l.config, want);
        (void)snprintf(want, sizeof(want), "%s/spoolgate/web", state);
        ck_assert_str_eq(l.state, want);
        (void)snprintf(want, sizeof(want), "%s/.local/lib/spoolgate/web", home);
        ck_assert_str_eq(l.lib, want);
        (void)snprintf(want, sizeof(want), "%s/systemd/user", config);
        ck_assert_str_eq(l.units, want);
}

START_TEST(init_from_home) {
        set("/home/u", NULL, NULL);
        layout_is("/home/u", "/home/u/.config", "/home/u/.local/state");
        set("/home/u", "", "");
        layout_is("/home/u", "/home/u/.config", "/home/u/.local/state");
        set("/home/u//", NULL, NULL);
        layout_is("/home/u", "/home/u/.config", "/home/u/.local/state");
        set("/", NULL, NULL);
        layout_is("", "/.config", "/.local/state");
}
END_TEST

START_TEST(init_from_xdg) {
        set("/home/u", "/c", "/s/");
        layout_is("/home/u", "/c", "/s");
        set("/home/u", "relative", "./s"); /* to be ignored, says the XDG specification */
        layout_is("/home/u", "/home/u/.config", "/home/u/.local/state");
}
END_TEST

START_TEST(init_refuses) {
        Layout l = LAYOUT_NULL;

        set("/home/u", NULL, NULL);
        ck_assert_int_eq(layout_init(&l, "../x"), LAYOUT_E_SLUG);
        ck_assert_int_eq(layout_init(&l, ""), LAYOUT_E_SLUG);
        set(NULL, "/c", "/s");
        ck_assert_int_eq(layout_init(&l, "web"), LAYOUT_E_HOME);
        set("relative", "/c", "/s");
        ck_assert_int_eq(layout_init(&l, "web"), LAYOUT_E_HOME);
        ck_assert_ptr_null(l.slug);
        layout_done(&l);
}
END_TEST

START_TEST(list_of_what_has_a_bridge) {
        CLEANUP(strv_done) Strv v = STRV_NULL;

        set(scratch_path, NULL, NULL);
        ck_assert_int_eq(layout_list(&v), 0); /* no directory at all */
        ck_assert_uint_eq(v.len, 0);
        scratch_dir(scratch_fd, ".config");
        scratch_dir(scratch_fd, ".config/spoolgate");
        ck_assert_int_eq(layout_list(&v), 0);
        ck_assert_uint_eq(v.len, 0);
        scratch_dir(scratch_fd, ".config/spoolgate/web");
        scratch_file(scratch_fd, ".config/spoolgate/web/bridge.json", "{}");
        scratch_dir(scratch_fd, ".config/spoolgate/api");
        scratch_file(scratch_fd, ".config/spoolgate/api/bridge.json", "{}");
        scratch_dir(scratch_fd, ".config/spoolgate/half");
        scratch_dir(scratch_fd, ".config/spoolgate/dir");
        scratch_dir(scratch_fd, ".config/spoolgate/dir/bridge.json");
        scratch_dir(scratch_fd, ".config/spoolgate/No-Slug");
        scratch_file(scratch_fd, ".config/spoolgate/No-Slug/bridge.json", "{}");
        scratch_file(scratch_fd, ".config/spoolgate/file", "{}");
        scratch_link("loop", scratch_fd, ".config/spoolgate/loop");
        scratch_link("web", scratch_fd, ".config/spoolgate/link");
        ck_assert_int_eq(layout_list(&v), 0);
        ck_assert_uint_eq(v.len, 3);
        ck_assert_str_eq(v.items[0], "api");
        ck_assert_str_eq(v.items[1], "link");
        ck_assert_str_eq(v.items[2], "web");
}
END_TEST

START_TEST(list_refuses) {
        Strv v = STRV_NULL;

        set(NULL, NULL, NULL);
        ck_assert_int_eq(layout_list(&v), LAYOUT_E_HOME);
        set(scratch_path, NULL, NULL);
        scratch_dir(scratch_fd, ".config");
        scratch_file(scratch_fd, ".config/spoolgate", "");
        ck_assert_int_eq(layout_list(&v), -ENOTDIR);
        ck_assert_int_eq(unlinkat(scratch_fd, ".config/spoolgate", 0), 0);
        scratch_dir(scratch_fd, ".config/spoolgate");
        ck_assert_int_eq(fchmodat(scratch_fd, ".config/spoolgate", 0, 0), 0);
        scratch_drop_root();
        ck_assert_int_eq(layout_list(&v), -EACCES);
        ck_assert_ptr_null(v.items);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, slug_ok);
        tcase_add_test(tc, init_from_home);
        tcase_add_test(tc, init_from_xdg);
        tcase_add_test(tc, init_refuses);
        tcase_add_test(tc, list_of_what_has_a_bridge);
        tcase_add_test(tc, list_refuses);
}

int main(void) {
        return scratch_main("fs/layout", add_tests);
}
