#include <getopt.h>

#include "operator/command.h"
#include "operator/commands.h"
#include "operator/errand.h"

static const char cancel_help[] =
        "usage: spoolgate cancel [-s SLUG] [--wait SEC] [--json] NAME\n"
        "\n"
        "Takes a waiting request out of the line, or stops a running one; it ends in\n"
        "failed: cancelled. NAME is the request's, an agent's or your own.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --wait SEC       do not wait longer for the answer (60)\n"
        "  --json           print the response line instead\n";

enum { CANCEL_WAIT_SEC = 60 };

static int cancel_act(const char *slug, const char *text, uint32_t wait_sec, bool json) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(order_done) Order order = {.kind = ORDER_CANCEL};
        CLEANUP(str_done) Str why = STR_NULL;
        int r;

        if (!errand_name(text, &order.name)) {
                command_fail("cancel", "this is no request's name");
                return COMMAND_FINDING;
        }
        r = errand_open(slug, &c, &why);
        if (r != 0)
                return errand_exit("cancel", r, &why);
        return errand_run("cancel", &c, &order, wait_sec, json);
}

int cancel_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"wait", required_argument, NULL, 'w'},
                {"json", no_argument, NULL, 'j'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        uint32_t wait_sec = CANCEL_WAIT_SEC;
        const char *slug = NULL;
        bool json = false;
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(cancel_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'j')
                        json = true;
                else if (opt != 'w' || !errand_seconds(optarg, ORDER_TIMEOUT_MAX, &wait_sec))
                        return command_usage("cancel", opt, argv + optind - 1);
        }
        if (optind + 1 != argc)
                return command_usage("cancel", '?', argv + (optind < argc ? optind + 1 : argc));
        return cancel_act(slug, argv[optind], wait_sec, json);
}
