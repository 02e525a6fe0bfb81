#include "installer/resolve.h"
#include "tests/unit/fs/scratch.h"

static char resolve_root[PATH_MAX + 16], resolve_bin[PATH_MAX + 16], resolve_shell[PATH_MAX + 16];

static void program(const char *name, const char *text) {
        scratch_file(scratch_fd, name, text);
        ck_assert_int_eq(fchmodat(scratch_fd, name, 0755, 0), 0);
}

/* co/ is the checkout, bin/ is on PATH, alias-sh is a shell whose `command -v` says what `answer`
 * holds. */
static void build(const char *answer) {
        scratch_dir(scratch_fd, "co");
        scratch_dir(scratch_fd, "bin");
        program("bin/good", "#!/bin/sh\n");
        program("co/evil", "#!/bin/sh\n");
        program("alias-sh", "#!/bin/sh\ncat \"${0%/*}/answer\"\n");
        scratch_file(scratch_fd, "answer", answer);
        (void)snprintf(resolve_root, sizeof(resolve_root), "%s/co", scratch_path);
        (void)snprintf(resolve_bin, sizeof(resolve_bin), "%s/bin", scratch_path);
        (void)snprintf(resolve_shell, sizeof(resolve_shell), "%s/alias-sh", scratch_path);
}

static int resolve(const char *name, const char *path, bool by_shell, char **ret, Str *why) {
        return resolve_program(name, path, by_shell ? resolve_shell : NULL, resolve_root, ret, why);
}

static void found(const char *name, const char *path, bool by_shell, const char *want) {
        CLEANUP(str_freep) char *got = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        char full[PATH_MAX + 64];
        int r = resolve(name, path, by_shell, &got, &why);

        (void)snprintf(full, sizeof(full), "%s/%s", scratch_path, want);
        ck_assert_msg(r == 0, "%s: %d %s", name, r, why.data ? why.data : "");
        ck_assert_str_eq(got, full);
}

static void refused(const char *name, const char *path, bool by_shell, int code, const char *said) {
        CLEANUP(str_freep) char *got = NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        ck_assert_int_eq(resolve(name, path, by_shell, &got, &why), code);
        ck_assert_ptr_null(got);
        ck_assert_msg(strstr(why.data, said) != NULL, "%s", why.data);
}

START_TEST(program_by_path) {
        char path[2 * PATH_MAX + 64];

        build("");
        found("good", resolve_bin, false, "bin/good");
        (void)snprintf(path, sizeof(path), ":relative:/nowhere::%s", resolve_bin);
        found("good", path, false, "bin/good");
        (void)snprintf(path, sizeof(path), "%s/bin/good", scratch_path);
        found(path, "", false, "bin/good");
        refused("absent", resolve_bin, false, RESOLVE_E_ABSENT, "absent was not found at install");
        refused("", resolve_bin, false, RESOLVE_E_REFUSED, "is no program's name");
        refused("a;b", resolve_bin, true, RESOLVE_E_REFUSED, "is no program's name");
        refused("-x", resolve_bin, true, RESOLVE_E_REFUSED, "is no program's name");
        refused("./good", resolve_bin, false, RESOLVE_E_REFUSED, "is no absolute path");
        refused("/etc/passwd", "", false, RESOLVE_E_REFUSED, "is no executable file");
        refused("/usr", "", false, RESOLVE_E_REFUSED, "is no executable file");
}
END_TEST

START_TEST(program_in_the_checkout) {
        char path[2 * PATH_MAX + 64];

        build("");
        refused("evil", resolve_root, false, RESOLVE_E_REFUSED, "where the agent can write");
        (void)snprintf(path, sizeof(path), "%s/evil", resolve_root);
        refused(path, "", false, RESOLVE_E_REFUSED, "leads into the checkout");
        scratch_link("../co/evil", scratch_fd, "bin/linked");
        refused("linked", resolve_bin, false, RESOLVE_E_REFUSED, "where the agent can write");
        program("co/good", "#!/bin/sh\n"); /* passed over for the one behind it */
        (void)snprintf(path, sizeof(path), "%s:%s", resolve_root, resolve_bin);
        found("good", path, false, "bin/good");
}
END_TEST

static void answer(const char *text) {
        ck_assert_int_eq(unlinkat(scratch_fd, "answer", 0), 0);
        scratch_file(scratch_fd, "answer", text);
}

