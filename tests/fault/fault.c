/* fault/fault.c - one host fault at the Nth system call of a drain with mixed requests, for every N and every fault that the
 * call knows; then one healthy drain
 *
 *   fault [--every K | --budget SECONDS] [--from CASE] [--to CASE] [--child K] [--call N] [--sticky] WORLD...
 *
 * --sticky: every such call from the Nth on, as a full disk or a used-up table does it. --child K: in the K-th process that the
 * drain starts. Sleeps are cut short and counted: whoever stops for host trouble must have paced itself. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sweep.h"

enum { FAULT_SHORT = 4096 /* no errno: the call does a part */, FAULT_CALLS = 60000, FAULT_SPIN = 60000, FAULT_KINDS = 8 };

typedef struct FaultRule {
        long call;
        int faults[FAULT_KINDS];
} FaultRule;

static const FaultRule fault_rules[] = {
        { SYS_openat2, { EIO, ENOSPC, EMFILE, ENOMEM, EROFS, EDQUOT, EINTR } },
        { SYS_openat, { EIO, ENOSPC, EMFILE, ENOMEM, EROFS, EDQUOT, EINTR } },
        { SYS_read, { EIO, EINTR, FAULT_SHORT } },
        { SYS_pread64, { EIO, EINTR, FAULT_SHORT } },
        { SYS_write, { EIO, ENOSPC, EDQUOT, EINTR, FAULT_SHORT } },
        { SYS_pwrite64, { EIO, ENOSPC, EDQUOT, EINTR, FAULT_SHORT } },
        { SYS_fsync, { EIO, ENOSPC, EDQUOT, EROFS } },
        { SYS_fdatasync, { EIO, ENOSPC, EDQUOT, EROFS } },
        { SYS_ftruncate, { EIO, EROFS, EINTR } },
        { SYS_fchmod, { EIO, EROFS } },
        { SYS_renameat2, { EIO, ENOSPC, ENOMEM, EROFS, EDQUOT, EXDEV } },
        { SYS_unlinkat, { EIO, ENOMEM, EROFS } },
        { SYS_mkdirat, { EIO, ENOSPC, ENOMEM, EROFS, EDQUOT } },
        { SYS_newfstatat, { EIO, ENOMEM } },
        { SYS_fstat, { EIO, ENOMEM } },
        { SYS_getdents64, { EIO, ENOMEM } },
        { SYS_flock, { EINTR, ENOLCK } },
        { SYS_fcntl, { EMFILE, ENOLCK } },
        { SYS_mmap, { ENOMEM } },
        { SYS_clone, { EAGAIN, ENOMEM } },
        { SYS_clone3, { EAGAIN, ENOMEM } },
        { SYS_pidfd_open, { EMFILE, ENOMEM } },
        { SYS_socketpair, { EMFILE, ENOMEM } },
        { SYS_pipe2, { EMFILE } },
        { SYS_epoll_create1, { EMFILE, ENOMEM } },
        { SYS_epoll_ctl, { ENOSPC, ENOMEM } },
        { SYS_epoll_wait, { EINTR } },
        { SYS_inotify_init1, { EMFILE, ENOMEM } },
        { SYS_inotify_add_watch, { ENOSPC, ENOMEM } },
        { SYS_signalfd4, { EMFILE, ENOMEM } },
        { SYS_timerfd_create, { EMFILE, ENOMEM } },
        { SYS_waitid, { EINTR } },
        { SYS_poll, { EINTR } },
};

typedef struct FaultCase {
        unsigned call; /* the Nth, by entry stops; when it is another one in that run, the next that knows the fault */
        int fault;
} FaultCase;

typedef struct Fault {
        unsigned long every, from, to;
        unsigned child, call; /* call: cases of this one only; 0: all */
        bool sticky;
        int64_t until_ms;
} Fault;

typedef struct FaultRun {
        const World *world;
        const FaultCase *at;       /* NULL: the whole run; its calls are noted */
        bool sticky, hit, slept;
        long injected;             /* the call that got it */
        unsigned calls, skip;      /* skip: calls before the program's first own one */
        int64_t pending;           /* result for the exit stop */
        bool has_pending;
        short noted[FAULT_CALLS];
} FaultRun;

