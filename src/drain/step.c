#include "drain/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "drain/judge.h"
#include "drain/outcome.h"
#include "drain/start.h"
#include "drain/tell.h"
#include "run/result.h"
#include "spool/claim.h"
#include "spool/quarantine.h"
#include "spool/retire.h"

StepLane step_lane(const Drain *d, const Name *name) {
        const Verb *v = table_find(d->config->table, name->verb);

        if (!v || v->launch == VERB_SELF || v->missing || !d->config->policy)
                return STEP_NOW;
        return v->class == VERB_READONLY ? STEP_READ : STEP_MUTATING;
}

/* Out of the line, into the audit log; an entry that can't be moved at all is left to the pace. */
static int step_quarantine(Drain *d, SpoolDir from, const char *entry, const char *why) {
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
        r = tell_audit(d, &(TellEvent){ .event = "quarantined", .request = entry, .detail = detail,
                                        .duration_ms = -1, .counted = true }, JOURNAL_QUARANTINED);
        return r == -ENOMEM ? r : 0; /* no record of it must not keep it in the line */
}

int step_hostile(Drain *d, const char *entry) {
        return step_quarantine(d, SPOOL_REQUESTS, entry, "not a request name");
}

/* A refusal's whole end: audit line (counted), response, and the file out of processing/. */
static int step_refuse(Drain *d, const Name *name, const Str *body, const Outcome *o,
                       const char *gate, VerbCall call) {
        Response response = RESPONSE_NULL;
        int r;

        r = tell_audit(d, &(TellEvent){ .event = "refused", .request = name->text, .verb = name->verb,
                                        .arg = call.arg, .gate = gate, .has_state = true, .state = o->state,
                                        .reason = o->reason, .duration_ms = -1, .counted = true },
                       JOURNAL_DENIED);
        if (r == -ENOMEM)
                return r; /* any other trouble of the log: the refusal stands all the same */
        outcome_fill(o, &response);
        response.verb = name->verb;
        response.arg = call.arg;
        r = tell_response(d, name, &response, false, NULL);
        if (r < 0)
                return r;
        d->completed++;
        if (!body)
                return step_quarantine(d, SPOOL_PROCESSING, name->text, "not a readable request");
        r = retire_request(&d->spool, name->text, body->data, body->len);
        return r > 0 ? step_quarantine(d, SPOOL_PROCESSING, name->text, "archive is blocked") : r;
}

/* What can't be claimed (a directory of a foreign uid) leaves the line where it stands, and gets its answer. */
static int step_stuck(Drain *d, const Name *name) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        Response response = RESPONSE_NULL;
        int r = step_quarantine(d, SPOOL_REQUESTS, name->text, "could not be claimed");

        if (r >= 0)
                r = outcome_refuse(d->config, REASON_MALFORMED, claim_reason(CLAIM_E_NOT_FILE), &o);
        if (r < 0)
                return r;
        outcome_fill(&o, &response);
        response.verb = name->verb;
        d->completed++;
        return tell_response(d, name, &response, false, NULL);
}

/* true in *ret_claimed when processing/NAME is ours now. */
static int step_claim(Drain *d, const Name *name, bool *ret_claimed) {
        int r = claim_take(&d->spool, name->text);

        *ret_claimed = false;
        if (r == CLAIM_E_EXISTS) { /* planted: recovery has left nothing there */
                r = step_quarantine(d, SPOOL_PROCESSING, name->text, "stood in processing/ unclaimed");
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

int step_turn_away(Drain *d, const Name *name, Reason reason, int64_t retry_after_sec) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        CLEANUP(str_done) Str body = STR_NULL;
        bool claimed;
        int r = step_claim(d, name, &claimed);

        if (r < 0 || !claimed)
                return r;
        r = claim_read(&d->spool, name->text, REQUEST_MAX_BYTES, &body);
        if (r < 0)
                return r;
        if (outcome_refuse(d->config, reason, NULL, &o) < 0)
                return err_new(ENOMEM);
        o.retry_after_sec = retry_after_sec;
        return step_refuse(d, name, r == 0 ? &body : NULL, &o, "queue", (VerbCall){ 0 });
}

/* Claimed bytes become a Request, or an answer. */
static int step_read(Drain *d, const Name *name, Str *body, Request **ret) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        Reason reason = REASON_MALFORMED;
        const char *detail = NULL;
        int r, x;

        r = claim_read(&d->spool, name->text, REQUEST_MAX_BYTES, body);
        if (r < 0)
                return r;
        if (r > 0)
                detail = claim_reason(r);
        else
                r = request_parse(name, body->data, body->len, ret, &reason, &detail);
        if (r <= 0)
                return r;
        x = outcome_refuse(d->config, reason, detail, &o);
        if (x < 0)
                return x;
        return step_refuse(d, name, reason == REASON_MALFORMED ? NULL : body, &o, "body", (VerbCall){ 0 });
}

