/* installer/sealing.h - a person approves the guarded files as they are now (design: "Seal")
 *
 * sealing_look takes each file once; what is shown, compared and stored are those bytes. */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "guard/seal.h"
#include "guard/take.h"
#include "guard/verdict.h"
#include "installer/sealed.h"
#include "policy/policy.h"
#include "wire/bridge.h"

typedef struct SealingPlace { /* the caller's */
        const Layout *layout;
        const Bridge *bridge;
        int checkout_fd, state_fd;
        PolicyIntegrity integrity;
} SealingPlace;

typedef struct Sealing {
        TakenList taken;
        InspectFile committed[TAKE_FILES]; /* by index of taken; 0: HEAD was not asked */
        char head[VERDICT_HEX + 1];        /* "" unless it was found */
        Seal before;                       /* the seal that stands */
        bool had;                          /* there is one */
        bool damaged;                      /* there is something else */
        Sealed run;                        /* what the verbs will run */
} Sealing;
#define SEALING_NULL ((Sealing){0})
void sealing_done(Sealing *s);

enum { SEALING_E_REFUSED = 1 };
/* Writes nothing. SEALING_E_REFUSED: why lists, file by file, what can't be sealed as it is, and
 * ends with the command to paste where there is one; *ret is set then too. Refused are what is no
 * regular file of ours with one link, what can't be rendered, and under INTEGRITY=both what HEAD
 * has otherwise or HEAD that can't be read. */
MUST_CHECK int sealing_look(const SealingPlace *p, Sealing *ret, Str *why);
/* One line "PATH: what" for each difference to the seal that stands; none: nothing to seal. */
MUST_CHECK int sealing_changes(const Sealing *s, Strv *ret);
/* The differences for a person: unified diffs, values of env files hidden; unescaped. */
MUST_CHECK int sealing_diff(const SealingPlace *p, const Sealing *s, Str *out);
/* The note for the audit log, the copies, then the seal. */
MUST_CHECK int sealing_store(const SealingPlace *p, const Sealing *s);

/* install: makes the first seal, and says so in report; where it can't, or where there is one and
 * files differ from it, a warning that ends in the command. integrity is policy.conf's. */
MUST_CHECK int sealing_first(const Layout *l, const Bridge *b, int checkout_fd, Str *report,
                             Strv *warnings);
