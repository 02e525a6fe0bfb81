/* base/io.h - whole reads and writes on descriptors */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"

enum { IO_E_TOO_BIG = 1, IO_E_CHANGED };

/* Writes all len bytes; loops on short writes and EINTR. -errno of write(2). */
MUST_CHECK int io_write_all(int fd, const void *bytes, size_t len);

/* Reads at most max bytes from the current offset to the end into *ret (replaced; owned by the
 * caller; NUL-terminated). More than max bytes: IO_E_TOO_BIG. Reads max + 1 bytes at the most,
 * never mmaps. */
MUST_CHECK int io_read_all(int fd, size_t max, Str *ret);

/* Whole file behind an open regular fd from offset 0 (pread, so that a shared offset is harmless):
 * refused with IO_E_TOO_BIG above max, IO_E_CHANGED when the size read differs from fstat's. */
MUST_CHECK int io_read_file(int fd, size_t max, Str *ret);

/* fsync(2) that is believed once: -errno is final, never retried (attacks.md "Discipline"). */
MUST_CHECK int io_sync(int fd);
