#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installer/child.h"
#include "installer/systemctl.h"

enum {
        SYSTEMCTL_TIMEOUT_MS = 60 * 1000,
        SYSTEMCTL_OUTPUT_MAX = 4096,
        SYSTEMCTL_SCOPES_MAX = 1024 * 1024,
        SYSTEMCTL_WORDS = 12
};

static const char *const systemctl_places[] = {"/usr/bin/systemctl", "/bin/systemctl"};

const char *systemctl_path(void) {
        return access(systemctl_places[0], X_OK) == 0 || access(systemctl_places[1], X_OK) != 0
                       ? systemctl_places[0]
                       : systemctl_places[1];
}

static int systemctl_refused(int added, int code) {
        return added < 0 ? added : code;
}

typedef struct SystemctlUnits {
        char *path, *timer, *service, *rearm;
} SystemctlUnits;

static void systemctl_units_done(SystemctlUnits *u) {
        str_freep(&u->path);
        str_freep(&u->timer);
        str_freep(&u->service);
        str_freep(&u->rearm);
}

static int systemctl_units(const char *slug, SystemctlUnits *u) {
        int r = str_printf(&u->path, "spoolgate-%s.path", slug);

        if (r == 0)
                r = str_printf(&u->timer, "spoolgate-%s.timer", slug);
        if (r == 0)
                r = str_printf(&u->service, "spoolgate-%s.service", slug);
        return r < 0 ? r : str_printf(&u->rearm, "spoolgate-%s.rearm.service", slug);
}

/* systemctl --user WORDS...; its words, at most SYSTEMCTL_WORDS, end with NULL. */
static int systemctl_call(const char *const *words, Str *why) {
        const char *argv[SYSTEMCTL_WORDS + 4] = {systemctl_path(), "--user", "--quiet"};
        CLEANUP(str_done) Str output = STR_NULL;
        int status, r;

        for (size_t i = 0; words[i] && i < SYSTEMCTL_WORDS; i++)
                argv[3 + i] = words[i];
        r = child_run(argv, SYSTEMCTL_TIMEOUT_MS, SYSTEMCTL_OUTPUT_MAX, true, &output, &status);
        if (r == CHILD_E_SPAWN)
                return systemctl_refused(str_addf(why, "%s is not there", argv[0]),
                                         SYSTEMCTL_E_ABSENT);
        if (r == CHILD_E_TIMEOUT)
                return systemctl_refused(str_addf(why, "systemctl --user %s did not end", words[0]),
                                         SYSTEMCTL_E_FAILED);
        if (r < 0)
                return r;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        while (output.len > 0 && output.data[output.len - 1] == '\n')
                output.data[--output.len] = '\0';
        return systemctl_refused(str_addf(why, "systemctl --user %s: %s", words[0],
                                          output.len > 0 ? output.data : "failed"),
                                 SYSTEMCTL_E_FAILED);
}

/* For calls that may fail for good reasons ("not loaded"). */
static int systemctl_try(const char *const *words) {
        CLEANUP(str_done) Str ignored = STR_NULL;
        int r = systemctl_call(words, &ignored);

        return r < 0 ? r : 0;
}

int systemctl_enable(const char *slug, bool changed, Str *why) {
        CLEANUP(systemctl_units_done) SystemctlUnits u = {0};
        int r;

        r = systemctl_units(slug, &u);
        if (r ==
            0) /* first: it works without a manager too, and the next one finds the units enabled */
                r = systemctl_call((const char *const[]){"enable", u.path, u.timer, NULL}, why);
        if (r == 0 && changed)
                r = systemctl_call((const char *const[]){"daemon-reload", NULL}, why);
        if (r == 0)
                r = systemctl_try(
                        (const char *const[]){"reset-failed", u.path, u.service, u.rearm, NULL});
        if (r != 0)
                return r;
        return systemctl_call(
                (const char *const[]){changed ? "restart" : "start", u.path, u.timer, NULL}, why);
}

int systemctl_disable(const char *slug, Str *why) {
        CLEANUP(systemctl_units_done) SystemctlUnits u = {0};
        int r;

        r = systemctl_units(slug, &u);
        if (r == 0)
                r = systemctl_call((const char *const[]){"disable", "--now", u.path, u.timer, NULL},
                                   why);
        return r != 0 ? r : systemctl_try((const char *const[]){"stop", u.rearm, u.service, NULL});
}

int systemctl_forget(const char *slug, Str *why) {
        CLEANUP(systemctl_units_done) SystemctlUnits u = {0};
        int r;

        r = systemctl_units(slug, &u);
        if (r == 0)
                r = systemctl_call((const char *const[]){"daemon-reload", NULL}, why);
        return r != 0 ? r
                      : systemctl_try((const char *const[]){"reset-failed", u.path, u.timer,
                                                            u.service, u.rearm, NULL});
}

int systemctl_wake(const char *slug, Str *why) {
        CLEANUP(systemctl_units_done) SystemctlUnits u = {0};
        int r = systemctl_units(slug, &u);

        return r < 0 ? r
                     : systemctl_call((const char *const[]){"start", "--no-block", u.service, NULL},
                                      why);
}

int systemctl_scopes(const char *slug, Strv *ret, Str *why) {
        CLEANUP(str_freep) char *pattern = NULL;
        CLEANUP(str_done) Str output = STR_NULL;
        CLEANUP(strv_done) Strv scopes = STRV_NULL;
        int status, r = str_printf(&pattern, "spoolgate-%s.*.scope", slug);

        if (r == 0)
                r = child_run((const char *const[]){systemctl_path(), "--user", "--plain",
                                                    "--no-legend", "--full", "--all", "list-units",
                                                    pattern, NULL},
                              SYSTEMCTL_TIMEOUT_MS, SYSTEMCTL_SCOPES_MAX, false, &output, &status);
        if (r == CHILD_E_SPAWN)
                return systemctl_refused(str_addf(why, "%s is not there", systemctl_path()),
                                         SYSTEMCTL_E_ABSENT);
        if (r < 0)
                return r;
        if (r > 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return systemctl_refused(str_adds(why, "systemctl --user list-units failed"),
                                         SYSTEMCTL_E_FAILED);
        for (char *line = output.data; line && *line && r == 0;) {
                size_t len = strcspn(line, "\n"), word = strcspn(line, " \n");
                char *next = line + len + (line[len] == '\n');

                line[word] = '\0';
                if (str_starts(line, "spoolgate-") && str_ends(line, ".scope"))
                        r = strv_add(&scopes, line);
                line = next;
        }
        if (r < 0)
                return r;
        *ret = scopes;
        scopes = STRV_NULL;
        return 0;
}
