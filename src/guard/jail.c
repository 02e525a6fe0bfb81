#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "guard/jail.h"

#if defined(__x86_64__)
#define JAIL_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define JAIL_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define JAIL_ARCH AUDIT_ARCH_RISCV64
#else
#define JAIL_ARCH 0 /* not tried: refused at run time */
#endif

#if defined(__SANITIZE_ADDRESS__)
#define JAIL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JAIL_SANITIZED 1
#endif
#endif
#ifndef JAIL_SANITIZED
#define JAIL_SANITIZED 0 /* its shadow memory is terabytes of address space */
#endif

/* The system's header may be older than its kernel: the layout and bits of ABI 6. */
typedef struct JailRuleset {
        uint64_t fs, net, scoped;
} JailRuleset;

enum {
        JAIL_LL_FS_1 = (1 << 13) - 1, /* execute ... make_sym */
        JAIL_LL_REFER = 1 << 13,      /* ABI 2 */
        JAIL_LL_TRUNCATE = 1 << 14,   /* ABI 3 */
        JAIL_LL_NET_TCP = 3,          /* ABI 4: bind, connect */
        JAIL_LL_IOCTL_DEV = 1 << 15,  /* ABI 5 */
        JAIL_LL_SCOPES = 3,           /* ABI 6: abstract sockets, signals */
};

int jail_landlock_abi(void) {
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

        return abi > 0 ? (int)abi : 0;
}

static int jail_limit(int what, uint64_t value) {
        struct rlimit limit = {value, value};
        struct rlimit now;

        if (getrlimit((__rlimit_resource_t)what, &now) < 0)
                return err_new(errno);
        if (now.rlim_max < value) /* a lower one of the host's stays */
                limit = (struct rlimit){now.rlim_max, now.rlim_max};
        return setrlimit((__rlimit_resource_t)what, &limit) < 0 ? err_new(errno) : 0;
}

int jail_limits(uint64_t address_space, size_t files) {
        const struct {
                int what;
                uint64_t value;
        } limits[] = {
                {RLIMIT_AS, JAIL_SANITIZED ? RLIM_INFINITY : address_space},
                {RLIMIT_DATA, JAIL_SANITIZED ? RLIM_INFINITY : JAIL_HEAP},
                {RLIMIT_CPU, JAIL_CPU_SEC},
                {RLIMIT_FSIZE, 0},
                {RLIMIT_NPROC, 0},
                {RLIMIT_CORE, 0},
                {RLIMIT_NOFILE, JAIL_FILES + files},
        };

        for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
                int r = jail_limit(limits[i].what, limits[i].value);

                if (r < 0)
                        return r;
        }
        return 0;
}

int jail_files(bool allowed, size_t files) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return err_new(errno);
        limit.rlim_cur = allowed ? JAIL_FILES + files : 0;
        if (limit.rlim_cur > limit.rlim_max)
                limit.rlim_cur = limit.rlim_max;
        return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? err_new(errno) : 0;
}

static int jail_no_new_privs(void) {
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? err_new(errno) : 0;
}

static int jail_landlock_ruleset(int abi, int *ret_fd) {
        JailRuleset set = {.fs = JAIL_LL_FS_1};
        size_t size = abi >= 6 ? sizeof(set) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
        long fd;

        set.fs |= abi >= 2 ? JAIL_LL_REFER : 0;
        set.fs |= abi >= 3 ? JAIL_LL_TRUNCATE : 0;
        set.fs |= abi >= 5 ? JAIL_LL_IOCTL_DEV : 0;
        set.net = JAIL_LL_NET_TCP;
        set.scoped = JAIL_LL_SCOPES;
        fd = syscall(SYS_landlock_create_ruleset, &set, size, 0);
        if (fd < 0)
                return err_new(errno);
        *ret_fd = (int)fd;
        return 0;
}

int jail_landlock(const int *dirs, size_t len) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int abi = jail_landlock_abi();
        int r;

        if (abi == 0)
                return JAIL_E_NO_LANDLOCK;
        r = jail_landlock_ruleset(abi, &fd);
        if (r < 0)
                return r;
        for (size_t i = 0; i < len; i++) {
                struct landlock_path_beneath_attr rule = {
                        .allowed_access =
                                LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
                        .parent_fd = dirs[i],
                };

                if (syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
                        return err_new(errno);
        }
        r = jail_no_new_privs();
        if (r < 0)
                return r;
        return syscall(SYS_landlock_restrict_self, fd, 0) < 0 ? err_new(errno) : 0;
}

/* seccomp */

