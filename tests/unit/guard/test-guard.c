/* guard/guard: seal and HEAD together; spoolgate-inspect is played by a script */
#include "verdicts.h"

#include "guard/ask.h"
#include "guard/guard.h"
#include "guard/seal.h"

static Strv guarded, env;
static GuardSpec spec;
static char inspect[512], git_dir[512];

static void setup(void) {
        struct stat st;

        room_setup();
        room_dir("git");
        room_write("a", "A", 0644);
        room_write("b", "B", 0755);
        room_write(".env", "X=1", 0600);
        guarded = room_list("a", "b");
        env = room_list(".env", NULL);
        snprintf(inspect, sizeof(inspect), "%s/inspect", room_path);
        snprintf(git_dir, sizeof(git_dir), "%s/git", room_path);
        ck_assert_int_eq(stat(git_dir, &st), 0);
        spec = (GuardSpec){ .checkout_fd = room_fd, .state_fd = room_fd, .inspect = inspect, .git_dir = git_dir,
                            .git_device = st.st_dev, .git_inode = st.st_ino, .jail = "landlock",
                            .need_seal = true, .guarded = &guarded, .env_files = &env };
}

static void teardown(void) {
        strv_done(&guarded);
        strv_done(&env);
        room_teardown();
}

static void seal(bool tracked) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        CLEANUP(seal_done) Seal s = SEAL_NULL;

        ck_assert_int_eq(take_files(room_fd, &guarded, &env, &list), 0);
        for (size_t i = 0; i < list.len; i++) {
                SealEntry e;

                ck_assert_int_eq(seal_entry(&list.items[i], tracked, &e), 0);
                ck_assert_int_eq(seal_add(&s, &e), 0);
                seal_entry_done(&e);
        }
        ck_assert_int_eq(seal_store(room_fd, &s, &list), 0);
}

/* The verdict, and "path: why" of the only refused file; "" for none. */
static GuardCode check(const char *file) {
        CLEANUP(guard_freep) Guard *g = NULL;
        CLEANUP(str_done) Str seen = STR_NULL;
        GuardCode code;

        ck_assert_int_eq(guard_check(&spec, &g), 0);
        code = guard_code(g);
        for (size_t i = 0; i < guard_files(g)->len; i++)
                ck_assert_int_ge(str_addf(&seen, "%s%s: %s", i ? ", " : "", guard_files(g)->items[i],
                                          guard_why(g, i)), 0);
        if (code == GUARD_ERROR)
                ck_assert_str_eq(guard_message(g), file);
        else
                ck_assert_str_eq(seen.data ? seen.data : "", file);
        ck_assert_str_eq(guard_why(g, 99), "");
        return code;
}

static void committed(InspectFile a, InspectFile b) {
        Words w = words_of(INSPECT_OK, 2);

        w.files[0].file = a;
        w.files[1].file = b;
        program_says(&w, words_len(2));
}

START_TEST(check_seal_alone) {
        seal(true);
        ck_assert_int_eq(check(""), GUARD_OK);
        room_write("a", "a", 0644);
        ck_assert_int_eq(check("a: differs from the sealed one"), GUARD_MODIFIED);
        room_write("a", "A", 0664);
        ck_assert_int_eq(check("a: has another mode than the sealed one"), GUARD_MODIFIED);
        ck_assert_int_eq(unlinkat(room_fd, "a", 0), 0);
        ck_assert_int_eq(check("a: is missing"), GUARD_MODIFIED);
        ck_assert_int_eq(symlinkat("b", room_fd, "a"), 0);
        ck_assert_int_eq(check("a: is or lies behind a symbolic link, or leads out of its directory"), GUARD_MODIFIED);
}
END_TEST

START_TEST(check_absent_is_sealed_too) {
        ck_assert_int_eq(unlinkat(room_fd, "a", 0), 0);
        seal(true);
        ck_assert_int_eq(check(""), GUARD_OK);
        room_write("a", "", 0644);
        ck_assert_int_eq(check("a: was absent when it was sealed"), GUARD_MODIFIED);
}
END_TEST

START_TEST(check_without_a_seal) {
        ck_assert_int_eq(check("a: is not in the seal, b: is not in the seal"), GUARD_UNSEALED);
        guarded.len = 0;
        ck_assert_int_eq(check(".env: is not in the seal"), GUARD_ENV);
        env.len = 0;
        ck_assert_int_eq(check(""), GUARD_UNSEALED); /* nothing to guard is no approval */
        guarded.len = 2;
        env.len = 1;
        room_dir("seal");
        room_write("seal/seal", "x", 0600);
        ck_assert_int_eq(check("the seal is damaged"), GUARD_ERROR);
}
END_TEST