static const FaultRule *fault_rule(long call) {
        for (size_t i = 0; i < sizeof(fault_rules) / sizeof(fault_rules[0]); i++)
                if (fault_rules[i].call == call)
                        return &fault_rules[i];
        return NULL;
}

static bool fault_knows(long call, int fault) {
        const FaultRule *rule = fault_rule(call);

        for (size_t i = 0; rule && i < FAULT_KINDS; i++)
                if (rule->faults[i] == fault)
                        return true;
        return false;
}

/* Removing from an epoll set never wants room. */
static bool fault_can(const FaultRun *f, const TraceStop *stop) {
        return fault_knows(stop->call, f->at->fault) && (stop->call != SYS_epoll_ctl || stop->args[1] == EPOLL_CTL_ADD);
}

static void fault_inject(FaultRun *f, const TraceStop *stop) {
        f->hit = true;
        f->injected = stop->call;
        if (f->at->fault == FAULT_SHORT) {
                if (stop->args[2] > 1)
                        trace_shorten(stop->pid, 1);
                return;
        }
        trace_skip(stop->pid);
        f->pending = -f->at->fault;
        f->has_pending = true;
}

static TraceAct fault_entry(FaultRun *f, const TraceStop *stop) {
        f->calls++;
        if (!f->at && f->calls < FAULT_CALLS)
                f->noted[f->calls] = (short)stop->call;
        if (!f->skip && (stop->call == SYS_openat2 || stop->call == SYS_close_range)) /* a drain, a keeper: their own work begins */
                f->skip = f->calls;
        if (f->calls > FAULT_SPIN)
                return TRACE_KILL;
        if (stop->call == SYS_clock_nanosleep || stop->call == SYS_nanosleep) {
                f->slept = true;
                trace_skip(stop->pid);
                f->pending = 0;
                f->has_pending = true;
        } else if (f->at && f->skip && f->calls >= f->at->call && (!f->hit || f->sticky) && fault_can(f, stop)) {
                fault_inject(f, stop);
        }
        return TRACE_ON;
}

static TraceAct fault_each(void *userdata, const TraceStop *stop) {
        FaultRun *f = userdata;

        if (stop->entry)
                return fault_entry(f, stop);
        if (f->has_pending)
                trace_result(stop->pid, f->pending);
        f->has_pending = false;
        return TRACE_ON;
}

static bool fault_over(void *userdata) {
        const FaultRun *f = userdata;

        return world_settled(f->world);
}

static const char *fault_name(int fault) {
        return fault == FAULT_SHORT ? "a short count" : strerrorname_np(fault);
}

/* Into the words printed with each breach, once it is known. */
static void fault_where(const FaultRun *f, char *text, size_t size) {
        if (f->at)
                snprintf(text, size, "call %u (number %ld)%s: %s", f->at->call, f->injected, f->sticky ? " and on" : "", fault_name(f->at->fault));
}

static void fault_judge(const FaultRun *f, unsigned child, const TraceEnd *end, CheckReport *r) {
        bool trouble = WIFEXITED(end->status) && WEXITSTATUS(end->status) != 0;

        if (end->late)
                check_breach(r, CHECK_I8, "the drain goes on and on");
        else if (f->calls > FAULT_SPIN)
                check_breach(r, CHECK_SPIN, "%u calls", f->calls);
        else if (!sweep_status_ok(end->status) && !(end->termed && WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGTERM))
                check_breach(r, CHECK_STATUS, "the drain ends with %#x", (unsigned)end->status);
        else if (trouble && !f->slept && child == 0)
                check_breach(r, CHECK_SPIN, "it ends with %d and has not paced itself", WEXITSTATUS(end->status));
}

