/* crash/sweep.h - what the sweeps share: how the drain is run, and how a world is healed and judged afterwards */
#pragma once
#include "check.h"
#include "trace.h"
#include "world.h"

enum { SWEEP_DEADLINE_MS = 30000, SWEEP_WORLDS = 8 };

typedef struct SweepTotal { /* shared between the processes that sweep, one world each */
        CheckReport report;
        size_t points, missed; /* missed: the program had ended before */
        size_t dotfiles;       /* most that were ever left */
} SweepTotal;

/* The drain of w under spec (argv, env, over and deadline are set here). env: more "K=V", NULL-ended, 5 at the most, or NULL. */
void sweep_drain(const World *w, const char *const *env, TraceSpec *spec, TraceEnd *ret);
/* A healthy drain, the invariants, and two more that must change nothing. wait: what an earlier drain left running ends first. */
void sweep_heal(const World *w, bool wait, SweepTotal *t);
/* An exit status that spoolgate-drain(8) knows. */
bool sweep_status_ok(int status);

typedef void (*SweepWorker)(World *w, size_t worker, size_t workers, SweepTotal *t, void *userdata);
/* One process a world; the totals are added up. */
void sweep_all(char *const *roots, size_t workers, SweepWorker run, void *userdata, SweepTotal *ret);
/* "N kill points, N violations", with what became of the requests. */
void sweep_print(const SweepTotal *t, const char *what);
