#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "fs/pin.h"
#include "guard/ask.h"
#include "guard/inspect.h"
#include "guard/jail.h"

static const char *const ask_reasons[] = {
        [INSPECT_USAGE] = "spoolgate-inspect is of another version than the drain",
        [INSPECT_JAIL] = "the kernel can't jail the inspection",
        [INSPECT_LANDLOCK] = "the kernel has no Landlock to jail the inspection with; the project "
                             "can be installed with --jail=seccomp",
        [INSPECT_OWNER] = "the git directory belongs to another user",
        [INSPECT_COMMON] = "the linked worktree's commondir is not the one git makes",
        [INSPECT_CONFIG] = "the repository's config is not a readable small file",
        [INSPECT_SHA256] = "the repository uses SHA-256 object ids, which can't be checked; "
                           "INTEGRITY=seal can be used",
        [INSPECT_REFTABLE] = "the repository keeps its refs in a reftable, which can't be checked; "
                             "INTEGRITY=seal can be used",
        [INSPECT_PARTIAL] = "the repository is a partial clone, which can't be checked; "
                            "INTEGRITY=seal can be used",
        [INSPECT_HEAD] = "HEAD or a ref that it names is damaged",
        [INSPECT_UNBORN] = "the repository has no commit at HEAD",
        [INSPECT_MISSING] = "an object of HEAD is not in the repository itself",
        [INSPECT_CORRUPT] = "an object of HEAD is damaged",
        [INSPECT_MEMORY] = "the inspection ran into its memory limit",
        [ASK_E_START] = "spoolgate-inspect can't be started",
        [ASK_E_TIME] = "the inspection of the repository took too long and was ended",
        [ASK_E_DIED] = "the inspection of the repository ended without a verdict",
        [ASK_E_GARBLED] = "the inspection of the repository gave no proper verdict",
        [ASK_E_DIR] = "the git directory is not the one that was pinned at install",
};

const char *ask_reason(int code) {
        size_t len = sizeof(ask_reasons) / sizeof(*ask_reasons);

        return code > 0 && (size_t)code < len && ask_reasons[code]
                       ? ask_reasons[code]
                       : "the repository can't be inspected";
}

void ask_git_done(AskGit *git) {
        git->fd = fd_close(git->fd);
        git->up_fd = fd_close(git->up_fd);
}

/* Two directories up, where a linked worktree has its common directory. */
static int ask_open_up(const char *git_dir, int *ret_fd) {
        CLEANUP(str_freep) char *path = NULL;
        PinRule any = {.owner = (uid_t)-1};
        int r = str_dup(git_dir, &path);

        for (int i = 0; i < 2 && r == 0; i++) {
                char *slash = strrchr(path, '/');

                if (!slash || slash == path)
                        return ASK_E_DIR;
                *slash = '\0';
        }
        return r == 0 ? pin_root(path, &any, ret_fd) : r;
}

int ask_open_git(const char *git_dir, uint64_t device, uint64_t inode, AskGit *ret) {
        CLEANUP(ask_git_done) AskGit git = {-EBADF, -EBADF};
        PinRule any = {.owner = (uid_t)-1};
        struct stat st;
        int r;

        r = pin_root(git_dir, &any, &git.fd);
        if (r != 0)
                return r > 0 ? ASK_E_DIR : r;
        if (fstat(git.fd, &st) < 0)
                return err_new(errno);
        if (st.st_dev != device || st.st_ino != inode)
                return ASK_E_DIR;
        if (st.st_uid != geteuid())
                return INSPECT_OWNER;
        r = ask_open_up(git_dir, &git.up_fd);
        if (r > 0)
                r = fd_dup(git.fd, &git.up_fd); /* no such place: no linked worktree either */
        if (r < 0)
                return r;
        *ret = git;
        git = (AskGit){-EBADF, -EBADF};
        return 0;
}

/* Starting */

typedef struct AskChild {
        pid_t pid; /* 0: reaped */
        int pipe_fd;
} AskChild;

