#include "drain/answer.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "drain/tell.h"
#include "spool/quarantine.h"
#include "spool/retire.h"

int answer_quarantine(Drain *d, SpoolDir from, const char *entry, const char *why) {
        char kept[QUARANTINE_NAME_SIZE] = "";
        CLEANUP(str_freep) char *detail = NULL;
        int r = quarantine_take(&d->spool, from, entry, clock_wall_ms(), kept);

        if (r < 0 || r == QUARANTINE_E_GONE)
                return r < 0 ? r : 0;
        if (r != QUARANTINE_E_STUCK) {
                d->worked = true;
                d->moved += from == SPOOL_REQUESTS;
        }
        r = str_printf(&detail, "%s; %s%s", why,
                       r == 0                       ? "kept as quarantine/"
                       : r == QUARANTINE_E_IN_PLACE ? "renamed in place to "
                                                    : "it can't be moved",
                       r == QUARANTINE_E_STUCK ? "" : kept);
        if (r < 0)
                return r;
        r = tell_audit(d,
                       &(TellEvent){.event = "quarantined",
                                    .request = entry,
                                    .detail = detail,
                                    .duration_ms = -1,
                                    .counted = true},
                       JOURNAL_QUARANTINED);
        return r == -ENOMEM ? r : 0; /* no record of it must not keep it in the line */
}

int answer_retire(Drain *d, const Job *j) {
        int r = retire_request(&d->spool, j->name.text, j->body.data ? j->body.data : "",
                               j->body.len);

        return r > 0 ? answer_quarantine(d, SPOOL_PROCESSING, j->name.text, "archive is blocked")
                     : r;
}

/* An operator may approve exactly this one; an order can carry neither a scope nor a timeout, so a
 * request that asked for less than a plain run is no candidate. */
static bool answer_approvable(const Job *j, const Outcome *o) {
        return o->reason == REASON_POLICY && j->request && !j->request->has_scope &&
               j->request->timeout_sec == 0;
}

static JournalKind answer_kind(Reason reason) {
        switch ((int)reason) {
        case REASON_HOST_ERROR:
                return JOURNAL_HOST_ERROR;
        case REASON_INTEGRITY_MODIFIED:
        case REASON_INTEGRITY_UNSEALED:
        case REASON_INTEGRITY_ENV:
        case REASON_INTEGRITY_ERROR:
                return JOURNAL_INTEGRITY;
        case REASON_CANCELLED:
                return JOURNAL_OPERATOR;
        default:
                return JOURNAL_DENIED;
        }
}

int answer_refuse(Drain *d, const Job *j, const Outcome *o, const char *gate, VerbCall call) {
        bool policy = answer_approvable(j, o);
        Response response = RESPONSE_NULL;
        int r;

        r = tell_audit(
                d,
                &(TellEvent){.event = o->reason == REASON_CANCELLED ? "cancelled" : "refused",
                             .request = j->name.text,
                             .verb = j->name.verb,
                             .arg = call.arg,
                             .by = j->by,
                             .gate = gate,
                             .has_state = true,
                             .state = o->state,
                             .reason = o->reason,
                             .duration_ms = -1,
                             .counted = true,
                             .key = policy ? j->key : NULL,
                             .fingerprint = policy ? j->fingerprint : NULL},
                answer_kind(o->reason));
        if (r == -ENOMEM)
                return r; /* any other trouble of the log: the refusal stands all the same */
        outcome_fill(o, &response);
        response.verb = j->name.verb;
        response.arg = call.arg;
        r = tell_response(d, j, &response, false);
        if (r < 0)
                return r;
        d->completed++;
        if (!j->readable)
                return answer_quarantine(d, SPOOL_PROCESSING, j->name.text,
                                         "not a readable request");
        return answer_retire(d, j);
}

int answer_host_error(Drain *d, const Job *j, VerbCall call) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        int r = outcome_refuse(d->config, REASON_HOST_ERROR, NULL, &o);

        return r < 0 ? r : answer_refuse(d, j, &o, "record", call);
}

int answer_now(Drain *d, const Job *j, const char *event, const char *output) {
        int64_t now = clock_wall_ms();
        Response response = RESPONSE_NULL;
        int r;

        r = tell_audit(d,
                       &(TellEvent){.event = event,
                                    .request = j->name.text,
                                    .verb = j->verb,
                                    .arg = j->arg,
                                    .by = j->by,
                                    .has_state = true,
                                    .state = STATE_DONE,
                                    .duration_ms = -1,
                                    .counted = true},
                       JOURNAL_DONE);
        if (r < 0)
                return r == -ENOMEM ? r : answer_host_error(d, j, (VerbCall){.arg = j->arg});
        response.state = STATE_DONE;
        response.message = event;
        response.verb = j->verb;
        response.arg = j->arg;
        response.has_exit = true;
        response.started_ms = response.finished_ms = now;
        response.duration_ms = 0;
        response.output = output;
        response.output_len = strlen(output);
        response.output_bytes = response.output_len;
        response.has_output = true;
        r = tell_response(d, j, &response, false);
        if (r < 0)
                return r;
        d->completed++;
        return answer_retire(d, j);
}

int answer_deliver(Drain *d, const Job *j, const LedgerEntry *e, bool replayed) {
        CLEANUP(response_freep) ResponseDoc *doc = NULL;
        Response response;
        int r = response_parse(e->response.data, e->response.len, &doc);

        if (r > 0)
                return err_new(EBADMSG); /* ledger_find has checked the frame: an entry of ours
                                            always parses */
        if (r < 0)
                return r;
        response = *response_of(doc);
        response.replayed = replayed;
        r = tell_response(d, j, &response, true);
        if (r >= 0 && replayed) {
                r = tell_audit(d,
                               &(TellEvent){.event = "replayed",
                                            .request = j->name.text,
                                            .verb = response.verb,
                                            .arg = response.arg,
                                            .has_state = true,
                                            .state = response.state,
                                            .reason = response.reason,
                                            .key = e->key,
                                            .duration_ms = -1,
                                            .counted = true},
                               JOURNAL_DONE);
                r = r == -ENOMEM ? r : 0;
        }
        if (r < 0)
                return r;
        d->completed++;
        return answer_retire(d, j);
}
