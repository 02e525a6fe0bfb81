#include "drain/step.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "drain/answer.h"
#include "drain/cancel.h"
#include "drain/integrity.h"
#include "drain/judge.h"
#include "drain/outcome.h"
#include "drain/start.h"
#include "drain/tell.h"
#include "spool/claim.h"

StepLane step_lane(const Drain *d, const Name *name) {
        const Verb *v = table_find(d->config->table, name->verb);

        if (!v || v->launch == VERB_SELF || v->missing || !d->config->policy)
                return STEP_NOW;
        return v->class == VERB_READONLY ? STEP_READ : STEP_MUTATING;
}

int step_hostile(Drain *d, const char *entry) {
        return answer_quarantine(d, SPOOL_REQUESTS, entry, "not a request name");
}

/* What can't be claimed (a directory of a foreign uid) leaves the line where it stands, and gets
 * its answer; what can't even do that gets none: once it can be moved it is judged. */
static int step_stuck(Drain *d, const Name *name) {
        CLEANUP(job_freep) Job *j = NULL;
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        Response response = RESPONSE_NULL;
        struct stat st;
        int r = answer_quarantine(d, SPOOL_REQUESTS, name->text, "could not be claimed");

        if (r >= 0 &&
            fstatat(d->spool.dirs[SPOOL_REQUESTS], name->text, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return 0;
        if (r >= 0)
                r = job_new(name, &j);
        if (r >= 0)
                r = outcome_refuse(d->config, REASON_MALFORMED, claim_reason(CLAIM_E_NOT_FILE), &o);
        if (r < 0)
                return r;
        outcome_fill(&o, &response);
        response.verb = name->verb;
        d->completed++;
        return tell_response(d, j, &response, false);
}

/* true in *ret_claimed when processing/NAME is ours now. */
static int step_claim(Drain *d, const Name *name, bool *ret_claimed) {
        int r = claim_take(&d->spool, name->text);

        *ret_claimed = false;
        if (r == CLAIM_E_EXISTS) { /* planted: recovery has left nothing there */
                r = answer_quarantine(d, SPOOL_PROCESSING, name->text,
                                      "stood in processing/ unclaimed");
                if (r >= 0)
                        r = claim_take(&d->spool, name->text);
        }
        if (r == CLAIM_E_STUCK || r == CLAIM_E_EXISTS)
                return step_stuck(d, name);
        if (r != 0)
                return r == CLAIM_E_GONE ? 0 : r;
        d->worked = true;
        d->moved++;
        *ret_claimed = true;
        return 0;
}

/* What came, before any gate has looked: archive/ is the agent's to rewrite. */
static int step_record(Drain *d, const Job *j) {
        char sha256[HASH_HEX_SIZE];
        int r;

        if (j->readable)
                hash_sha256(j->body.data ? j->body.data : "", j->body.len, sha256);
        r = tell_audit(d,
                       &(TellEvent){.event = "claimed",
                                    .request = j->name.text,
                                    .verb = j->name.verb,
                                    .sha256 = j->readable ? sha256 : NULL,
                                    .duration_ms = -1,
                                    .counted = true},
                       JOURNAL_CLAIMED);
        return r == -ENOMEM ? r : 0; /* a log that can't be written: nothing will start */
}

/* Claims and reads it once. *ret NULL: somebody was faster, or it can't be moved and has its
 * answer. *ret_unread: CLAIM_E_* of reading, or 0. */
static int step_open(Drain *d, const Name *name, Job **ret, int *ret_unread) {
        CLEANUP(job_freep) Job *j = NULL;
        bool claimed;
        int r = step_claim(d, name, &claimed), unread;

        *ret = NULL;
        if (r < 0 || !claimed)
                return r;
        r = job_new(name, &j);
        if (r < 0)
                return r;
        unread = claim_read(&d->spool, name->text, REQUEST_MAX_BYTES, &j->body);
        if (unread < 0)
                return unread;
        j->readable = unread == 0;
        r = step_record(d, j);
        if (r < 0)
                return r;
        *ret_unread = unread;
        *ret = j;
        j = NULL;
        return 0;
}

int step_turn_away(Drain *d, const Name *name, Reason reason, int64_t retry_after_sec) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        CLEANUP(job_freep) Job *j = NULL;
        int unread, r = step_open(d, name, &j, &unread);

        if (r < 0 || !j)
                return r;
        r = outcome_refuse(d->config, reason, NULL, &o);
        if (r < 0)
                return r;
        o.retry_after_sec = retry_after_sec;
        return answer_refuse(d, j, &o, "queue", (VerbCall){0});
}

/* Bytes become a Request, or an answer. */
static int step_parse(Drain *d, Job *j, int unread) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        Reason reason = REASON_MALFORMED;
        const char *detail = NULL;
        int r = unread, x;

        if (r > 0)
                detail = claim_reason(r);
        else
                r = request_parse(&j->name, j->body.data ? j->body.data : "", j->body.len,
                                  &j->request, &reason, &detail);
        if (r <= 0)
                return r;
        j->readable = reason != REASON_MALFORMED;
        x = outcome_refuse(d->config, reason, detail, &o);
        return x < 0 ? x : answer_refuse(d, j, &o, "body", (VerbCall){0});
}

