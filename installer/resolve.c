#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installer/child.h"
#include "installer/resolve.h"

enum { RESOLVE_OUTPUT_MAX = 64 * 1024 };
#define RESOLVE_STANDARD "/usr/local/bin:/usr/bin:/bin"

bool resolve_below(const char *path, const char *checkout) {
        size_t len = strlen(checkout);

        return str_starts(path, checkout) &&
               (path[len] == '/' || path[len] == '\0' || str_eq(checkout, "/"));
}

/* By what the name leads to in the end: a link in ~/bin into the checkout is below the checkout. */
static bool resolve_inside(const char *path, const char *checkout) {
        CLEANUP(str_freep) char *real = NULL;

        if (!checkout)
                return false;
        real = realpath(path, NULL);
        return resolve_below(path, checkout) || (real && resolve_below(real, checkout));
}

static bool resolve_executable(const char *path) {
        struct stat st;

        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

typedef struct ResolvePart {
        const char *at;
        size_t len;
} ResolvePart;

/* The next part of a PATH; an empty part means the current folder and is skipped by the callers,
 * who want "/" first. */
static bool resolve_next(const char **path, ResolvePart *ret) {
        if (!*path)
                return false;
        ret->at = *path;
        ret->len = strcspn(*path, ":");
        *path = (*path)[ret->len] ? *path + ret->len + 1 : NULL;
        return true;
}

/* *ret NULL: nowhere. *inside: a candidate below the checkout was passed over. */
static int resolve_look_up(const char *name, const char *path, const char *checkout, bool *inside,
                           char **ret) {
        ResolvePart part;

        *ret = NULL;
        while (resolve_next(&path, &part)) {
                CLEANUP(str_freep) char *candidate = NULL;
                int r;

                if (part.len == 0 || part.at[0] != '/')
                        continue;
                r = str_printf(&candidate, "%.*s/%s", (int)part.len, part.at, name);
                if (r < 0)
                        return r;
                if (!resolve_executable(candidate))
                        continue;
                if (resolve_inside(candidate, checkout)) {
                        *inside = true;
                        continue;
                }
                *ret = candidate;
                candidate = NULL;
                return 0;
        }
        return 0;
}

/* A name that may stand in a line for a shell. */
static bool resolve_plain(const char *name) {
        return *name && *name != '-' && *name != '.' &&
               strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") ==
                       strlen(name);
}

/* alias NAME='WORD', alias NAME=WORD, NAME=WORD (zsh): the word without its quotes, NULL when it is
 * not one plain word. In place. */
static char *resolve_alias_word(char *line, const char *name) {
        char *at = line;
        size_t len;

        if (str_starts(at, "alias "))
                at += strlen("alias ");
        len = strlen(name);
        if (!str_starts(at, name) || (at[len] != '=' && at[len] != ' ')) /* fish: alias NAME WORD */
                return NULL;
        at += len + 1;
        len = strlen(at);
        if (len >= 2 && (at[0] == '\'' || at[0] == '"') && at[len - 1] == at[0]) {
                at[len - 1] = '\0';
                at++;
        }
        return *at && !strpbrk(at, " \t'\"\\$`;&|<>(){}*?[]#!") ? at : NULL;
}

/* The last line of an rc file's chatter that answers `command -v`. */
static char *resolve_answer(char *output, const char *name) {
        char *found = NULL, *save = NULL;

        for (char *line = strtok_r(output, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                size_t len = strlen(line);

                if (len > 0 && line[len - 1] == '\r')
                        line[len - 1] = '\0';
                if (line[0] == '/' || str_starts(line, "alias ") ||
                    (str_starts(line, name) && line[strlen(name)] == '='))
                        found = line;
        }
        return found;
}

/* For `return resolve_refused(str_addf(why, ...))`. */
static int resolve_refused(int added) {
        return added < 0 ? added : RESOLVE_E_REFUSED;
}

static int resolve_accept(const char *path, const char *checkout, char **ret, Str *why) {
        if (!resolve_executable(path))
                return resolve_refused(str_addf(why, "%s is no executable file", path));
        if (resolve_inside(path, checkout))
                return resolve_refused(
                        str_addf(why, "%s leads into the checkout %s, where the agent can write",
                                 path, checkout));
        return str_dup(path, ret);
}

/* What the alias says: a path, "~/..." or again a name for PATH. */
static int resolve_word(const char *name, const char *word, const char *path, const char *checkout,
                        char **ret, Str *why) {
        CLEANUP(str_freep) char *full = NULL;
        const char *home = getenv("HOME");
        bool inside = false;
        int r = 0;

        if (word[0] == '/')
                r = str_dup(word, &full);
        else if (str_starts(word, "~/") && home && home[0] == '/')
                r = str_printf(&full, "%s%s", home, word + 1);
        else if (!strchr(word, '/'))
                r = resolve_look_up(word, path, checkout, &inside, &full);
        if (r < 0)
                return r;
        if (!full)
                return resolve_refused(str_addf(
                        why, "the alias %s stands for %s, which is not found", name, word));
        return resolve_accept(full, checkout, ret, why);
}

static int resolve_by_shell(const char *name, const char *path, const char *shell,
                            const char *checkout, char **ret, Str *why) {
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_done) Str output = STR_NULL;
        char *line, *word;
        int status, r;

        r = str_printf(&command, "command -v %s", name);
        if (r < 0)
                return r;
        r = child_run((const char *const[]){shell, "-ic", command, NULL}, RESOLVE_SHELL_TIMEOUT_MS,
                      RESOLVE_OUTPUT_MAX, false, &output, &status);
        if (r != 0)
                return r < 0 ? r : RESOLVE_E_ABSENT; /* a shell that hangs or is not there knows
                                                        nothing */
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return RESOLVE_E_ABSENT;
        line = resolve_answer(output.data, name);
        if (!line)
                return RESOLVE_E_ABSENT;
        if (line[0] == '/')
                return resolve_accept(line, checkout, ret, why);
        word = resolve_alias_word(line, name);
        if (!word)
                return resolve_refused(str_addf(
                        why, "%s is an alias of more than one word; a program of its own is needed",
                        name));
        return resolve_word(name, word, path, checkout, ret, why);
}

int resolve_program(const char *name, const char *path, const char *shell, const char *checkout,
                    char **ret, Str *why) {
        CLEANUP(str_freep) char *found = NULL;
        bool inside = false;
        int r;

        if (strchr(name, '/')) {
                if (name[0] != '/')
                        return resolve_refused(str_addf(why, "%s is no absolute path", name));
                return resolve_accept(name, checkout, ret, why);
        }
        if (!resolve_plain(name))
                return resolve_refused(str_addf(why, "%s is no program's name", name));
        r = resolve_look_up(name, path, checkout, &inside, &found);
        if (r < 0)
                return r;
        if (found) {
                *ret = found;
                found = NULL;
                return 0;
        }
        r = RESOLVE_E_ABSENT;
        if (shell && shell[0] == '/')
                r = resolve_by_shell(name, path, shell, checkout, ret, why);
        if (r == RESOLVE_E_ABSENT && inside)
                return resolve_refused(str_addf(
                        why, "%s is found in the checkout %s alone, where the agent can write",
                        name, checkout));
        if (r == RESOLVE_E_ABSENT && str_addf(why, "%s was not found at install", name) < 0)
                return -ENOMEM;
        return r;
}

/* Nobody but root or we may write there. */
static bool resolve_trusted(const char *dir, const char *checkout) {
        struct stat st;

        if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
                return false;
        if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 0022) != 0)
                return false;
        return !checkout || !resolve_inside(dir, checkout);
}

static int resolve_path_add(Strv *dirs, const char *path, const char *checkout) {
        ResolvePart part;
        int r = 0;

        while (resolve_next(&path, &part) && r == 0) {
                CLEANUP(str_freep) char *dir = NULL;

                r = str_printf(&dir, "%.*s", (int)part.len, part.at);
                if (r == 0 && dir[0] == '/' && !strv_find(dirs, dir) &&
                    resolve_trusted(dir, checkout))
                        r = strv_add_take(dirs, &dir);
        }
        return r;
}

int resolve_path(const char *path, const char *checkout, char **ret) {
        CLEANUP(strv_done) Strv dirs = STRV_NULL;
        CLEANUP(str_done) Str s = STR_NULL;
        int r;

        r = resolve_path_add(&dirs, path, checkout);
        if (r == 0)
                r = resolve_path_add(&dirs, RESOLVE_STANDARD, checkout);
        for (size_t i = 0; i < dirs.len && r == 0; i++)
                r = str_addf(&s, "%s%s", i > 0 ? ":" : "", dirs.items[i]);
        return r < 0 ? r : str_take(&s, ret);
}
