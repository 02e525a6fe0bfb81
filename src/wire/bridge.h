/* wire/bridge.h - bridge.json: what the installer found and pinned for one project */
#pragma once
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "wire/record.h"
#include "verb/table.h"

typedef struct BridgePin { /* an absolute path with the inode that stood there */
        char *path;
        uint64_t device, inode;
} BridgePin;

typedef struct Bridge {
        char *slug;
        BridgePin checkout;
        BridgePin git_dir; /* path NULL: no repository is pinned */
        char *spool;       /* relative to the checkout */
        char *stack, *project, *path, *home, *runtime_dir;
        char *network, *container; /* join-network, or NULL */
        Strv bins;                 /* "name=/path" */
        Strv compose;              /* relative to the checkout; absolute in run_files */
        char *compose_dir; /* absolute: what their relative paths are seen from; NULL: the checkout
                            */
        Strv run_files;    /* what the argv names with -f: absolute */
        Strv services, buildable;
        Strv env_files;     /* relative to the checkout */
        Strv run_env_files; /* what the argv names with --env-file: absolute */
        Strv guarded;       /* relative to the checkout */
        Strv env;           /* K=V for every child */
        Strv keys;    /* MAC keys' file names below the config directory; empty: no MAC asked */
        char *launch; /* "scope" | "direct" */
        char *jail;   /* "landlock" | "seccomp" */
        int64_t agent_uid;      /* -1: not known */
        int64_t tasks_max;      /* of a scope; 0: not set */
        int64_t memory_max;     /* bytes; 0: not set */
        int64_t inspect_memory; /* bytes of address space for spoolgate-inspect; 0: its default */
        char *version;          /* of the program that wrote it */
} Bridge;
#define BRIDGE_NULL ((Bridge){.agent_uid = -1})

enum { BRIDGE_E_INVALID = 1 };
/* On BRIDGE_E_INVALID *ret_message (caller's) says line or key and what. Closed schema, every path
 * absolute or beneath as stated. */
MUST_CHECK int bridge_parse(const char *bytes, size_t len, Bridge **ret, char **ret_message);
MUST_CHECK int bridge_format(const Bridge *b, char **ret); /* pretty, newline at the end */
void bridge_done(Bridge *b);
Bridge *bridge_free(Bridge *b);
void bridge_freep(Bridge **b);
/* A VerbSetup of copies (free with setup_done; its plain pointers point into b, which must outlive
 * it). */
MUST_CHECK int bridge_setup(const Bridge *b, VerbSetup *ret);
