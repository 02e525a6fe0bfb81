/* fault/memory.c - the Nth allocation of a drain with mixed requests fails, for every N; then one healthy drain
 *
 *   memory [--budget SECONDS] [--from N] [--to N] [--on] LIBRARY WORLD...     LIBRARY: fault/malloc.c, preloaded
 *
 * --on: from the Nth on none succeeds. Without a budget every N is tried. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sweep.h"

enum { MEMORY_LOADER = 127 /* the program was not even loaded */ };

typedef struct Memory {
        const char *library;
        unsigned long every, from, to;
        int64_t until_ms;
        bool on;
} Memory;

typedef struct MemoryRun {
        const World *world;
        bool slept, pending;
} MemoryRun;

/* Sleeps are cut short and counted: whoever stops for want of memory must have paced itself. */
static TraceAct memory_each(void *userdata, const TraceStop *stop) {
        MemoryRun *m = userdata;

        if (!stop->entry) {
                if (m->pending)
                        trace_result(stop->pid, 0);
                m->pending = false;
        } else if (stop->call == SYS_clock_nanosleep) {
                m->slept = m->pending = true;
                trace_skip(stop->pid);
        }
        return TRACE_ON;
}

static bool memory_over(void *userdata) {
        const MemoryRun *m = userdata;

        return world_settled(m->world);
}

static void memory_judge(const MemoryRun *m, const TraceEnd *end, CheckReport *r) {
        int code = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : -1;
        bool ours = end->termed && WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGTERM;

        if (end->late)
                check_breach(r, CHECK_I8, "the drain goes on and on");
        else if (!ours && code != MEMORY_LOADER && !sweep_status_ok(end->status))
                check_breach(r, CHECK_STATUS, "the drain ends with %#x", (unsigned)end->status);
        else if ((code == 75 || code == 78) && !m->slept)
                check_breach(r, CHECK_SPIN, "it ends with %d and has not paced itself", code);
}

static void memory_point(World *w, const Memory *o, unsigned long at, SweepTotal *t) {
        char number[64], preload[300], on[32], tally[600], where[64];
        const char *env[] = { number, preload, tally, o->on ? on : NULL, NULL };
        MemoryRun m = { .world = w };
        TraceSpec spec = { .each = memory_each, .over = memory_over, .userdata = &m };
        TraceEnd end;

        world_reset(w);
        world_fill(w);
        snprintf(where, sizeof(where), "allocation %lu%s", at, o->on ? " and on" : "");
        snprintf(number, sizeof(number), "FAULT_MALLOC=%lu", at);
        snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", o->library);
        snprintf(tally, sizeof(tally), "FAULT_TALLY=%s/tally", w->home.text);
        snprintf(on, sizeof(on), "FAULT_MALLOC_ON=1");
        t->report.where = where;
        t->report.faulty = true;
        t->report.also = W_UNCERTAIN | W_FAILED; /* a keeper counts on */
        sweep_drain(w, env, &spec, &end);
        memory_judge(&m, &end, &t->report);
        sweep_heal(w, true, t);
}

static void memory_worker(World *w, size_t worker, size_t workers, SweepTotal *t, void *userdata) {
        const Memory *o = userdata;

        for (unsigned long at = o->from + worker * o->every; at <= o->to; at += workers * o->every) {
                if (o->until_ms && trace_now_ms() >= o->until_ms)
                        break;
                memory_point(w, o, at, t);
        }
}

/* The whole run: how many allocations there are. */
static void memory_first(World *w, size_t worker, size_t workers, SweepTotal *t, void *userdata) {
        char text[32];

        (void)worker;
        (void)workers;
        memory_point(w, userdata, 0, t);
        t->points = world_read(w->home.text, "tally", text, sizeof(text), NULL) ? strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "budget", required_argument, NULL, 'b' }, { "from", required_argument, NULL, 'f' },
                { "to", required_argument, NULL, 't' },     { "on", no_argument, NULL, 'o' }, { 0 },
        };
        Memory m = { .every = 1, .from = 1 };
        unsigned long budget = 0;
        SweepTotal first, total;
        size_t workers;
        int64_t began;
        int o;

        while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0)
                switch (o) {
                case 'b': budget = strtoul(optarg, NULL, 10); break;
                case 'f': m.from = strtoul(optarg, NULL, 10); break;
                case 't': m.to = strtoul(optarg, NULL, 10); break;
                case 'o': m.on = true; break;
                default: return 64;
                }
        if (argc - optind < 2 || m.from == 0)
                return 64;
        m.library = argv[optind];
        workers = (size_t)(argc - optind - 1);
        began = trace_now_ms();
        sweep_all(argv + optind + 1, 1, memory_first, &m, &first);
        if (!m.to)
                m.to = first.points;
        m.every = sweep_every(budget, trace_now_ms() - began, m.to, workers, m.every, &m.until_ms);
        printf("memory%s: %zu allocations in the whole run, every %lu.\n", m.on ? ", from one on" : "", first.points, m.every);
        sweep_all(argv + optind + 1, workers, memory_worker, &m, &total);
        return sweep_end(&total, &first, m.until_ms, "failed allocations") || first.points == 0;
}
