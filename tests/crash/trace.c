#include "trace.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

#ifndef __x86_64__
#error "the sweeps rewrite registers of x86-64"
#endif

enum { TRACE_OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE };

typedef struct Trace {
        const TraceSpec *spec;
        TraceEnd *end;
        pid_t main, followed;
        unsigned children;
        pid_t fresh[64]; /* started, their first stop not seen yet */
        size_t fresh_len;
        bool execed, ended;
} Trace;

int64_t trace_now_ms(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void trace_begin(void) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                world_die("subreaper");
}

static pid_t trace_spawn(const TraceSpec *spec) {
        pid_t pid = fork();

        if (pid < 0)
                world_die("fork");
        if (pid > 0)
                return pid;
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!getenv("SWEEP_LOUD") && !freopen("/dev/null", "w", stderr))
                _exit(126);
        if (spec->each && ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
                _exit(126);
        if (spec->each)
                raise(SIGSTOP);
        execve(spec->argv[0], spec->argv, spec->env);
        _exit(127);
}

static void trace_go(const Trace *t, pid_t pid, int sig) {
        enum __ptrace_request how = pid == t->followed && t->execed ? PTRACE_SYSCALL : PTRACE_CONT;

        (void)ptrace(how, pid, NULL, sig); /* gone meanwhile: waitpid tells */
}

static bool trace_take_fresh(Trace *t, pid_t pid) {
        for (size_t i = 0; i < t->fresh_len; i++)
                if (t->fresh[i] == pid) {
                        t->fresh[i] = t->fresh[--t->fresh_len];
                        return true;
                }
        return false;
}

/* The first stop of a process that a traced one started: followed or let go. */
static void trace_newborn(Trace *t, pid_t pid) {
        t->children++;
        if (t->spec->child && t->children == t->spec->child) {
                t->followed = pid;
                (void)ptrace(PTRACE_SETOPTIONS, pid, NULL, TRACE_OPTIONS);
                trace_go(t, pid, 0);
                return;
        }
        (void)ptrace(PTRACE_DETACH, pid, NULL, 0);
}

static void trace_syscall(Trace *t, pid_t pid) {
        struct __ptrace_syscall_info info = { 0 };
        TraceStop stop = { .pid = pid };
        static long call;

        if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
                return;
        stop.n = ++t->end->stops;
        stop.entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
        if (stop.entry) {
                call = (long)info.entry.nr;
                memcpy(stop.args, info.entry.args, sizeof(stop.args));
        } else {
                stop.result = info.exit.rval;
        }
        stop.call = call;
        switch (t->spec->each(t->spec->userdata, &stop)) {
        case TRACE_ON:
                trace_go(t, pid, 0);
                return;
        case TRACE_KILL:
                kill(pid, SIGKILL);
                if (pid != t->main)
                        t->followed = -1;
                return;
        case TRACE_LEAVE:
                (void)ptrace(PTRACE_DETACH, pid, NULL, 0);
                t->followed = -1;
                return;
        }
}

static void trace_stopped(Trace *t, pid_t pid, int status) {
        int sig = WSTOPSIG(status), event = status >> 16;

        if (!t->spec->each) { /* left over from an earlier run, stopped at its birth */
                (void)ptrace(PTRACE_DETACH, pid, NULL, 0);
        } else if (trace_take_fresh(t, pid)) {
                trace_newborn(t, pid);
        } else if (pid != t->main && pid != t->followed) { /* its first stop came before its parent's event */
                if (t->fresh_len < sizeof(t->fresh) / sizeof(t->fresh[0]))
                        t->fresh[t->fresh_len++] = -pid;
        } else if (sig == (SIGTRAP | 0x80)) {
                trace_syscall(t, pid);
        } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
                unsigned long born = 0;
                (void)ptrace(PTRACE_GETEVENTMSG, pid, NULL, &born);
                if (trace_take_fresh(t, -(pid_t)born))
                        trace_newborn(t, (pid_t)born);
                else if (t->fresh_len < sizeof(t->fresh) / sizeof(t->fresh[0]))
                        t->fresh[t->fresh_len++] = (pid_t)born;
                trace_go(t, pid, 0);
        } else if (!t->execed && pid == t->main && sig == SIGSTOP) {
                (void)ptrace(PTRACE_SETOPTIONS, pid, NULL, TRACE_OPTIONS);
                trace_go(t, pid, 0);
        } else if (!t->execed && pid == t->main && sig == SIGTRAP) { /* its exec: from here on it is the program */
                t->execed = true;
                trace_go(t, pid, 0);
        } else {
                trace_go(t, pid, sig == SIGTRAP ? 0 : sig);
        }
}

