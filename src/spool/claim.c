#include <errno.h>

#include "fs/pin.h"
#include "fs/publish.h"
#include "spool/claim.h"

static int claim_move(const Spool *s, SpoolDir from, SpoolDir to, const char *name) {
        int r = publish_move(s->dirs[from], name, s->dirs[to], name, 0);

        switch (r) {
        case MOVE_E_ABSENT:
                return CLAIM_E_GONE;
        case MOVE_E_EXISTS:
                return CLAIM_E_EXISTS;
        case MOVE_E_DENIED:
                return CLAIM_E_STUCK;
        default:
                return r;
        }
}

int claim_take(const Spool *s, const char *name) {
        return claim_move(s, SPOOL_REQUESTS, SPOOL_PROCESSING, name);
}

int claim_return(const Spool *s, const char *name) {
        return claim_move(s, SPOOL_PROCESSING, SPOOL_REQUESTS, name);
}

int claim_read(const Spool *s, const char *name, size_t max, Str *ret) {
        static const PinRule any = {(uid_t)-1, 0}; /* the agent's uid is its own affair */
        int r = pin_read_at(s->dirs[SPOOL_PROCESSING], name, &any, PIN_SAME_MOUNT, max, ret);

        switch (r) {
        case PIN_E_ABSENT:
                return CLAIM_E_ABSENT;
        case PIN_E_LINK:
        case PIN_E_MOUNT:
        case PIN_E_TYPE:
                return CLAIM_E_NOT_FILE;
        case PIN_E_LINKS:
                return CLAIM_E_LINKS;
        case PIN_E_TOO_BIG:
                return CLAIM_E_TOO_BIG;
        case PIN_E_ACCESS:
        case PIN_E_OWNER: /* these two: not with this rule */
        case PIN_E_MODE:
                return CLAIM_E_UNREADABLE;
        case PIN_E_CHANGED:
                return CLAIM_E_CHANGED;
        default:
                return r;
        }
}

const char *claim_reason(int code) {
        switch (code) {
        case CLAIM_E_ABSENT:
                return "the request was taken away before it was read";
        case CLAIM_E_NOT_FILE:
                return "the request is not a regular file";
        case CLAIM_E_LINKS:
                return "the request has more than one hard link";
        case CLAIM_E_TOO_BIG:
                return "the request is too big";
        case CLAIM_E_UNREADABLE:
                return "the request can't be read";
        case CLAIM_E_CHANGED:
                return "the request changed while it was read";
        default:
                return "the request can't be used";
        }
}
