#include <getopt.h>

#include "installer/install.h"
#include "operator/command.h"
#include "operator/commands.h"

static const char install_help[] =
        "usage: spoolgate install [OPTION...]\n"
        "\n"
        "Pins a checkout to a bridge: programs, policy, state, spool and units. Run it again at "
        "any time:\n"
        "what is right stays, what is not is mended. Relative paths are seen from the checkout.\n"
        "\n"
        "  --project DIR          the checkout's root (default: the one that holds this folder)\n"
        "  --slug NAME            the project's name on this host (default: the folder's name)\n"
        "  --stack STACK          script, podman-compose, docker-compose or quadlet\n"
        "  --stack-bin PATH       the stack's program (script: required)\n"
        "  --compose FILE         a compose file; repeat for several, in the order of -f\n"
        "  --service NAME         a service the agent may name; repeat (default: all of the "
        "compose files)\n"
        "  --buildable NAME       a service it may rebuild; repeat (default: those with build:)\n"
        "  --exclude NAME         a service it may not name; repeat\n"
        "  --env-file FILE        a file of secrets; repeat (default: .env beside the first "
        "compose file)\n"
        "  --guard PATH           one more file that must equal its seal; repeat\n"
        "  --spool RELDIR         default: untracked/spoolgate\n"
        "  --launch scope|direct  default: scope where a user manager answers\n"
        "  --network NAME         what join-network joins ...\n"
        "  --agent-container NAME ... and the container it puts there\n"
        "  --agent-uid UID        the agent's uid as the host sees it, where it is another one\n"
        "  --jail landlock|seccomp  what the repository is read behind (default: landlock)\n"
        "  --inspect-memory MIB   address space of that reading (default: 512)\n"
        "  --auth                 the agent has to sign its requests: makes its key, and says "
        "where\n"
        "  --rotate-key           a new key; the one before it stays good, older ones go\n"
        "  --no-auth              no signatures: removes the keys\n"
        "                         (these three alone change nothing else of what is installed)\n"
        "  --agent-files          also put into SPOOL/agent what tells an agent how to ask\n"
        "  --no-units             no systemd units\n"
        "  --dry-run              say what would be written, write nothing\n";

enum {
        INSTALL_PROJECT = 256,
        INSTALL_SLUG,
        INSTALL_STACK,
        INSTALL_STACK_BIN,
        INSTALL_COMPOSE,
        INSTALL_SERVICE,
        INSTALL_BUILDABLE,
        INSTALL_EXCLUDE,
        INSTALL_ENV_FILE,
        INSTALL_GUARD,
        INSTALL_SPOOL,
        INSTALL_LAUNCH,
        INSTALL_NETWORK,
        INSTALL_CONTAINER,
        INSTALL_AGENT_UID,
        INSTALL_JAIL,
        INSTALL_INSPECT_MEMORY,
        INSTALL_AUTH,
        INSTALL_ROTATE_KEY,
        INSTALL_NO_AUTH,
        INSTALL_AGENT_FILES,
        INSTALL_NO_UNITS,
        INSTALL_DRY_RUN,
        INSTALL_HELP,
};

static const struct option install_options[] = {
        {"project", required_argument, NULL, INSTALL_PROJECT},
        {"slug", required_argument, NULL, INSTALL_SLUG},
        {"stack", required_argument, NULL, INSTALL_STACK},
        {"stack-bin", required_argument, NULL, INSTALL_STACK_BIN},
        {"compose", required_argument, NULL, INSTALL_COMPOSE},
        {"service", required_argument, NULL, INSTALL_SERVICE},
        {"buildable", required_argument, NULL, INSTALL_BUILDABLE},
        {"exclude", required_argument, NULL, INSTALL_EXCLUDE},
        {"env-file", required_argument, NULL, INSTALL_ENV_FILE},
        {"guard", required_argument, NULL, INSTALL_GUARD},
        {"spool", required_argument, NULL, INSTALL_SPOOL},
        {"launch", required_argument, NULL, INSTALL_LAUNCH},
        {"network", required_argument, NULL, INSTALL_NETWORK},
        {"agent-container", required_argument, NULL, INSTALL_CONTAINER},
        {"agent-uid", required_argument, NULL, INSTALL_AGENT_UID},
        {"jail", required_argument, NULL, INSTALL_JAIL},
        {"inspect-memory", required_argument, NULL, INSTALL_INSPECT_MEMORY},
        {"auth", no_argument, NULL, INSTALL_AUTH},
        {"rotate-key", no_argument, NULL, INSTALL_ROTATE_KEY},
        {"no-auth", no_argument, NULL, INSTALL_NO_AUTH},
        {"agent-files", no_argument, NULL, INSTALL_AGENT_FILES},
        {"no-units", no_argument, NULL, INSTALL_NO_UNITS},
        {"dry-run", no_argument, NULL, INSTALL_DRY_RUN},
        {"help", no_argument, NULL, INSTALL_HELP},
        {NULL, 0, NULL, 0},
};

