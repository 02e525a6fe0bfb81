/* The real gate on one checkout, for the scripts beside this file and for tests/bench
 *
 *   gate seal CHECKOUT STATE GITDIR                 take the files of $GUARDED and $ENV_FILES, store the seal
 *   gate pin GITDIR                                 DEVICE:INODE
 *   gate check CHECKOUT STATE GITDIR PIN INTEGRITY  one line "CODE|MESSAGE|FILE: WHY|..."; exit 0 for ok, 1 refused, 2 no answer
 *   gate run CHECKOUT STATE GITDIR PIN INTEGRITY COMMAND...   check, run COMMAND, recheck: "changed|FILE|..."
 *   gate time N CHECKOUT STATE GITDIR PIN INTEGRITY  N checks in a row, microseconds each
 *   gate spawn N PROGRAM...                         the same of a program, its output thrown away
 *   gate race N CHECKOUT STATE GITDIR PIN seal      N checks while the first guarded file and EVIL (beside it) change places
 *
 * With $MEASURE set, check adds "ms N rss N" (of the inspection, KiB). $INSPECT is spoolgate-inspect, $JAIL landlock or seccomp. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "fs/pin.h"
#include "guard/ask.h"
#include "guard/guard.h"
#include "guard/seal.h"

typedef struct Gate {
        GuardSpec spec;
        Strv guarded, env;
} Gate;

static _Noreturn void gate_die(const char *what, int r) {
        fprintf(stderr, "gate: %s: %d (%s)\n", what, r, err_last());
        exit(2);
}

static void gate_words(const char *name, Strv *ret) {
        char *text = getenv(name), *save = NULL;

        if (!text)
                return;
        text = strdup(text);
        for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
                if (strv_add(ret, word) < 0)
                        gate_die("memory", 0);
        free(text);
}

static int gate_dir(const char *path) {
        PinRule any = { .owner = (uid_t)-1 };
        int fd = -EBADF, r = pin_host_dir(path, &any, &fd);

        if (r != 0)
                gate_die(path, r);
        return fd;
}

static void gate_open(Gate *g, char **argv) {
        const char *jail = getenv("JAIL");

        g->spec = (GuardSpec){ .inspect = getenv("INSPECT"), .jail = jail ? jail : "landlock" };
        gate_words("GUARDED", &g->guarded);
        gate_words("ENV_FILES", &g->env);
        g->spec.checkout_fd = gate_dir(argv[0]);
        g->spec.state_fd = gate_dir(argv[1]);
        g->spec.git_dir = argv[2];
        g->spec.guarded = &g->guarded;
        g->spec.env_files = &g->env;
}

static void gate_close(Gate *g) {
        strv_done(&g->guarded);
        strv_done(&g->env);
        close(g->spec.checkout_fd);
        close(g->spec.state_fd);
}

static void gate_pin(Gate *g, char **argv) {
        unsigned long long device = 0, inode = 0;

        if (sscanf(argv[3], "%llu:%llu", &device, &inode) != 2)
                gate_die("pin", 0);
        g->spec.git_device = device;
        g->spec.git_inode = inode;
        g->spec.need_seal = strcmp(argv[4], "head") != 0;
        g->spec.need_head = strcmp(argv[4], "seal") != 0;
}

static void gate_print(const Guard *guard) {
        printf("%s|%s", guard_name(guard_code(guard)), guard_message(guard));
        for (size_t i = 0; i < guard_files(guard)->len; i++)
                printf("|%s: %s", guard_files(guard)->items[i], guard_why(guard, i));
        putchar('\n');
        fflush(stdout);
}

static int gate_seal(char **argv) {
        Gate g = { .guarded = STRV_NULL };
        TakenList taken = TAKEN_LIST_NULL;
        Seal seal = { .time_ms = clock_wall_ms() };
        int r;

        gate_open(&g, argv);
        r = take_files(g.spec.checkout_fd, &g.guarded, &g.env, &taken);
        if (r != 0 || str_dup("test", &seal.by) < 0)
                gate_die("take", r);
        for (size_t i = 0; i < taken.len; i++) {
                SealEntry e = { .kind = TAKE_GUARDED };
                bool tracked = taken.items[i].kind == TAKE_GUARDED && !getenv("UNTRACKED");

                r = seal_entry(&taken.items[i], tracked, &e);
                if (r == 0)
                        r = seal_add(&seal, &e);
                if (r != 0)
                        gate_die(taken.items[i].path, r);
                seal_entry_done(&e);
        }
        r = seal_store(g.spec.state_fd, &seal, &taken);
        if (r != 0)
                gate_die("store", r);
        seal_done(&seal);
        taken_list_done(&taken);
        gate_close(&g);
        return 0;
}

static void gate_measure(int64_t began_ms) {
        struct rusage used;

        if (!getenv("MEASURE"))
                return;
        getrusage(RUSAGE_CHILDREN, &used);
        printf("ms %lld rss %ld\n", (long long)(clock_mono_ms() - began_ms), used.ru_maxrss);
}

static int gate_check(char **argv, char **command) {
        CLEANUP(guard_freep) Guard *guard = NULL;
        Strv changed = STRV_NULL;
        Gate g = { .guarded = STRV_NULL };
        int64_t began_ms = clock_mono_ms();
        int r, code;

        gate_open(&g, argv);
        gate_pin(&g, argv);
        r = guard_check(&g.spec, &guard);
        if (r < 0)
                gate_die("check", r);
        gate_print(guard);
        gate_measure(began_ms);
        code = guard_code(guard) == GUARD_OK ? 0 : 1;
        if (code == 0 && command) {
                pid_t pid = fork();

                if (pid == 0) {
                        execvp(command[0], command);
                        _exit(127);
                }
                waitpid(pid, NULL, 0);
                r = guard_recheck(guard, g.spec.checkout_fd, &changed);
                if (r < 0)
                        gate_die("recheck", r);
                printf("changed");
                for (size_t i = 0; i < changed.len; i++)
                        printf("|%s", changed.items[i]);
                putchar('\n');
                strv_done(&changed);
        }
        gate_close(&g);
        return code;
}

static int gate_time(int n, char **argv) {
        Gate g = { .guarded = STRV_NULL };
        struct timespec a, b;

        gate_open(&g, argv);
        gate_pin(&g, argv);
        for (int i = 0; i < n; i++) {
                Guard *guard = NULL;
                int r;

                clock_gettime(CLOCK_MONOTONIC, &a);
                r = guard_check(&g.spec, &guard);
                clock_gettime(CLOCK_MONOTONIC, &b);
                if (r < 0 || guard_code(guard) != GUARD_OK)
                        gate_die("time", r);
                guard_free(guard);
                printf("%ld\n", (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000);
        }
        gate_close(&g);
        return 0;
}

static int gate_spawn(int n, char **command) {
        for (int i = 0; i < n; i++) {
                struct timespec a, b;
                posix_spawn_file_actions_t actions;
                pid_t pid;

                clock_gettime(CLOCK_MONOTONIC, &a);
                posix_spawn_file_actions_init(&actions);
                posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
                if (posix_spawnp(&pid, command[0], &actions, NULL, command, environ) != 0)
                        gate_die(command[0], 0);
                waitpid(pid, NULL, 0);
                clock_gettime(CLOCK_MONOTONIC, &b);
                posix_spawn_file_actions_destroy(&actions);
                printf("%ld\n", (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000);
        }
        return 0;
}

/* The agent: the guarded file is the evil one half of the time, each time by one rename. */
static pid_t gate_racer(int checkout_fd, const char *path, const char *evil) {
        pid_t pid = fork();

        while (pid == 0)
                if (renameat2(checkout_fd, path, checkout_fd, evil, RENAME_EXCHANGE) < 0)
                        _exit(1);
        return pid;
}

