/* guard/ask.h - the drain's side of spoolgate-inspect: start it, wait for its verdict, believe it
 * or not */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "guard/take.h"
#include "guard/verdict.h"

enum { ASK_WALL_MS = 1800 };
/* What the parent alone can find. */
enum {
        ASK_E_START = INSPECT_COUNT, /* the program is not there or can't be started */
        ASK_E_TIME,                  /* ASK_WALL_MS are over; it was killed */
        ASK_E_DIED,                  /* a signal, or an exit status other than 0 */
        ASK_E_GARBLED,               /* anything but one whole verdict */
        ASK_E_DIR,                   /* the git directory is another than the pinned one */
};

typedef struct AskFile {
        const char *path;
        mode_t mode;
        int bytes_fd; /* -EBADF: absent */
} AskFile;

typedef struct AskAnswer {
        char head[VERDICT_HEX + 1]; /* "" unless it was found */
        InspectFile files[TAKE_FILES];
} AskAnswer;

typedef struct AskGit {
        int fd;    /* the git directory */
        int up_fd; /* the directory two above it */
} AskGit;

/* Opens the pinned git directory. ASK_E_DIR; INSPECT_OWNER when it isn't ours. */
MUST_CHECK int ask_open_git(const char *git_dir, uint64_t device, uint64_t inode, AskGit *ret);
void ask_git_done(AskGit *git);
/* Blocks until the verdict or ASK_WALL_MS. 0: *ret is filled, files in order. Positive: an
 * InspectCode but INSPECT_OK, or ASK_E_*; then ret->head alone may be set. The child has nothing
 * but its descriptors; it is reaped. */
MUST_CHECK int ask_inspect(const char *program, const char *jail, uint64_t address_space,
                           const AskGit *git, const AskFile *files, size_t len, AskAnswer *ret);
/* One fixed sentence for a positive code of ask_inspect or ask_open_git. */
const char *ask_reason(int code);
