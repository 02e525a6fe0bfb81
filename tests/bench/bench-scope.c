/* bench-scope [COUNT]: the round trip that a scope costs a run: bus, StartTransientUnit,
 * JobRemoved, placed. COUNT (50) processes, one after the other, each moves itself. Needs a user
 * manager that cares for its caller: `systemd-run --user --pipe --wait bench-scope`, or
 * bench-scope.sh. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "run/scope.h"

enum { BENCH_COUNT_MAX = 1000 };

static double bench_times[BENCH_COUNT_MAX];

static double bench_now(void) {
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static __attribute__((noreturn)) void bench_child(int to) {
        char nonce[17], unit[96];
        ScopeSpec spec = {.unit = unit,
                          .description = "spoolgate bench",
                          .tasks_max = 512,
                          .memory_max = 1 << 30,
                          .timeout_ms = 10000};
        double begin;
        int r;

        hash_random_hex(nonce, 16);
        (void)snprintf(unit, sizeof(unit), "spoolgate-bench.up-%s.scope", nonce);
        begin = bench_now();
        r = scope_enter(&spec);
        begin = bench_now() - begin;
        if (r != 0) {
                fprintf(stderr, "bench-scope: %s (%d)\n", scope_stage(r), r);
                _exit(1);
        }
        _exit(write(to, &begin, sizeof(begin)) == (ssize_t)sizeof(begin) ? 0 : 1);
}

static int bench_one(double *ret) {
        int pair[2], status = 1;
        pid_t pid;

        if (pipe(pair) < 0)
                return -1;
        pid = fork();
        if (pid == 0)
                bench_child(pair[1]);
        (void)close(pair[1]);
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0 ||
            read(pair[0], ret, sizeof(*ret)) != (ssize_t)sizeof(*ret))
                status = 1;
        (void)close(pair[0]);
        return status == 0 ? 0 : -1;
}

static int bench_compare(const void *a, const void *b) {
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

int main(int argc, char **argv) {
        long count = argc > 1 ? strtol(argv[1], NULL, 10) : 50;

        if (count < 1 || count > BENCH_COUNT_MAX || hash_init() < 0)
                return 64;
        for (long i = 0; i < count; i++)
                if (bench_one(&bench_times[i]) < 0)
                        return 1;
        qsort(bench_times, (size_t)count, sizeof(bench_times[0]), bench_compare);
        printf("scope round trip, %ld times: min %.2f ms, median %.2f ms, 90 %% %.2f ms, max %.2f "
               "ms\n",
               count, bench_times[0], bench_times[count / 2], bench_times[count * 9 / 10],
               bench_times[count - 1]);
        return 0;
}