static bool gate_same(int fd, const char *sha256) {
        char seen[HASH_HEX_SIZE];
        uint64_t size;

        return hash_sha256_fd(fd, TAKE_MAX, seen, &size) == 0 && strcmp(seen, sha256) == 0;
}

static int gate_race(int n, char **argv) {
        int ok = 0, evil = 0, by_path = 0, unreported = 0;
        PinRule any = { .owner = (uid_t)-1 };
        char other[4200];
        Gate g = { .guarded = STRV_NULL };
        Seal seal = SEAL_NULL;
        const char *path, *sha256;
        pid_t pid;

        gate_open(&g, argv);
        gate_pin(&g, argv);
        if (seal_load(g.spec.state_fd, &seal) != 0)
                gate_die("seal", 0);
        path = g.guarded.items[0];
        sha256 = seal_find(&seal, TAKE_GUARDED, path)->sha256;
        snprintf(other, sizeof(other), "%s.EVIL", path);
        pid = gate_racer(g.spec.checkout_fd, path, other);
        for (int i = 0; i < n; i++) {
                CLEANUP(guard_freep) Guard *guard = NULL;
                Strv changed = STRV_NULL;
                int fd = -EBADF;
                bool ran_evil;

                if (guard_check(&g.spec, &guard) < 0)
                        gate_die("race", i);
                if (guard_code(guard) != GUARD_OK)
                        continue;
                ok++;
                evil += !gate_same(guard_bytes_fd(guard, path), sha256);
                if (pin_file_at(g.spec.checkout_fd, path, &any, PIN_ANY_LINKS, &fd, NULL) != 0)
                        continue;
                ran_evil = !gate_same(fd, sha256);
                close(fd);
                by_path += ran_evil;
                if (guard_recheck(guard, g.spec.checkout_fd, &changed) < 0)
                        gate_die("recheck", i);
                unreported += ran_evil && changed.len == 0;
                strv_done(&changed);
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        printf("tries %d ok %d evil %d by-path %d unreported %d\n", n, ok, evil, by_path, unreported);
        seal_done(&seal);
        gate_close(&g);
        return evil == 0 && unreported == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
        struct stat st;

        if (argc >= 3 && strcmp(argv[1], "pin") == 0 && stat(argv[2], &st) == 0) {
                printf("%llu:%llu\n", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
                return 0;
        }
        if (argc == 5 && strcmp(argv[1], "seal") == 0)
                return gate_seal(argv + 2);
        if (argc == 7 && strcmp(argv[1], "check") == 0)
                return gate_check(argv + 2, NULL);
        if (argc > 7 && strcmp(argv[1], "run") == 0)
                return gate_check(argv + 2, argv + 7);
        if (argc == 8 && strcmp(argv[1], "time") == 0)
                return gate_time((int)strtol(argv[2], NULL, 10), argv + 3);
        if (argc > 3 && strcmp(argv[1], "spawn") == 0)
                return gate_spawn((int)strtol(argv[2], NULL, 10), argv + 3);
        if (argc == 8 && strcmp(argv[1], "race") == 0)
                return gate_race((int)strtol(argv[2], NULL, 10), argv + 3);
        return 64;
}
