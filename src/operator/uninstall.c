#include <getopt.h>

#include "installer/registry.h"
#include "installer/uninstall.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/project.h"

static const char uninstall_help[] =
        "usage: spoolgate uninstall [-s SLUG] [--purge] [--dry-run]\n"
        "\n"
        "Removes units, programs, bridge.json and the agent's client. Policy, state and what is in "
        "the spool stay,\n"
        "unless --purge is given.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --purge          policy, own verbs, audit log, ledger and spool too\n"
        "  --dry-run        say what would be removed, remove nothing\n";

static int uninstall_act(const char *slug, bool purge, bool dry) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        CLEANUP(bridge_freep) Bridge *b = NULL;
        CLEANUP(str_done) Str report = STR_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(str_done) Str broken = STR_NULL;
        CLEANUP(strv_done) Strv warnings = STRV_NULL;
        int r;

        r = project_select(slug, &l, &why);
        if (r == 0) {
                r = registry_read(&l, &b, &broken);
                if (r >=
                    0) /* absent or broken: what is left of an install is removed all the same */
                        r = uninstall_run(&l, b, purge, dry, &report, &warnings, &why);
        }
        if (r < 0)
                return command_broken("uninstall", r);
        command_print(&report);
        for (size_t i = 0; i < warnings.len; i++)
                command_warn(warnings.items[i]);
        if (r > 0)
                command_fail("uninstall", why.data);
        return r > 0 ? COMMAND_FINDING : COMMAND_OK;
}

int uninstall_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"purge", no_argument, NULL, 'p'},
                {"dry-run", no_argument, NULL, 'd'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        const char *slug = NULL;
        bool purge = false, dry = false;
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(uninstall_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'p')
                        purge = true;
                else if (opt == 'd')
                        dry = true;
                else
                        return command_usage("uninstall", opt, argv + optind - 1);
        }
        if (optind < argc)
                return command_usage("uninstall", '?', argv + optind);
        return uninstall_act(slug, purge, dry);
}
