#include "drain/start.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/fd.h"
#include "drain/finish.h"
#include "drain/tell.h"
#include "fs/lock.h"
#include "run/result.h"
#include "spool/retire.h"

enum { START_TERM_GRACE_MS = 5000, START_EXIT_GRACE_MS = 500 };

static int start_ended(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Drain *d = userdata;

        (void)fd;
        (void)events;
        d->dirty = true;
        for (Job *j = d->jobs; j; j = j->next)
                if (j->source == source)
                        return drain_spare(d, finish_job(d, j));
        return 0;
}

int start_watch(Drain *d, Job *j) {
        int r = sd_event_add_io(d->event, &j->source, j->run.pidfd, EPOLLIN, start_ended, d);

        return r < 0 ? err_new(-r) : 0;
}

/* Who it is: id of its files under STATE/run, and its scope. */
static int start_identify(Drain *d, Job *j) {
        const Config *c = d->config;

        j->ledgered = j->class == VERB_MUTATING || (j->request->idempotency_key && !j->unkeyed);
        j->began_ms = clock_wall_ms();
        if (j->ledgered) {
                memcpy(j->id, j->key, sizeof(j->id));
        } else {
                memcpy(j->id, "r-", 2);
                hash_random_hex(j->id + 2, 16);
        }
        if (plan_verb(j->plan)->launch != VERB_SCOPE || !str_eq(c->bridge->launch, "scope"))
                return 0;
        return str_printf(&j->unit, "spoolgate-%s.%s-%s.scope", c->layout.slug, j->verb,
                          j->name.nonce);
}

/* I3: audit line, then ledger entry, each on disk before the next step. */
static int start_record(Drain *d, Job *j) {
        CLEANUP(str_freep) char *argv = NULL;
        LedgerEntry e = {.state = LEDGER_BEGUN,
                         .name = j->name.text,
                         .verb = j->verb,
                         .arg = j->arg,
                         .unit = j->unit,
                         .by = j->by,
                         .began_ms = j->began_ms};
        int r = plan_format(j->plan, &argv);

        if (r < 0)
                return r;
        r = tell_audit(d,
                       &(TellEvent){.event = "start",
                                    .request = j->name.text,
                                    .verb = j->verb,
                                    .arg = j->arg,
                                    .argv = argv,
                                    .unit = j->unit,
                                    .key = j->ledgered ? j->key : NULL,
                                    .fingerprint = j->ledgered ? j->fingerprint : NULL,
                                    .by = j->by,
                                    .duration_ms = -1,
                                    .sync = true},
                       JOURNAL_STARTED);
        if (r < 0)
                return r == -ENOMEM ? r : START_E_RECORD;
        if (!j->ledgered)
                return 0;
        memcpy(e.key, j->key, sizeof(e.key));
        memcpy(e.fingerprint, j->fingerprint, sizeof(e.fingerprint));
        r = ledger_begin(&d->ledger, &e);
        if (r < 0) /* it may stand there all the same, unsynced: it must not turn the refusal into
                      "interrupted" */
                (void)!ledger_forget(&d->ledger, e.key);
        return r == 0 || r == -ENOMEM ? r : START_E_RECORD;
}

static void start_announce(Drain *d, const Job *j, const char *log) {
        Response response = RESPONSE_NULL;

        response.state = STATE_RUNNING;
        response.verb = j->verb;
        response.arg = j->arg;
        response.started_ms = j->began_ms;
        response.log = log;
        if (tell_response(d, j, &response, false) < 0)
                return; /* begun is begun: that the reader isn't told (no room) must not make it
                           "interrupted" */
}

/* The keeper could not be forked: the begun entry ends like any other run, with a result written
 * here. */
static int start_failed(Drain *d, Job *j, int error) {
        RunResult result = RUN_RESULT_NULL;
        int r;

        result.kind = RESULT_SPAWN;
        result.code = -error;
        memcpy(result.spawn_stage, "fork", 5);
        result.ended_ms = clock_wall_ms();
        r = result_store(d->config->run_fd, j->id, &result, j->ledgered);
        return r < 0 ? r : finish_job(d, j);
}

static int start_keeper(Drain *d, Job **j, int *lock_fd, int *log_fd) {
        const Config *c = d->config;
        CLEANUP(str_freep) char *description = NULL;
        Job *job = *j;
        RunSpec spec;
        int r;

        r = str_printf(&description, "spoolgate %s: %s%s%s", c->layout.slug, job->verb,
                       job->arg ? " " : "", job->arg ? job->arg : "");
        if (r < 0)
                return r;
        spec = (RunSpec){
                .plan = job->plan,
                .id = job->id,
                .unit = job->unit,
                .description = description,
                .tasks_max = c->bridge->tasks_max,
                .memory_max = c->bridge->memory_max,
                .run_fd = c->run_fd,
                .lock_fd = *lock_fd,
                .log_fd = *log_fd,
                .timeout_sec = grant_timeout_sec(job->grant),
                .term_grace_ms = START_TERM_GRACE_MS,
                .exit_grace_ms = START_EXIT_GRACE_MS,
                .sync = job->ledgered,
                .redact = c->redact,
        };
        r = keeper_start(&spec, &job->run);
        *lock_fd = fd_close(*lock_fd);
        *log_fd = fd_close(*log_fd);
        job->phase = JOB_RUNNING;
        drain_link(d, j);
        if (r < 0)
                return start_failed(d, job, r);
        if (start_watch(d, job) < 0)
                job->phase = JOB_FOREIGN; /* it runs: looked at by the clock, as one of an earlier
                                             drain */
        return 0;
}

int start_run(Drain *d, Job **j) {
        CLEANUP(fd_closep) int lock_fd = -EBADF, log_fd = -EBADF;
        CLEANUP(str_freep) char *log = NULL;
        Config *c = d->config;
        int r;

        str_freep(&c->redact_trouble);
        r = config_redact(c, &c->redact_trouble);
        if (r != 0)
                return r == CONFIG_E_INVALID ? START_E_CONFIG : r;
        r = start_identify(d, *j);
        if (r >= 0 && (!d->audit || ((*j)->ledgered && !d->ledger_ok)))
                return START_E_RECORD;
        if (r >= 0)
                r = str_printf(&log, "archive/%s.log", (*j)->name.text);
        if (r < 0)
                return r;
        if (result_lock(c->run_fd, (*j)->id, &lock_fd) != 0)
                return START_E_RECORD;
        r = retire_open_log(&d->spool, (*j)->name.text, &log_fd) == 0 ? start_record(d, *j)
                                                                      : START_E_RECORD;
        if (r != 0) { /* nothing runs: the lock file says nothing */
                int x = result_forget(c->run_fd, (*j)->id);
                return x < 0 ? x : r;
        }
        start_announce(d, *j, log);
        return start_keeper(d, j, &lock_fd, &log_fd);
}