static void fault_point(World *w, const Fault *o, const FaultCase *at, FaultRun *f, SweepTotal *t) {
        TraceSpec spec = { .each = fault_each, .over = fault_over, .userdata = f, .child = o->child };
        char where[96] = "the whole run";
        TraceEnd end;

        memset(f, 0, offsetof(FaultRun, noted));
        f->world = w;
        f->at = at;
        f->sticky = o->sticky;
        world_reset(w);
        world_fill(w);
        t->report.where = where;
        t->report.faulty = at;
        t->report.also = o->child ? W_UNCERTAIN | W_FAILED : 0;
        sweep_drain(w, NULL, &spec, &end);
        fault_where(f, where, sizeof(where));
        fault_judge(f, o->child, &end, &t->report);
        sweep_heal(w, true, t);
        t->missed += at && !f->hit;
}

/* An interrupt that never ends is none. */
static size_t fault_cases(const FaultRun *f, bool sticky, FaultCase **ret) {
        FaultCase *list = calloc(FAULT_CALLS, FAULT_KINDS * sizeof(*list));
        size_t n = 0;

        if (!list)
                world_die("memory");
        for (unsigned c = f->skip ? f->skip : 1; c <= f->calls && c < FAULT_CALLS; c++) {
                const FaultRule *rule = fault_rule(f->noted[c]);
                for (size_t i = 0; rule && i < FAULT_KINDS; i++)
                        if (rule->faults[i] && !(sticky && (rule->faults[i] == EINTR || rule->faults[i] == FAULT_SHORT)))
                                list[n++] = (FaultCase){ c, rule->faults[i] };
        }
        *ret = list;
        return n;
}

static void fault_worker(World *w, size_t worker, size_t workers, SweepTotal *t, void *userdata) {
        const Fault *o = userdata;
        static FaultRun f;
        FaultCase *cases;
        size_t n;

        fault_point(w, o, NULL, &f, t);
        n = fault_cases(&f, o->sticky, &cases);
        t->points = 0;
        for (size_t i = o->from - 1 + worker * o->every; i < n && i < o->to; i += workers * o->every) {
                if (o->call && cases[i].call != o->call)
                        continue;
                if (o->until_ms && trace_now_ms() >= o->until_ms)
                        break;
                fault_point(w, o, &cases[i], &f, t);
        }
        free(cases);
}

/* The whole run: how many cases there are. */
static void fault_first(World *w, size_t worker, size_t workers, SweepTotal *t, void *userdata) {
        const Fault *o = userdata;
        static FaultRun f;
        FaultCase *cases;

        (void)worker;
        (void)workers;
        fault_point(w, o, NULL, &f, t);
        t->points = fault_cases(&f, o->sticky, &cases);
        free(cases);
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "every", required_argument, NULL, 'e' }, { "budget", required_argument, NULL, 'b' },
                { "from", required_argument, NULL, 'f' },  { "to", required_argument, NULL, 't' },
                { "child", required_argument, NULL, 'c' }, { "call", required_argument, NULL, 'n' },
                { "sticky", no_argument, NULL, 's' }, { 0 },
        };
        Fault f = { .every = 1, .from = 1, .to = (unsigned long)-1 };
        unsigned long budget = 0;
        SweepTotal first, total;
        size_t workers;
        int64_t began;
        int o;

        while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0)
                switch (o) {
                case 'e': f.every = sweep_number(optarg); break;
                case 'b': budget = sweep_number(optarg); break;
                case 'f': f.from = sweep_number(optarg); break;
                case 't': f.to = sweep_number(optarg); break;
                case 'c': f.child = (unsigned)sweep_number(optarg); break;
                case 'n': f.call = (unsigned)sweep_number(optarg); break;
                case 's': f.sticky = true; break;
                default: return 64;
                }
        workers = (size_t)(argc - optind);
        if (!workers)
                return 64;
        began = trace_now_ms();
        sweep_all(argv + optind, 1, fault_first, &f, &first);
        f.every = sweep_every(budget, trace_now_ms() - began, first.points, workers, f.every, &f.until_ms);
        printf("%s%s: %zu faults in the whole run, every %lu.\n", f.child ? "child" : "drain", f.sticky ? ", from a call on" : "", first.points, f.every);
        sweep_all(argv + optind, workers, fault_worker, &f, &total);
        return sweep_end(&total, &first, f.until_ms, "faults");
}
