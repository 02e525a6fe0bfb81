#include "operator/hold.h"

#include <poll.h>

#include "base/clock.h"
#include "fs/lock.h"

enum { HOLD_POLL_MS = 100 };

int hold_lock(const Config *c, int *ret_fd, Str *why) {
        int64_t end = clock_mono_ms() + HOLD_WAIT_MS;
        int r;

        while ((r = lock_take(c->state_fd, "lock", ret_fd)) == LOCK_E_BUSY && clock_mono_ms() < end)
                (void)poll(NULL, 0, HOLD_POLL_MS);
        if (r <= 0)
                return r;
        r = str_addf(why,
                     "a drain of %s is at work; try again when it is done\nspoolgate status -s %s",
                     c->layout.slug, c->layout.slug);
        return r < 0 ? r : HOLD_E_BUSY;
}