static void ask_child_done(AskChild *c) {
        if (c->pid > 0) {
                (void)kill(c->pid, SIGKILL);
                while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        (void)fd_close(c->pipe_fd);
}

typedef struct AskSpawn {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        Strv argv;
        int *held; /* duplicates above every target */
        size_t len;
} AskSpawn;

static void ask_spawn_done(AskSpawn *s) {
        for (size_t i = 0; i < s->len; i++)
                (void)fd_close(s->held[i]);
        free(s->held);
        strv_done(&s->argv);
        (void)posix_spawn_file_actions_destroy(&s->actions);
        (void)posix_spawnattr_destroy(&s->attributes);
}

/* dup2 in the child from a number that no other dup2 can have covered. */
static int ask_give(AskSpawn *s, int fd, int target, int above) {
        int held = fcntl(fd, F_DUPFD_CLOEXEC, above);
        int r;

        if (held < 0)
                return err_new(errno);
        s->held[s->len++] = held;
        r = posix_spawn_file_actions_adddup2(&s->actions, held, target);
        return r != 0 ? err_new(r) : 0;
}

static int ask_attributes(AskSpawn *s) {
        sigset_t none, all;
        int r;

        (void)sigemptyset(&none);
        (void)sigfillset(&all);
        r = posix_spawnattr_setsigmask(&s->attributes, &none);
        if (r == 0)
                r = posix_spawnattr_setsigdefault(&s->attributes, &all);
        if (r == 0)
                r = posix_spawnattr_setflags(&s->attributes, POSIX_SPAWN_SETSIGMASK |
                                                                     POSIX_SPAWN_SETSIGDEF |
                                                                     POSIX_SPAWN_SETSID);
        return r != 0 ? err_new(r) : 0;
}

static int ask_arguments(AskSpawn *s, const char *program, const char *jail, uint64_t address_space,
                         const AskFile *files, size_t len) {
        CLEANUP(str_freep) char *limit = NULL;
        int r = str_printf(&limit, "%llu",
                           (unsigned long long)(address_space ? address_space : JAIL_AS_DEFAULT));

        if (r >= 0)
                r = strv_add(&s->argv, program);
        if (r >= 0)
                r = strv_add(&s->argv, jail);
        if (r >= 0)
                r = strv_add(&s->argv, limit);
        for (size_t i = 0; i < len && r >= 0; i++) {
                CLEANUP(str_freep) char *file = NULL;

                r = files[i].bytes_fd >= 0
                            ? str_printf(&file, "%o:%s", files[i].mode, files[i].path)
                            : str_printf(&file, "absent:%s", files[i].path);
                if (r >= 0)
                        r = strv_add_take(&s->argv, &file);
        }
        return r;
}

static int ask_descriptors(AskSpawn *s, const AskGit *git, int pipe_fd, const AskFile *files,
                           size_t len) {
        int above = INSPECT_FIRST_FD + (int)len;
        int next = INSPECT_FIRST_FD;
        int r;

        s->held = calloc(len + 3, sizeof(*s->held));
        if (!s->held)
                return err_new(ENOMEM);
        r = ask_give(s, git->fd, INSPECT_GIT_FD, above);
        if (r == 0)
                r = ask_give(s, git->up_fd, INSPECT_UP_FD, above);
        if (r == 0)
                r = ask_give(s, pipe_fd, INSPECT_VERDICT_FD, above);
        for (size_t i = 0; i < len && r == 0; i++)
                if (files[i].bytes_fd >= 0)
                        r = ask_give(s, files[i].bytes_fd, next++, above);
        if (r == 0 && posix_spawn_file_actions_addclosefrom_np(&s->actions, next) != 0)
                r = err_new(ENOMEM);
        return r;
}

static int ask_spawn(AskSpawn *s, const char *program, pid_t *ret_pid) {
        char *nothing[] = {NULL};
        int r = posix_spawn(ret_pid, program, &s->actions, &s->attributes, s->argv.items, nothing);

        switch (r) {
        case 0:
                return 0;
        case ENOENT:
        case EACCES:
        case EPERM:
        case ENOEXEC:
        case ENOTDIR:
        case ELOOP:
                return ASK_E_START;
        default:
                return err_new(r);
        }
}

/* Waiting */

static int ask_wait_readable(int fd, int64_t deadline) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = deadline - clock_mono_ms();
        int n;

        if (left <= 0)
                return ASK_E_TIME;
        n = poll(&p, 1, (int)left);
        if (n < 0 && errno != EINTR)
                return err_new(errno);
        return n == 0 ? ASK_E_TIME : 0;
}

/* Until the pipe's end, or one byte more than a verdict can have. */
static int ask_read(int fd, int64_t deadline, char *bytes, size_t max, size_t *ret_len) {
        size_t len = 0;

        while (len < max) {
                ssize_t n;
                int r = ask_wait_readable(fd, deadline);

                if (r != 0)
                        return r;
                n = read(fd, bytes + len, max - len);
                if (n < 0 && (errno == EINTR || errno == EAGAIN))
                        continue;
                if (n < 0)
                        return err_new(errno);
                if (n == 0)
                        break;
                len += (size_t)n;
        }
        *ret_len = len;
        return 0;
}

