/* guard/take.h - files taken from the checkout: opened once, read once, held */
#pragma once
#include <stdbool.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/str.h"
#include "base/hash.h"

enum { TAKE_MAX = 16 * 1024 * 1024, TAKE_FILES = 256 };

typedef enum TakeKind { TAKE_GUARDED, TAKE_ENV } TakeKind;

typedef struct Taken {
        TakeKind kind;
        char *path;   /* relative to the checkout */
        int refused;  /* PIN_E_* of the open or read; 0: taken; PIN_E_ABSENT is a state like another
                       */
        int fd;       /* of the file itself */
        int bytes_fd; /* memfd with the bytes as read once; sealed against every change */
        struct stat st;             /* of fd, before the read */
        char sha256[HASH_HEX_SIZE]; /* of bytes_fd; "" unless taken */
} Taken;

typedef struct TakenList {
        Taken *items;
        size_t len;
} TakenList;
#define TAKEN_LIST_NULL ((TakenList){0})

/* A regular file of our own (geteuid), one link, no symlink on the way, at most TAKE_MAX bytes;
 * what isn't is noted in `refused`, not an error. A second hard link is refused: whoever holds it
 * writes the file without touching the checkout. -E2BIG for more than TAKE_FILES. */
MUST_CHECK int take_files(int checkout_fd, const Strv *guarded, const Strv *env_files,
                          TakenList *ret);
void taken_list_done(TakenList *list);
/* Is what stands at t->path now another thing, or has it other bytes? */
MUST_CHECK int take_again(int checkout_fd, const Taken *t, bool *ret_changed);
