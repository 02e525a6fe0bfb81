/* floor serve SPOOL STATE PROGRAM COUNT | floor ask SPOOL COUNT CPU-PID | floor cold SPOOL COUNT
 * PROGRAM ARG...
 *
 * serve: the least that any program must do for a `status`: wait for a request, claim it, say
 * `running`, put "start" on record with fdatasync, fork and execve PROGRAM with a pipe, write its
 * output to a log, put "end" on record with fdatasync, publish the response, archive. No parser, no
 * gate, no redaction, no deadline. ask: a client on inotify; one line a request: milliseconds from
 * the rename to the final response. The last line is the CPU time in milliseconds a request of
 * process CPU-PID and the children it has waited for. cold: the same, PROGRAM started after each
 * request; CPU time from its wait4(2). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FLOOR_TEXT = 64 * 1024, FLOOR_TIMEOUT_MS = 20000 };

static char floor_text[FLOOR_TEXT];

static __attribute__((noreturn)) void floor_die(const char *what) {
        fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
        exit(1);
}

static int floor_dir(const char *top, const char *name) {
        char path[PATH_MAX];
        int fd;

        (void)snprintf(path, sizeof(path), "%s/%s", top, name);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                floor_die(path);
        return fd;
}

static int floor_watch(const char *top, const char *name) {
        int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        char path[PATH_MAX];

        (void)snprintf(path, sizeof(path), "%s/%s", top, name);
        if (fd < 0 || inotify_add_watch(fd, path, IN_MOVED_TO) < 0)
                floor_die(path);
        return fd;
}

static void floor_write(int fd, const char *text, size_t len) {
        if (write(fd, text, len) != (ssize_t)len)
                floor_die("write");
}

static void floor_publish(int dir, const char *name, const char *text) {
        int fd = openat(dir, ".floor", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        if (fd < 0)
                floor_die(name);
        floor_write(fd, text, strlen(text));
        if (close(fd) < 0 || renameat(dir, ".floor", dir, name) < 0)
                floor_die(name);
}

static void floor_record(int audit, const char *event, const char *name) {
        char line[512];

        (void)snprintf(line, sizeof(line), "{\"event\":\"%s\",\"request\":\"%s\"}\n", event, name);
        floor_write(audit, line, strlen(line));
        if (fdatasync(audit) < 0)
                floor_die("fdatasync");
}

static void floor_run(const char *program, int log) {
        int pair[2], status;
        ssize_t n;
        pid_t pid;

        if (pipe2(pair, O_CLOEXEC) < 0)
                floor_die("pipe");
        pid = fork();
        if (pid == 0) {
                char *argv[] = {strdup(program), strdup("status"), NULL};

                (void)setsid();
                (void)dup2(pair[1], 1);
                (void)dup2(pair[1], 2);
                (void)execve(program, argv, environ);
                _exit(127);
        }
        (void)close(pair[1]);
        while ((n = read(pair[0], floor_text, sizeof(floor_text) - 1)) > 0) {
                floor_text[n] = '\0';
                floor_write(log, floor_text, (size_t)n);
        }
        (void)close(pair[0]);
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
                floor_die(program);
}

static void floor_answer(char **argv, int audit, const char *name) {
        static int requests = -1, processing, responses, archive;
        char answer[512], log_name[512];
        int fd, log;

        if (requests < 0) {
                requests = floor_dir(argv[0], "requests");
                processing = floor_dir(argv[0], "processing");
                responses = floor_dir(argv[0], "responses");
                archive = floor_dir(argv[0], "archive");
        }
        (void)snprintf(answer, sizeof(answer), "%s.response.json", name);
        (void)snprintf(log_name, sizeof(log_name), "%s.log", name);
        fd = -1;
        if (renameat(requests, name, processing, name) < 0 ||
            (fd = openat(processing, name, O_RDONLY | O_CLOEXEC)) < 0 ||
            read(fd, floor_text, sizeof(floor_text)) <= 0)
                floor_die(name);
        (void)close(fd);
        log = openat(archive, log_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (log < 0)
                floor_die(log_name);
        floor_record(audit, "start", name);
        floor_publish(responses, answer, "{\"v\":1,\"state\":\"running\"}\n");
        floor_run(argv[2], log);
        (void)close(log);
        floor_record(audit, "end", name);
        floor_publish(responses, answer, "{\"v\":1,\"state\":\"done\"}\n");
        if (renameat(processing, name, archive, name) < 0)
                floor_die(name);
}

/* Request names in dir; how many were answered. */
static int floor_pass(char **argv, int audit) {
        char path[PATH_MAX];
        const struct dirent *e;
        int n = 0;
        DIR *d;

        (void)snprintf(path, sizeof(path), "%s/requests", argv[0]);
        d = opendir(path);
        if (!d)
                floor_die(path);
        while ((e = readdir(d)))
                if (e->d_name[0] != '.') {
                        floor_answer(argv, audit, e->d_name);
                        n++;
                }
        (void)closedir(d);
        return n;
}

