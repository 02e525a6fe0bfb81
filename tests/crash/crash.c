/* crash/crash.c - SIGKILL at the Nth system call stop of a drain with mixed requests, for every N; then one healthy drain
 *
 *   crash [--every K | --budget SECONDS] [--from N] [--to N] [--child K] [--mutant] WORLD...
 *
 * --child K: not the drain dies but the K-th process that it starts (a keeper, an inspection). --mutant: succeeds only when double runs are
 * found. One process a world. Status 0: no violation. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "sweep.h"

typedef struct Crash {
        unsigned long every, from, to;
        unsigned child;
        bool mutant;
        int64_t until_ms; /* 0: as long as it takes */
} Crash;

typedef struct CrashPoint {
        World *world;
        unsigned long at;
        bool hit;
} CrashPoint;

static TraceAct crash_each(void *userdata, const TraceStop *stop) {
        CrashPoint *p = userdata;

        if (stop->n != p->at)
                return TRACE_ON;
        p->hit = true;
        return TRACE_KILL;
}

static bool crash_over(void *userdata) {
        const CrashPoint *p = userdata;

        return world_settled(p->world);
}

/* at 0: the whole run. */
static bool crash_point(World *w, const Crash *c, unsigned long at, SweepTotal *t, unsigned long *ret_stops) {
        CrashPoint p = { w, at, false };
        TraceSpec spec = { .each = crash_each, .over = crash_over, .userdata = &p, .child = c->child };
        char where[64];
        TraceEnd end;

        world_reset(w);
        world_fill(w);
        snprintf(where, sizeof(where), "at %lu", at);
        t->report.where = where;
        t->report.quiet = c->mutant ? 4 : 0;
        t->report.faulty = c->child; /* it may be spoolgate-inspect: integrity-error */
        t->report.also = c->child ? W_UNCERTAIN | W_FAILED : 0; /* a look whose keeper dies has no end, or no start */
        sweep_drain(w, NULL, &spec, &end);
        if (end.late)
                check_breach(&t->report, CHECK_I8, "the drain goes on and on");
        sweep_heal(w, c->child != 0 || at % 4 != 1, t);
        t->missed += !p.hit;
        *ret_stops = end.stops;
        return p.hit;
}

static void crash_worker(World *w, size_t worker, size_t workers, SweepTotal *t, void *userdata) {
        const Crash *c = userdata;
        unsigned long stops;

        for (unsigned long at = c->from + worker * c->every; at <= c->to && (!c->until_ms || trace_now_ms() < c->until_ms);
             at += workers * c->every)
                (void)crash_point(w, c, at, t, &stops);
}

/* The whole run first: how long it is, and what a point costs. */
static void crash_first(World *w, size_t worker, size_t workers, SweepTotal *t, void *userdata) {
        Crash *c = userdata;
        unsigned long stops;

        (void)worker;
        (void)workers;
        (void)crash_point(w, c, 0, t, &stops);
        t->points = stops; /* how it gets out of this process */
        t->missed = 0;
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "every", required_argument, NULL, 'e' }, { "budget", required_argument, NULL, 'b' },
                { "from", required_argument, NULL, 'f' },  { "to", required_argument, NULL, 't' },
                { "child", required_argument, NULL, 'c' }, { "mutant", no_argument, NULL, 'm' }, { 0 },
        };
        Crash c = { .every = 1, .from = 1 };
        unsigned long budget = 0;
        SweepTotal first, total;
        size_t workers;
        int64_t began;
        int o;

        while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0)
                switch (o) {
                case 'e': c.every = sweep_number(optarg); break;
                case 'b': budget = sweep_number(optarg); break;
                case 'f': c.from = sweep_number(optarg); break;
                case 't': c.to = sweep_number(optarg); break;
                case 'c': c.child = (unsigned)sweep_number(optarg); break;
                case 'm': c.mutant = true; break;
                default: return 64;
                }
        workers = (size_t)(argc - optind);
        if (!workers)
                return 64;
        began = trace_now_ms();
        sweep_all(argv + optind, 1, crash_first, &c, &first);
        if (!c.to)
                c.to = first.points;
        c.every = sweep_every(budget, trace_now_ms() - began, c.to, workers, c.every, &c.until_ms);
        printf("%s: %lu stops in the whole run, every %lu. from %lu to %lu\n", c.child ? "child" : "drain", (unsigned long)first.points, c.every, c.from, c.to);
        sweep_all(argv + optind, workers, crash_worker, &c, &total);
        o = sweep_end(&total, &first, c.until_ms, "kill points");
        return c.mutant ? total.report.count[CHECK_I2] == 0 : o;
}
