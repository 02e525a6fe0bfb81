#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "installer/programs.h"

/* The folder of this program, links resolved. */
static int programs_here(char **ret) {
        char path[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
        char *slash;

        if (n < 0)
                return err_new(errno);
        path[n] = '\0';
        slash = strrchr(path, '/');
        if (!slash)
                return err_new(ENOENT);
        *slash = '\0';
        return str_dup(path, ret);
}

static int programs_add(Strv *dirs, const char *base, const char *below) {
        CLEANUP(str_freep) char *dir = NULL;
        int r = str_printf(&dir, "%s/%s", base, below);

        return r < 0 ? r : strv_add_take(dirs, &dir);
}

static bool programs_built(const char *here) {
        struct stat st;
        size_t len = strlen(SPOOLGATE_BUILD_DIR);

        return str_starts(here, SPOOLGATE_BUILD_DIR) && (here[len] == '/' || here[len] == '\0') &&
               stat(SPOOLGATE_SOURCE_DIR, &st) == 0 && S_ISDIR(st.st_mode);
}

static int programs_dirs(ProgramsKind kind, Strv *dirs) {
        static const struct {
                const char *source, *relative, *installed;
        } places[] = {
                [PROGRAMS_BINARY] = {NULL, "../libexec/spoolgate", SPOOLGATE_LIBEXECDIR},
                [PROGRAMS_AGENT] = {"src/agent", "../share/spoolgate", SPOOLGATE_DATADIR},
                [PROGRAMS_AGENT_FILES] = {"src/agent", "../share/spoolgate/agent",
                                          SPOOLGATE_DATADIR "/agent"},
                [PROGRAMS_UNITS] = {"units", "../share/spoolgate/units", SPOOLGATE_UNITDIR},
                [PROGRAMS_POLICY] = {"policy", "../share/spoolgate/policy", SPOOLGATE_POLICYDIR},
        };
        CLEANUP(str_freep) char *here = NULL;
        int r;

        r = programs_here(&here);
        if (r == 0 && kind == PROGRAMS_BINARY)
                r = strv_add(dirs, here);
        if (r == 0 && places[kind].source && programs_built(here))
                r = programs_add(dirs, SPOOLGATE_SOURCE_DIR, places[kind].source);
        if (r == 0)
                r = programs_add(dirs, here, places[kind].relative);
        return r < 0 ? r : strv_add(dirs, places[kind].installed);
}

int programs_find(ProgramsKind kind, const char *name, char **ret_path, Str *why) {
        CLEANUP(strv_done) Strv dirs = STRV_NULL;
        int r;

        r = programs_dirs(kind, &dirs);
        for (size_t i = 0; i < dirs.len && r == 0; i++) {
                CLEANUP(str_freep) char *path = NULL;
                struct stat st;

                r = str_printf(&path, "%s/%s", dirs.items[i], name);
                if (r == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
                        *ret_path = path;
                        path = NULL;
                        return 0;
                }
        }
        if (r == 0)
                r = str_addf(why, "%s is in none of", name);
        for (size_t i = 0; i < dirs.len && r == 0; i++)
                r = str_addf(why, " %s", dirs.items[i]);
        return r < 0 ? r : PROGRAMS_E_ABSENT;
}

int programs_read(ProgramsKind kind, const char *name, size_t max, Str *ret, Str *why) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(fd_closep) int dir = -EBADF;
        int r;

        r = programs_find(kind, name, &path, why);
        if (r != 0)
                return r;
        *strrchr(path, '/') = '\0';
        r = pin_host_dir(path, &(PinRule){(uid_t)-1, 0}, &dir);
        if (r == 0)
                r = pin_read_at(dir, name, &(PinRule){(uid_t)-1, 0}, PIN_ANY_LINKS, max, ret);
        if (r > 0)
                return str_addf(why, "%s/%s %s", path, name, pin_reason(r)) < 0
                               ? -ENOMEM
                               : PROGRAMS_E_UNREADABLE;
        return r;
}
