/* wire/reason.h - the fixed codes of protocol version 1; never agent bytes */
#pragma once
#include <stdbool.h>

typedef enum State {
        STATE_QUEUED,
        STATE_RUNNING,
        STATE_DONE,
        STATE_FAILED,
        STATE_UNCERTAIN,
        STATE_DENIED,
        STATE_EXPIRED
} State;
typedef enum Reason {
        REASON_NONE, /* null in a response */
        REASON_MALFORMED,
        REASON_NAME_MISMATCH,
        REASON_UNKNOWN_KEY,
        REASON_HARD_DENIED,
        REASON_UNKNOWN_VERB,
        REASON_ARG_MISSING,
        REASON_ARG_UNEXPECTED,
        REASON_ARG_SHAPE,
        REASON_ARG_NOT_LISTED,
        REASON_EXPIRED,
        REASON_FUTURE_DATED,
        REASON_KEY_CONFLICT,
        REASON_BAD_MAC,
        REASON_PAUSED,
        REASON_POLICY,
        REASON_SCOPE,
        REASON_RATE,
        REASON_QUEUE_FULL,
        REASON_INTEGRITY_MODIFIED,
        REASON_INTEGRITY_UNSEALED,
        REASON_INTEGRITY_ENV,
        REASON_INTEGRITY_ERROR,
        REASON_HOST_CONFIG,
        REASON_HOST_ERROR,
        REASON_EXIT_NONZERO,
        REASON_SIGNAL,
        REASON_TIMEOUT,
        REASON_SPAWN,
        REASON_CANCELLED,
        REASON_INTERRUPTED,
        REASON_COUNT,
} Reason;

const char *state_name(State s);
bool state_parse(const char *text, State *ret);
bool state_terminal(State s);
const char *reason_name(Reason r); /* NULL for REASON_NONE */
bool reason_parse(const char *text, Reason *ret);
State reason_state(
        Reason r); /* the state a reason ends in (design: table of codes); REASON_NONE: done */
