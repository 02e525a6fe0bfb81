/* doctor_fix: the safe commands, as they were printed, by the operator's own shell environment */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operator/command.h"
#include "operator/doctor.h"

static int doctor_fix_run(const char *command) {
        const char *argv[] = {"/bin/sh", "-c", command, NULL};
        int status, e;
        pid_t pid;

        e = posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ);
        if (e != 0)
                return err_new(e);
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return err_new(errno);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                command_warn("it did not work");
        return 0;
}

/* A line of stdin that begins with y; its end is a no. */
static bool doctor_fix_asked(void) {
        char line[64];
        size_t len = 0;
        ssize_t n;
        char c;

        while ((n = read(STDIN_FILENO, &c, 1)) == 1 && c != '\n')
                if (len < sizeof(line))
                        line[len++] = c;
        return n == 1 && len > 0 && (line[0] == 'y' || line[0] == 'Y');
}

/* `spoolgate` in a command is this very program, wherever it was started from. */
static int doctor_fix_path(void) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *self = realpath("/proc/self/exe", NULL);
        const char *old = getenv("PATH");
        char *slash = self ? strrchr(self, '/') : NULL;
        int r;

        if (!slash)
                return 0;
        *slash = '\0';
        r = str_printf(&path, "%s:%s", self, old ? old : "/usr/local/bin:/usr/bin:/bin");
        if (r < 0)
                return r;
        return setenv("PATH", path, 1) < 0 ? err_new(errno) : 0;
}

int doctor_fix(const Doctor *d, bool yes) {
        int r = doctor_fix_path();

        for (size_t i = 0; r == 0 && i < d->len; i++) {
                CLEANUP(str_done) Str out = STR_NULL;
                const DoctorItem *item = &d->items[i];

                if (item->kind != DOCTOR_SAFE || !item->command)
                        continue;
                r = str_addf(&out, "%s: ", item->check);
                if (r == 0)
                        r = str_add_escaped(&out, item->text, strlen(item->text), false);
                if (r == 0)
                        r = str_addf(&out, "\n%s\n%s", item->command, yes ? "" : "run it? [y/N] ");
                if (r < 0)
                        break;
                command_print(&out);
                if (yes || doctor_fix_asked())
                        r = doctor_fix_run(item->command);
        }
        return r;
}
