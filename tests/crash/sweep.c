#include "sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SWEEP_REST_MS = 15000, SWEEP_ENV = 5 };

static bool sweep_over(void *userdata) {
        return world_settled(userdata);
}

void sweep_drain(const World *w, const char *const *env, TraceSpec *spec, TraceEnd *ret) {
        WorldPath drain = w->drain, home;
        char slug[] = WORLD_SLUG, path[] = "PATH=/nonexistent";
        char more[SWEEP_ENV][640];
        char *argv[] = { drain.text, slug, NULL };
        char *envp[SWEEP_ENV + 3] = { home.text, path };
        World copy = *w;

        if (snprintf(home.text, sizeof(home.text), "HOME=%s", w->home.text) >= (int)sizeof(home.text))
                world_die("HOME");
        for (size_t i = 0; env && env[i] && i < SWEEP_ENV; i++) {
                snprintf(more[i], sizeof(more[i]), "%s", env[i]);
                envp[i + 2] = more[i];
        }
        spec->argv = argv;
        spec->env = envp;
        if (!spec->over) {
                spec->over = sweep_over;
                if (!spec->userdata)
                        spec->userdata = &copy;
        }
        spec->deadline_ms = SWEEP_DEADLINE_MS;
        trace_run(spec, ret);
}

bool sweep_status_ok(int status) {
        static const int known[] = { 0, 70, 75, 78 };

        for (size_t i = 0; WIFEXITED(status) && i < sizeof(known) / sizeof(known[0]); i++)
                if (WEXITSTATUS(status) == known[i])
                        return true;
        return false;
}

/* Idle for the first time: recovered, looked at everything, tidied up. */
static TraceAct sweep_until_idle(void *userdata, const TraceStop *stop) {
        bool wait = stop->call == SYS_epoll_wait || stop->call == SYS_epoll_pwait || stop->call == SYS_epoll_pwait2;

        (void)userdata;
        if (!wait || !stop->entry)
                return TRACE_ON;
        kill(stop->pid, SIGTERM);
        return TRACE_LEAVE;
}

static bool sweep_never(void *userdata) {
        (void)userdata;
        return false;
}

static void sweep_look(const World *w, CheckReport *r) {
        TraceSpec spec = { .each = sweep_until_idle, .over = sweep_never };
        TraceEnd end;

        sweep_drain(w, NULL, &spec, &end);
        if (end.late || !WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0)
                check_breach(r, CHECK_I8, "a drain with nothing to do ends with %#x", (unsigned)end.status);
}

static void sweep_repair(const World *w, bool waited, CheckReport *r) {
        TraceSpec spec = { 0 };
        TraceEnd end;

        sweep_drain(w, NULL, &spec, &end);
        if (!waited && !world_settled(w)) { /* a keeper that was just being born held the lock yet: busy, and the next one's turn */
                (void)trace_wait_rest(SWEEP_REST_MS);
                spec = (TraceSpec){ 0 };
                sweep_drain(w, NULL, &spec, &end);
        }
        if (!trace_wait_rest(SWEEP_REST_MS))
                check_breach(r, CHECK_I8, "a process was left that doesn't end");
        if (end.late || !WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0)
                check_breach(r, CHECK_I8, "the healthy drain ends with %#x%s", (unsigned)end.status, end.late ? " (late)" : "");
}

void sweep_heal(const World *w, bool wait, SweepTotal *t) {
        CheckReport *r = &t->report;
        CheckGiven given;
        uint64_t before;

        check_given(w, &given);
        if (wait && !trace_wait_rest(SWEEP_REST_MS))
                check_breach(r, CHECK_I8, "a process was left that doesn't end");
        if (!world_settled(w)) /* else nothing is to be done, and the SIGTERM would come at its very start */
                sweep_repair(w, wait, r);
        check_world(w, r);
        check_kept(w, &given, r);
        sweep_look(w, r); /* it may tidy up: a look that was cancelled may have left its result after that */
        if (world_visible(w->state.text, "run"))
                check_breach(r, CHECK_I8, "run/ isn't empty");
        before = world_hash(w);
        if (world_dotfiles(w) > t->dotfiles)
                t->dotfiles = world_dotfiles(w);
        sweep_look(w, r);
        if (world_hash(w) != before)
                check_breach(r, CHECK_TIDY, "one more drain changes something");
        t->points++;
        (void)trace_wait_rest(SWEEP_REST_MS); /* nobody writes into the next world */
}

