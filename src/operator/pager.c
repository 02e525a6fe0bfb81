#include "operator/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "operator/command.h"

enum { PAGER_WORDS = 16 };

/* false: it could not be started. */
static bool pager_start(char *words, int in, pid_t *ret) {
        posix_spawn_file_actions_t files;
        char *argv[PAGER_WORDS + 1];
        size_t n = 0;
        int e;

        for (char *at = words; n < PAGER_WORDS;) {
                at += strspn(at, " \t");
                if (!*at)
                        break;
                argv[n++] = at;
                at += strcspn(at, " \t");
                if (*at)
                        *at++ = '\0';
        }
        argv[n] = NULL;
        if (n == 0 || posix_spawn_file_actions_init(&files) != 0)
                return false;
        e = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
        if (e == 0)
                e = posix_spawn_file_actions_addclosefrom_np(&files, 3);
        if (e == 0)
                e = posix_spawn_file_actions_addchdir_np(&files, "/"); /* not the agent's folder */
        if (e == 0)
                e = posix_spawnp(ret, argv[0], &files, NULL, argv, environ);
        (void)posix_spawn_file_actions_destroy(&files); /* frees memory only */
        return e == 0;
}

static bool pager_feed(const Str *text, const char *pager) {
        CLEANUP(str_done) Str seen = STR_NULL;
        CLEANUP(str_freep) char *words = NULL;
        CLEANUP(fd_closep) int out = -EBADF;
        struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
        int pipes[2];
        pid_t pid = 0;
        bool started;

        if (str_dup(pager, &words) < 0 || str_add_escaped(&seen, text->data, text->len, true) < 0 ||
            pipe2(pipes, O_CLOEXEC) < 0)
                return false;
        out = pipes[1];
        started = pager_start(words, pipes[0], &pid);
        (void)fd_close(pipes[0]);
        if (!started)
                return false;
        (void)sigaction(SIGPIPE, &ignore, &before); /* it may be left before its end */
        (void)!io_write_all(out, seen.data, seen.len);
        out = fd_close(out);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        (void)sigaction(SIGPIPE, &before, NULL);
        return true;
}

void pager_show(const Str *text) {
        const char *pager = getenv("PAGER");

        if (text->len == 0)
                return;
        if (!pager || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !pager_feed(text, pager))
                command_print(text);
}
