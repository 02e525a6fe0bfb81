/* installer/install.h - pin one checkout to one bridge
 *
 * Everything is looked at and checked first, then written: programs, policy (once), state, spool,
 * bridge.json, units; a second run changes nothing. Relative paths of the options are seen from the
 * checkout.
 *
 * An agent of another uid (--agent-uid: a container's user that is a subuid on the host) can't
 * write into the spool, whose directories belong to the host user and are 0755. requests/ and tmp/
 * become 1777 then: it makes and renames its own files there and nobody else's, while the drain, as
 * the directories' owner, moves any of them. The other directories stay closed to it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

enum { INSTALL_E_REFUSED = 1 };

typedef struct InstallOptions { /* NULL and empty: not given */
        const char *project, *slug, *stack, *stack_bin, *spool, *launch, *network, *container,
                *jail; /* "landlock" | "seccomp" */
        Strv compose, services, buildable, exclude, env_files, guard;
        int64_t agent_uid;              /* -1: not given */
        int64_t inspect_memory;         /* bytes; 0: not given */
        bool auth, rotate_key, no_auth; /* requests must be signed; with a new key too; need not */
        bool agent_files, no_units, dry_run;
} InstallOptions;
#define INSTALL_OPTIONS_NULL ((InstallOptions){.agent_uid = -1})
void install_options_done(InstallOptions *o);

/* With auth, rotate_key or no_auth alone, a project that is installed keeps everything else as it
 * is. report: one line a step, then what to do next. warnings: each a text, its remedy alone on the
 * last line. INSTALL_E_REFUSED: why, in the same form, and nothing has been written. */
MUST_CHECK int install_run(const InstallOptions *o, Str *report, Strv *warnings, Str *why);
