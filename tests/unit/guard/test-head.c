/* guard/head: from a git directory to HEAD's commit */
#include "room.h"

#include "guard/head.h"

#define ID "0123456789abcdef0123456789abcdef01234567"
#define OTHER "89abcdef0123456789abcdef0123456789abcdef"

static char hex[VERDICT_HEX + 1];

static int resolve(void) {
        memset(hex, 0, sizeof(hex));
        return head_resolve(room_fd, room_fd, hex);
}

static void refs(void) {
        room_dir("refs");
        room_dir("refs/heads");
}

START_TEST(resolve_detached_loose_and_symbolic) {
        refs();
        room_write("HEAD", ID "\n", 0644);
        ck_assert_int_eq(resolve(), 0);
        ck_assert_str_eq(hex, ID);
        room_write("HEAD", "ref: refs/heads/a\n", 0644);
        ck_assert_int_eq(resolve(), INSPECT_UNBORN);
        room_write("refs/heads/a", "ref: refs/heads/b\n", 0644);
        room_write("refs/heads/b", OTHER "\n", 0644);
        ck_assert_int_eq(resolve(), 0);
        ck_assert_str_eq(hex, OTHER);
}
END_TEST

START_TEST(resolve_packed) {
        refs();
        room_write("HEAD", "ref: refs/heads/a\n", 0644);
        room_write("packed-refs", "# pack-refs with: peeled fully-peeled sorted \n" OTHER " refs/heads/aa\n^" OTHER "\n" ID
                                  " refs/heads/a\n", 0644);
        ck_assert_int_eq(resolve(), 0);
        ck_assert_str_eq(hex, ID);
        room_dir("refs/heads/a"); /* git leaves empty directories behind */
        ck_assert_int_eq(resolve(), 0);
        ck_assert_int_eq(unlinkat(room_fd, "refs/heads/a", AT_REMOVEDIR), 0);
        room_write("refs/heads/a", OTHER "\n", 0644); /* a loose one goes first */
        ck_assert_int_eq(resolve(), 0);
        ck_assert_str_eq(hex, OTHER);
}
END_TEST

START_TEST(resolve_packed_over_many_blocks) {
        CLEANUP(str_done) Str text = STR_NULL;

        refs();
        room_write("HEAD", "ref: refs/heads/main\n", 0644);
        for (int i = 0; i < 10000; i++)
                ck_assert_int_eq(str_addf(&text, OTHER " refs/heads/b%d\n", i), 0);
        ck_assert_int_eq(str_adds(&text, ID " refs/heads/main\n"), 0);
        room_write("packed-refs", text.data, 0644);
        ck_assert_int_eq(resolve(), 0);
        ck_assert_str_eq(hex, ID);
        ck_assert_int_eq(truncate(room_at("packed-refs"), (off_t)text.len - 2), 0);
        ck_assert_int_eq(resolve(), INSPECT_UNBORN);
        str_clear(&text);
        for (int i = 0; i < 10000; i++)
                ck_assert_int_eq(str_adds(&text, "no end of line"), 0);
        room_write("packed-refs", text.data, 0644);
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
}
END_TEST

static const struct {
        const char *head;
        int code;
} heads[] = {
        { "", INSPECT_HEAD },
        { "x\n", INSPECT_HEAD },
        { "ref:\n", INSPECT_HEAD },
        { "ref: heads/main\n", INSPECT_HEAD },
        { "ref: ../config\n", INSPECT_HEAD },
        { "ref: refs/heads/../../config\n", INSPECT_HEAD },
        { "ref: HEAD\n", INSPECT_HEAD },
        { "ref: refs/heads/.invalid\n", INSPECT_REFTABLE },
        { ID "0\n", INSPECT_HEAD },
        { "0123456789ABCDEF0123456789abcdef01234567\n", INSPECT_HEAD },
        { ID "0123456789abcdef01234567\n", INSPECT_SHA256 },
        { ID " x\n", INSPECT_HEAD },
};

START_TEST(resolve_refuses) {
        refs();
        room_write("HEAD", heads[_i].head, 0644);
        ck_assert_int_eq(resolve(), heads[_i].code);
}
END_TEST

START_TEST(resolve_kinds_of_files) {
        refs();
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
        ck_assert_int_eq(mkfifoat(room_fd, "HEAD", 0600), 0);
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
        ck_assert_int_eq(unlinkat(room_fd, "HEAD", 0), 0);
        room_write("x", ID "\n", 0644);
        ck_assert_int_eq(symlinkat("x", room_fd, "HEAD"), 0);
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
        ck_assert_int_eq(unlinkat(room_fd, "HEAD", 0), 0);
        room_write_bytes("HEAD", ID "\n\0\n", 43, 0644);
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
        room_write("HEAD", "ref: refs/heads/a\n", 0644);
        ck_assert_int_eq(mkfifoat(room_fd, "refs/heads/a", 0600), 0);
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
        ck_assert_int_eq(unlinkat(room_fd, "refs/heads/a", 0), 0);
        ck_assert_int_eq(mkfifoat(room_fd, "packed-refs", 0600), 0);
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
}
END_TEST

START_TEST(resolve_circle) {
        refs();
        room_write("HEAD", "ref: refs/heads/a\n", 0644);
        room_write("refs/heads/a", "ref: refs/heads/b\n", 0644);
        room_write("refs/heads/b", "ref: refs/heads/a\n", 0644);
        ck_assert_int_eq(resolve(), INSPECT_HEAD);
}
END_TEST