int step_deliver(Drain *d, const Name *name, const LedgerEntry *e, bool replayed, const Str *body) {
        CLEANUP(response_freep) ResponseDoc *doc = NULL;
        Response response;
        int r = response_parse(e->response.data, e->response.len, &doc);

        if (r > 0)
                return err_new(EBADMSG); /* ledger_find has checked the frame: an entry of ours always parses */
        if (r < 0)
                return r;
        response = *response_of(doc);
        response.replayed = replayed;
        r = tell_response(d, name, &response, true, NULL);
        if (r >= 0 && replayed) {
                r = tell_audit(d, &(TellEvent){ .event = "replayed", .request = name->text, .verb = response.verb,
                                                .arg = response.arg, .has_state = true, .state = response.state,
                                                .reason = response.reason, .key = e->key, .duration_ms = -1,
                                                .counted = true }, JOURNAL_DONE);
                r = r == -ENOMEM ? r : 0;
        }
        if (r < 0)
                return r;
        d->completed++;
        r = retire_request(&d->spool, name->text, body->data ? body->data : "", body->len);
        return r > 0 ? step_quarantine(d, SPOOL_PROCESSING, name->text, "archive is blocked") : r;
}

/* Host trouble at the last moment: nothing was started, and the request gets that answer. */
static int step_host_error(Drain *d, Job *j, VerbCall call) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        int r = outcome_refuse(d->config, REASON_HOST_ERROR, NULL, &o);

        return r < 0 ? r : step_refuse(d, &j->name, &j->body, &o, "record", call);
}

/* ping and permission_scope=plan: answered here and now. */
static int step_answer(Drain *d, Job *j, const char *event, const char *output) {
        int64_t now = clock_wall_ms();
        Response response = RESPONSE_NULL;
        int r;

        r = tell_audit(d, &(TellEvent){ .event = event, .request = j->name.text, .verb = j->verb, .arg = j->arg,
                                        .has_state = true, .state = STATE_DONE, .duration_ms = -1,
                                        .counted = true }, JOURNAL_DONE);
        if (r < 0)
                return r == -ENOMEM ? r : step_host_error(d, j, (VerbCall){ .arg = j->arg });
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
        r = tell_response(d, &j->name, &response, false, NULL);
        if (r < 0)
                return r;
        d->completed++;
        r = retire_request(&d->spool, j->name.text, j->body.data, j->body.len);
        return r > 0 ? step_quarantine(d, SPOOL_PROCESSING, j->name.text, "archive is blocked") : r;
}

static int step_plan_only(Drain *d, Job *j) {
        CLEANUP(str_freep) char *argv = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = plan_format(j->plan, &argv);

        if (r >= 0)
                r = str_addf(&text, "%s\n", argv);
        return r < 0 ? r : step_answer(d, j, "planned", text.data);
}

static int step_judged(Drain *d, Job **j, Verdict *v) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        Job *running;
        int r;

        if (v->replay) {
                running = drain_find_key(d, (*j)->key);
                if (running) { /* the same answer when it ends */
                        (*j)->phase = JOB_FOLLOWER;
                        drain_link(d, j);
                        return 0;
                }
                return judge_replay(d, *j);
        }
        if (v->reason != REASON_NONE) {
                r = outcome_of_verdict(d->config, (*j)->request->verb, v, &o);
                return r < 0 ? r : step_refuse(d, &(*j)->name, &(*j)->body, &o, v->gate, v->call);
        }
        if (v->plan_only && v->call.verb->launch != VERB_SELF)
                return step_plan_only(d, *j);
        if (v->call.verb->launch == VERB_SELF)
                return step_answer(d, *j, "answered", "pong\n");
        r = start_run(d, j);
        if (r == START_E_CONFIG) {
                r = outcome_refuse(d->config, REASON_HOST_CONFIG, NULL, &o);
                return r < 0 ? r : step_refuse(d, &(*j)->name, &(*j)->body, &o, "record", v->call);
        }
        return r == START_E_RECORD ? step_host_error(d, *j, v->call) : r;
}

int step_take(Drain *d, const Name *name) {
        CLEANUP(job_freep) Job *j = NULL;
        Verdict v = { 0 };
        bool claimed;
        int r;

        r = step_claim(d, name, &claimed);
        if (r < 0 || !claimed)
                return r;
        j = calloc(1, sizeof(*j));
        if (!j)
                return err_new(ENOMEM);
        j->run.pidfd = -EBADF;
        j->name = *name;
        r = step_read(d, name, &j->body, &j->request);
        if (r < 0 || !j->request)
                return r;
        r = judge_request(d, j, &v);
        if (r < 0)
                return r;
        return step_judged(d, &j, &v);
}

