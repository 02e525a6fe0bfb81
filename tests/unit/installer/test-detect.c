#include "installer/detect.h"
#include "tests/unit/fs/scratch.h"

static char detect_path[PATH_MAX + 64];

static const char *at(const char *name) {
        (void)snprintf(detect_path, sizeof(detect_path), "%s/%s", scratch_path, name);
        return detect_path;
}

static void refused(const char *project, const char *said) {
        CLEANUP(checkout_done) Checkout c = CHECKOUT_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        ck_assert_int_eq(detect_checkout(project, &c, &why), DETECT_E_REFUSED);
        ck_assert_int_eq(c.fd, -EBADF);
        ck_assert_msg(strstr(why.data, said) != NULL, "%s", why.data);
}

START_TEST(checkout_by_project_and_cwd) {
        CLEANUP(checkout_done) Checkout c = CHECKOUT_NULL;
        CLEANUP(checkout_done) Checkout here = CHECKOUT_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        struct stat st, git;

        scratch_dir(scratch_fd, "co");
        scratch_dir(scratch_fd, "co/.git");
        scratch_dir(scratch_fd, "co/sub");
        scratch_link("co", scratch_fd, "link");
        ck_assert_int_eq(fstatat(scratch_fd, "co", &st, 0), 0);
        ck_assert_int_eq(fstatat(scratch_fd, "co/.git", &git, 0), 0);
        ck_assert_int_eq(detect_checkout(at("link"), &c, &why), 0);
        ck_assert_str_eq(c.root.path, at("co"));
        ck_assert_uint_eq(c.root.inode, st.st_ino);
        ck_assert_uint_eq(c.root.device, st.st_dev);
        ck_assert_str_eq(c.git_dir.path, at("co/.git"));
        ck_assert_uint_eq(c.git_dir.inode, git.st_ino);
        ck_assert_int_eq(chdir(at("co/sub")), 0);
        ck_assert_int_eq(detect_checkout(NULL, &here, &why), 0);
        ck_assert_str_eq(here.root.path, at("co"));
        ck_assert_int_eq(chdir("/"), 0);
        refused(at("co/sub"), "is not the root of its checkout");
}
END_TEST

START_TEST(checkout_refused) {
        scratch_dir(scratch_fd, "plain");
        scratch_link("nowhere", scratch_fd, "dangling");
        refused(at("plain"), "no git repository at ");
        refused(at("plain"), "\ngit init ");
        refused(at("absent"), "No such file");
        refused(at("dangling"), "No such file");
        scratch_dir(scratch_fd, "odd");
        scratch_file(scratch_fd, "odd/.git", "hello\n");
        refused(at("odd"), "neither a folder nor a gitfile");
        scratch_dir(scratch_fd, "gone");
        scratch_file(scratch_fd, "gone/.git", "gitdir: ../nowhere\n");
        refused(at("gone"), "names ");
}
END_TEST

START_TEST(checkout_worktree) {
        CLEANUP(checkout_done) Checkout c = CHECKOUT_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        bool ignored;

        scratch_dir(scratch_fd, "main");
        scratch_dir(scratch_fd, "main/.git");
        scratch_dir(scratch_fd, "main/.git/info");
        scratch_file(scratch_fd, "main/.git/info/exclude", "# c\n/untracked/\n");
        scratch_dir(scratch_fd, "main/.git/worktrees");
        scratch_dir(scratch_fd, "main/.git/worktrees/w");
        scratch_file(scratch_fd, "main/.git/worktrees/w/commondir", "../..\n");
        scratch_dir(scratch_fd, "w");
        scratch_file(scratch_fd, "w/.git", "gitdir: ../main/.git/worktrees/w\n");
        ck_assert_int_eq(detect_checkout(at("w"), &c, &why), 0);
        ck_assert_str_eq(c.git_dir.path, at("main/.git/worktrees/w"));
        ck_assert_int_eq(detect_ignored(&c, "untracked/spoolgate", &ignored), 0);
        ck_assert(ignored);
        ck_assert_int_eq(detect_ignored(&c, "elsewhere/spoolgate", &ignored), 0);
        ck_assert(!ignored);
}
END_TEST