static const struct {
        const char *text;
        int code;
} configs[] = {
        { "", 0 },
        { "[core]\n\tpartialclone = x\n\tobjectformat = sha256\n", 0 },
        { "[extensions]\n\tworktreeConfig = true\n[remote \"o\"]\n\tpartialclone = x\n", 0 },
        { "[extensions]\n\tobjectformat = sha1\n", 0 },
        { "[extensions]\n\trefstorage = files\n", 0 },
        { "[extensions]\n\tobjectformat = sha256\n", INSPECT_SHA256 },
        { "[ExTensions]\r\n\tObjectFormat=\"sha256\"\r\n", INSPECT_SHA256 },
        { "[extensions] partialClone = origin", INSPECT_PARTIAL },
        { "[core]\n\tbare = false\n[extensions]\npartialclone", INSPECT_PARTIAL },
        { "[extensions]\n\trefStorage = reftable\n", INSPECT_REFTABLE },
        { "[extensions", 0 },
        { "[", 0 },
        { "]\n=\n[]\n", 0 },
};

START_TEST(config_names_what_we_can_not_read) {
        ck_assert_int_eq(head_config(configs[_i].text, strlen(configs[_i].text)), configs[_i].code);
}
END_TEST

START_TEST(extensions_kinds_of_files) {
        ck_assert_int_eq(head_extensions(room_fd), 0);
        room_write("config", "[extensions]\n\tpartialclone = x\n", 0644);
        ck_assert_int_eq(head_extensions(room_fd), INSPECT_PARTIAL);
        ck_assert_int_eq(truncate(room_at("config"), (off_t)1 << 40), 0);
        ck_assert_int_eq(head_extensions(room_fd), INSPECT_CONFIG);
        ck_assert_int_eq(unlinkat(room_fd, "config", 0), 0);
        ck_assert_int_eq(mkfifoat(room_fd, "config", 0600), 0);
        ck_assert_int_eq(head_extensions(room_fd), INSPECT_CONFIG);
}
END_TEST

START_TEST(common_of_a_linked_worktree) {
        CLEANUP(fd_closep) int fd = -EBADF;
        struct stat a, b;
        int up;

        room_dir("worktrees");
        up = open(room_at("worktrees"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(up, 0);
        ck_assert_int_eq(head_common(room_fd, up, &fd), 0);
        ck_assert(fstat(fd, &a) == 0 && fstat(room_fd, &b) == 0 && a.st_ino == b.st_ino);
        fd = fd_close(fd);
        room_write("commondir", "../..\n", 0644);
        ck_assert_int_eq(head_common(room_fd, up, &fd), 0);
        ck_assert(fstat(fd, &a) == 0 && fstat(up, &b) == 0 && a.st_ino == b.st_ino);
        fd = fd_close(fd);
        room_write("commondir", "/elsewhere\n", 0644);
        ck_assert_int_eq(head_common(room_fd, up, &fd), INSPECT_COMMON);
        room_write("commondir", "", 0644);
        ck_assert_int_eq(head_common(room_fd, up, &fd), INSPECT_COMMON);
        fd_close(up);
}
END_TEST

static const char *const good_refs[] = { "refs/heads/main", "refs/heads/a/b.c", "refs/x", "refs/heads/\xc3\xa9" };
static const char *const bad_refs[] = {
        "refs", "refs/", "HEAD", "refs//a", "refs/a/", "refs/a..b", "refs/.a", "refs/a.lock", "refs/a.lock/b",
        "refs/a b", "refs/a\tb", "refs/a~", "refs/a^", "refs/a:b", "refs/a?", "refs/a*", "refs/a[", "refs/a\\b",
        "refs/a\x7f", "refs/a@{b", "refs/a.", "/refs/a",
};

START_TEST(ref_ok_as_git_has_it) {
        for (size_t i = 0; i < sizeof(good_refs) / sizeof(*good_refs); i++)
                ck_assert_msg(head_ref_ok(good_refs[i]), "%s", good_refs[i]);
        for (size_t i = 0; i < sizeof(bad_refs) / sizeof(*bad_refs); i++)
                ck_assert_msg(!head_ref_ok(bad_refs[i]), "%s", bad_refs[i]);
}
END_TEST

int main(void) {
        TCase *tc = tcase_create("head");

        tcase_add_checked_fixture(tc, room_setup, room_teardown);
        tcase_add_test(tc, resolve_detached_loose_and_symbolic);
        tcase_add_test(tc, resolve_packed);
        tcase_add_test(tc, resolve_packed_over_many_blocks);
        tcase_add_loop_test(tc, resolve_refuses, 0, sizeof(heads) / sizeof(*heads));
        tcase_add_test(tc, resolve_kinds_of_files);
        tcase_add_test(tc, resolve_circle);
        tcase_add_loop_test(tc, config_names_what_we_can_not_read, 0, sizeof(configs) / sizeof(*configs));
        tcase_add_test(tc, extensions_kinds_of_files);
        tcase_add_test(tc, common_of_a_linked_worktree);
        tcase_add_test(tc, ref_ok_as_git_has_it);
        return room_run("guard/head", tc);
}
