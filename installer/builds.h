/* installer/builds.h - build: of a service, with context and Dockerfile written out */
#pragma once
#include "installer/walk.h"

/* n: text (the context) or a map. What podman-compose would merge it with by name (an earlier -f
 * file, an extended service) may not change one of context and dockerfile alone: the Dockerfile is
 * a sealed copy, and no longer seen from the context. WALK_E_REFUSED. */
MUST_CHECK int builds_render(Walk *w, DocumentNode n, int depth);
