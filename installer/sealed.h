/* installer/sealed.h - STATE/seal/run: what the verbs run, made of the bytes that were sealed
 *
 *   compose-0.yaml ...   podman-compose: in the order of -f, rendered with every path absolute;
 *                        docker-compose: as sealed; the argv says --project-directory
 *   .env                 podman-compose: the sealed one beside the first compose file; absent is
 *                        absent
 *   env-0 ...            docker-compose: in the order of --env-file; absent is empty
 *   extends-HEX.yaml     compose files which those name, rendered too
 *   file-HEX             env_files, Dockerfiles, secrets, configs that are guarded
 *   sources              one a line, relative to the checkout: build contexts, bind sources and
 *                        whatever else the tool opens in it, none of which was or lay behind a
 *                        symlink when it was sealed; the gate looks again (guard/sources.h)
 *   stack                0755, of any stack: its own program where that lies in the checkout
 *
 * The paths are the same for every seal, so bridge.json names them once (sealed_run_files,
 * sealed_run_env_files, sealed_stack; equip.c does) and no later seal changes it. How `spoolgate
 * seal` and the first seal of `spoolgate install` go, with `taken` as it will be sealed:
 *
 *   take_files(checkout_fd, &bridge->guarded, &bridge->env_files, &taken)
 *   sealed_prepare(checkout_fd, layout.state, bridge, &taken, &sealed, &why)
 *           writes nothing: for --check and --dry-run too; sealed.trusts are warnings
 *   sealed_write(state_fd, &sealed)
 *           before seal_store: dying in between leaves the old seal, which refuses what changed
 *   seal_store(state_fd, ...)
 */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"
#include "guard/take.h"
#include "wire/bridge.h"

enum { SEALED_E_REFUSED = 1 };

typedef struct SealedFile {
        char *name; /* one component */
        mode_t mode;
        Str bytes;
} SealedFile;

typedef struct Sealed {
        SealedFile *files;
        size_t len;
        Strv trusts; /* "FILE:LINE: what lies outside of the seal", for the operator */
} Sealed;
#define SEALED_NULL ((Sealed){0})
void sealed_done(Sealed *s);

/* What Bridge.run_files holds: STATE/seal/run/compose-N.yaml for the compose stacks, else empty.
 * state: layout.state, absolute. *ret is replaced. */
MUST_CHECK int sealed_run_files(const char *state, const char *stack, const Strv *compose,
                                Strv *ret);
/* What Bridge.run_env_files holds: STATE/seal/run/env-N for docker-compose, else empty. */
MUST_CHECK int sealed_run_env_files(const char *state, const char *stack, const Strv *env_files,
                                    Strv *ret);
/* STATE/seal/run/stack: the program in Bridge.bins when it lies in the checkout. It is the first of
 * Bridge.guarded then. */
MUST_CHECK int sealed_stack(const char *state, char **ret);

/* Makes the files in memory out of taken's bytes; the checkout is only looked at for symlinks and
 * for which default Dockerfile stands there. SEALED_E_REFUSED: why is "FILE:LINE: what", one or
 * more lines; the remedy, where there is a command, alone on the last. */
MUST_CHECK int sealed_prepare(int checkout_fd, const char *state, const Bridge *b,
                              const TakenList *taken, Sealed *ret, Str *why);
/* Into a fresh seal/run.HEX, each file and folder synced, then exchanged with seal/run and the old
 * one removed: a reader finds all of the old or all of the new. */
MUST_CHECK int sealed_write(int state_fd, const Sealed *s);
