#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "run/capture.h"
#include "run/exitlines.h"
#include "run/keeper.h"
#include "run/kin.h"
#include "run/result.h"
#include "run/scope.h"
#include "run/spawn.h"

enum {
        KEEPER_CHUNK = 64 * 1024,
        KEEPER_SCOPE_MS = 10000, /* bus, job and place together */
        KEEPER_TICK_MS = 50,     /* between looks at what is left after TERM */
        KEEPER_KILL_TICK_MS = 10,
        KEEPER_KILL_MS = 2000, /* KILL rounds; what stands then is in the kernel, or forks faster
                                  than we look */
        KEEPER_TERM_LOOKS = 8,
        KEEPER_STRIKES = 256, /* quick ones in one KILL round */
};

typedef enum KeeperPhase {
        KEEPER_RUNS,   /* until the child's exit, the deadline or a cancel */
        KEEPER_EXITED, /* the pipe may be held by what the child left: exit_grace */
        KEEPER_TERMED, /* term_grace */
        KEEPER_KILLED, /* KEEPER_KILL_MS */
        KEEPER_OVER,
} KeeperPhase;

typedef struct Keeper {
        const RunSpec *spec;
        RunResult result;
        Capture *capture;
        KeeperPhase phase;
        int64_t phase_end; /* boot clock */
        int64_t begun;     /* boot clock */
        int pipe_fd, signal_fd, timer_fd, child_fd;
        pid_t child;
        KinList termed;      /* have had their TERM: a second one means "at once" to some */
        unsigned looks_none; /* looks in a row that found nobody */
        bool left_over;      /* somebody outlived the KILL rounds */
        int lost;            /* -errno: output was dropped by us */
        ExitLines exit_lines;
} Keeper;

static char keeper_chunk[KEEPER_CHUNK];

static void keeper_fail(Keeper *k, const char *stage, int error) {
        size_t len = strlen(stage);

        k->result.kind = RESULT_SPAWN;
        k->result.code = error;
        if (len >= sizeof(k->result.spawn_stage))
                len = sizeof(k->result.spawn_stage) - 1;
        memcpy(k->result.spawn_stage, stage, len);
        k->result.spawn_stage[len] = '\0';
        k->phase = KEEPER_OVER;
}

/* The phase, and the timer to its end or to the next tick. CLOCK_BOOTTIME: a suspended host gains
 * no time. */
static void keeper_arm(Keeper *k, KeeperPhase phase, int64_t end, int64_t tick) {
        int64_t now = clock_mono_ms();
        int64_t at = tick > 0 && now + tick < end ? now + tick : end;
        struct itimerspec when = {0};

        if (at < 1)
                at = 1; /* 0 would disarm */
        when.it_value.tv_sec = at / 1000;
        when.it_value.tv_nsec = at % 1000 * 1000000;
        k->phase = phase;
        k->phase_end = end;
        (void)timerfd_settime(k->timer_fd, TFD_TIMER_ABSTIME, &when,
                              NULL); /* valid by construction */
}

static void keeper_feed(Keeper *k, size_t len) {
        int r;

        if (plan_verb(k->spec->plan)->exit_lines)
                exitlines_feed(&k->exit_lines, keeper_chunk, len);
        if (k->lost < 0)
                return;
        r = capture_feed(k->capture, keeper_chunk, len);
        if (r < 0)
                k->lost = r; /* the verb must not block on us: read on, keep nothing */
}

/* One chunk. EOF and errors close the pipe. */
static void keeper_pump(Keeper *k) {
        ssize_t n;

        if (k->pipe_fd < 0)
                return;
        n = read(k->pipe_fd, keeper_chunk, sizeof(keeper_chunk));
        if (n > 0)
                keeper_feed(k, (size_t)n);
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                k->pipe_fd = fd_close(k->pipe_fd);
}

/* What stands in the pipe now, and no more: its holder may write for ever. */
static void keeper_pump_rest(Keeper *k) {
        int left = 0;

        if (k->pipe_fd < 0 || ioctl(k->pipe_fd, FIONREAD, &left) < 0)
                return;
        while (left > 0 && k->pipe_fd >= 0) {
                size_t want =
                        (size_t)left < sizeof(keeper_chunk) ? (size_t)left : sizeof(keeper_chunk);
                ssize_t n = read(k->pipe_fd, keeper_chunk, want);

                if (n <= 0)
                        break;
                keeper_feed(k, (size_t)n);
                left -= (int)n;
        }
        k->pipe_fd = fd_close(k->pipe_fd);
}

