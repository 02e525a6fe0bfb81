/* installer/emit.h - YAML text in block style, written event by event (libyaml), within a bound
 *
 * A plain scalar stays plain with the same text, so that it keeps its type for whoever reads it;
 * everything else is quoted. No anchors, no tags. */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

enum { EMIT_MAX = 4 * 1024 * 1024 };
enum { EMIT_E_TOO_BIG = 1 };

typedef struct Emit Emit;
MUST_CHECK int emit_new(Emit **ret);
Emit *emit_free(Emit *e);
void emit_freep(Emit **e);

/* EMIT_E_TOO_BIG, of each of them: more than EMIT_MAX bytes in all. */
MUST_CHECK int emit_map(Emit *e);
MUST_CHECK int emit_map_end(Emit *e);
MUST_CHECK int emit_list(Emit *e);
MUST_CHECK int emit_list_end(Emit *e);
/* plain: as it stood in a document without quotes; "" is null then. */
MUST_CHECK int emit_text(Emit *e, const char *text, bool plain);
/* Ends the document and appends it. */
MUST_CHECK int emit_end(Emit *e, Str *ret);