static int floor_serve(char **argv) {
        int state = floor_dir(argv[1], "."), watch = floor_watch(argv[0], "requests");
        int audit = openat(state, "floor.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        long left = strtol(argv[3], NULL, 10);
        char events[4096];

        while (left > 0) {
                struct pollfd p = {.fd = watch, .events = POLLIN};

                left -= floor_pass(argv, audit);
                if (left > 0 && poll(&p, 1, FLOOR_TIMEOUT_MS) <= 0)
                        floor_die("nothing came");
                (void)!read(watch, events, sizeof(events));
        }
        return 0;
}

static double floor_now(void) {
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A request as spoolgate-request writes it; its name. */
static const char *floor_ask(int requests) {
        static unsigned long serial;
        static char name[96];
        char stamp[20], iso[24], body[128];
        time_t now = time(NULL);
        struct tm t;
        int fd;

        (void)gmtime_r(&now, &t);
        (void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &t);
        (void)strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &t);
        (void)snprintf(name, sizeof(name), "%s-status-%08x%08lx.json", stamp, (unsigned)getpid(),
                       serial++);
        (void)snprintf(body, sizeof(body), "{\"verb\":\"status\",\"requested_at\":\"%s\"}\n", iso);
        fd = openat(requests, ".floor", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0)
                floor_die(".floor");
        floor_write(fd, body, strlen(body));
        if (close(fd) < 0 || renameat(requests, ".floor", requests, name) < 0)
                floor_die(name);
        return name;
}

/* The response of name is final. */
static bool floor_done(int responses, const char *name) {
        char path[512];
        ssize_t n;
        int fd;

        (void)snprintf(path, sizeof(path), "%s.response.json", name);
        fd = openat(responses, path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? 0 : read(fd, floor_text, sizeof(floor_text) - 1);
        if (fd >= 0)
                (void)close(fd);
        if (n <= 0)
                return false;
        floor_text[n] = '\0';
        if (strstr(floor_text, "\"state\":\"running\"") ||
            strstr(floor_text, "\"state\":\"queued\""))
                return false;
        if (!strstr(floor_text, "\"state\":\"done\"")) {
                errno = EPROTO;
                floor_die(floor_text);
        }
        return true;
}

static void floor_wait(int watch, int responses, const char *name) {
        char events[4096];

        while (!floor_done(responses, name)) {
                struct pollfd p = {.fd = watch, .events = POLLIN};

                if (poll(&p, 1, FLOOR_TIMEOUT_MS) <= 0)
                        floor_die("no answer");
                (void)!read(watch, events, sizeof(events));
        }
}

/* utime, stime, cutime, cstime: fields 14 to 17 of proc_pid_stat(5), in ms. */
static double floor_cpu(const char *pid) {
        char path[64], *at;
        unsigned long v[4];
        FILE *f;

        (void)snprintf(path, sizeof(path), "/proc/%s/stat", pid);
        f = fopen(path, "re");
        if (!f || !fgets(floor_text, sizeof(floor_text), f))
                floor_die(path);
        (void)fclose(f);
        at = strrchr(floor_text, ')');
        if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
                          &v[0], &v[1], &v[2], &v[3]) != 4)
                floor_die(path);
        return (double)(v[0] + v[1] + v[2] + v[3]) * 1e3 / (double)sysconf(_SC_CLK_TCK);
}

static int floor_client(char **argv) {
        int requests = floor_dir(argv[0], "requests"), responses = floor_dir(argv[0], "responses");
        int watch = floor_watch(argv[0], "responses");
        long count = strtol(argv[1], NULL, 10);
        double cpu = floor_cpu(argv[2]);

        for (long i = 0; i < count; i++) {
                double begin = floor_now();

                floor_wait(watch, responses, floor_ask(requests));
                printf("%.3f\n", floor_now() - begin);
                (void)usleep(20000); /* the tidying behind an answer is no part of the next */
        }
        printf("cpu %.3f\n", (floor_cpu(argv[2]) - cpu) / (double)count);
        return 0;
}

static int floor_cold(char **argv) {
        int requests = floor_dir(argv[0], "requests"), responses = floor_dir(argv[0], "responses");
        int watch = floor_watch(argv[0], "responses"), status;
        long count = strtol(argv[1], NULL, 10);
        struct rusage usage;
        double cpu = 0;

        for (long i = 0; i < count; i++) {
                double begin = floor_now();
                const char *name = floor_ask(requests);
                pid_t pid = vfork();

                if (pid == 0) {
                        (void)execv(argv[2], argv + 2);
                        _exit(127);
                }
                floor_wait(watch, responses, name);
                printf("%.3f\n", floor_now() - begin);
                if (wait4(pid, &status, 0, &usage) < 0 || status != 0)
                        floor_die(argv[2]);
                cpu += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
        }
        printf("cpu %.3f\n", cpu / (double)count);
        return 0;
}

int main(int argc, char **argv) {
        if (argc == 6 && strcmp(argv[1], "serve") == 0)
                return floor_serve(argv + 2);
        if (argc == 5 && strcmp(argv[1], "ask") == 0)
                return floor_client(argv + 2);
        if (argc > 5 && strcmp(argv[1], "cold") == 0)
                return floor_cold(argv + 2);
        fputs("usage: see the head of floor.c\n", stderr);
        return 64;
}
