#include <getopt.h>

#include "operator/command.h"
#include "operator/commands.h"
#include "operator/docket.h"
#include "operator/errand.h"
#include "record/ledger.h"
#include "verb/argv.h"

static const char approve_help[] =
        "usage: spoolgate approve [-s SLUG] [--yes] [--wait SEC] [--json] NAME\n"
        "\n"
        "Runs exactly a request that policy refused, once, by hand: every other gate is asked. "
        "The\n"
        "agent that polls it, or sends it again with the same key, gets the result.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --yes            do not ask\n"
        "  --wait SEC       do not wait longer for the answer\n"
        "  --json           print the response line instead\n";

typedef struct ApproveOptions {
        const char *slug, *name;
        uint32_t wait_sec;
        bool yes, json;
} ApproveOptions;

static int approve_no(Str *why, const Name *name, const char *reason) {
        int r = str_addf(why, "%s: %s", name->text, reason);

        return r < 0 ? r : ERRAND_E_NONE;
}

/* Was refused by policy, and has not run since. */
static int approve_check(const Config *c, const Name *name, const Docket *d, Str *why) {
        CLEANUP(ledger_entry_done) LedgerEntry e = LEDGER_ENTRY_NULL;
        CLEANUP(ledger_close) Ledger l = LEDGER_NULL;
        PinRule rule = config_rule(c);
        int r;

        if (d->started)
                return approve_no(why, name, "it was run already");
        if (!d->by_policy)
                return approve_no(why, name,
                                  "policy did not refuse it, so there is nothing to approve");
        if (!d->key || !d->fingerprint || !d->verb)
                return approve_no(
                        why, name,
                        "it asked for less than a plain run (a scope or a timeout of its own), "
                        "which no approval can carry; let the agent ask without");
        r = ledger_open(c->state_fd, &rule, &l);
        if (r == 0)
                r = ledger_find(&l, d->key, &e);
        if (r == LEDGER_E_ABSENT)
                return 0;
        return r < 0 ? r : approve_no(why, name, "its key was run already");
}

/* What it is that will run: the row's own argv. */
static int approve_show(const Config *c, const Name *name, const Docket *d, Str *why) {
        CLEANUP(plan_freep) Plan *plan = NULL;
        CLEANUP(str_freep) char *argv = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        const Verb *v = table_find(c->table, d->verb);
        VerbCall call;
        int r;

        if (!v || table_call(c->table, v, d->arg, &call) != 0)
                return approve_no(why, name, "its verb or arg is no longer in the table");
        if (v->launch != VERB_SELF)
                r = plan_new(c->table, call, &plan);
        else
                return approve_no(why, name, "the drain answers this verb by itself");
        if (r == 0)
                r = plan_format(plan, &argv);
        if (r == 0)
                r = str_addf(&text,
                             "request  %s\nrefused  %s by policy\nverb     %s%s%s\nruns     %s\n",
                             name->text, d->at ? d->at : "-", d->verb, d->arg ? " " : "",
                             d->arg ? d->arg : "", argv);
        if (r < 0)
                return r;
        command_print(&text);
        return 0;
}

static int approve_order(const Docket *d, Order *o) {
        int r = str_dup(d->verb, &o->verb);

        if (r == 0)
                r = str_dup(d->arg, &o->arg);
        if (r == 0)
                r = str_dup(d->key, &o->key);
        return r < 0 ? r : str_dup(d->fingerprint, &o->fingerprint);
}

static int approve_act(const ApproveOptions *o) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(docket_done) Docket d = DOCKET_NULL;
        CLEANUP(order_done) Order order = {.kind = ORDER_APPROVE};
        CLEANUP(str_done) Str why = STR_NULL;
        int r;

        if (!errand_name(o->name, &order.name)) {
                command_fail("approve", "this is no request's name");
                return COMMAND_FINDING;
        }
        r = errand_open(o->slug, &c, &why);
        if (r != 0)
                return errand_exit("approve", r, &why);
        r = docket_read(&c, &order.name, &d, &why);
        if (r > 0)
                r = ERRAND_E_NONE;
        if (r == 0)
                r = approve_check(&c, &order.name, &d, &why);
        if (r == 0)
                r = approve_show(&c, &order.name, &d, &why);
        if (r == 0)
                r = approve_order(&d, &order);
        if (r != 0)
                return errand_exit("approve", r, &why);
        if (!errand_confirm("approve", "Run it?", o->yes))
                return COMMAND_FINDING;
        return errand_run("approve", &c, &order, o->wait_sec, o->json);
}

int approve_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'}, {"wait", required_argument, NULL, 'w'},
                {"yes", no_argument, NULL, 'y'},        {"json", no_argument, NULL, 'j'},
                {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
        };
        ApproveOptions o = {0};
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(approve_help);
                if (opt == 's')
                        o.slug = optarg;
                else if (opt == 'j')
                        o.json = true;
                else if (opt == 'y')
                        o.yes = true;
                else if (opt != 'w' || !errand_seconds(optarg, ORDER_TIMEOUT_MAX, &o.wait_sec))
                        return command_usage("approve", opt, argv + optind - 1);
        }
        if (optind + 1 != argc)
                return command_usage("approve", '?', argv + (optind < argc ? optind + 1 : argc));
        o.name = argv[optind];
        return approve_act(&o);
}
