#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/host.h"
#include "operator/policy-edit.h"
#include "operator/policy-show.h"

static const char policy_help[] =
        "usage: spoolgate policy [-s SLUG] [--json | --check | --edit]\n"
        "\n"
        "What is in force: every setting, with what policy.conf leaves to the default.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --json           as JSON\n"
        "  --check          say what is wrong in policy.conf, verbs.json and redact.conf; exit 1 "
        "then\n"
        "  --edit           edit a copy with $VISUAL or $EDITOR; it is saved when it holds, and "
        "kept aside when not\n";

/* "FILE: TROUBLE", the place to look alone on the line behind it. */
static int policy_trouble(const Config *c, const char *file, const char *trouble, Str *out) {
        if (!trouble)
                return 0;
        return str_addf(out, "%s/%s\nvi %s/%s\n", c->layout.config, trouble, c->layout.config,
                        file);
}

static int policy_check(Config *c) {
        CLEANUP(str_freep) char *redact = NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        int r = config_redact(c, &redact);

        if (r < 0)
                return command_broken("policy", r);
        r = policy_trouble(c, "policy.conf", c->trouble, &out);
        if (r == 0)
                r = policy_trouble(c, "verbs.json", c->own_trouble, &out);
        if (r == 0)
                r = policy_trouble(c, "redact.conf", redact, &out);
        if (r < 0)
                return command_broken("policy", r);
        if (out.len > 0) {
                command_print(&out);
                return COMMAND_FINDING;
        }
        r = str_addf(&out, "%s: policy.conf, verbs.json and redact.conf hold\n", c->layout.slug);
        if (r < 0)
                return command_broken("policy", r);
        command_print(&out);
        return COMMAND_OK;
}

static int policy_print(const Config *c, bool json) {
        CLEANUP(str_done) Str out = STR_NULL;
        int r;

        if (!c->policy) {
                r = policy_trouble(c, "policy.conf", c->trouble, &out);
                if (r < 0)
                        return command_broken("policy", r);
                command_fail("policy", out.data);
                return COMMAND_FINDING;
        }
        r = json ? policy_show_json(c, &out) : policy_show(c, &out);
        if (r < 0)
                return command_broken("policy", r);
        command_print(&out);
        return COMMAND_OK;
}

static int policy_edit_command(Config *c) {
        CLEANUP(str_done) Str said = STR_NULL;
        int r = policy_edit(c, &said);

        if (r < 0)
                return command_broken("policy", r);
        if (r > 0)
                command_fail("policy", said.data);
        else
                command_print(&said);
        return r > 0 ? COMMAND_FINDING : COMMAND_OK;
}

int policy_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'}, {"json", no_argument, NULL, 'j'},
                {"check", no_argument, NULL, 'c'},      {"edit", no_argument, NULL, 'e'},
                {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
        };
        CLEANUP(config_done) Config c = HOST_CONFIG_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        const char *slug = NULL;
        int opt, r, what = 0;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(policy_help);
                if (opt == 's')
                        slug = optarg;
                else if (what == 0 && (opt == 'j' || opt == 'c' || opt == 'e'))
                        what = opt;
                else
                        return command_usage("policy", opt, argv + optind - 1);
        }
        if (optind < argc)
                return command_usage("policy", '?', argv + optind);
        r = hash_init();
        if (r == 0)
                r = host_load(slug, &c, &why);
        if (r < 0)
                return command_broken("policy", r);
        if (r > 0) {
                command_fail("policy", why.data);
                return COMMAND_BROKEN;
        }
        if (what == 'c')
                return policy_check(&c);
        return what == 'e' ? policy_edit_command(&c) : policy_print(&c, what == 'j');
}