static int step_plan_only(Drain *d, Job *j) {
        CLEANUP(str_freep) char *argv = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = plan_format(j->plan, &argv);

        if (r >= 0)
                r = str_addf(&text, "%s\n", argv);
        return r < 0 ? r : answer_now(d, j, "planned", text.data);
}

/* The drain's own verbs: ping, and cancel, which means the request of its own nonce. */
static int step_self(Drain *d, Job *j, const Verdict *v) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        bool found;
        int r;

        if (!str_eq(j->verb, "cancel"))
                return answer_now(d, j, "answered", "pong\n");
        if (v->plan_only)
                return answer_now(d, j, "planned", "");
        r = cancel_nonce(d, j->name.nonce, &found);
        if (r < 0 || found)
                return r < 0 ? r : answer_now(d, j, "cancelled", "");
        r = outcome_refuse(d->config, REASON_ARG_NOT_LISTED,
                           "no request of yours with this nonce is waiting or running", &o);
        return r < 0 ? r : answer_refuse(d, j, &o, "arg", v->call);
}

static int step_refused(Drain *d, Job *j, const Verdict *v) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        bool integrity = str_eq(v->gate, "integrity") && v->reason != REASON_HOST_ERROR;
        int r = integrity ? integrity_outcome(d->config, j->guard, &o)
                          : outcome_of_verdict(d->config, j->request->verb, v, &o);

        return r < 0 ? r : answer_refuse(d, j, &o, v->gate, v->call);
}

static int step_judged(Drain *d, Job **j, Verdict *v) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        int r;

        if (v->replay) {
                if (!drain_find_key(d, (*j)->key))
                        return judge_replay(d, *j);
                (*j)->phase = JOB_FOLLOWER; /* the same answer when it ends */
                drain_link(d, j);
                return 0;
        }
        if (v->reason != REASON_NONE)
                return step_refused(d, *j, v);
        if (v->call.verb->launch == VERB_SELF)
                return step_self(d, *j, v);
        if (v->plan_only)
                return step_plan_only(d, *j);
        r = start_run(d, j);
        if (r == START_E_CONFIG) {
                r = outcome_refuse(d->config, REASON_HOST_CONFIG, NULL, &o);
                return r < 0 ? r : answer_refuse(d, *j, &o, "record", v->call);
        }
        return r == START_E_RECORD ? answer_host_error(d, *j, v->call) : r;
}

static int step_judge(Drain *d, Job **j) {
        Verdict v = {0};
        int r = judge_request(d, *j, &v);

        return r < 0 ? r : step_judged(d, j, &v);
}

int step_ordered(Drain *d, Job **j) {
        int r;

        (*j)->readable = true;
        r = step_parse(d, *j, 0);
        return r < 0 || !(*j)->request ? r : step_judge(d, j);
}

int step_take(Drain *d, const Name *name) {
        CLEANUP(job_freep) Job *j = NULL;
        int unread, r = step_open(d, name, &j, &unread);

        if (r < 0 || !j)
                return r;
        r = step_parse(d, j, unread);
        return r < 0 || !j->request ? r : step_judge(d, &j);
}