/* Every zombie; the child's status when it is among them. */
static void keeper_reap(Keeper *k) {
        for (;;) {
                siginfo_t info = {0};

                if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
                        return;
                k->looks_none = 0; /* it may have forked just before, unseen */
                if (info.si_pid != k->child)
                        continue;
                k->child = -1;
                k->child_fd = fd_close(k->child_fd);
                if (k->phase != KEEPER_RUNS)
                        continue; /* of what a timeout or cancel made of it nothing is told */
                k->result.kind = info.si_code == CLD_EXITED ? RESULT_EXIT : RESULT_SIGNAL;
                k->result.code = info.si_status;
                keeper_arm(k, KEEPER_EXITED, clock_mono_ms() + k->spec->exit_grace_ms, 0);
        }
}

/* true: somebody of the run is alive. */
static bool keeper_look(Keeper *k, KinList *ret) {
        if (kin_list(k->spec->unit != NULL, ret) < 0)
                return true; /* can't be told (no memory, no fd): as bad as somebody */
        k->looks_none = ret->len == 0 ? k->looks_none + 1 : 0;
        return k->looks_none < 2;
}

/* Looks again while there are new ones, for a fork that happened between look and signal. */
static void keeper_term(Keeper *k) {
        for (int i = 0; i < KEEPER_TERM_LOOKS; i++) {
                CLEANUP(kin_done) KinList list = KIN_LIST_NULL;
                bool fresh = false;

                (void)keeper_look(k, &list);
                for (size_t j = 0; j < list.len; j++) {
                        if (kin_has(&k->termed, &list.items[j]))
                                continue;
                        kin_signal(&list.items[j], SIGTERM);
                        fresh = kin_add(&k->termed, &list.items[j]) == 0 || fresh;
                }
                if (!fresh)
                        return;
        }
}

static void keeper_end(Keeper *k, ResultKind kind) {
        k->result.kind = kind;
        k->result.code = 0;
        k->looks_none = 0;
        keeper_term(k);
        keeper_arm(k, KEEPER_TERMED, clock_mono_ms() + k->spec->term_grace_ms, KEEPER_TICK_MS);
}

static void keeper_kill_round(Keeper *k) {
        CLEANUP(kin_done) KinList list = KIN_LIST_NULL;

        for (int i = 0; i < KEEPER_STRIKES; i++) {
                if ((k->spec->unit ? kin_kill_cgroup() : kin_kill_children()) == 0)
                        break;
                keeper_reap(k);
                if (clock_mono_ms() >= k->phase_end)
                        break;
        }
        k->left_over = keeper_look(k, &list);
        for (size_t i = 0; i < list.len; i++)
                kin_signal(&list.items[i], SIGKILL);
        keeper_reap(k);
        if (!k->left_over || clock_mono_ms() >= k->phase_end)
                k->phase = KEEPER_OVER;
        else
                keeper_arm(k, KEEPER_KILLED, k->phase_end, KEEPER_KILL_TICK_MS);
}

static void keeper_tick(Keeper *k) {
        CLEANUP(kin_done) KinList list = KIN_LIST_NULL;
        uint64_t times;

        (void)!read(k->timer_fd, &times, sizeof(times)); /* only to make it unreadable */
        switch (k->phase) {
        case KEEPER_RUNS:
                if (clock_mono_ms() >= k->phase_end)
                        keeper_end(k, RESULT_TIMEOUT);
                return;
        case KEEPER_EXITED:
                if (clock_mono_ms() >= k->phase_end)
                        k->phase = KEEPER_OVER;
                return;
        case KEEPER_TERMED:
                keeper_reap(k);
                if (!keeper_look(k, &list))
                        k->phase = KEEPER_OVER;
                else if (clock_mono_ms() >= k->phase_end)
                        keeper_arm(k, KEEPER_KILLED, clock_mono_ms() + KEEPER_KILL_MS, 1);
                else
                        keeper_arm(k, KEEPER_TERMED, k->phase_end, KEEPER_TICK_MS);
                return;
        case KEEPER_KILLED:
                keeper_kill_round(k);
                return;
        case KEEPER_OVER:
                return;
        }
}

