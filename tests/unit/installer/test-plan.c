#include "base/hash.h"
#include "installer/plan.h"
#include "tests/unit/fs/scratch.h"

static char plan_path[PATH_MAX + 64];

static const char *at(const char *name) {
        (void)snprintf(plan_path, sizeof(plan_path), "%s/%s", scratch_path, name);
        return plan_path;
}

static void add_file(Plan *p, int fd, const char *dir, const char *name, const char *text,
                     mode_t mode, PlanFlags flags) {
        CLEANUP(str_done) Str bytes = STR_NULL;

        ck_assert_int_eq(str_adds(&bytes, text), 0);
        ck_assert_int_eq(plan_add_file(p, fd, dir, name, &bytes, mode, flags), 0);
        ck_assert_ptr_null(bytes.data);
}

/* host/deep (0700) with a file and one that is written once; in/s (0755) below the held folder with
 * a program. */
static void make(Plan *p, const char *text) {
        ck_assert_int_eq(hash_init(), 0);
        ck_assert_int_eq(plan_add_dir(p, -EBADF, at("host/deep"), 0700, 0), 0);
        add_file(p, -EBADF, at("host/deep"), "f", text, 0600, 0);
        add_file(p, -EBADF, at("host/deep"), "once", text, 0600, PLAN_ONCE);
        ck_assert_int_eq(plan_add_dir(p, scratch_fd, "in/s", 0755, 0), 0);
        add_file(p, scratch_fd, "in/s", "prog", text, 0755, 0);
}

static void check_states(const char *text, PlanState dir, PlanState file, PlanState once,
                         PlanState in, PlanState prog, bool apply) {
        CLEANUP(plan_done) Plan p = PLAN_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        make(&p, text);
        ck_assert_int_eq(plan_check(&p, &why), 0);
        ck_assert_int_eq(p.steps[0].state, dir);
        ck_assert_int_eq(p.steps[1].state, file);
        ck_assert_int_eq(p.steps[2].state, once);
        ck_assert_int_eq(p.steps[3].state, in);
        ck_assert_int_eq(p.steps[4].state, prog);
        if (apply)
                ck_assert_int_eq(plan_apply(&p, &why), 0);
}

START_TEST(apply_and_again) {
        check_states("one", PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, false);
        ck_assert(!scratch_exists(scratch_fd, "host"));
        ck_assert(!scratch_exists(scratch_fd, "in"));
        check_states("one", PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, true);
        scratch_has(scratch_fd, "host/deep/f", "one");
        ck_assert_uint_eq(scratch_mode(scratch_fd, "host/deep") & 07777, 0700);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "host/deep/f") & 07777, 0600);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "in/s") & 07777, 0755);
        ck_assert_uint_eq(scratch_mode(scratch_fd, "in/s/prog") & 07777, 0755);
        check_states("one", PLAN_SAME, PLAN_SAME, PLAN_KEPT, PLAN_SAME, PLAN_SAME, true);
        check_states("two", PLAN_SAME, PLAN_CHANGED, PLAN_KEPT, PLAN_SAME, PLAN_CHANGED, true);
        scratch_has(scratch_fd, "host/deep/f", "two");
        scratch_has(scratch_fd, "host/deep/once", "one");
        scratch_has(scratch_fd, "in/s/prog", "two");
}
END_TEST

START_TEST(modes_are_mended) {
        check_states("x", PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, true);
        ck_assert_int_eq(fchmodat(scratch_fd, "host/deep", 0755, 0), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "host/deep/f", 0640, 0), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "in/s", 0700, 0), 0);
        ck_assert_int_eq(fchmodat(scratch_fd, "in/s/prog", 0644, 0), 0);
        check_states("x", PLAN_CHANGED, PLAN_CHANGED, PLAN_KEPT, PLAN_CHANGED, PLAN_CHANGED, true);
        check_states("x", PLAN_SAME, PLAN_SAME, PLAN_KEPT, PLAN_SAME, PLAN_SAME, true);
}
END_TEST

