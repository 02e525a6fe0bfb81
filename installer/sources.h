/* installer/sources.h - what docker compose opens in the checkout beside the sealed -f files
 *
 * Build contexts, Dockerfiles, bind sources, env_files, configs, secrets, and the same of every
 * guarded file that include or extends names: into place->sources, where they lie below the
 * checkout and nothing in their text hides where they lead; the rest is a line of place->trusts.
 * Relative paths are seen from place->folder, those of an included or extended file from its own
 * folder. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "installer/document.h"
#include "installer/place.h"

enum { SOURCES_E_REFUSED = 1 };
/* d: the document of `path`. SOURCES_E_REFUSED: a symlink on the way, or a document that does not
 * hold; why is "FILE:LINE: what". */
MUST_CHECK int sources_collect(Place *p, const char *path, Document *d, Str *why);