/* true: a cancel is among what came. */
static bool keeper_take_signals(Keeper *k) {
        struct signalfd_siginfo info;
        bool cancel = false;

        while (read(k->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
                if (info.ssi_signo != SIGCHLD)
                        cancel = true;
        return cancel;
}

static void keeper_turn(Keeper *k) {
        struct pollfd fds[] = {
                {.fd = k->pipe_fd, .events = POLLIN},
                {.fd = k->signal_fd, .events = POLLIN},
                {.fd = k->timer_fd, .events = POLLIN},
                {.fd = k->child_fd, .events = POLLIN},
        };

        if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
                return; /* EINTR, or no memory for the moment */
        if (fds[0].revents)
                keeper_pump(k);
        /* The child's exit before a cancel or the deadline of the same moment: what is true counts.
         */
        if (fds[1].revents || fds[3].revents) {
                bool cancel = keeper_take_signals(k);

                keeper_reap(k);
                if (cancel && k->phase == KEEPER_RUNS)
                        keeper_end(k, RESULT_CANCELLED);
        }
        if (fds[2].revents)
                keeper_tick(k);
        if (k->phase == KEEPER_EXITED && k->pipe_fd < 0)
                k->phase = KEEPER_OVER;
}

static int keeper_open(Keeper *k, const sigset_t *watched) {
        k->signal_fd = signalfd(-1, watched, SFD_CLOEXEC | SFD_NONBLOCK);
        if (k->signal_fd < 0)
                return err_new(errno);
        k->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (k->timer_fd < 0)
                return err_new(errno);
        return capture_new(k->spec->log_fd, k->spec->redact, &k->capture);
}

static void keeper_spawn(Keeper *k) {
        CLEANUP(fd_closep) int out = -EBADF;
        int pair[2], error = 0, r;

        if (keeper_take_signals(k)) { /* cancelled while the scope was made */
                k->result.kind = RESULT_CANCELLED;
                k->phase = KEEPER_OVER;
                return;
        }
        if (pipe2(pair, O_CLOEXEC) < 0) {
                keeper_fail(k, "fork", errno);
                return;
        }
        k->pipe_fd = pair[0];
        out = pair[1];
        k->begun = clock_mono_ms();
        k->result.started_ms = clock_wall_ms();
        r = fcntl(k->pipe_fd, F_SETFL, O_NONBLOCK);
        if (r < 0)
                r = err_new(errno);
        if (r == 0)
                r = spawn_child(k->spec->plan, out, &k->child, &k->child_fd, &error);
        if (r == 0) {
                keeper_arm(k, KEEPER_RUNS, k->begun + (int64_t)k->spec->timeout_sec * 1000, 0);
                return;
        }
        k->result.started_ms = 0;
        keeper_fail(k, r > 0 ? "exec" : "fork", r > 0 ? error : -r);
}

/* Tail, counts, the log on disk, the result on disk. The result is the last: it says that all the
 * rest is there. */
static int keeper_finish(Keeper *k) {
        bool truncated = false;
        int r;

        k->result.ended_ms = clock_wall_ms();
        if (k->result.started_ms > 0)
                k->result.duration_ms = clock_mono_ms() - k->begun;
        if (k->capture) {
                r = capture_end(k->capture, &k->result.tail, &k->result.output_bytes, &truncated);
                k->result.truncated = r < 0 || truncated || k->lost < 0;
        }
        if (k->result.kind == RESULT_EXIT && k->result.code == 0)
                k->result.code = exitlines_end(&k->exit_lines);
        if (k->spec->sync)
                (void)fdatasync(
                        k->spec->log_fd); /* a log that is lost does not make the outcome untrue */
        r = result_store(k->spec->run_fd, k->spec->id, &k->result, k->spec->sync);
        if (r < 0) { /* no space for 64 KiB, or a tail that breaks the rules: without it */
                str_done(&k->result.tail);
                k->result.truncated = true;
                r = result_store(k->spec->run_fd, k->spec->id, &k->result, k->spec->sync);
        }
        return r;
}

/* Everything but 0-2 and the three that the contract names. */
static int keeper_drop_fds(const RunSpec *spec) {
        int keep[] = {spec->run_fd, spec->lock_fd, spec->log_fd};
        unsigned from = 3;
        int null = -EBADF, r;

        for (int i = 0; i < 2; i++)
                for (int j = i + 1; j < 3; j++)
                        if (keep[j] < keep[i]) {
                                int swap = keep[i];

                                keep[i] = keep[j];
                                keep[j] = swap;
                        }
        for (int i = 0; i < 3; i++) {
                if ((unsigned)keep[i] > from && close_range(from, (unsigned)keep[i] - 1, 0) < 0)
                        return err_new(errno);
                from = (unsigned)keep[i] + 1;
        }
        if (close_range(from, ~0U, 0) < 0)
                return err_new(errno);
        r = spawn_open_null(&null);
        if (r < 0)
                return r;
        if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
                return err_new(errno);
        if (null > 2)
                null = fd_close(null);
        return 0;
}

/* The process itself, before anything else of the run. */
static int keeper_become(const RunSpec *spec, const sigset_t *watched) {
        int r;

        spawn_reset_signals();
        if (sigprocmask(SIG_SETMASK, watched, NULL) < 0 || setsid() < 0 ||
            prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_NAME, "spoolgate-keep", 0, 0, 0) < 0 || chdir("/") < 0)
                return err_new(errno);
        r = keeper_drop_fds(spec);
        if (r == 0)
                r = result_write_pid(spec->lock_fd, getpid());
        return r;
}

/* false: the run is over before it began. */
static bool keeper_enter(Keeper *k) {
        ScopeSpec scope = {
                .unit = k->spec->unit,
                .description = k->spec->description,
                .tasks_max = k->spec->tasks_max,
                .memory_max = k->spec->memory_max,
                .timeout_ms = KEEPER_SCOPE_MS,
        };
        int r;

        if (!k->spec->unit)
                return true;
        r = scope_enter(&scope);
        if (r != 0)
                keeper_fail(k, scope_stage(r), r < 0 ? -r : 0);
        /* scope_enter has done so unless it failed early; what is left to do is to tell of it. */
        if (prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0 && r == 0) {
                keeper_fail(k, "setup", errno);
                r = -1;
        }
        return r == 0;
}

static __attribute__((noreturn)) void keeper_main(const RunSpec *spec) {
        Keeper k = {.spec = spec,
                    .pipe_fd = -EBADF,
                    .signal_fd = -EBADF,
                    .timer_fd = -EBADF,
                    .child_fd = -EBADF,
                    .child = -1};
        sigset_t watched;
        int r;

        (void)sigemptyset(&watched);
        (void)sigaddset(&watched, SIGTERM);
        (void)sigaddset(&watched, SIGINT);
        (void)sigaddset(&watched, SIGHUP);
        (void)sigaddset(&watched, SIGCHLD);
        r = keeper_become(spec, &watched);
        if (r == 0)
                r = keeper_open(&k, &watched);
        if (r < 0)
                keeper_fail(&k, "setup", -r);
        else if (keeper_enter(&k))
                keeper_spawn(&k);
        while (k.phase != KEEPER_OVER)
                keeper_turn(&k);
        keeper_pump_rest(&k);
        r = keeper_finish(&k);
        if (k.left_over && spec->unit)
                kin_kill_cgroup_and_self(); /* takes us along */
        _exit(r == 0 ? 0 : 1);
}

static bool keeper_spec_ok(const RunSpec *spec) {
        return spec->run_fd > 2 && spec->lock_fd > 2 && spec->log_fd > 2 && spec->timeout_sec > 0;
}

int keeper_start(const RunSpec *spec, Run *ret) {
        CLEANUP(fd_closep) int pidfd = -EBADF;
        CLEANUP(fd_closep) int gate = -EBADF;
        pid_t parent = getpid(), pid = -1;
        int r;

        if (!keeper_spec_ok(spec))
                return err_new(EINVAL);
        r = spawn_fork(&pid, &pidfd, &gate);
        if (r < 0)
                return r;
        if (pid == 0) {
                /* The parent may be gone before the request for its death was made. */
                if (spec->unit &&
                    (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent))
                        _exit(1);
                if (spawn_gate_wait(gate) < 0)
                        _exit(1);
                keeper_main(spec);
        }
        r = spawn_gate_open(gate);
        if (r < 0) {
                (void)kill(pid, SIGKILL); /* gone already, most likely; nothing was run */
                (void)waitpid(pid, NULL, 0);
                return r;
        }
        *ret = (Run){.pid = pid, .pidfd = fd_take(&pidfd)};
        return 0;
}
