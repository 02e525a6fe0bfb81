/* wire/name.h - YYYYMMDDTHHMMSSZ-VERB-NONCE.json */
#pragma once
#include <stdint.h>
#include "base/err.h"

enum { NAME_E_SHAPE = 1 };
enum { NAME_MAX_LEN = 16 + 1 + 32 + 1 + 16 + 5, NAME_VERB_MAX = 32, NAME_NONCE_LEN = 16 };
typedef struct Name { /* plain memory */
        char text[NAME_MAX_LEN + 1];
        char verb[NAME_VERB_MAX + 1];
        char nonce[NAME_NONCE_LEN + 1];
        int64_t stamp_ms;
} Name;
/* Bytes of a directory entry. NAME_E_SHAPE: anything but the exact form (a real date included). */
MUST_CHECK int name_parse(const char *entry, Name *ret);
/* For writers (the operator's run): a fresh nonce. */
void name_make(const char *verb, int64_t now_ms, Name *ret);