static const char **install_text(int opt, InstallOptions *o) {
        switch (opt) {
        case INSTALL_PROJECT:
                return &o->project;
        case INSTALL_SLUG:
        case 's':
                return &o->slug;
        case INSTALL_STACK:
                return &o->stack;
        case INSTALL_STACK_BIN:
                return &o->stack_bin;
        case INSTALL_SPOOL:
                return &o->spool;
        case INSTALL_LAUNCH:
                return &o->launch;
        case INSTALL_NETWORK:
                return &o->network;
        case INSTALL_CONTAINER:
                return &o->container;
        case INSTALL_JAIL:
                return &o->jail;
        default:
                return NULL;
        }
}

static Strv *install_list(int opt, InstallOptions *o) {
        switch (opt) {
        case INSTALL_COMPOSE:
                return &o->compose;
        case INSTALL_SERVICE:
                return &o->services;
        case INSTALL_BUILDABLE:
                return &o->buildable;
        case INSTALL_EXCLUDE:
                return &o->exclude;
        case INSTALL_ENV_FILE:
                return &o->env_files;
        case INSTALL_GUARD:
                return &o->guard;
        default:
                return NULL;
        }
}

static bool *install_flag(int opt, InstallOptions *o) {
        switch (opt) {
        case INSTALL_AUTH:
                return &o->auth;
        case INSTALL_ROTATE_KEY:
                return &o->rotate_key;
        case INSTALL_NO_AUTH:
                return &o->no_auth;
        case INSTALL_AGENT_FILES:
                return &o->agent_files;
        case INSTALL_NO_UNITS:
                return &o->no_units;
        case INSTALL_DRY_RUN:
                return &o->dry_run;
        default:
                return NULL;
        }
}

enum { INSTALL_E_WORD = 1, INSTALL_MIB_MIN = 128, INSTALL_MIB_MAX = 1024 * 1024 };

static int install_take(int opt, const char *value, InstallOptions *o) {
        const char **text = install_text(opt, o);
        Strv *list = install_list(opt, o);
        bool *flag = install_flag(opt, o);
        unsigned long long uid, mib;

        if (text) {
                *text = value;
                return 0;
        }
        if (list)
                return strv_add(list, value);
        if (flag)
                *flag = true;
        else if (opt == INSTALL_AGENT_UID && str_parse_uint(value, 4294967294ULL, &uid))
                o->agent_uid = (int64_t)uid;
        else if (opt == INSTALL_INSPECT_MEMORY && str_parse_uint(value, INSTALL_MIB_MAX, &mib) &&
                 mib >= INSTALL_MIB_MIN)
                o->inspect_memory = (int64_t)mib * 1024 * 1024;
        else
                return INSTALL_E_WORD;
        return 0;
}

static int install_act(const InstallOptions *o) {
        CLEANUP(str_done) Str report = STR_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(strv_done) Strv warnings = STRV_NULL;
        int r;

        r = install_run(o, &report, &warnings, &why);
        if (r < 0)
                return command_broken("install", r);
        if (r > 0) {
                command_fail("install", why.data);
                return COMMAND_FINDING;
        }
        command_print(&report);
        for (size_t i = 0; i < warnings.len; i++)
                command_warn(warnings.items[i]);
        return COMMAND_OK;
}

int install_command(int argc, char **argv) {
        CLEANUP(install_options_done) InstallOptions o = INSTALL_OPTIONS_NULL;
        int opt, r;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:s:", install_options, NULL)) >= 0) {
                if (opt == INSTALL_HELP)
                        return command_help(install_help);
                r = opt == '?' || opt == ':' ? INSTALL_E_WORD : install_take(opt, optarg, &o);
                if (r < 0)
                        return command_broken("install", r);
                if (r > 0)
                        return command_usage("install", opt, argv + optind - 1);
        }
        if (optind < argc)
                return command_usage("install", '?', argv + optind);
        return install_act(&o);
}
