#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/clock.h"
#include "fs/publish.h"
#include "installer/notice.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/errand.h"

static const char pause_help[] = "usage: spoolgate pause [-s SLUG] [REASON]\n"
                                 "\n"
                                 "From now on mutating requests are refused (`paused`); read-only "
                                 "ones go on, and what runs\n"
                                 "runs to its end. `spoolgate resume` ends it.\n"
                                 "\n"
                                 "  -s, --slug SLUG  the project\n";

enum { PAUSE_REASON_MAX = 200 };

/* The drain writes this file too (what was checked is what runs): "at", "by", "reason" lines. */
static int pause_write(const Config *c, const char *reason) {
        CLEANUP(str_freep) char *by = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        char now[CLOCK_TEXT_SIZE];
        int r = notice_by(&by);

        clock_format(clock_wall_ms(), now);
        if (r == 0)
                r = str_addf(&text, "at %s\nby %s\nreason ", now, by);
        if (r == 0)
                r = str_add_escaped(&text, reason, strlen(reason), false);
        if (r == 0)
                r = str_addc(&text, '\n');
        if (r == 0)
                r = publish_file(c->state_fd, "paused", text.data, text.len, 0600, PUBLISH_SYNC);
        return r > 0 ? err_new(EACCES) : r;
}

static int pause_act(const char *slug, const char *reason) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = errand_open(slug, &c, &why);

        if (r == 0)
                r = pause_write(&c, reason);
        if (r == 0)
                r = errand_note(&c, "paused", NULL, reason);
        if (r == 0)
                r = str_addf(
                        &text,
                        "%s is paused: mutating requests are refused\nspoolgate resume -s %s\n",
                        c.layout.slug, c.layout.slug);
        if (r != 0)
                return errand_exit("pause", r, &why);
        command_print(&text);
        return COMMAND_OK;
}

int pause_command(int argc, char **argv) {
        const char *slug, *reason;
        int status = command_slug_only("pause", pause_help, argc, argv, &slug);

        if (status >= 0)
                return status;
        if (optind + 1 < argc)
                return command_usage("pause", '?', argv + optind + 1);
        reason = optind < argc ? argv[optind] : "";
        if (strlen(reason) > PAUSE_REASON_MAX) {
                command_fail("pause", "the reason is longer than 200 bytes");
                return COMMAND_USAGE;
        }
        return pause_act(slug, reason);
}
