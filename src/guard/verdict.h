/* guard/verdict.h - what spoolgate-inspect says over its pipe: one Verdict header, then one record
 * a file
 *
 * Same machine, same build: native layout without padding. The reader believes nothing of it but an
 * exact length, magic, version and count, and values within the enums. */
#pragma once
#include <stdint.h>

enum { VERDICT_MAGIC = 0x53474956, VERDICT_VERSION = 1, VERDICT_HEX = 40 };

typedef enum InspectCode {
        INSPECT_OK = 1,
        INSPECT_USAGE,    /* called in another way than by guard/ask */
        INSPECT_JAIL,     /* a wall of the jail could not be raised */
        INSPECT_LANDLOCK, /* the kernel has no Landlock, and jail is "landlock" */
        INSPECT_OWNER,    /* the git directory belongs to another user */
        INSPECT_COMMON,   /* a linked worktree whose commondir is not the usual one */
        INSPECT_CONFIG,   /* the repository's config is no readable small file */
        INSPECT_SHA256,
        INSPECT_REFTABLE,
        INSPECT_PARTIAL,
        INSPECT_HEAD, /* HEAD, a ref or packed-refs is no proper file, or the symbolic refs go in a
                         circle */
        INSPECT_UNBORN,  /* no commit yet */
        INSPECT_MISSING, /* an object of HEAD is not in the repository itself (shallow copies,
                            alternates) */
        INSPECT_CORRUPT, /* an object is not what its id says */
        INSPECT_MEMORY,  /* the limits of the jail */
        INSPECT_COUNT,
} InspectCode;

typedef enum InspectFile {
        INSPECT_FILE_SAME = 1, /* bytes and mode; or absent here and in HEAD */
        INSPECT_FILE_BYTES,
        INSPECT_FILE_MODE,
        INSPECT_FILE_UNTRACKED, /* here, not in HEAD */
        INSPECT_FILE_GONE,      /* in HEAD, not here */
        INSPECT_FILE_KIND,      /* HEAD has a directory, a link or a submodule at that path */
        INSPECT_FILE_COUNT,
} InspectFile;

typedef struct VerdictHead {
        uint32_t magic, version;
        uint32_t code;          /* InspectCode */
        uint32_t count;         /* of records; 0 unless INSPECT_OK */
        char head[VERDICT_HEX]; /* the commit's id; NULs unless it was found */
} VerdictHead;

typedef struct VerdictFile {
        uint32_t magic, index, file; /* InspectFile */
        uint32_t zero;
} VerdictFile;