/* The pipe has ended: what is left of the child is its exit. It may have closed the pipe to linger.
 */
static int ask_reap(AskChild *c, int64_t deadline) {
        CLEANUP(fd_closep) int fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
        int status, r;
        pid_t pid;

        if (fd < 0)
                return err_new(errno);
        for (;;) {
                pid = waitpid(c->pid, &status, WNOHANG);
                if (pid < 0 && errno != EINTR)
                        return err_new(errno);
                if (pid > 0)
                        break;
                r = ask_wait_readable(fd, deadline);
                if (r != 0)
                        return r;
        }
        c->pid = 0;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ASK_E_DIED;
}

static int ask_judge(const char *bytes, size_t got, size_t len, AskAnswer *ret) {
        VerdictHead head;

        if (got < sizeof(head))
                return ASK_E_GARBLED;
        memcpy(&head, bytes, sizeof(head));
        if (head.magic != VERDICT_MAGIC || head.version != VERDICT_VERSION ||
            head.code < INSPECT_OK || head.code >= INSPECT_COUNT ||
            head.count != (head.code == INSPECT_OK ? len : 0) ||
            got != sizeof(head) + head.count * sizeof(VerdictFile))
                return ASK_E_GARBLED;
        memcpy(ret->head, head.head, VERDICT_HEX);
        ret->head[VERDICT_HEX] = '\0';
        if (*ret->head && !hash_is_hex(ret->head, VERDICT_HEX))
                return ASK_E_GARBLED;
        for (size_t i = 0; i < head.count; i++) {
                VerdictFile file;

                memcpy(&file, bytes + sizeof(head) + i * sizeof(file), sizeof(file));
                if (file.magic != VERDICT_MAGIC || file.index != i || file.zero != 0 ||
                    file.file < INSPECT_FILE_SAME || file.file >= INSPECT_FILE_COUNT)
                        return ASK_E_GARBLED;
                ret->files[i] = (InspectFile)file.file;
        }
        return head.code == INSPECT_OK ? 0 : (int)head.code;
}

static int ask_answer(AskChild *c, size_t len, AskAnswer *ret) {
        char bytes[sizeof(VerdictHead) + TAKE_FILES * sizeof(VerdictFile) + 1];
        AskAnswer answer = {.head = ""};
        int64_t deadline = clock_mono_ms() + ASK_WALL_MS;
        size_t got = 0;
        int r;

        r = ask_read(c->pipe_fd, deadline, bytes, sizeof(bytes), &got);
        if (r != 0)
                return r;
        r = ask_reap(c, deadline);
        if (r != 0)
                return r;
        r = ask_judge(bytes, got, len, &answer);
        if (r != ASK_E_GARBLED)
                *ret = answer;
        return r;
}

int ask_inspect(const char *program, const char *jail, uint64_t address_space, const AskGit *git,
                const AskFile *files, size_t len, AskAnswer *ret) {
        CLEANUP(ask_child_done) AskChild child = {.pipe_fd = -EBADF};
        CLEANUP(ask_spawn_done) AskSpawn s = {.argv = STRV_NULL};
        CLEANUP(fd_closep) int write_fd = -EBADF;
        int ends[2];
        int r;

        (void)posix_spawn_file_actions_init(&s.actions); /* both never fail in glibc */
        (void)posix_spawnattr_init(&s.attributes);
        *ret = (AskAnswer){.head = ""};
        if (len > TAKE_FILES)
                return err_new(E2BIG);
        if (pipe2(ends, O_CLOEXEC) < 0)
                return err_new(errno);
        child.pipe_fd = ends[0];
        write_fd = ends[1];
        if (fcntl(child.pipe_fd, F_SETFL, O_NONBLOCK) < 0)
                return err_new(errno);
        r = ask_attributes(&s);
        if (r == 0)
                r = ask_arguments(&s, program, jail, address_space, files, len);
        if (r == 0)
                r = ask_descriptors(&s, git, write_fd, files, len);
        if (r == 0)
                r = ask_spawn(&s, program, &child.pid);
        if (r != 0) {
                child.pid = 0;
                return r;
        }
        for (size_t i = 0; i < s.len; i++)
                s.held[i] = fd_close(s.held[i]);
        write_fd = fd_close(write_fd);
        return ask_answer(&child, len, ret);
}
