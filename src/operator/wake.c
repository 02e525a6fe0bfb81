#include "operator/wake.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "installer/systemctl.h"
#include "run/scope.h"

static bool wake_installed(const Layout *l) {
        CLEANUP(str_freep) char *unit = NULL;
        struct stat st;

        return str_printf(&unit, "%s/spoolgate-%s.service", l->units, l->slug) == 0 &&
               stat(unit, &st) == 0;
}

static int wake_unit(const Config *c, Str *why) {
        int r = systemctl_wake(c->layout.slug, why);

        if (r > 0)
                r = str_addf(why, "\nsystemctl --user status spoolgate-%s.service",
                             c->layout.slug) < 0
                            ? -ENOMEM
                            : WAKE_E_UNIT;
        return r;
}

static int wake_setup(posix_spawn_file_actions_t *files, posix_spawnattr_t *attr) {
        sigset_t none, all;
        int e = 0;

        (void)sigemptyset(&none);
        (void)sigfillset(&all);
        for (int fd = 0; fd <= 2 && e == 0; fd++)
                e = posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0);
        if (e == 0) /* what we were given by accident (a lock) must not outlive us */
                e = posix_spawn_file_actions_addclosefrom_np(files, 3);
        if (e == 0)
                e = posix_spawn_file_actions_addchdir_np(files, "/");
        if (e == 0)
                e = posix_spawnattr_setsigmask(attr, &none);
        if (e == 0)
                e = posix_spawnattr_setsigdefault(attr, &all);
        if (e == 0)
                e = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                           POSIX_SPAWN_SETSIGDEF);
        return e;
}

static int wake_spawn(const Config *c, pid_t *ret_pid, Str *why) {
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attr;
        CLEANUP(str_freep) char *program = NULL;
        char *argv[] = {NULL, c->layout.slug, NULL};
        pid_t pid;
        int e, r = str_printf(&program, "%s/spoolgate-drain", c->layout.lib);

        if (r < 0)
                return r;
        argv[0] = program;
        if (posix_spawn_file_actions_init(&files) != 0)
                return err_new(ENOMEM);
        if (posix_spawnattr_init(&attr) != 0) {
                (void)posix_spawn_file_actions_destroy(&files); /* frees memory only */
                return err_new(ENOMEM);
        }
        e = wake_setup(&files, &attr);
        if (e == 0)
                e = posix_spawn(&pid, program, &files, &attr, argv, environ);
        (void)posix_spawn_file_actions_destroy(&files); /* these free memory only */
        (void)posix_spawnattr_destroy(&attr);
        if (e == ENOENT || e == EACCES || e == ENOEXEC)
                return str_addf(why,
                                "the pinned drain %s can't be started\nspoolgate upgrade -s %s",
                                program, c->layout.slug) < 0
                               ? -ENOMEM
                               : WAKE_E_PROGRAM;
        if (e != 0)
                return err_new(e);
        *ret_pid = pid;
        return 0;
}

int wake_drain(const Config *c, Wake *w, Str *why) {
        bool manager = false;

        if (w->pid > 0)
                return 0; /* ours still runs */
        if (wake_installed(&c->layout) && scope_available(&manager) == 0 && manager)
                return wake_unit(c, why);
        return wake_spawn(c, &w->pid, why);
}

bool wake_ended(Wake *w, int *ret_status) {
        if (w->pid <= 0 || waitpid(w->pid, ret_status, WNOHANG) != w->pid)
                return false;
        w->pid = 0;
        return true;
}