START_TEST(ignored_by_gitignore) {
        CLEANUP(checkout_done) Checkout c = CHECKOUT_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        bool ignored = true;

        scratch_dir(scratch_fd, "co");
        scratch_dir(scratch_fd, "co/.git");
        ck_assert_int_eq(detect_checkout(at("co"), &c, &why), 0);
        ck_assert_int_eq(detect_ignored(&c, "untracked/spoolgate", &ignored), 0);
        ck_assert(!ignored);
        scratch_file(scratch_fd, "co/.gitignore", "*.o\nuntracked"); /* no newline at its end */
        ck_assert_int_eq(detect_ignored(&c, "untracked/spoolgate", &ignored), 0);
        ck_assert(ignored);
}
END_TEST

START_TEST(line_covers) {
        static const struct {
                const char *line;
                bool covers;
        } cases[] = {
                {"untracked", true},
                {"/untracked/", true},
                {"untracked/", true},
                {"/untracked/*", true},
                {"untracked/**", true},
                {"/untracked/spoolgate", true},
                {"untracked/spoolgate/", true},
                {"untracked/  \r\n", true},
                {"/untracked/\nother", true},
                {"!untracked", false},
                {"#untracked", false},
                {"untracke", false},
                {"untracked/spool", false},
                {"", false},
                {"/", false},
                {"*", false},
                {"spoolgate", false},
                {"untracked/spoolgate/tmp", false},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                ck_assert_msg(detect_line_covers(cases[i].line, "untracked/spoolgate") ==
                                      cases[i].covers,
                              "%s", cases[i].line);
}
END_TEST

START_TEST(below) {
        CLEANUP(fd_closep) int co = -EBADF;
        bool is;

        scratch_dir(scratch_fd, "co");
        scratch_dir(scratch_fd, "other");
        scratch_link("co", scratch_fd, "link");
        co = scratch_open_dir(scratch_fd, "co");
        ck_assert_int_eq(detect_below(at("co"), co, &is), 0);
        ck_assert(is);
        ck_assert_int_eq(detect_below(at("co/not/yet/there"), co, &is), 0);
        ck_assert(is);
        ck_assert_int_eq(detect_below(at("link/not/yet"), co, &is), 0);
        ck_assert(is);
        ck_assert_int_eq(detect_below(at("other/not/yet"), co, &is), 0);
        ck_assert(!is);
        ck_assert_int_eq(detect_below("/", co, &is), 0);
        ck_assert(!is);
}
END_TEST

START_TEST(slug) {
        static const char *const cases[][2] = {
                {"/a/Demo", "demo"},
                {"/a/My App (2)", "my-app-2"},
                {"/a/1-2-x", "x"},
                {"/a/---", NULL},
                {"/a/123", NULL},
                {"/a/x..y__z--", "x-y-z"},
                {"/", NULL},
                {"/a/\xc3\xa9t\xc3\xa9", "t"},
                {"/a/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
                 "abcdefghijklmnopqrstuvwxyzabcde"},
                {"/a/abcdefghijklmnopqrstuvwxyzabcd-fgh", "abcdefghijklmnopqrstuvwxyzabcd"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CLEANUP(str_freep) char *got = NULL;

                ck_assert_int_eq(detect_slug(cases[i][0], &got), 0);
                ck_assert_msg(str_eq(got, cases[i][1]), "%s: %s", cases[i][0],
                              got ? got : "(none)");
        }
}
END_TEST

START_TEST(linger_names_the_user) {
        CLEANUP(str_freep) char *user = NULL;
        bool linger;

        ck_assert_int_eq(detect_linger(&linger, &user), 0);
        ck_assert_uint_gt(strlen(user), 0);
}
END_TEST

START_TEST(blind_is_not_here) {
        CLEANUP(fd_closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const char *name = "x";

        ck_assert_int_ge(proc, 0);
        ck_assert_int_eq(detect_blind(proc, &name), 0);
        ck_assert_ptr_null(name);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, checkout_by_project_and_cwd);
        tcase_add_test(tc, checkout_refused);
        tcase_add_test(tc, checkout_worktree);
        tcase_add_test(tc, ignored_by_gitignore);
        tcase_add_test(tc, line_covers);
        tcase_add_test(tc, below);
        tcase_add_test(tc, slug);
        tcase_add_test(tc, linger_names_the_user);
        tcase_add_test(tc, blind_is_not_here);
}

int main(void) {
        return scratch_main("installer/detect", add_tests);
}
