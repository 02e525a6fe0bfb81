/* operator/docket.h - all that the verified audit log says of one request */
#pragma once
#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "drain/config.h"
#include "wire/name.h"

typedef struct Docket {        /* NULL: never said */
        char *at, *verb, *arg; /* of the last record that names the request */
        char *event, *state, *reason;
        char *key;         /* ledger key */
        char *fingerprint; /* of the last refusal by policy */
        char *begun_as;    /* fingerprint of its last start that has a ledger entry */
        char *begun_at;    /* time of that */
        bool by_policy;    /* its last refusal is by policy, and nothing was started since */
        bool started;      /* it ran, or was tried to */
} Docket;
#define DOCKET_NULL ((Docket){0})
void docket_done(Docket *d);

enum { DOCKET_E_NONE = 1, DOCKET_E_BROKEN };
/* DOCKET_E_BROKEN: the chain doesn't hold, so nothing it says is acted upon. why says what. */
MUST_CHECK int docket_read(const Config *c, const Name *name, Docket *ret, Str *why);
