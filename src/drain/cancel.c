#include "drain/cancel.h"

#include "drain/step.h"
#include "drain/tell.h"
#include "run/result.h"
#include "spool/scan.h"

enum { CANCEL_SCAN = 4096 };

/* by: the operator, or NULL for the agent. */
static int cancel_job(Drain *d, const Job *j, const char *by) {
        int r = tell_audit(d,
                           &(TellEvent){.event = "cancelled",
                                        .request = j->name.text,
                                        .verb = j->verb,
                                        .arg = j->arg,
                                        .by = by,
                                        .duration_ms = -1,
                                        .counted = !by}, /* an agent's flood of them */
                           JOURNAL_OPERATOR);

        if (r >= 0)
                r = result_cancel(d->config->run_fd, j->id);
        return r < 0 ? r : 0; /* ended meanwhile: its own outcome stands */
}

/* In line: the first visible request that matches. */
static int cancel_waiting(Drain *d, const char *name, const char *nonce, bool *ret_found) {
        CLEANUP(strv_done) Strv names = STRV_NULL;
        bool more;
        int r = scan_visible(d->spool.dirs[SPOOL_REQUESTS], CANCEL_SCAN, &names, &more);

        for (size_t i = 0; r >= 0 && i < names.len; i++) {
                Name one;
                if (name_parse(names.items[i], &one) != 0 || str_eq(one.verb, "cancel"))
                        continue;
                if (!str_eq(name, one.text) && !str_eq(nonce, one.nonce))
                        continue;
                *ret_found = true;
                return step_turn_away(d, &one, REASON_CANCELLED, -1);
        }
        return r < 0 ? r : 0;
}

int cancel_name(Drain *d, const char *name, const char *by, bool *ret_found) {
        const Job *j = drain_find_name(d, name);

        *ret_found = j && j->phase != JOB_FOLLOWER;
        return *ret_found ? cancel_job(d, j, by) : cancel_waiting(d, name, NULL, ret_found);
}

int cancel_nonce(Drain *d, const char *nonce, bool *ret_found) {
        *ret_found = false;
        for (const Job *j = d->jobs; j; j = j->next)
                if (j->phase != JOB_FOLLOWER && j->origin == GATE_AGENT &&
                    str_eq(j->name.nonce, nonce)) {
                        *ret_found = true;
                        return cancel_job(d, j, NULL);
                }
        return cancel_waiting(d, NULL, nonce, ret_found);
}