/* Followers of a run that ended: each gets the stored answer. */
static int step_followers(Drain *d, const char *key) {
        for (Job *j = d->jobs, *next; j; j = next) {
                next = j->next;
                if (j->phase != JOB_FOLLOWER || !str_eq(j->key, key))
                        continue;
                CLEANUP(job_freep) Job *mine = drain_unlink(d, j);
                int r = judge_replay(d, mine);
                if (r < 0)
                        return r;
                next = d->jobs; /* the list has changed */
        }
        return 0;
}

/* The result file, or what its absence means. */
static int step_outcome(Drain *d, Job *j, RunResult *result, Outcome *o, bool *ret_known) {
        int r = result_load(d->config->run_fd, j->id, result);

        if (r < 0)
                return r;
        *ret_known = r == 0;
        return r == 0 ? outcome_of_result(result, j->grant, o) : outcome_interrupted(d->config, j->unit, o);
}

static void step_response(const Job *j, const RunResult *result, bool known, const char *log, Response *ret) {
        ret->verb = j->verb;
        ret->arg = j->arg;
        ret->started_ms = j->began_ms;
        ret->finished_ms = clock_wall_ms();
        ret->log = log;
        if (!known)
                return;
        ret->has_exit = result->kind == RESULT_EXIT;
        ret->exit = result->code;
        ret->has_signal = result->kind == RESULT_SIGNAL;
        ret->signal = result->code;
        if (result->started_ms)
                ret->started_ms = result->started_ms;
        ret->finished_ms = result->ended_ms;
        ret->duration_ms = result->duration_ms;
        ret->has_output = result->kind != RESULT_SPAWN;
        ret->output = result->tail.data ? result->tail.data : "";
        ret->output_len = result->tail.len;
        ret->output_bytes = result->output_bytes;
        ret->truncated = result->truncated;
}

/* Records first (audit, ledger), then the answer, then the tidying: a crash between any two is finished by recover. */
static int step_record_end(Drain *d, Job *j, const Outcome *o, const RunResult *result, bool known) {
        CLEANUP(str_done) Str line = STR_NULL;
        CLEANUP(str_freep) char *log = NULL;
        LedgerEntry e = LEDGER_ENTRY_NULL;
        Response response = RESPONSE_NULL;
        int r;

        r = tell_audit(d, &(TellEvent){ .event = "end", .request = j->name.text, .verb = j->verb, .arg = j->arg,
                                        .has_state = true, .state = o->state, .reason = o->reason,
                                        .has_exit = known && result->kind == RESULT_EXIT, .exit = result->code,
                                        .duration_ms = known ? result->duration_ms : -1, .unit = j->unit,
                                        .key = j->ledgered ? j->key : NULL, .sync = true },
                       o->state == STATE_DONE        ? JOURNAL_DONE
                       : o->state == STATE_UNCERTAIN ? JOURNAL_UNCERTAIN
                                                     : JOURNAL_FAILED);
        if (r >= 0)
                r = str_printf(&log, "archive/%s.log", j->name.text);
        if (r < 0)
                return r;
        outcome_fill(o, &response);
        step_response(j, result, known, log, &response);
        response.request = j->name.text;
        r = response_format(&response, &line);
        if (r >= 0 && j->ledgered) {
                e = (LedgerEntry){ .state = LEDGER_ENDED, .name = j->name.text, .verb = j->verb, .arg = j->arg,
                                   .unit = j->unit, .began_ms = j->began_ms, .ended_ms = clock_wall_ms(), .response = line };
                memcpy(e.key, j->key, sizeof(e.key));
                memcpy(e.fingerprint, j->fingerprint, sizeof(e.fingerprint));
                r = ledger_end(&d->ledger, &e);
                r = r > 0 ? err_new(EIO) : r;
        }
        if (r >= 0)
                r = retire_respond(&d->spool, j->name.text, line.data, line.len, j->ledgered);
        return r < 0 ? r : 0;
}

int step_finish(Drain *d, Job *j) {
        CLEANUP(job_freep) Job *mine = drain_unlink(d, j);
        CLEANUP(result_done) RunResult result = RUN_RESULT_NULL;
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        bool known = false;
        int r;

        if (mine->phase == JOB_RUNNING && mine->run.pidfd >= 0)
                (void)waitid(P_PIDFD, (id_t)mine->run.pidfd, &(siginfo_t){ 0 }, WEXITED); /* its word is the result file */
        r = step_outcome(d, mine, &result, &o, &known);
        if (r >= 0)
                r = step_record_end(d, mine, &o, &result, known);
        if (r < 0)
                return r;
        d->completed++;
        d->worked = true;
        r = retire_request(&d->spool, mine->name.text, mine->body.data ? mine->body.data : "", mine->body.len);
        if (r > 0)
                r = step_quarantine(d, SPOOL_PROCESSING, mine->name.text, "archive is blocked");
        if (r >= 0)
                r = result_forget(d->config->run_fd, mine->id);
        return r < 0 ? r : step_followers(d, mine->key);
}
