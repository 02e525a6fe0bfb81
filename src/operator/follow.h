/* operator/follow.h - what is appended to the audit log from now on, across rotations */
#pragma once
#include <errno.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "operator/history.h"

typedef struct Follow {
        int state_fd; /* the caller's */
        int fd;       /* audit.log, or what it has become */
        int64_t seq;  /* nothing up to this one is given */
        Str rest;     /* a line of which the end is not there yet */
} Follow;
#define FOLLOW_NULL ((Follow){.state_fd = -EBADF, .fd = -EBADF})
void follow_done(Follow *f);

/* Gives every whole line that came since the last call; hash is NULL. */
MUST_CHECK int follow_poll(Follow *f, HistoryEach each, void *userdata);