START_TEST(check_env_under_every_integrity) {
        seal(true);
        room_write(".env", "X=2", 0600);
        ck_assert_int_eq(check(".env: differs from the sealed one"), GUARD_ENV);
        committed(INSPECT_FILE_SAME, INSPECT_FILE_SAME);
        spec.need_head = true;
        ck_assert_int_eq(check(".env: differs from the sealed one"), GUARD_ENV);
        spec.need_seal = false;
        ck_assert_int_eq(check(".env: differs from the sealed one"), GUARD_ENV);
        room_write(".env", "X=1", 0600);
        ck_assert_int_eq(check(""), GUARD_OK);
}
END_TEST

START_TEST(check_head_and_seal) {
        seal(true);
        spec.need_head = true;
        committed(INSPECT_FILE_SAME, INSPECT_FILE_SAME);
        ck_assert_int_eq(check(""), GUARD_OK);
        committed(INSPECT_FILE_SAME, INSPECT_FILE_BYTES);
        ck_assert_int_eq(check("b: differs from the last commit"), GUARD_MODIFIED);
        committed(INSPECT_FILE_MODE, INSPECT_FILE_SAME);
        ck_assert_int_eq(check("a: has another mode than in the last commit"), GUARD_MODIFIED);
        committed(INSPECT_FILE_GONE, INSPECT_FILE_KIND);
        ck_assert_int_eq(check("a: is in the last commit and missing here, b: is no regular file in the last commit"),
                         GUARD_MODIFIED);
        committed(INSPECT_FILE_UNTRACKED, INSPECT_FILE_SAME);
        ck_assert_int_eq(check("a: is not in the last commit"), GUARD_MODIFIED);
        committed(INSPECT_FILE_SAME, INSPECT_FILE_SAME); /* the agent commits */
        room_write("a", "a", 0644);
        ck_assert_int_eq(check("a: differs from the sealed one"), GUARD_UNSEALED);
        spec.need_seal = false;
        ck_assert_int_eq(check(""), GUARD_OK);
}
END_TEST

START_TEST(check_sealed_as_untracked) {
        seal(false);
        spec.need_head = true;
        committed(INSPECT_FILE_UNTRACKED, INSPECT_FILE_SAME);
        ck_assert_int_eq(check(""), GUARD_OK);
        spec.need_seal = false; /* without the seal nobody vouches for it */
        ck_assert_int_eq(check("a: is not in the last commit"), GUARD_MODIFIED);
        spec.need_seal = true;
        committed(INSPECT_FILE_BYTES, INSPECT_FILE_SAME);
        ck_assert_int_eq(check("a: differs from the last commit"), GUARD_MODIFIED);
}
END_TEST

START_TEST(check_no_answer) {
        Words w = words_of(INSPECT_PARTIAL, 0);

        seal(true);
        spec.need_head = true;
        ck_assert_int_eq(check(ask_reason(ASK_E_START)), GUARD_ERROR);
        program_says(&w, words_len(0));
        ck_assert_int_eq(check(ask_reason(INSPECT_PARTIAL)), GUARD_ERROR);
        program("exit 0");
        ck_assert_int_eq(check(ask_reason(ASK_E_GARBLED)), GUARD_ERROR);
        spec.git_inode++;
        ck_assert_int_eq(check(ask_reason(ASK_E_DIR)), GUARD_ERROR);
        spec.git_dir = NULL;
        ck_assert_int_eq(check("no git directory was pinned at install; INTEGRITY=seal can be used"), GUARD_ERROR);
}
END_TEST

START_TEST(check_names_the_first_kind_of_refusal) {
        seal(true);
        room_write("b", "b", 0755);
        room_write(".env", "X=2", 0600);
        ck_assert_int_eq(check("b: differs from the sealed one"), GUARD_MODIFIED);
}
END_TEST

START_TEST(bytes_are_the_judged_ones) {
        CLEANUP(guard_freep) Guard *g = NULL;
        CLEANUP(str_done) Str bytes = STR_NULL;

        seal(true);
        ck_assert_int_eq(guard_check(&spec, &g), 0);
        room_write("a", "evil", 0644);
        ck_assert_int_eq(io_read_file(guard_bytes_fd(g, "a"), 100, &bytes), 0);
        ck_assert_str_eq(bytes.data, "A");
        ck_assert_int_eq(guard_bytes_fd(g, "c"), -EBADF);
        ck_assert_str_eq(guard_head(g), "");
}
END_TEST

