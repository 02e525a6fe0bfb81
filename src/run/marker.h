/* run/marker.h - "[redacted:NAME]", what stands where a secret was */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

enum { MARKER_NAME_MAX = 31 };

/* [a-z][a-z0-9-]{0,30} */
bool marker_name_check(const char *name, size_t len);
MUST_CHECK int marker_add(Str *out, const char *name);
/* Whether offset at lies in a marker with one of names: those stay as they are, so that redacted
 * text can be redacted again. */
bool marker_covers(const Strv *names, const char *text, size_t len, size_t at);
