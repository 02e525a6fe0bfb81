/* guard/reach.h - STATE/seal/run/sources: what a compose tool opens in the checkout by its path
 *
 * Build contexts, bind sources and other files that are no sealed copies, one a line, relative to
 * the checkout (installer/sealed.h). Their contents are the agent's to change; where they lead is
 * not: a link planted at one of them would hand the host's files to a container (attacks.md row
 * 94). Not there is no link. */
#pragma once
#include "base/err.h"
#include "base/str.h"

enum { REACH_E_INVALID = 1 };
enum { REACH_MAX_BYTES = 1024 * 1024 };

/* An empty list where the file isn't there. REACH_E_INVALID: not ours, too big, or a path that is
 * none. */
MUST_CHECK int reach_load(int state_fd, Strv *ret);
/* 0: a walk without links gets there, or nothing is there. Positive: PIN_E_LINK, PIN_E_ACCESS. */
MUST_CHECK int reach_look(int checkout_fd, const char *path);
