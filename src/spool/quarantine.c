#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "fs/publish.h"
#include "spool/quarantine.h"

enum { QUARANTINE_TRIES = 8, QUARANTINE_DIGITS = 16 };

/* from/name -> to/PREFIX RANDOM16; another number when that name is taken. MOVE_E_*. */
static int quarantine_move(int from_fd, const char *name, int to_fd, const char *prefix,
                           char to[QUARANTINE_NAME_SIZE]) {
        char random[QUARANTINE_DIGITS + 1];
        int r = MOVE_E_EXISTS;

        for (int i = 0; r == MOVE_E_EXISTS && i < QUARANTINE_TRIES; i++) {
                hash_random_hex(random, QUARANTINE_DIGITS);
                (void)snprintf(to, QUARANTINE_NAME_SIZE, "%s%s", prefix, random); /* fits */
                r = publish_move(from_fd, name, to_fd, to, 0);
        }
        return r;
}

int quarantine_take(const Spool *s, SpoolDir from, const char *name, int64_t now_ms,
                    char ret_name[QUARANTINE_NAME_SIZE]) {
        char to[QUARANTINE_NAME_SIZE], stamp[17 + 1];
        int r, again;

        clock_format_stamp(now_ms, stamp);
        stamp[16] = '-';
        stamp[17] = '\0';
        r = quarantine_move(s->dirs[from], name, s->dirs[SPOOL_QUARANTINE], stamp, to);
        if (r == MOVE_E_ABSENT)
                return QUARANTINE_E_GONE;
        if (r == 0) {
                memcpy(ret_name, to, sizeof(to));
                return 0;
        }
        /* Refused there, or the host failed (a full disk: quarantine/ can't grow). The line must be
         * cleared all the same, and a new name in the same directory needs neither room elsewhere
         * nor a right on the entry itself. */
        again = quarantine_move(s->dirs[from], name, s->dirs[from], ".bad-", to);
        if (again == MOVE_E_ABSENT)
                return QUARANTINE_E_GONE;
        if (again == 0) {
                memcpy(ret_name, to, sizeof(to));
                return QUARANTINE_E_IN_PLACE;
        }
        return again < 0 ? again : QUARANTINE_E_STUCK;
}
