/* verb/stacks.h - the built-in verbs of each kind of orchestration, as const tables */
#pragma once
#include "verb/table.h"

typedef struct Stack {
        const char *name;
        const Verb *verbs;       /* ended by name == NULL */
        const char *const *bins; /* names resolved at install, NULL-ended */
        bool runs_copies;        /* compose files may be taken from sealed copies elsewhere */
} Stack;

const Stack *stacks_find(const char *name); /* NULL: unknown */
const Stack *stacks_at(size_t i);           /* NULL past the end */
