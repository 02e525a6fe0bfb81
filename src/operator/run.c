#include <getopt.h>

#include "base/clock.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/errand.h"

static const char run_help[] =
        "usage: spoolgate run [-s SLUG] [--wait SEC] [--timeout SEC] [--json] VERB [ARG]\n"
        "\n"
        "Runs a verb by hand: the drain takes it through every gate but policy mode and rate, and\n"
        "it is audited as yours. Prints its output, then the outcome. Exit 0 when it is done.\n"
        "Ctrl-C leaves it in the line.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --wait SEC       do not wait longer for the answer\n"
        "  --timeout SEC    end the run itself after so long (tightens policy's)\n"
        "  --json           print the response line instead\n";

typedef struct RunOptions {
        const char *slug, *verb, *arg;
        uint32_t wait_sec, timeout_sec;
        bool json;
} RunOptions;

/* Told here rather than by the gates, since nothing is asked of the drain then. */
static int run_check(const Config *c, const RunOptions *o, Str *why) {
        const Verb *v = table_find(c->table, o->verb);
        VerbCall call;
        int r;

        if (!v)
                return str_addf(why, "%s is no verb of %s\nspoolgate verbs -s %s", o->verb,
                                c->layout.slug, c->layout.slug) < 0
                               ? -ENOMEM
                               : ERRAND_E_NONE;
        r = table_call(c->table, v, o->arg, &call);
        if (r <= 0)
                return r;
        return str_addf(why, "%s %s\nspoolgate verbs -s %s", o->verb,
                        r == TABLE_E_ARG_MISSING      ? "needs an argument"
                        : r == TABLE_E_ARG_UNEXPECTED ? "takes no argument"
                                                      : "does not take this argument",
                        c->layout.slug) < 0
                       ? -ENOMEM
                       : ERRAND_E_NONE;
}

static int run_act(const RunOptions *o) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(order_done) Order order = {.kind = ORDER_RUN, .timeout_sec = o->timeout_sec};
        CLEANUP(str_done) Str why = STR_NULL;
        int r = errand_open(o->slug, &c, &why);

        if (r == 0)
                r = run_check(&c, o, &why);
        if (r == 0)
                r = str_dup(o->verb, &order.verb);
        if (r == 0)
                r = str_dup(o->arg, &order.arg);
        if (r != 0)
                return errand_exit("run", r, &why);
        name_make(o->verb, clock_wall_ms(), &order.name);
        return errand_run("run", &c, &order, o->wait_sec, o->json);
}

int run_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},    {"wait", required_argument, NULL, 'w'},
                {"timeout", required_argument, NULL, 't'}, {"json", no_argument, NULL, 'j'},
                {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
        };
        RunOptions o = {0};
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(run_help);
                if (opt == 's')
                        o.slug = optarg;
                else if (opt == 'j')
                        o.json = true;
                else if (opt == 'w'   ? !errand_seconds(optarg, ORDER_TIMEOUT_MAX, &o.wait_sec)
                         : opt == 't' ? !errand_seconds(optarg, ORDER_TIMEOUT_MAX, &o.timeout_sec)
                                      : true)
                        return command_usage("run", opt, argv + optind - 1);
        }
        o.verb = optind < argc ? argv[optind] : NULL;
        o.arg = optind + 1 < argc ? argv[optind + 1] : NULL;
        if (!o.verb || optind + 2 < argc)
                return command_usage("run", '?', o.verb ? argv + optind + 2 : argv + argc);
        return run_act(&o);
}