START_TEST(program_by_alias) {
        char text[2 * PATH_MAX + 64];

        build("");
        (void)snprintf(text, sizeof(text), "Welcome!\nalias x='%s/good'\n", resolve_bin);
        answer(text);
        found("x", "/nowhere", true, "bin/good");
        (void)snprintf(text, sizeof(text), "alias x=%s/good\r\n", resolve_bin); /* zsh */
        answer(text);
        found("x", "/nowhere", true, "bin/good");
        (void)snprintf(text, sizeof(text), "x=%s/good\n", resolve_bin);
        answer(text);
        found("x", "/nowhere", true, "bin/good");
        (void)snprintf(text, sizeof(text), "%s/good\n",
                       resolve_bin); /* a PATH that only an rc file sets */
        answer(text);
        found("x", "/nowhere", true, "bin/good");
        answer("alias x='good'\n");
        found("x", resolve_bin, true, "bin/good");
        ck_assert_int_eq(setenv("HOME", scratch_path, 1), 0);
        answer("alias x='~/bin/good'\n");
        found("x", "/nowhere", true, "bin/good");
}
END_TEST

START_TEST(program_by_bad_alias) {
        char text[2 * PATH_MAX + 64];

        build("alias x='sudo good'\n");
        refused("x", resolve_bin, true, RESOLVE_E_REFUSED, "alias of more than one word");
        answer("alias x='$(evil)'\n");
        refused("x", resolve_bin, true, RESOLVE_E_REFUSED, "alias of more than one word");
        answer("alias x='gone'\n");
        refused("x", resolve_bin, true, RESOLVE_E_REFUSED, "stands for gone, which is not found");
        answer("alias x='bin/good'\n");
        refused("x", resolve_bin, true, RESOLVE_E_REFUSED, "not found");
        (void)snprintf(text, sizeof(text), "alias x='%s/evil'\n", resolve_root);
        answer(text);
        refused("x", resolve_bin, true, RESOLVE_E_REFUSED, "leads into the checkout");
        answer("/nowhere/x\n");
        refused("x", resolve_bin, true, RESOLVE_E_REFUSED, "is no executable file");
        answer("x is a function\n");
        refused("x", resolve_bin, true, RESOLVE_E_ABSENT, "was not found");
}
END_TEST

/* With the real one, and a real rc file. */
START_TEST(program_by_bash) {
        CLEANUP(str_freep) char *got = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        char rc[PATH_MAX + 64], full[PATH_MAX + 64];

        if (access("/bin/bash", X_OK) != 0) {
                scratch_skip("no bash");
                return;
        }
        build("");
        (void)snprintf(rc, sizeof(rc), "echo hello from rc\nalias my-tool='%s/good'\n",
                       resolve_bin);
        scratch_file(scratch_fd, ".bashrc", rc);
        ck_assert_int_eq(setenv("HOME", scratch_path, 1), 0);
        ck_assert_int_eq(
                resolve_program("my-tool", "/usr/bin:/bin", "/bin/bash", resolve_root, &got, &why),
                0);
        (void)snprintf(full, sizeof(full), "%s/good", resolve_bin);
        ck_assert_str_eq(got, full);
}
END_TEST

START_TEST(path_is_cleaned) {
        CLEANUP(str_freep) char *got = NULL;
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *want = NULL;

        build("");
        scratch_dir(scratch_fd, "wide");
        ck_assert_int_eq(fchmodat(scratch_fd, "wide", 0777, 0), 0);
        scratch_link("co", scratch_fd, "to-co");
        ck_assert_int_eq(str_printf(&path, "relative::/nowhere:%s:%s:%s/wide:%s/to-co:/usr/bin:%s",
                                    resolve_bin, resolve_root, scratch_path, scratch_path,
                                    resolve_bin),
                         0);
        ck_assert_int_eq(resolve_path(path, resolve_root, &got), 0);
        ck_assert_int_eq(str_printf(&want, "%s:/usr/bin:", resolve_bin), 0);
        ck_assert_msg(strncmp(got, want, strlen(want)) == 0, "%s", got);
        ck_assert(str_ends(got, ":/bin"));
        ck_assert_ptr_null(strstr(got, "wide"));
        ck_assert_ptr_null(strstr(got, "/co:"));
        ck_assert_ptr_null(strstr(got, "to-co"));
}
END_TEST

START_TEST(below) {
        ck_assert(resolve_below("/a/b", "/a/b"));
        ck_assert(resolve_below("/a/b/c", "/a/b"));
        ck_assert(!resolve_below("/a/bc", "/a/b"));
        ck_assert(!resolve_below("/a", "/a/b"));
        ck_assert(resolve_below("/a", "/"));
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, program_by_path);
        tcase_add_test(tc, program_in_the_checkout);
        tcase_add_test(tc, program_by_alias);
        tcase_add_test(tc, program_by_bad_alias);
        tcase_add_test(tc, program_by_bash);
        tcase_add_test(tc, path_is_cleaned);
        tcase_add_test(tc, below);
}

int main(void) {
        return scratch_main("installer/resolve", add_tests);
}
