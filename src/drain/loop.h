/* drain/loop.h - pin, ack, lock, recover, loop, linger: one drain of one project's spool */
#pragma once
#include <stdbool.h>
#include "base/err.h"

/* Exit statuses of spoolgate-drain; the unit's behaviour hangs on none of them. */
enum {
        DRAIN_EXIT_OK = 0,
        DRAIN_EXIT_USAGE = 64,
        DRAIN_EXIT_BROKEN = 70,
        DRAIN_EXIT_LATER = 75,
        DRAIN_EXIT_CONFIG = 78
};

/* argv of spoolgate-drain: [--watch] SLUG | --help | --version. Gives the exit status. */
int drain_main(int argc, char **argv);
