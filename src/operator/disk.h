/* operator/disk.h - how much a directory holds, and what is free behind it */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

enum { DISK_ENTRIES_MAX = 200 * 1000, DISK_DEPTH_MAX = 16 };

typedef struct Disk {
        uint64_t bytes, entries;
        bool more;                        /* cut short: too many, too deep, or not to be read */
        uint64_t free_bytes, free_inodes; /* for this user */
} Disk;

/* Follows no link and crosses no mount. fd stays the caller's. */
MUST_CHECK int disk_measure(int fd, Disk *ret);
/* "512 B" "1.5 KiB" "20 MiB" */
MUST_CHECK int disk_text(uint64_t bytes, Str *out);
