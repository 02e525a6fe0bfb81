#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "operator/command.h"
#include "operator/commands.h"

static const Command commands[] = {
        {"approve", "run a request that policy refused", approve_command},
        {"audit", "what was asked, decided and run; verify proves the log", audit_command},
        {"cancel", "end a waiting or running request", cancel_command},
        {"doctor", "what is wrong, and the line that mends it", doctor_command},
        {"explain", "which gate would decide now, and why", explain_command},
        {"install", "pin this checkout to a bridge", install_command},
        {"pause", "refuse what changes something, until resume", pause_command},
        {"reap", "remove leftovers of finished runs, and what is old", reap_command},
        {"resolve", "say what became of an uncertain request", resolve_command},
        {"resume", "end a pause", resume_command},
        {"run", "run a verb by hand, through the gates", run_command},
        {"status", "how a project stands, at one look", status_command},
        {"seal", "approve the guarded files as they are now", seal_command},
        {"tell", "leave the agent a message", tell_command},
        {"list", "every project on this host", list_command},
        {"policy", "what is in force; --check, --edit", policy_command},
        {"show", "one request's whole life", show_command},
        {"uninstall", "remove what install made", uninstall_command},
        {"upgrade", "renew pinned programs and units", upgrade_command},
        {"verbs", "everything this bridge can ever run, argv by argv", verbs_command},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void command_write(int fd, const char *text, size_t len) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_add_escaped(&s, text, len, true);

        if (r == 0)
                r = io_write_all(fd, s.data, s.len);
        (void)r; /* a closed pipe: there is nobody to tell */
}

void command_print(const Str *text) {
        if (text->len > 0)
                command_write(STDOUT_FILENO, text->data, text->len);
}

static void command_say(const char *a, const char *b, const char *c, const char *text) {
        CLEANUP(str_done) Str s = STR_NULL;

        if (str_addf(&s, "%s%s%s%s\n", a, b, c, text) == 0)
                command_write(STDERR_FILENO, s.data, s.len);
}

void command_fail(const char *command, const char *why) {
        command_say("spoolgate ", command, ": ", why);
}

void command_warn(const char *text) {
        command_say("warning: ", "", "", text);
}

int command_broken(const char *command, int r) {
        CLEANUP(str_done) Str s = STR_NULL;

        if (str_addf(&s, "%s (%s)", strerror(-r), err_last()) == 0)
                command_fail(command, s.data);
        return COMMAND_BROKEN;
}

int command_usage(const char *command, int opt, char **argv) {
        CLEANUP(str_done) Str s = STR_NULL;
        const char *word = argv[0];
        int r;

        r = str_addf(&s, opt == ':' ? "%s needs a value" : "%s is no option or argument of it",
                     word ? word : "?");
        if (r == 0)
                r = str_addf(&s, "\nspoolgate %s --help", command);
        if (r == 0)
                command_fail(command, s.data);
        return COMMAND_USAGE;
}

int command_help(const char *text) {
        command_write(STDOUT_FILENO, text, strlen(text));
        return COMMAND_OK;
}

int command_slug_only(const char *command, const char *help, int argc, char **argv,
                      const char **ret_slug) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        int opt;

        *ret_slug = NULL;
        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(help);
                if (opt != 's')
                        return command_usage(command, opt, argv + optind - 1);
                *ret_slug = optarg;
        }
        return -1;
}

static int command_list(int fd) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_adds(&s, "usage: spoolgate COMMAND [-s SLUG] [OPTION...]\n\n");

        for (size_t i = 0; i < COMMANDS && r == 0; i++)
                r = str_addf(&s, "  %-12s %s\n", commands[i].name, commands[i].help);
        if (r == 0)
                r = str_adds(&s, "\nspoolgate COMMAND --help says more. Without -s: the project "
                                 "that holds this folder, else the only one.\n");
        if (r == 0)
                command_write(fd, s.data, s.len);
        return fd == STDOUT_FILENO ? COMMAND_OK : COMMAND_USAGE;
}

int command_main(int argc, char **argv) {
        const char *name = argc > 1 ? argv[1] : NULL;

        if (!name)
                return command_list(STDERR_FILENO);
        if (str_eq(name, "--help") || str_eq(name, "-h") || str_eq(name, "help"))
                return command_list(STDOUT_FILENO);
        if (str_eq(name, "--version"))
                return command_help("spoolgate " SPOOLGATE_VERSION "\n");
        for (size_t i = 0; i < COMMANDS; i++)
                if (str_eq(commands[i].name, name))
                        return commands[i].run(argc - 1, argv + 1);
        command_say("spoolgate: no command ", name, "", "");
        return command_list(STDERR_FILENO);
}
