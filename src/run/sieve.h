/* run/sieve.h - which of many words occur in a text: one pass, linear, so that an ordinary line
 * costs no pattern */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

typedef struct Sieve Sieve; /* two Aho-Corasick automata, one of them blind to ASCII case */

MUST_CHECK int sieve_new(Sieve **ret);
Sieve *sieve_free(Sieve *s);
void sieve_freep(Sieve **s);
/* Any occurrence of word sets bit (0-63) in the answer of sieve_scan(). Not after sieve_compile().
 */
MUST_CHECK int sieve_add(Sieve *s, const char *word, size_t len, bool exact, unsigned bit);
MUST_CHECK int sieve_compile(Sieve *s);
uint64_t sieve_scan(const Sieve *s, const char *bytes, size_t len);
