/* guard/guard.h - are the files which define orchestration the approved ones?
 *
 * Each file is opened once beneath the pinned checkout and read once into a sealed memfd; seal and
 * HEAD are compared with those bytes (design: "Seal"; attacks.md 1.1, 1.4). The drain links no
 * libgit2: HEAD is read by spoolgate-inspect. Nothing here logs, and no value of an env file leaves
 * this room. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

typedef enum GuardCode {
        GUARD_OK,
        GUARD_MODIFIED, /* a file is not the committed one; under seal alone: not the sealed one; or
                           a path that the compose tool opens leads elsewhere (guard/reach.h) */
        GUARD_UNSEALED, /* no seal, a file that it lacks, or one committed but never sealed */
        GUARD_ENV,      /* an env file is not the sealed one (checked under every INTEGRITY) */
        GUARD_ERROR,    /* no answer: repository hostile or unsupported, seal damaged, no jail */
} GuardCode;

typedef struct GuardSpec {
        int checkout_fd, state_fd; /* pinned directories; stay the caller's */
        const char *inspect;       /* absolute path of spoolgate-inspect */
        const char *git_dir;       /* absolute and resolved; NULL: none was pinned at install */
        uint64_t git_device, git_inode;
        const char *jail;                /* "landlock" | "seccomp" */
        uint64_t address_space;          /* RLIMIT_AS of the inspection in bytes; 0: 512 MiB */
        bool need_seal, need_head;       /* INTEGRITY=both: both; seal, head: one */
        const Strv *guarded, *env_files; /* relative to the checkout; NULL is an empty list */
} GuardSpec;

typedef struct Guard Guard;

/* 0 with *ret for every verdict, refusals and hostile repositories included; negative only when the
 * host fails (memory, descriptors, the seal's directory unreadable): refuse as integrity-error then
 * too. Blocks for some milliseconds, for ASK_WALL_MS at the worst. The files are held open until
 * guard_free. */
MUST_CHECK int guard_check(const GuardSpec *spec, Guard **ret);
Guard *guard_free(Guard *g);
void guard_freep(Guard **g);

GuardCode guard_code(const Guard *g);
/* "ok", or the reason code "integrity-modified" "-unsealed" "-env" "-error". */
const char *guard_name(GuardCode code);
/* One fixed sentence, no agent bytes; static memory. */
const char *guard_message(const Guard *g);
/* The refused paths as the operator configured them; unescaped. */
const Strv *guard_files(const Guard *g);
/* A fixed phrase for item i of guard_files: "differs from the sealed one", ... */
const char *guard_why(const Guard *g, size_t i);
/* The id of HEAD's commit, "" when it was not read. */
const char *guard_head(const Guard *g);

/* The very bytes that were judged: a sealed, read-only memfd of a guarded or env file, the Guard's
 * own; -EBADF when absent or unknown. */
int guard_bytes_fd(const Guard *g, const char *path);

/* After the run: opens each path again and compares device, inode, size, mode, ctime and the bytes;
 * "absent" is a state too; and looks where the sources lead. Adds each changed path to *ret_changed
 * (the caller's; may be empty). */
MUST_CHECK int guard_recheck(const Guard *g, int checkout_fd, Strv *ret_changed);
