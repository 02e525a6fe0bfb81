/* installer/walk.h - one compose file, node by node, into its rendered text (render.c's) */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "installer/document.h"
#include "installer/emit.h"
#include "installer/place.h"

enum { WALK_E_REFUSED = 1 };

typedef struct Walk {
        Place *place;
        const char *path; /* relative to the checkout: for messages */
        Document *d;
        Document *const *merged; /* what podman-compose merges with d by name: the -f files, in
                                    order; for another file d alone */
        size_t merged_len;
        Emit *emit;
        Strv named; /* compose files that this one names, relative to the checkout, each once */
        const char *service; /* where the walk is */
        Str *why;
} Walk;
void walk_done(Walk *w); /* named */

/* The whole document. WALK_E_REFUSED: why is "FILE:LINE: what", as everywhere below. */
MUST_CHECK int walk_document(Walk *w);

/* For builds.c. */
MUST_CHECK int walk_refuse(Walk *w, DocumentNode n, const char *what);
MUST_CHECK int walk_where(const Walk *w, DocumentNode n, char **ret); /* "FILE:LINE" */
MUST_CHECK int walk_any(Walk *w, DocumentNode n, int depth);          /* as it is */
MUST_CHECK int walk_key(Walk *w, DocumentNode at, const char *key, bool plain);
MUST_CHECK int walk_path(Walk *w, DocumentNode at, const char *path); /* $ doubled */
/* What n, which must be a map, holds; within the document's purse. */
MUST_CHECK int walk_pairs(Walk *w, DocumentNode n, DocumentPairs *ret);
/* An emit_*'s answer. */
MUST_CHECK int walk_emitted(Walk *w, DocumentNode n, int r);
