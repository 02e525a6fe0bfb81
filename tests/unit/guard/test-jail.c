/* guard/jail: what a process can do once the doors are shut; each case in a child of its own */
#include "room.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "guard/jail.h"

/* Exit status of act in a jail, or 128 + signal. */
static int inside(bool landlock, bool seccomp, int (*act)(void)) {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
                if (landlock && jail_landlock(&room_fd, 1) != 0)
                        _exit(100);
                if (seccomp && jail_seccomp(1) != 0)
                        _exit(101);
                _exit(act());
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int act_nothing(void) {
        return 0;
}

static int act_read_inside(void) {
        char c;
        int fd = openat(room_fd, "f", O_RDONLY);

        return fd >= 0 && read(fd, &c, 1) == 1 ? 0 : 1;
}

static int act_read_outside(void) {
        return open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES ? 0 : 1;
}

static int act_create(void) {
        return openat(room_fd, "new", O_WRONLY | O_CREAT, 0600) < 0 && errno == EACCES ? 0 : 1;
}

static int act_open_for_writing(void) {
        return openat(room_fd, "f", O_RDWR) < 0 && errno == EPERM ? 0 : 1;
}

static int act_write_elsewhere(void) {
        return write(2, "x", 1) < 0 && errno == EPERM ? 0 : 1;
}

static int act_write_verdict(void) {
        return write(1, "", 0) == 0 ? 0 : 1;
}

static int act_code(void) {
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0)
                return 1;
        p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return p == MAP_FAILED && errno == EPERM ? 0 : 1;
}

static int act_unlisted(void) {
        return chdir("/") < 0 && errno == EPERM ? 0 : 1;
}

static int act_exec(void) {
        char *argv[] = { NULL };

        return execve("/bin/true", argv, argv);
}

static int act_fork(void) {
        pid_t pid = fork();

        return pid == 0 ? 0 : 1;
}

static int act_socket(void) {
        return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 1 : 2;
}

static int act_kill(void) {
        return kill(getppid(), 0);
}

START_TEST(landlock_reads_beneath_alone) {
        if (jail_landlock_abi() == 0) /* a kernel without it: told so */ {
                int fds[] = { room_fd };

                ck_assert_int_eq(jail_landlock(fds, 1), JAIL_E_NO_LANDLOCK);
                return;
        }
        room_write("f", "x", 0600);
        ck_assert_int_eq(inside(true, false, act_read_inside), 0);
        ck_assert_int_eq(inside(true, false, act_read_outside), 0);
        ck_assert_int_eq(inside(true, false, act_create), 0);
        ck_assert_int_eq(faccessat(room_fd, "new", F_OK, 0), -1);
}
END_TEST

START_TEST(seccomp_lets_the_work_be_done) {
        room_write("f", "x", 0600);
        ck_assert_int_eq(inside(false, true, act_nothing), 0);
        ck_assert_int_eq(inside(false, true, act_read_inside), 0);
        ck_assert_int_eq(inside(false, true, act_write_verdict), 0);
}
END_TEST

START_TEST(seccomp_refuses) {
        room_write("f", "x", 0600);
        ck_assert_int_eq(inside(false, true, act_open_for_writing), 0);
        ck_assert_int_eq(inside(false, true, act_write_elsewhere), 0);
        ck_assert_int_eq(inside(false, true, act_code), 0);
        ck_assert_int_eq(inside(false, true, act_unlisted), 0);
}
END_TEST

START_TEST(seccomp_ends_the_process) {
        ck_assert_int_eq(inside(false, true, act_exec), 128 + SIGSYS);
        ck_assert_int_eq(inside(false, true, act_fork), 128 + SIGSYS);
        ck_assert_int_eq(inside(false, true, act_socket), 128 + SIGSYS);
        ck_assert_int_eq(inside(false, true, act_kill), 128 + SIGSYS);
}
END_TEST

static int act_limits(void) {
        static const struct {
                int what;
                rlim_t value;
        } want[] = { { RLIMIT_CPU, JAIL_CPU_SEC }, { RLIMIT_FSIZE, 0 },
                     { RLIMIT_NPROC, 0 },          { RLIMIT_CORE, 0 },
                     { RLIMIT_NOFILE, JAIL_FILES + 7 } };

        if (jail_limits((uint64_t)1 << 40, 7) != 0)
                return 1;
        for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
                struct rlimit now;

                if (getrlimit((__rlimit_resource_t)want[i].what, &now) < 0 || now.rlim_cur != want[i].value ||
                    now.rlim_max != want[i].value)
                        return 2 + (int)i;
        }
        return 0;
}

static int act_files(void) {
        if (jail_files(false, 0) != 0 || open("/", O_RDONLY) >= 0 || errno != EMFILE)
                return 1;
        return jail_files(true, 0) == 0 && open("/", O_RDONLY) >= 0 ? 0 : 2;
}

START_TEST(limits_are_hard) {
        ck_assert_int_eq(inside(false, false, act_limits), 0);
}
END_TEST

START_TEST(files_off_and_on) {
        ck_assert_int_eq(inside(false, false, act_files), 0);
}
END_TEST

int main(void) {
        TCase *tc = tcase_create("jail");

        tcase_add_checked_fixture(tc, room_setup, room_teardown);
        tcase_add_test(tc, landlock_reads_beneath_alone);
        tcase_add_test(tc, seccomp_lets_the_work_be_done);
        tcase_add_test(tc, seccomp_refuses);
        tcase_add_test(tc, seccomp_ends_the_process);
        tcase_add_test(tc, limits_are_hard);
        tcase_add_test(tc, files_off_and_on);
        return room_run("guard/jail", tc);
}
