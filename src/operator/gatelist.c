#include <stddef.h>

#include "operator/gatelist.h"

typedef struct GatelistRow {
        const char *name, *about;
        bool mutating; /* asked for mutating verbs only */
} GatelistRow;

static const GatelistRow gatelist[] = {
        {"hard-deny", "verbs that no setting opens", false},
        {"verb", "the closed table of verbs", false},
        {"arg", "the argument's form, and the verb's list", false},
        {"clock", "the request's age", false},
        {"replay", "whether this key has run before", false},
        {"mac", "the request's signature, where keys are set", false},
        {"paused", "whether the operator has paused the bridge", true},
        {"policy", "MODE_ of the verb in policy.conf", false},
        {"scope", "permission_scope and SCOPE_CEILING", false},
        {"rate", "RATE_PER_VERB and RATE_TOTAL", true},
        {"integrity", "guarded files against seal and HEAD", true},
};
enum { GATELIST_LEN = sizeof(gatelist) / sizeof(gatelist[0]) };

static size_t gatelist_find(const char *gate) {
        size_t i = 0;

        while (i < GATELIST_LEN && !str_eq(gatelist[i].name, gate))
                i++;
        return i;
}

const char *gatelist_about(const char *gate) {
        size_t i = gatelist_find(gate);

        return i < GATELIST_LEN ? gatelist[i].about : NULL;
}

int gatelist_before(const char *gate, bool mutating, Str *out) {
        size_t end = gatelist_find(gate);
        bool first = true;
        int r = 0;

        if (gate && end == GATELIST_LEN)
                return 0;
        for (size_t i = 0; r == 0 && i < end; i++) {
                if (gatelist[i].mutating && !mutating)
                        continue;
                r = str_addf(out, "%s%s", first ? "" : ", ", gatelist[i].name);
                first = false;
        }
        return r;
}
