/* run/families.h - what secrets look like: const data, one row a shape */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
        FAMILY_EXACT = 1,   /* the words are in this very case */
        FAMILY_ENTROPY = 2, /* only when the match is as mixed as a random one */
};

typedef struct Family {
        const char *name; /* of the marker: [redacted:NAME] */
        const char
                *pattern; /* PCRE2, on bytes of one line; hides group 1 when it has one, else all */
        unsigned flags;
        const char *words[16]; /* one of them is in every text that the pattern can match; none: the
                                  row above's */
} Family;

/* Ends with a NULL name. */
extern const Family family_table[];

/* Private keys over several lines (PEM, OpenSSH, PGP, SSH2). */
#define FAMILY_KEY "private-key"
#define FAMILY_KEY_WORD "private key"
extern const char *const family_key[2]; /* patterns of the first line and of the last */

/* FAMILY_ENTROPY: as mixed as a random text of base64 or hex digits, by the chance that two of its
 * characters are the same. */
bool family_is_mixed(const char *text, size_t len);