void sweep_all(char *const *roots, size_t workers, SweepWorker run, void *userdata, SweepTotal *ret) {
        SweepTotal *totals = mmap(NULL, sizeof(*totals) * SWEEP_WORLDS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pid_t pids[SWEEP_WORLDS];

        if (totals == MAP_FAILED || workers > SWEEP_WORLDS)
                world_die("worlds");
        fflush(stdout);
        for (size_t i = 0; i < workers; i++) {
                pids[i] = fork();
                if (pids[i] < 0)
                        world_die("fork");
                if (pids[i] == 0) {
                        static World w;
                        trace_begin();
                        world_open(&w, roots[i]);
                        run(&w, i, workers, &totals[i], userdata);
                        fflush(stdout);
                        _exit(0);
                }
        }
        *ret = (SweepTotal){ 0 };
        for (size_t i = 0; i < workers; i++) {
                int status;
                while (waitpid(pids[i], &status, 0) < 0 && errno == EINTR)
                        ;
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                        fprintf(stderr, "sweep: a sweeping process ended with %#x\n", (unsigned)status);
                        exit(2);
                }
                ret->points += totals[i].points;
                ret->missed += totals[i].missed;
                if (totals[i].dotfiles > ret->dotfiles)
                        ret->dotfiles = totals[i].dotfiles;
                ret->report.uncertain_ran += totals[i].report.uncertain_ran;
                for (size_t k = 0; k < CHECK_RULES; k++)
                        ret->report.count[k] += totals[i].report.count[k];
                for (size_t k = 0; k < 32; k++)
                        ret->report.states[k] += totals[i].report.states[k];
        }
        munmap(totals, sizeof(*totals) * SWEEP_WORLDS);
}

void sweep_print(const SweepTotal *t, const char *what) {
        const size_t *s = t->report.states;

        printf("answers: %zu done, %zu failed, %zu uncertain (%zu of them ran), %zu denied, %zu expired; at most %zu dotfiles\n",
               s[W_DONE], s[W_FAILED], s[W_UNCERTAIN], t->report.uncertain_ran, s[W_DENIED], s[W_EXPIRED], t->dotfiles);
        for (unsigned i = 0; i < CHECK_RULES; i++)
                if (t->report.count[i])
                        printf("violated: %s: %zu\n", check_name((CheckRule)i), t->report.count[i]);
        printf("%zu %s, %zu violations\n", t->points, what, check_total(&t->report));
}

unsigned long sweep_number(const char *text) {
        char *end;
        unsigned long n = strtoul(text, &end, 10);

        if (*end || !n) {
                fprintf(stderr, "sweep: '%s' is no number\n", text);
                exit(64);
        }
        return n;
}

int sweep_end(SweepTotal *total, const SweepTotal *first, int64_t until_ms, const char *what) {
        for (size_t i = 0; i < CHECK_RULES; i++)
                total->report.count[i] += first->report.count[i];
        if (until_ms && trace_now_ms() >= until_ms)
                printf("the time was up before the last point\n");
        total->points -= total->missed;
        sweep_print(total, what);
        return check_total(&total->report) == 0 && total->points > 0 ? 0 : 1;
}

unsigned long sweep_every(unsigned long budget_sec, int64_t took_ms, unsigned long points, size_t workers, unsigned long otherwise, int64_t *ret_until_ms) {
        *ret_until_ms = 0;
        if (!budget_sec)
                return otherwise;
        *ret_until_ms = trace_now_ms() + (int64_t)budget_sec * 1500;
        return (unsigned long)took_ms * points / (1000 * workers) / budget_sec + 1;
}
