/* drain/drain */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drain/drain.h"

#define KEY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static Job *link_job(Drain *d, const char *entry, JobPhase phase, VerbClass class) {
        Job *j = NULL, *linked;
        Name name;

        ck_assert_int_eq(name_parse(entry, &name), 0);
        ck_assert_int_eq(job_new(&name, &j), 0);
        j->phase = phase;
        j->class = class;
        linked = j;
        drain_link(d, &j);
        ck_assert_ptr_null(j);
        return linked;
}

#define ONE "20260102T030405Z-restart-0000000000000001.json"
#define TWO "20260102T030405Z-status-0000000000000002.json"
#define THREE "20260102T030405Z-restart-0000000000000003.json"

START_TEST(spare_only_a_full_disk) {
        Drain d = {0};

        ck_assert_int_eq(drain_spare(&d, 0), 0);
        ck_assert_int_eq(drain_spare(&d, -EIO), -EIO);
        ck_assert_int_eq(drain_spare(&d, -ENOMEM), -ENOMEM);
        ck_assert(!d.no_room);
        ck_assert_int_eq(drain_spare(&d, -ENOSPC), 0);
        ck_assert(d.no_room);
        d.no_room = false;
        ck_assert_int_eq(drain_spare(&d, -EDQUOT), 0);
        ck_assert(d.no_room);
}
END_TEST

START_TEST(running_without_followers) {
        Drain d = {0};
        Job *one = link_job(&d, ONE, JOB_RUNNING, VERB_MUTATING),
            *two = link_job(&d, TWO, JOB_FOREIGN, VERB_READONLY);
        Job *three = link_job(&d, THREE, JOB_FOLLOWER, VERB_MUTATING);

        ck_assert_uint_eq(drain_running(&d, VERB_MUTATING), 1);
        ck_assert_uint_eq(drain_running(&d, VERB_READONLY), 1);
        ck_assert_ptr_eq(drain_unlink(&d, one), one);
        ck_assert_ptr_null(drain_unlink(&d, one));
        ck_assert_uint_eq(drain_running(&d, VERB_MUTATING), 0);
        job_free(one);
        job_free(drain_unlink(&d, three));
        job_free(drain_unlink(&d, two));
        ck_assert_ptr_null(d.jobs);
}
END_TEST

START_TEST(find_by_name_and_key) {
        Drain d = {0};
        Job *one = link_job(&d, ONE, JOB_RUNNING, VERB_MUTATING),
            *three = link_job(&d, THREE, JOB_FOLLOWER, VERB_MUTATING);

        memcpy(one->key, KEY, sizeof(one->key));
        memcpy(three->key, KEY, sizeof(three->key));
        three->ledgered = true;
        ck_assert_ptr_null(
                drain_find_key(&d, KEY)); /* neither one without an entry nor a follower */
        one->ledgered = true;
        ck_assert_ptr_eq(drain_find_key(&d, KEY), one);
        ck_assert_ptr_eq(drain_find_name(&d, THREE), three);
        ck_assert_ptr_null(drain_find_name(&d, TWO));
        job_free(drain_unlink(&d, one));
        job_free(drain_unlink(&d, three));
}
END_TEST

int main(void) {
        Suite *suite = suite_create("drain/drain");
        TCase *cases = tcase_create("drain");
        SRunner *runner = srunner_create(suite);
        int failed;

        tcase_add_test(cases, spare_only_a_full_disk);
        tcase_add_test(cases, running_without_followers);
        tcase_add_test(cases, find_by_name_and_key);
        suite_add_tcase(suite, cases);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