static void trace_idle(Trace *t, int64_t *asked_ms, int64_t deadline) {
        sigset_t set;
        int64_t now = trace_now_ms();

        if (now >= deadline && !t->end->late) {
                t->end->late = true;
                kill(t->main, SIGKILL);
        }
        if (t->spec->over && !t->end->termed && now - *asked_ms >= 2) {
                *asked_ms = now;
                if (t->spec->over(t->spec->userdata)) {
                        t->end->termed = true;
                        kill(t->main, SIGTERM);
                }
        }
        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        (void)sigtimedwait(&set, NULL, &(struct timespec){ .tv_nsec = 2000000 });
}

void trace_run(const TraceSpec *spec, TraceEnd *ret) {
        Trace t = { .spec = spec, .end = ret, .followed = -1 };
        int64_t asked_ms = 0, deadline = trace_now_ms() + spec->deadline_ms;

        *ret = (TraceEnd){ 0 };
        t.main = trace_spawn(spec);
        if (spec->each && spec->child == 0)
                t.followed = t.main;
        while (!t.ended) {
                int status;
                pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
                if (pid < 0)
                        world_die("waitpid");
                if (pid == 0)
                        trace_idle(&t, &asked_ms, deadline);
                else if (WIFSTOPPED(status))
                        trace_stopped(&t, pid, status);
                else if (pid == t.main) {
                        ret->status = status;
                        t.ended = true;
                }
        }
        for (size_t i = 0; i < t.fresh_len; i++)
                if (t.fresh[i] < 0) /* its parent died before it could tell of it */
                        (void)ptrace(PTRACE_DETACH, -t.fresh[i], NULL, 0);
}

bool trace_wait_rest(int64_t ms) {
        int64_t deadline = trace_now_ms() + ms;
        bool in_time = true;

        for (;;) {
                int status;
                sigset_t set;
                pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
                if (pid < 0 && errno == ECHILD)
                        return in_time;
                if (pid > 0 && WIFSTOPPED(status))
                        (void)ptrace(PTRACE_DETACH, pid, NULL, 0);
                if (pid > 0)
                        continue;
                if (trace_now_ms() >= deadline && in_time) {
                        char path[64], list[4096] = "";
                        FILE *f;
                        in_time = false;
                        snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
                        f = fopen(path, "re");
                        if (f && fgets(list, sizeof(list), f))
                                for (char *at = list, *next; (pid = (pid_t)strtol(at, &next, 10)) > 0; at = next)
                                        kill(pid, SIGKILL);
                        if (f)
                                fclose(f);
                }
                sigemptyset(&set);
                sigaddset(&set, SIGCHLD);
                (void)sigtimedwait(&set, NULL, &(struct timespec){ .tv_nsec = 1000000 });
        }
}

void trace_skip(pid_t pid) {
        struct user_regs_struct regs;

        if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
                world_die("registers");
        regs.orig_rax = (unsigned long long)-1;
        if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) < 0)
                world_die("registers");
}

void trace_result(pid_t pid, int64_t result) {
        struct user_regs_struct regs;

        if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
                world_die("registers");
        regs.rax = (unsigned long long)result;
        if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) < 0)
                world_die("registers");
}

void trace_shorten(pid_t pid, uint64_t len) {
        struct user_regs_struct regs;

        if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
                world_die("registers");
        regs.rdx = len;
        if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) < 0)
                world_die("registers");
}
