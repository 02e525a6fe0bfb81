#include "drain/finish.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "drain/answer.h"
#include "drain/integrity.h"
#include "drain/judge.h"
#include "drain/outcome.h"
#include "drain/remains.h"
#include "drain/tell.h"
#include "run/result.h"

/* Followers of a run that ended: each gets the stored answer. */
static int finish_followers(Drain *d, const char *key) {
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

/* What the absence of a result means. */
static int finish_unknown(Drain *d, const Job *j, Remains *m, Outcome *o) {
        int r = remains_gather(d, j, m);

        return r < 0 ? r : outcome_interrupted(d->config, &m->said, o);
}

static void finish_response(const Job *j, const RunResult *result, const Remains *m, bool known,
                            const char *log, Response *ret) {
        ret->verb = j->verb;
        ret->arg = j->arg;
        ret->started_ms = j->began_ms;
        ret->finished_ms = clock_wall_ms();
        ret->log = log;
        if (!known) {
                ret->has_output = m->output.len > 0;
                ret->output = m->output.data;
                ret->output_len = m->output.len;
                ret->output_bytes = m->bytes;
                ret->truncated = m->truncated;
                return;
        }
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

static int finish_ledger(Drain *d, Job *j, const Str *line) {
        LedgerEntry e = {.state = LEDGER_ENDED,
                         .name = j->name.text,
                         .verb = j->verb,
                         .arg = j->arg,
                         .unit = j->unit,
                         .by = j->by,
                         .began_ms = j->began_ms,
                         .ended_ms = clock_wall_ms(),
                         .response = *line};
        int r;

        memcpy(e.key, j->key, sizeof(e.key));
        memcpy(e.fingerprint, j->fingerprint, sizeof(e.fingerprint));
        r = ledger_end(&d->ledger, &e);
        return r > 0 ? err_new(EIO) : r;
}

/* Records first (audit, ledger), then the answer, then the tidying: a crash between any two is
 * finished by recover. */
static int finish_record(Drain *d, Job *j, const Outcome *o, const RunResult *result,
                         const Remains *m, bool known) {
        CLEANUP(str_done) Str line = STR_NULL;
        CLEANUP(str_freep) char *log = NULL;
        Response response = RESPONSE_NULL;
        int r;

        r = tell_audit(d,
                       &(TellEvent){.event = "end",
                                    .request = j->name.text,
                                    .verb = j->verb,
                                    .arg = j->arg,
                                    .by = j->by,
                                    .has_state = true,
                                    .state = o->state,
                                    .reason = o->reason,
                                    .has_exit = known && result->kind == RESULT_EXIT,
                                    .exit = result->code,
                                    .duration_ms = known ? result->duration_ms : -1,
                                    .unit = j->unit,
                                    .key = j->ledgered ? j->key : NULL,
                                    .sync = true},
                       o->state == STATE_DONE        ? JOURNAL_DONE
                       : o->state == STATE_UNCERTAIN ? JOURNAL_UNCERTAIN
                                                     : JOURNAL_FAILED);
        if (r >= 0)
                r = str_printf(&log, "archive/%s.log", j->name.text);
        if (r < 0)
                return r;
        outcome_fill(o, &response);
        finish_response(j, result, m, known, log, &response);
        response.request = j->name.text;
        r = response_format(&response, &line);
        if (r >= 0 && j->ledgered)
                r = finish_ledger(d, j, &line);
        return r < 0 ? r : tell_line(d, j, &response, &line, j->ledgered);
}

int finish_job(Drain *d, Job *j) {
        CLEANUP(job_freep) Job *mine = drain_unlink(d, j);
        CLEANUP(result_done) RunResult result = RUN_RESULT_NULL;
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        CLEANUP(remains_done) Remains m = REMAINS_NULL;
        bool known;
        int r;

        if (mine->run.pidfd >= 0)
                (void)waitid(P_PIDFD, (id_t)mine->run.pidfd, &(siginfo_t){0},
                             WEXITED); /* its word is the result file */
        r = result_load(d->config->run_fd, mine->id, &result);
        known = r == 0;
        if (r > 0)
                r = remains_probe(d, &mine);
        if (r < 0 || !mine)
                return r; /* the probe runs: again at its end */
        r = known ? outcome_of_result(&result, mine->grant, &o) : finish_unknown(d, mine, &m, &o);
        if (r >= 0)
                r = integrity_recheck(d, mine, &o);
        if (r >= 0)
                r = finish_record(d, mine, &o, &result, &m, known);
        if (r < 0)
                return r;
        d->completed++;
        d->worked = true;
        d->ordered = true; /* an order may wait for the lane */
        r = answer_retire(d, mine);
        if (r >= 0)
                r = result_forget(d->config->run_fd, mine->id);
        if (r >= 0 && mine->probe_id[0])
                r = result_forget(d->config->run_fd, mine->probe_id);
        return r < 0 ? r : finish_followers(d, mine->key);
}
