#include "installer/agentfiles.h"

#include <string.h>

#include "installer/programs.h"

#define AGENTFILES_MARK "@SPOOL@"
enum { AGENTFILES_MAX = 64 * 1024 };

static int agentfiles_fill(const char *text, const char *spool, Str *ret) {
        const char *mark;
        int r = 0;

        for (; r == 0 && (mark = strstr(text, AGENTFILES_MARK));
             text = mark + strlen(AGENTFILES_MARK)) {
                r = str_add(ret, text, (size_t)(mark - text));
                if (r == 0)
                        r = str_adds(ret, spool);
        }
        return r < 0 ? r : str_adds(ret, text);
}

static int agentfiles_one(Plan *p, int fd, const char *spool, const char *dir, const char *name,
                          mode_t mode, Str *why) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_done) Str filled = STR_NULL;
        int r = programs_read(PROGRAMS_AGENT_FILES, name, AGENTFILES_MAX, &bytes, why);

        if (r > 0)
                return AGENTFILES_E_REFUSED;
        if (r == 0)
                r = agentfiles_fill(bytes.data ? bytes.data : "", spool, &filled);
        return r < 0 ? r : plan_add_file(p, fd, dir, name, &filled, mode, 0);
}

int agentfiles_add(Plan *p, int checkout_fd, const char *spool, Str *why) {
        static const struct {
                const char *name;
                mode_t mode;
        } files[] = {
                {"AGENTS.md", 0644},
                {"SKILL.md", 0644},
                {"settings.json", 0644},
                {"stop-hook", 0755},
        };
        CLEANUP(str_freep) char *dir = NULL;
        int r = str_printf(&dir, "%s/" AGENTFILES_DIR, spool);

        if (r == 0)
                r = plan_add_dir(p, checkout_fd, dir, 0755, 0);
        for (size_t i = 0; r == 0 && i < sizeof(files) / sizeof(files[0]); i++)
                r = agentfiles_one(p, checkout_fd, spool, dir, files[i].name, files[i].mode, why);
        return r;
}
