/* installer/render.h - the sealed compose files -> the ones that podman-compose is given
 *
 * Version 1.0.3 changes into the folder of the first -f file, sees every relative path from there
 * (env_file, build context, short and long binds, secrets, extends.file), joins dockerfile with its
 * context, and reads .env there, for substitution only (/usr/lib/python3/dist-packages/
 * podman_compose.py). So a copy elsewhere needs each of those paths absolute; nothing else is
 * changed. Anchors, aliases and merges are written out, in the order in which PyYAML reads them. A
 * build without a Dockerfile's name gets one, since a new file of another default name would go
 * first.
 *
 * Refused by name, with file and line: a variable in a path, a way out of the checkout, a symlink,
 * a context that is fetched, a compose file that is not guarded, tags, what x-podman and provider
 * say, what is not one UTF-8 document. Include is refused unless it is a list of guarded files in
 * the same folder. */
#pragma once
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "installer/place.h"

enum { RENDER_E_REFUSED = 1 };
enum { RENDER_MAX_FILES = 64 };

typedef struct RenderFile {
        char *name; /* "compose-0.yaml"; "extends-HEX.yaml" for what another one names */
        Str text;
} RenderFile;
typedef struct Rendered {
        RenderFile *files;
        size_t len;
} Rendered;
#define RENDERED_NULL ((Rendered){0})
void rendered_done(Rendered *r);

/* compose: the -f files, in order, each among place->taken; place->folder is the first one's. The
 * lists of place are added to. RENDER_E_REFUSED: why is "FILE:LINE: what". */
MUST_CHECK int render_files(Place *place, const Strv *compose, Rendered *ret, Str *why);
