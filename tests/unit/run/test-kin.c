#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/kin.h"

static pid_t sleeper(void) {
        pid_t pid = fork();

        if (pid == 0)
                for (;;)
                        (void)pause();
        ck_assert_int_gt(pid, 0);
        return pid;
}

static void end(pid_t pid) {
        (void)kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* A grandchild in a session of its own, whose parent is gone. */
static pid_t orphan(void) {
        int pair[2];
        pid_t pid, child;

        ck_assert_int_eq(pipe(pair), 0);
        child = fork();
        if (child == 0) {
                pid = fork();
                if (pid == 0) {
                        (void)setsid();
                        for (;;)
                                (void)pause();
                }
                _exit(write(pair[1], &pid, sizeof(pid)) == (ssize_t)sizeof(pid) ? 0 : 1);
        }
        ck_assert_int_eq(read(pair[0], &pid, sizeof(pid)), (ssize_t)sizeof(pid));
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        (void)close(pair[0]);
        (void)close(pair[1]);
        return pid;
}

static const Kin *find(const KinList *l, pid_t pid) {
        for (size_t i = 0; i < l->len; i++)
                if (l->items[i].pid == pid)
                        return &l->items[i];
        return NULL;
}

START_TEST(list_is_empty_without_children) {
        KinList list = KIN_LIST_NULL;

        ck_assert_int_eq(kin_list(false, &list), 0);
        ck_assert_uint_eq(list.len, 0);
        kin_done(&list);
}
END_TEST

START_TEST(list_finds_children_and_orphans) {
        KinList list = KIN_LIST_NULL;
        pid_t a, b;

        ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
        a = sleeper();
        b = orphan();
        ck_assert_int_eq(kin_list(false, &list), 0);
        ck_assert_uint_eq(list.len, 2);
        ck_assert_ptr_nonnull(find(&list, a));
        ck_assert_ptr_nonnull(find(&list, b));
        ck_assert(kin_has(&list, find(&list, a)));
        kin_done(&list);
        end(a);
        end(b);
}
END_TEST

START_TEST(list_counts_no_zombie) {
        KinList list = KIN_LIST_NULL;
        siginfo_t info;
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        ck_assert_int_eq(kin_list(false, &list), 0);
        ck_assert_uint_eq(list.len, 0);
        kin_done(&list);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(list_is_not_fooled_by_a_name) {
        KinList list = KIN_LIST_NULL;
        pid_t pid = fork();

        if (pid == 0) { /* proc_pid_stat(5)'s second field is the process's own to choose */
                (void)prctl(PR_SET_NAME, ") Z 1 (x\n", 0, 0, 0);
                for (;;)
                        (void)pause();
        }
        for (int i = 0; i < 50; i++) {
                kin_done(&list);
                ck_assert_int_eq(kin_list(false, &list), 0);
                ck_assert_uint_eq(list.len, 1);
                (void)usleep(1000);
        }
        kin_done(&list);
        end(pid);
}
END_TEST

START_TEST(list_of_a_whole_cgroup_holds_its_others) {
        KinList list = KIN_LIST_NULL;

        ck_assert_int_eq(kin_list(true, &list), 0);
        ck_assert_ptr_nonnull(find(&list, getppid())); /* libcheck's own process */
        ck_assert_ptr_null(find(&list, getpid()));
        kin_done(&list);
}
END_TEST

START_TEST(add_grows) {
        KinList list = KIN_LIST_NULL;

        for (int i = 0; i < 100; i++)
                ck_assert_int_eq(kin_add(&list, &(Kin){.pid = i, .born = 5}), 0);
        for (int i = 0; i < 100; i++)
                ck_assert(kin_has(&list, &(Kin){.pid = i, .born = 5}));
        ck_assert(!kin_has(&list, &(Kin){.pid = 7, .born = 6}));
        ck_assert(!kin_has(&list, &(Kin){.pid = 100, .born = 5}));
        kin_done(&list);
        ck_assert(!kin_has(&list, &(Kin){.pid = 7, .born = 5}));
}
END_TEST

START_TEST(signal_hits_its_own_incarnation_only) {
        KinList list = KIN_LIST_NULL;
        int status;
        pid_t pid = sleeper();
        Kin other;

        ck_assert_int_eq(kin_list(false, &list), 0);
        ck_assert_uint_eq(list.len, 1);
        other = list.items[0];
        other.born--;
        kin_signal(&other, SIGKILL);
        (void)usleep(50000);
        ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
        kin_signal(&list.items[0], SIGUSR1);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(WTERMSIG(status), SIGUSR1);
        kin_signal(&list.items[0], SIGKILL); /* gone: nothing */
        kin_done(&list);
}
END_TEST

START_TEST(cgroup_of_self_and_of_nobody) {
        char *path = NULL;
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert_int_eq(kin_cgroup(pid, &path), KIN_E_GONE);
        ck_assert_ptr_null(path);
        ck_assert_int_eq(kin_cgroup(getpid(), &path), 0);
        ck_assert(path[0] == '/' || path[0] == '\0');
        ck_assert_ptr_null(strchr(path, '\n'));
        free(path);
}
END_TEST

int main(void) {
        Suite *suite = suite_create("run/kin");
        TCase *tc = tcase_create("kin");
        SRunner *runner;
        int failed;

        tcase_set_timeout(tc, 30);
        tcase_add_test(tc, list_is_empty_without_children);
        tcase_add_test(tc, list_finds_children_and_orphans);
        tcase_add_test(tc, list_counts_no_zombie);
        tcase_add_test(tc, list_is_not_fooled_by_a_name);
        tcase_add_test(tc, list_of_a_whole_cgroup_holds_its_others);
        tcase_add_test(tc, add_grows);
        tcase_add_test(tc, signal_hits_its_own_incarnation_only);
        tcase_add_test(tc, cgroup_of_self_and_of_nobody);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed ? 1 : 0;
}
