/* installer/place.h - a path of a compose file -> the absolute path that its sealed copy names
 *
 * By podman-compose's rule: relative to the folder of the first -f file. What the seal holds is
 * named as a sealed copy; what it doesn't hold stays where it is, and is said so in `trusts`. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "guard/take.h"

enum { PLACE_E_REFUSED = 1 };

typedef struct Place {
        int checkout_fd;
        const char *checkout; /* absolute, resolved */
        const char *folder;   /* of the first -f file, below the checkout; "" is the checkout */
        const char *home;     /* what ~ is; NULL: not known */
        const char *run;      /* absolute: where the copies will stand */
        const TakenList *taken;
        Strv copies;  /* paths below the checkout whose copies are named, each once */
        Strv sources; /* what the tool opens below the checkout and is no copy, each once */
        Strv trusts;  /* "WHERE: what" */
} Place;

typedef enum PlaceKind {
        PLACE_BIND,    /* may be ~/..., outside, or not there yet */
        PLACE_CONTEXT, /* a folder */
        PLACE_FILE, /* env_file, secret, config, seccomp profile: its sealed copy, if there is one
                     */
        PLACE_DOCKERFILE,
} PlaceKind;

void place_done(Place *p); /* the lists */
/* *ret: the absolute path, as it is. base: what a relative one is seen from; NULL: p->folder.
 * where: "FILE:LINE". PLACE_E_REFUSED: a variable, an address, a way out of the checkout, a symlink
 * on it, a byte that a rendered line can't hold; why is "WHERE: what". *ret_beneath (optional):
 * relative to the checkout, NULL outside of it. */
MUST_CHECK int place_path(Place *p, PlaceKind kind, const char *base, const char *text,
                          const char *where, char **ret, char **ret_beneath, Str *why);
/* A path that docker compose reads where it is: one more of p->sources, or of p->trusts where no
 * one can tell where it leads. PLACE_E_REFUSED: a symlink on it. */
MUST_CHECK int place_source(Place *p, const char *base, const char *text, const char *where,
                            Str *why);
/* A compose file that another one names: relative to p->folder, guarded and taken. */
MUST_CHECK int place_compose(Place *p, const char *text, const char *where, const Taken **ret,
                             Str *why);
/* The Dockerfile that podman-compose finds in a context when none is named: the first of its six
 * names that is there, else "Dockerfile". */
MUST_CHECK int place_dockerfile(const Place *p, const char *context_beneath, const char **ret);
/* NULL: not among taken. */
const Taken *place_taken(const Place *p, const char *beneath);
/* "PREFIX-HEX": the name of a copy, the same for a path in every seal. */
MUST_CHECK int place_name(const char *prefix, const char *beneath, char **ret);
MUST_CHECK int place_trust(Place *p, const char *where, const char *text, const char *what);
