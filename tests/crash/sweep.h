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
/* A positive number of the command line, or the end (64). */
unsigned long sweep_number(const char *text);
/* Every which point, so that it takes so many seconds when one took took_ms (else: without a budget), and when it must be over. */
unsigned long sweep_every(unsigned long budget_sec, int64_t took_ms, unsigned long points, size_t workers, unsigned long otherwise, int64_t *ret_until_ms);
/* first: of the whole run that went before; until_ms: of the time budget, 0 without one. Prints all, gives the exit status. */
int sweep_end(SweepTotal *total, const SweepTotal *first, int64_t until_ms, const char *what);
/* "N kill points, N violations", with what became of the requests. */
void sweep_print(const SweepTotal *t, const char *what);