static const int jail_allowed[] = {
        SYS_read,
        SYS_pread64,
        SYS_close,
        SYS_fstat,
        SYS_newfstatat,
        SYS_statx,
        SYS_faccessat,
        SYS_faccessat2,
        SYS_lseek,
        SYS_munmap,
        SYS_mremap,
        SYS_brk,
        SYS_madvise,
        SYS_getdents64,
        SYS_readlinkat,
        SYS_getcwd,
        SYS_getuid,
        SYS_geteuid,
        SYS_getgid,
        SYS_getegid,
        SYS_getpid,
        SYS_gettid,
        SYS_futex,
        SYS_clock_gettime,
        SYS_gettimeofday,
        SYS_getrandom,
        SYS_rt_sigprocmask,
        SYS_rt_sigreturn,
        SYS_restart_syscall,
        SYS_fcntl,
        SYS_sched_yield,
        SYS_exit,
        SYS_exit_group,
#if JAIL_SANITIZED
        SYS_sigaltstack,
#endif
#ifdef SYS_access
        SYS_access,
#endif
#ifdef SYS_readlink
        SYS_readlink,
#endif
#ifdef SYS_stat
        SYS_stat,
        SYS_lstat,
#endif
#ifdef SYS_time
        SYS_time,
#endif
};

static const int jail_deadly[] = {
        SYS_execve,
        SYS_execveat,
        SYS_clone,
        SYS_clone3,
        SYS_socket,
        SYS_socketpair,
        SYS_connect,
        SYS_ptrace,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_kill,
        SYS_tgkill,
        SYS_tkill,
        SYS_bpf,
        SYS_io_uring_setup,
        SYS_userfaultfd,
        SYS_perf_event_open,
        SYS_mount,
        SYS_unshare,
        SYS_setns,
        SYS_keyctl,
        SYS_memfd_create,
#ifdef SYS_fork
        SYS_fork,
        SYS_vfork,
#endif
};

enum { JAIL_PROGRAM = 160 };

typedef struct JailProgram {
        struct sock_filter code[JAIL_PROGRAM];
        unsigned short len;
} JailProgram;

static void jail_emit(JailProgram *p, int code, uint32_t k, uint8_t yes, uint8_t no) {
        if (p->len < JAIL_PROGRAM)
                p->code[p->len] = (struct sock_filter){(uint16_t)code, yes, no, k};
        p->len++; /* one too many is seen at the end */
}

static void jail_load(JailProgram *p, size_t offset) {
        jail_emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void jail_return(JailProgram *p, uint32_t what) {
        jail_emit(p, BPF_RET | BPF_K, what, 0, 0);
}

static void jail_list(JailProgram *p, const int *numbers, size_t len, uint32_t what) {
        for (size_t i = 0; i < len; i++) {
                jail_emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[i], 0, 1);
                jail_return(p, what);
        }
}

/* `number` is allowed when its argument (the low word, little-endian) passes; else EPERM. */
static void jail_argument(JailProgram *p, int number, unsigned arg, int test, uint32_t k,
                          bool pass) {
        jail_emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4);
        jail_load(p, offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));
        jail_emit(p, BPF_JMP | test | BPF_K, k, pass ? 0 : 1, pass ? 1 : 0);
        jail_return(p, SECCOMP_RET_ALLOW);
        jail_return(p, SECCOMP_RET_ERRNO | EPERM);
}

static void jail_build(JailProgram *p, int verdict_fd) {
        jail_load(p, offsetof(struct seccomp_data, arch));
        jail_emit(p, BPF_JMP | BPF_JEQ | BPF_K, JAIL_ARCH, 1, 0);
        jail_return(p, SECCOMP_RET_KILL_PROCESS);
        jail_load(p, offsetof(struct seccomp_data, nr));
        jail_emit(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
        jail_return(p, SECCOMP_RET_KILL_PROCESS);
        jail_list(p, jail_allowed, sizeof(jail_allowed) / sizeof(*jail_allowed), SECCOMP_RET_ALLOW);
        jail_argument(p, SYS_write, 0, BPF_JEQ, (uint32_t)verdict_fd, true);
        jail_argument(p, SYS_mmap, 2, BPF_JSET, PROT_EXEC, false);
        jail_argument(p, SYS_mprotect, 2, BPF_JSET, PROT_EXEC, false);
        jail_argument(p, SYS_openat, 2, BPF_JSET, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, false);
#ifdef SYS_open
        jail_argument(p, SYS_open, 1, BPF_JSET, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, false);
#endif
        jail_list(p, jail_deadly, sizeof(jail_deadly) / sizeof(*jail_deadly),
                  SECCOMP_RET_KILL_PROCESS);
        jail_return(p, SECCOMP_RET_ERRNO | EPERM);
}

int jail_seccomp(int verdict_fd) {
        JailProgram p = {.len = 0};
        struct sock_fprog program;
        int r;

        if (JAIL_ARCH == 0)
                return JAIL_E_NO_SECCOMP;
        jail_build(&p, verdict_fd);
        if (p.len > JAIL_PROGRAM)
                return err_new(E2BIG);
        r = jail_no_new_privs();
        if (r < 0)
                return r;
        program = (struct sock_fprog){.len = p.len, .filter = p.code};
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? JAIL_E_NO_SECCOMP : 0;
}
