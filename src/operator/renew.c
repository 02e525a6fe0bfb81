/* `spoolgate upgrade` */
#include <getopt.h>

#include "installer/registry.h"
#include "installer/upgrade.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/project.h"

static const char renew_help[] =
        "usage: spoolgate upgrade [-s SLUG | --all] [--dry-run]\n"
        "\n"
        "Brings the pinned programs, the agent's client and the units of a project to those of "
        "the\n"
        "program you run now, and shows what changes in the units. Policy stays.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --all            every project of this host\n"
        "  --dry-run        say what would be written, write nothing\n";

static int renew_project(const Layout *l, const Bridge *b, bool dry_run) {
        CLEANUP(str_done) Str diff = STR_NULL;
        CLEANUP(str_done) Str report = STR_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(strv_done) Strv warnings = STRV_NULL;
        int r = upgrade_run(l, b, dry_run, &diff, &report, &warnings, &why);

        if (r < 0)
                return command_broken("upgrade", r);
        if (r > 0) {
                command_fail("upgrade", why.data ? why.data : "refused");
                return COMMAND_FINDING;
        }
        command_print(&diff);
        command_print(&report);
        for (size_t i = 0; i < warnings.len; i++)
                command_warn(warnings.items[i]);
        return COMMAND_OK;
}

static int renew_one(const char *slug, bool dry_run) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        CLEANUP(bridge_freep) Bridge *b = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r = project_open(slug, &l, &b, &why);

        if (r < 0)
                return command_broken("upgrade", r);
        if (r == 0)
                return renew_project(&l, b, dry_run);
        command_fail("upgrade", why.data);
        return r == PROJECT_E_NONE ? COMMAND_FINDING : COMMAND_BROKEN;
}

/* Each of them, whatever becomes of the others. */
static int renew_all(bool dry_run) {
        CLEANUP(strv_done) Strv slugs = STRV_NULL;
        int worst = COMMAND_OK, r = layout_list(&slugs);

        if (r < 0)
                return command_broken("upgrade", r);
        if (r > 0) {
                command_fail("upgrade", "HOME is not set to an absolute path");
                return COMMAND_FINDING;
        }
        for (size_t i = 0; i < slugs.len; i++) {
                int one = renew_one(slugs.items[i], dry_run);

                worst = one > worst ? one : worst;
        }
        return worst;
}

int upgrade_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"all", no_argument, NULL, 'a'},
                {"dry-run", no_argument, NULL, 'n'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        const char *slug = NULL;
        bool all = false, dry_run = false;
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(renew_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'a')
                        all = true;
                else if (opt == 'n')
                        dry_run = true;
                else
                        return command_usage("upgrade", opt, argv + optind - 1);
        }
        if (optind < argc || (slug && all))
                return command_usage("upgrade", '?', argv + (optind < argc ? optind : argc - 1));
        return all ? renew_all(dry_run) : renew_one(slug, dry_run);
}
