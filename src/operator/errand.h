/* operator/errand.h - a command's order to the drain: written, the drain woken, its answer waited
 * for */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"
#include "wire/order.h"
#include "wire/response.h"

#define ERRAND_CONFIG_NULL                                                                         \
        ((Config){.config_fd = -EBADF, .state_fd = -EBADF, .run_fd = -EBADF, .checkout_fd = -EBADF})

enum {
        ERRAND_E_NONE = 1, /* no such project */
        ERRAND_E_BROKEN,   /* its configuration can't be used */
        ERRAND_E_LATE,     /* no answer within the time, or Ctrl-C: the order stays */
        ERRAND_E_DRAIN,    /* no drain takes it */
};

/* The project and all that its host files say. A positive code: why says what. */
MUST_CHECK int errand_open(const char *slug, Config *ret, Str *why);
/* The exit status for what went wrong, said on stderr. */
int errand_exit(const char *command, int r, const Str *why);
/* Waits for the answer, waking the drain; wait_sec 0: as long as it takes. ERRAND_E_LATE, _DRAIN:
 * the order is left in the line. */
MUST_CHECK int errand_wait(const Config *c, const Name *file, uint32_t wait_sec, ResponseDoc **ret,
                           Str *why);
/* Wakes a drain for what was written, and doesn't wait. */
MUST_CHECK int errand_wake(const Config *c);
/* A line for the audit log, written by the next drain; event as of wire/order, name NULL: none.
 * The drain is woken and not waited for. */
MUST_CHECK int errand_note(const Config *c, const char *event, const Name *name,
                           const char *detail);

/* Sends, waits, and prints output and outcome (json: the response line). Gives the exit status. */
int errand_run(const char *command, const Config *c, Order *o, uint32_t wait_sec, bool json);
/* A number of seconds from the command line. */
MUST_CHECK bool errand_seconds(const char *text, uint32_t max, uint32_t *ret);
/* NAME as people paste it: with or without ".json", or a response's or log's file name. */
MUST_CHECK bool errand_name(const char *text, Name *ret);
/* yes: true. Else asks on the terminal; without one: false, having said that --yes is needed. */
bool errand_confirm(const char *command, const char *question, bool yes);
