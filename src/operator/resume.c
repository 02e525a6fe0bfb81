#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "fs/publish.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/errand.h"

static const char resume_help[] =
        "usage: spoolgate resume [-s SLUG]\n"
        "\n"
        "Ends a pause, `spoolgate pause`'s or one that the drain made because guarded files were\n"
        "changed during a run.\n"
        "\n"
        "  -s, --slug SLUG  the project\n";

enum { RESUME_FILE_MAX = 4096 };

static const char *resume_reason(const Str *paused) {
        static const char key[] = "\nreason ";
        char *at = paused->data ? strstr(paused->data, key) : NULL;

        if (!at)
                return NULL;
        at += sizeof(key) - 1;
        at[strcspn(at, "\n")] = '\0';
        return at;
}

/* The record of it comes first; what the pause was for goes with it. */
static int resume_end(const Config *c, Str *text) {
        CLEANUP(str_done) Str paused = STR_NULL;
        PinRule rule = config_rule(c);
        int r = pin_read_at(c->state_fd, "paused", &rule, PIN_ANY_LINKS, RESUME_FILE_MAX, &paused);

        if (r == PIN_E_ABSENT)
                return str_addf(text, "%s was not paused\n", c->layout.slug);
        if (r >= 0) /* unreadable or not ours by the rule: it goes all the same */
                r = str_addf(text, "%s goes on; it was paused:\n%s", c->layout.slug,
                             paused.data ? paused.data : "");
        if (r == 0)
                r = errand_note(c, "resumed", NULL, resume_reason(&paused));
        if (r == 0)
                r = publish_remove(c->state_fd, "paused");
        if (r > 0)
                return err_new(EACCES);
        return r < 0 ? r : io_sync(c->state_fd);
}

static int resume_act(const char *slug) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = errand_open(slug, &c, &why);

        if (r == 0)
                r = resume_end(&c, &text);
        if (r != 0)
                return errand_exit("resume", r, &why);
        command_print(&text);
        return COMMAND_OK;
}

int resume_command(int argc, char **argv) {
        const char *slug;
        int status = command_slug_only("resume", resume_help, argc, argv, &slug);

        if (status >= 0)
                return status;
        return optind < argc ? command_usage("resume", '?', argv + optind) : resume_act(slug);
}
