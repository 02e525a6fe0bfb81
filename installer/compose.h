/* installer/compose.h - what the installer needs to know from compose files: services, what is
 * built, and every other file they pull in
 *
 * Reads by the compose specification (github.com/compose-spec/compose-spec, 05-services.md,
 * build.md, 14-include.md); interpolates nothing and runs nothing. Files are opened below the
 * checkout and through no link. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

enum { COMPOSE_E_INVALID = 1 };
enum { COMPOSE_MAX_FILES = 64 };

typedef struct ComposeService {
        char *name;
        bool build;    /* has build:, its own or by extends: */
        bool profiled; /* stands behind a profile: not started by a plain `up` */
        char *where;   /* "FILE:LINE" */
} ComposeService;

typedef enum ComposeKind {
        COMPOSE_INCLUDE,
        COMPOSE_EXTENDS,
        COMPOSE_ENV_FILE,
        COMPOSE_CONFIG,
        COMPOSE_SECRET,
        COMPOSE_DOCKERFILE,
} ComposeKind;
typedef struct ComposePart {
        ComposeKind kind;
        char *text;  /* as written */
        char *path;  /* relative to the checkout, no "." or ".." in it; NULL: outside of it, remote,
                        or with a variable */
        char *where; /* "FILE:LINE" */
} ComposePart;

typedef struct Compose {
        ComposeService *services; /* in the order of the files, each name once */
        size_t services_len;
        ComposePart *parts;
        size_t parts_len;
} Compose;
#define COMPOSE_NULL ((Compose){0})

void compose_done(Compose *c);
/* files: relative to the checkout, in the order of -f; checkout is its absolute path, held by
 * checkout_fd. What include: names is read as well, where it lies beneath. COMPOSE_E_INVALID:
 * "FILE:LINE: what" (or "FILE: what" where it can't be read) is appended to why. */
MUST_CHECK int compose_read(int checkout_fd, const char *checkout, const Strv *files, Compose *ret,
                            Str *why);
const ComposeService *compose_find(const Compose *c, const char *name); /* NULL: none */
const char *compose_kind_name(ComposeKind k); /* "include", "env_file", ... */
/* `path` seen from folder `base` (relative to the checkout, "" is the checkout), free of "." and
 * "..". *ret NULL: not beneath. */
MUST_CHECK int compose_beneath(const char *checkout, const char *base, const char *path,
                               char **ret);