START_TEST(links_are_replaced_or_refused) {
        CLEANUP(plan_done) Plan p = PLAN_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        check_states("x", PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, true);
        scratch_file(scratch_fd, "canary", "alive");
        ck_assert_int_eq(unlinkat(scratch_fd, "in/s/prog", 0), 0);
        scratch_link("../../canary", scratch_fd, "in/s/prog");
        check_states("x", PLAN_SAME, PLAN_SAME, PLAN_KEPT, PLAN_SAME, PLAN_CHANGED, true);
        scratch_has(scratch_fd, "canary", "alive");
        scratch_has(scratch_fd, "in/s/prog", "x");
        ck_assert_int_eq(renameat(scratch_fd, "in/s", scratch_fd, "moved"), 0);
        scratch_link("../moved", scratch_fd, "in/s");
        make(&p, "x");
        ck_assert_int_eq(plan_check(&p, &why), PLAN_E_REFUSED);
        ck_assert_ptr_nonnull(strstr(why.data, "in/s is or lies behind a symbolic link"));
}
END_TEST

START_TEST(check_refuses) {
        CLEANUP(plan_done) Plan p = PLAN_NULL;
        CLEANUP(plan_done) Plan q = PLAN_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        check_states("x", PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, PLAN_NEW, true);
        ck_assert_int_eq(fchmodat(scratch_fd, "host/deep", 0770, 0), 0);
        make(&p, "x");
        ck_assert_int_eq(plan_check(&p, &why), PLAN_E_REFUSED);
        ck_assert_ptr_nonnull(strstr(why.data, "permissions that are too wide\nchmod go-w "));
        ck_assert_int_eq(fchmodat(scratch_fd, "host/deep", 0700, 0), 0);
        ck_assert_int_eq(unlinkat(scratch_fd, "host/deep/f", 0), 0);
        scratch_dir(scratch_fd, "host/deep/f");
        str_clear(&why);
        make(&q, "x");
        ck_assert_int_eq(plan_check(&q, &why), PLAN_E_REFUSED);
        ck_assert_ptr_nonnull(strstr(why.data, "host/deep/f is not of the right type"));
}
END_TEST

START_TEST(check_refuses_a_file_as_folder) {
        CLEANUP(plan_done) Plan p = PLAN_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        scratch_file(scratch_fd, "host", "no folder");
        make(&p, "x");
        ck_assert_int_eq(plan_check(&p, &why), PLAN_E_REFUSED);
        ck_assert_ptr_nonnull(strstr(why.data, "host/deep is not of the right type"));
}
END_TEST

START_TEST(report_lines) {
        CLEANUP(plan_done) Plan p = PLAN_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(str_done) Str out = STR_NULL;

        ck_assert_int_eq(plan_add_dir(&p, scratch_fd, "in/s", 0755, 0), 0);
        add_file(&p, scratch_fd, "in/s", "prog", "x", 0755, 0);
        ck_assert_int_eq(plan_check(&p, &why), 0);
        ck_assert(plan_changes(&p));
        ck_assert_int_eq(plan_report(&p, "/co", true, &out), 0);
        ck_assert_str_eq(out.data, "would create /co/in/s/\nwould create /co/in/s/prog\n");
        str_clear(&out);
        ck_assert_int_eq(plan_apply(&p, &why), 0);
        ck_assert_int_eq(plan_check(&p, &why), 0);
        ck_assert(!plan_changes(&p));
        ck_assert_int_eq(plan_report(&p, "/co", false, &out), 0);
        ck_assert_str_eq(out.data, "unchanged    /co/in/s/\nunchanged    /co/in/s/prog\n");
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, apply_and_again);
        tcase_add_test(tc, modes_are_mended);
        tcase_add_test(tc, links_are_replaced_or_refused);
        tcase_add_test(tc, check_refuses);
        tcase_add_test(tc, check_refuses_a_file_as_folder);
        tcase_add_test(tc, report_lines);
}

int main(void) {
        return scratch_main("installer/plan", add_tests);
}
