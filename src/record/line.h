/* record/line.h - the frame of an audit line, and the end of a file of them
 *
 * {"seq":N,"prev":"HEX"} or {"seq":N,"prev":"HEX",...}: seq decimal without leading zeros, no byte
 * below 0x20. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

enum { LINE_E_FORM = 1, LINE_E_DAMAGE };

/* Replaces *ret with the line and its newline. body: "{...}". LINE_E_FORM: it is no such thing. */
MUST_CHECK int line_format(uint64_t seq, const char *prev, const char *body, Str *ret);
/* Without the newline. LINE_E_FORM when the frame doesn't fit; the body is not looked into. */
MUST_CHECK int line_parse(const char *bytes, size_t len, uint64_t *ret_seq,
                          char ret_prev[HASH_HEX_SIZE]);

typedef struct LineTail {
        off_t end; /* where the last whole line ends; less than the file's size: the rest is torn */
        uint64_t seq; /* of that line; 0: there is none (end is 0 too) */
        char hash[HASH_HEX_SIZE];
} LineTail;
/* LINE_E_DAMAGE: more than a torn tail (1 MiB without one whole line). */
MUST_CHECK int line_tail(int fd, off_t size, LineTail *ret);
