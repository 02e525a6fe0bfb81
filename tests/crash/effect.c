/* crash/effect.c - the stack of the sweeps: EFFECT WORD [ARG]
 *
 * At its very start it looks whether it may run at all (I3): the audit log must hold its start line, and where it changes
 * something ledger/begun its entry. A breach goes to $HOME/violations. Then it says once, in $HOME/effects, that it ran. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char bytes[4 * 1024 * 1024];

/* After a power cut (the filesystem is shut down under us) nothing happens any more. */
static void effect_powered(void) {
        if (errno == EIO)
                _exit(92);
}

static bool effect_read(int at, const char *name) {
        int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        if (fd < 0) {
                effect_powered();
                return false;
        }
        n = read(fd, bytes, sizeof(bytes) - 1);
        if (n < 0)
                effect_powered();
        close(fd);
        bytes[n < 0 ? 0 : n] = '\0';
        return n > 0;
}

static void effect_append(const char *home, const char *name, const char *text) {
        char path[512];
        int fd;

        snprintf(path, sizeof(path), "%s/%s", home, name);
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                _exit(90);
        close(fd);
}

static bool effect_audited(int state, const char *verb, const char *arg) {
        char want[128], has_arg[128] = "";

        if (!effect_read(state, "audit.log"))
                return false;
        snprintf(want, sizeof(want), "\"verb\":\"%s\"", verb);
        if (arg)
                snprintf(has_arg, sizeof(has_arg), "\"arg\":\"%s\"", arg);
        for (char *at = bytes, *end; (end = strchr(at, '\n')); at = end + 1) {
                *end = '\0';
                if (strstr(at, "\"event\":\"start\"") && strstr(at, want) && strstr(at, has_arg))
                        return true;
        }
        return false;
}

static bool effect_in_ledger(int state, const char *dir, const char *verb, const char *arg) {
        char want[128], has_arg[128] = "";
        int fd = openat(state, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        const struct dirent *e;

        if (!d) {
                effect_powered();
                return false;
        }
        snprintf(want, sizeof(want), "\nverb %s\n", verb);
        if (arg)
                snprintf(has_arg, sizeof(has_arg), "\narg %s\n", arg);
        errno = 0;
        while ((e = readdir(d)))
                if (e->d_name[0] != '.' && effect_read(dirfd(d), e->d_name) && strstr(bytes, want) && strstr(bytes, has_arg))
                        return true;
        effect_powered();
        return false;
}

int main(int argc, char **argv) {
        static const char *const mutating[] = { "restart", "start", "build", "migrate" };
        const char *home = getenv("HOME"), *word = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : NULL, *verb = word;
        char path[512], line[256];
        bool changes = false;
        int state;

        if (!home)
                return 91;
        if (strcmp(word, "own") == 0 && arg) {
                verb = arg;
                arg = NULL;
        }
        for (size_t i = 0; i < sizeof(mutating) / sizeof(mutating[0]); i++)
                changes = changes || strcmp(verb, mutating[i]) == 0;
        verb = strcmp(verb, "start") == 0 ? "up" : strcmp(verb, "build") == 0 ? "rebuild" : verb;
        snprintf(path, sizeof(path), "%s/.local/state/spoolgate/crash", home);
        state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (state < 0)
                effect_powered();
        snprintf(line, sizeof(line), "%s%s%s\n", word, argc > 2 ? " " : "", argc > 2 ? argv[2] : "");
        if (!effect_audited(state, verb, arg))
                effect_append(home, "violations", line);
        /* ended: its keeper was killed just after it let us go, and the drain has said "uncertain" already */
        if (changes && !effect_in_ledger(state, "ledger/begun", verb, arg) && !effect_in_ledger(state, "ledger/ended", verb, arg))
                effect_append(home, "violations", line);
        effect_append(home, "effects", line);
        printf("did %s", line);
        return arg && strcmp(arg, "fail") == 0 ? 3 : 0;
}
