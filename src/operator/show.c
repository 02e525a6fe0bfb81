#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/hash.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/host.h"
#include "operator/life.h"

static const char show_help[] =
        "usage: spoolgate show [-s SLUG] [--json] [--lines N] NAME\n"
        "\n"
        "One request's whole life: what was asked, the gates it passed, what ran, how it ended, "
        "the "
        "end of its log.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --lines N        of the log (default 20)\n"
        "  --json           as JSON\n"
        "  NAME             the request's name, or a part of it that no other has\n";

static int show_run(const Config *c, const char *name, size_t lines, bool json) {
        CLEANUP(life_done) Life life = LIFE_NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r = life_load(c, name, &life, &why);

        if (r > 0) {
                command_fail("show", why.data);
                return COMMAND_FINDING;
        }
        if (r == 0)
                r = json ? life_json(&life, lines, &out) : life_format(&life, lines, &out);
        if (r < 0)
                return command_broken("show", r);
        command_print(&out);
        if (why.len > 0) /* the log is broken behind what was found */
                command_fail("show", why.data);
        return why.len > 0 ? COMMAND_FINDING : COMMAND_OK;
}

int show_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"lines", required_argument, NULL, 'n'},
                {"json", no_argument, NULL, 'j'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        CLEANUP(config_done) Config c = HOST_CONFIG_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        unsigned long long lines = 20;
        const char *slug = NULL;
        bool json = false;
        int opt, r;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(show_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'j')
                        json = true;
                else if (opt != 'n' || !str_parse_uint(optarg, 1000 * 1000, &lines))
                        return command_usage("show", opt, argv + optind - 1);
        }
        if (optind + 1 != argc || !*argv[optind])
                return command_usage("show", optind < argc ? '?' : ':',
                                     optind < argc ? argv + argc - 1 : argv);
        r = hash_init();
        if (r == 0)
                r = host_load(slug, &c, &why);
        if (r < 0)
                return command_broken("show", r);
        if (r > 0) {
                command_fail("show", why.data);
                return COMMAND_BROKEN;
        }
        return show_run(&c, argv[optind], (size_t)lines, json);
}
