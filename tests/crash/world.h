/* crash/world.h - one installed project as the sweeps use it: brought back to its first state, filled with the workload,
 * looked at afterwards
 *
 * ROOT (made by world.sh): home/ (configuration, state, what the verbs did), shop/ (the checkout with its spool), template/
 * (state and spool as installed), drain (the program). The checkout is pinned by its inode: contents are restored in place. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORLD_SLUG "crash"

typedef struct WorldPath {
        char text[512];
} WorldPath;

typedef struct World {
        WorldPath root, home, drain, state, spool, effects, violations;
        char now[32]; /* stamp of the requests' names */
        uint64_t sent; /* bit i: request i was put there */
        size_t hostile;
        bool small;    /* what finds no room is left out */
} World;

/* What may become of a request; W_* are bits. */
typedef enum WorldEnd {
        W_DONE = 1,
        W_FAILED = 2,
        W_UNCERTAIN = 4,
        W_DENIED = 8,
        W_EXPIRED = 16,
} WorldEnd;

typedef struct WorldCase {
        const char *verb, *arg;  /* arg NULL: none */
        const char *members;     /* more of the body, or NULL */
        const char *body;        /* instead of a right one, or NULL */
        const char *line;        /* what its run leaves in the effects file; NULL: a run leaves nothing that is counted */
        const char *key;         /* ledger key: idempotency key, or NULL: its name */
        const char *reason;      /* of the refusal that is due; NULL: it runs */
        int age_sec;             /* how old it says it is */
        unsigned ends;           /* WorldEnd bits, when nothing but a death comes between */
        bool link;               /* a symlink in place of a file */
        bool quarantined;        /* ends there, not in archive/ */
        bool mutating;
} WorldCase;
extern const WorldCase world_cases[];
extern const size_t world_case_count;

/* Each ends the program with status 2 and a message when the host fails: a sweep that can't look proves nothing. */
void world_open(World *w, const char *root);
void world_reset(const World *w);
void world_fill(World *w);
bool world_sent(const World *w, size_t i);
size_t world_sent_count(const World *w);
void world_name(const World *w, size_t i, char ret[128]);
/* A small file's bytes, NUL added; false: absent. *ret_len optional. */
bool world_read(const char *dir, const char *name, char *ret, size_t size, size_t *ret_len);
size_t world_visible(const char *dir, const char *sub);
/* Entries that were put away: in archive/ (but the logs), in quarantine/, or renamed in place. */
size_t world_kept(const World *w);
size_t world_dotfiles(const World *w);
/* The state in request i's response: a WorldEnd, 0: none or not terminal. */
unsigned world_state(const World *w, size_t i);
/* Nothing waits, nothing is in hand, every request has its last answer. */
/* A hash of its last answer; 0: there is none yet. */
uint64_t world_answer(const World *w, size_t i);
bool world_settled(const World *w);
/* Of every name and byte below spool and state, but heartbeat, capabilities, lock. */
uint64_t world_hash(const World *w);
size_t world_effects(const World *w, const char *line);
_Noreturn void world_die(const char *what);
