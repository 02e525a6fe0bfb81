#include "wire/reason.h"

#include <stddef.h>
#include <string.h>

static const char *const state_names[] = {
        [STATE_QUEUED] = "queued",   [STATE_RUNNING] = "running",     [STATE_DONE] = "done",
        [STATE_FAILED] = "failed",   [STATE_UNCERTAIN] = "uncertain", [STATE_DENIED] = "denied",
        [STATE_EXPIRED] = "expired",
};

static const struct {
        const char *name;
        State state;
} reasons[REASON_COUNT] = {
        [REASON_NONE] = {NULL, STATE_DONE},
        [REASON_MALFORMED] = {"malformed", STATE_DENIED},
        [REASON_NAME_MISMATCH] = {"name-mismatch", STATE_DENIED},
        [REASON_UNKNOWN_KEY] = {"unknown-key", STATE_DENIED},
        [REASON_HARD_DENIED] = {"hard-denied", STATE_DENIED},
        [REASON_UNKNOWN_VERB] = {"unknown-verb", STATE_DENIED},
        [REASON_ARG_MISSING] = {"arg-missing", STATE_DENIED},
        [REASON_ARG_UNEXPECTED] = {"arg-unexpected", STATE_DENIED},
        [REASON_ARG_SHAPE] = {"arg-shape", STATE_DENIED},
        [REASON_ARG_NOT_LISTED] = {"arg-not-listed", STATE_DENIED},
        [REASON_EXPIRED] = {"expired", STATE_EXPIRED},
        [REASON_FUTURE_DATED] = {"future-dated", STATE_DENIED},
        [REASON_KEY_CONFLICT] = {"key-conflict", STATE_DENIED},
        [REASON_BAD_MAC] = {"bad-mac", STATE_DENIED},
        [REASON_PAUSED] = {"paused", STATE_DENIED},
        [REASON_POLICY] = {"policy", STATE_DENIED},
        [REASON_SCOPE] = {"scope", STATE_DENIED},
        [REASON_RATE] = {"rate", STATE_DENIED},
        [REASON_QUEUE_FULL] = {"queue-full", STATE_DENIED},
        [REASON_INTEGRITY_MODIFIED] = {"integrity-modified", STATE_DENIED},
        [REASON_INTEGRITY_UNSEALED] = {"integrity-unsealed", STATE_DENIED},
        [REASON_INTEGRITY_ENV] = {"integrity-env", STATE_DENIED},
        [REASON_INTEGRITY_ERROR] = {"integrity-error", STATE_DENIED},
        [REASON_HOST_CONFIG] = {"host-config", STATE_DENIED},
        [REASON_HOST_ERROR] = {"host-error", STATE_DENIED},
        [REASON_EXIT_NONZERO] = {"exit-nonzero", STATE_FAILED},
        [REASON_SIGNAL] = {"signal", STATE_FAILED},
        [REASON_TIMEOUT] = {"timeout", STATE_FAILED},
        [REASON_SPAWN] = {"spawn", STATE_FAILED},
        [REASON_CANCELLED] = {"cancelled", STATE_FAILED},
        [REASON_INTERRUPTED] = {"interrupted", STATE_UNCERTAIN},
};

const char *state_name(State s) {
        return state_names[s];
}

bool state_parse(const char *text, State *ret) {
        for (State s = STATE_QUEUED; s <= STATE_EXPIRED; s++)
                if (strcmp(state_names[s], text) == 0) {
                        *ret = s;
                        return true;
                }
        return false;
}

bool state_terminal(State s) {
        return s != STATE_QUEUED && s != STATE_RUNNING;
}

const char *reason_name(Reason r) {
        return reasons[r].name;
}

bool reason_parse(const char *text, Reason *ret) {
        for (Reason r = REASON_MALFORMED; r < REASON_COUNT; r++)
                if (strcmp(reasons[r].name, text) == 0) {
                        *ret = r;
                        return true;
                }
        return false;
}

State reason_state(Reason r) {
        return reasons[r].state;
}