START_TEST(recheck_tells_each_changed_path) {
        CLEANUP(guard_freep) Guard *g = NULL;
        CLEANUP(strv_done) Strv changed = STRV_NULL;

        seal(true);
        ck_assert_int_eq(guard_check(&spec, &g), 0);
        ck_assert_int_eq(guard_recheck(g, room_fd, &changed), 0);
        ck_assert_uint_eq(changed.len, 0);
        room_write("b", "B", 0755);
        ck_assert_int_eq(unlinkat(room_fd, ".env", 0), 0);
        ck_assert_int_eq(guard_recheck(g, room_fd, &changed), 0);
        ck_assert_uint_eq(changed.len, 2);
        ck_assert_str_eq(changed.items[0], "b");
        ck_assert_str_eq(changed.items[1], ".env");
}
END_TEST

/* attacks.md row 94 */
START_TEST(check_where_sources_lead) {
        seal(true);
        room_dir("seal/run");
        room_dir("data");
        room_write("seal/run/sources", "data\nnew\n", 0400);
        ck_assert_int_eq(check(""), GUARD_OK);
        ck_assert_int_eq(symlinkat("/", room_fd, "new"), 0);
        ck_assert_int_eq(check("new: is or lies behind a symbolic link, or leads out of its directory"),
                         GUARD_MODIFIED);
        room_write(".env", "X=2", 0600); /* named after what comes first in the order of codes */
        ck_assert_int_eq(check("new: is or lies behind a symbolic link, or leads out of its directory"),
                         GUARD_MODIFIED);
        room_write("a", "a", 0644);
        ck_assert_int_eq(check("a: differs from the sealed one, new: is or lies behind a symbolic "
                               "link, or leads out of its directory"), GUARD_MODIFIED);
        ck_assert_int_eq(unlinkat(room_fd, "seal/run/sources", 0), 0);
        room_write("seal/run/sources", "no end", 0400);
        ck_assert_int_eq(check("the seal is damaged"), GUARD_ERROR);
}
END_TEST

START_TEST(recheck_where_sources_lead) {
        CLEANUP(guard_freep) Guard *g = NULL;
        CLEANUP(strv_done) Strv changed = STRV_NULL;

        seal(true);
        room_dir("seal/run");
        room_dir("data");
        room_write("seal/run/sources", "data\n", 0400);
        ck_assert_int_eq(guard_check(&spec, &g), 0);
        ck_assert_int_eq(guard_recheck(g, room_fd, &changed), 0);
        ck_assert_uint_eq(changed.len, 0);
        ck_assert_int_eq(renameat(room_fd, "data", room_fd, "away"), 0);
        ck_assert_int_eq(guard_recheck(g, room_fd, &changed), 0);
        ck_assert_uint_eq(changed.len, 0);
        ck_assert_int_eq(symlinkat("/", room_fd, "data"), 0);
        ck_assert_int_eq(guard_recheck(g, room_fd, &changed), 0);
        ck_assert_uint_eq(changed.len, 1);
        ck_assert_str_eq(changed.items[0], "data");
}
END_TEST

START_TEST(name_of_each_code) {
        ck_assert_str_eq(guard_name(GUARD_OK), "ok");
        ck_assert_str_eq(guard_name(GUARD_MODIFIED), "integrity-modified");
        ck_assert_str_eq(guard_name(GUARD_UNSEALED), "integrity-unsealed");
        ck_assert_str_eq(guard_name(GUARD_ENV), "integrity-env");
        ck_assert_str_eq(guard_name(GUARD_ERROR), "integrity-error");
}
END_TEST

int main(void) {
        TCase *tc = tcase_create("guard");

        tcase_set_timeout(tc, 30);
        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, check_seal_alone);
        tcase_add_test(tc, check_absent_is_sealed_too);
        tcase_add_test(tc, check_without_a_seal);
        tcase_add_test(tc, check_env_under_every_integrity);
        tcase_add_test(tc, check_head_and_seal);
        tcase_add_test(tc, check_sealed_as_untracked);
        tcase_add_test(tc, check_no_answer);
        tcase_add_test(tc, check_names_the_first_kind_of_refusal);
        tcase_add_test(tc, bytes_are_the_judged_ones);
        tcase_add_test(tc, recheck_tells_each_changed_path);
        tcase_add_test(tc, check_where_sources_lead);
        tcase_add_test(tc, recheck_where_sources_lead);
        tcase_add_test(tc, name_of_each_code);
        return room_run("guard/guard", tc);
}
