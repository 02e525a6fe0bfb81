/* operator/command.h - `spoolgate COMMAND`: the table of commands and what they share
 *
 * Exit: 0; 1 a finding or a refusal; 2 could not look; 64 usage. */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

enum { COMMAND_OK = 0, COMMAND_FINDING = 1, COMMAND_BROKEN = 2, COMMAND_USAGE = 64 };

typedef struct Command {
        const char *name;
        const char *help; /* one line */
        int (*run)(int argc,
                   char **argv); /* argv[0] is the command's name; gives the exit status */
} Command;

/* The main: finds argv[1] in the table. */
int command_main(int argc, char **argv);

/* For the commands. Text for people goes to stdout or stderr, escaped; lines stay lines. */
void command_print(const Str *text);                     /* to stdout */
void command_fail(const char *command, const char *why); /* "spoolgate COMMAND: WHY" to stderr */
void command_warn(const char *text);                     /* "warning: TEXT" to stderr */
/* Host trouble: r (-errno), with the place it was born at; gives COMMAND_BROKEN. */
int command_broken(const char *command, int r);
/* A word the option parser did not take; gives COMMAND_USAGE. opt: getopt_long's answer ('?' or
 * ':'). */
int command_usage(const char *command, int opt, char **argv);
/* The options of a command that knows --slug and --help alone, its operands left at optind. < 0: go
 * on; else the exit status. */
int command_slug_only(const char *command, const char *help, int argc, char **argv,
                      const char **ret_slug);
/* --help: the usage text to stdout; gives COMMAND_OK. */
int command_help(const char *text);
