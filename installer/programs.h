/* installer/programs.h - where the project's own files are: beside this program, in its build tree,
 * else where meson installed them */
#pragma once
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

enum { PROGRAMS_E_ABSENT = 1, PROGRAMS_E_UNREADABLE };
enum { PROGRAMS_MAX_BYTES = 256 * 1024 * 1024 };

typedef enum ProgramsKind {
        PROGRAMS_BINARY, /* beside /proc/self/exe (the build tree too), ../libexec/spoolgate from
                            there, LIBEXECDIR/spoolgate */
        PROGRAMS_AGENT,  /* what the agent runs: src/agent of the source tree, ../share/spoolgate,
                            DATADIR/spoolgate */
        PROGRAMS_AGENT_FILES, /* what it may read: src/agent of the source tree,
                                 ../share/spoolgate/agent, DATADIR/spoolgate/agent */
        PROGRAMS_UNITS,  /* templates: units/ of the source tree, ../share/spoolgate/units, the
                            unitdir option's */
        PROGRAMS_POLICY, /* templates: policy/ of the source tree, ../share/spoolgate/policy, the
                            policydir option's */
} ProgramsKind;

/* The source tree counts only when it is still there and this program lies in the build tree that
 * was made of it. On a refusal why says where was looked. */
MUST_CHECK int programs_find(ProgramsKind kind, const char *name, char **ret_path, Str *why);
/* The file's bytes. */
MUST_CHECK int programs_read(ProgramsKind kind, const char *name, size_t max, Str *ret, Str *why);
