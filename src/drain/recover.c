#include "drain/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "drain/answer.h"
#include "drain/finish.h"
#include "drain/judge.h"
#include "drain/tell.h"
#include "run/result.h"
#include "run/scope.h"
#include "spool/claim.h"
#include "spool/quarantine.h"
#include "spool/retire.h"
#include "spool/scan.h"

enum { RECOVER_MAX = 4096 };

/* An operator's run stays one: the agent can't cancel it, and its order is answered at its end. */
static int recover_operator(const Drain *d, Job *j, const char *by) {
        struct stat st;

        j->origin = GATE_OPERATOR;
        if (fstatat(d->orders_fd, j->name.text, &st, AT_SYMLINK_NOFOLLOW) == 0)
                memcpy(j->order, j->name.text, sizeof(j->order));
        return str_dup(by, &j->by);
}

/* A job again from its ledger entry; what processing/ still holds goes to the archive with it. */
static int recover_job(Drain *d, LedgerEntry *e, Job **ret) {
        CLEANUP(job_freep) Job *j = NULL;
        const Verb *v;
        Name name;
        int r;

        if (name_parse(e->name, &name) != 0)
                return err_new(EBADMSG);
        r = job_new(&name, &j);
        if (r < 0)
                return r;
        j->phase = JOB_FOREIGN;
        j->ledgered = true;
        j->began_ms = e->began_ms;
        v = table_find(d->config->table, e->verb);
        j->class = v ? v->class : VERB_MUTATING;
        memcpy(j->key, e->key, sizeof(j->key));
        memcpy(j->id, e->key, sizeof(j->id));
        memcpy(j->fingerprint, e->fingerprint, sizeof(j->fingerprint));
        r = str_dup(e->verb, &j->verb);
        if (r >= 0)
                r = str_dup(e->arg, &j->arg);
        if (r >= 0)
                r = str_dup(e->unit, &j->unit);
        if (r >= 0 && e->by)
                r = recover_operator(d, j, e->by);
        if (r >= 0)
                r = claim_read(&d->spool, j->name.text, REQUEST_MAX_BYTES, &j->body);
        if (r < 0)
                return r;
        *ret = j;
        j = NULL;
        return 0;
}

static int recover_announce(Drain *d, const Job *j) {
        Response response = RESPONSE_NULL;

        response.state = STATE_RUNNING;
        response.verb = j->verb;
        response.arg = j->arg;
        response.started_ms = j->began_ms;
        return tell_response(d, j, &response, false);
}

/* begun without ended: finished unheard, still running, or not known. */
static int recover_begun(Drain *d, const char *key) {
        LedgerEntry e = LEDGER_ENTRY_NULL;
        Job *j = NULL, *linked;
        bool running;
        int r;

        r = ledger_load_begun(&d->ledger, key, &e);
        if (r == LEDGER_E_ABSENT)
                return 0;
        if (r > 0) { /* corrupt or newer: mutating verbs are refused until an operator looks */
                d->ledger_ok = false;
                return judge_blame(d, key, r);
        }
        if (r < 0)
                return r;
        r = recover_job(d, &e, &j);
        ledger_entry_done(&e);
        if (r < 0)
                return r;
        r = result_running(d->config->run_fd, j->id, &running);
        linked = j;
        drain_link(d, &j);
        if (r < 0)
                return r;
        if (!running && linked->unit && scope_drop_empty(linked->unit) != 0)
                log_print(LOG_LEVEL_WARNING, "the scope %s could not be looked at", linked->unit);
        return running ? recover_announce(d, linked) : finish_job(d, linked);
}

static int recover_all_begun(Drain *d) {
        CLEANUP(strv_done) Strv keys = STRV_NULL;
        int r = ledger_list_begun(&d->ledger, RECOVER_MAX, &keys);

        for (size_t i = 0; r >= 0 && i < keys.len; i++) {
                LedgerEntry e = LEDGER_ENTRY_NULL;
                r = ledger_find(&d->ledger, keys.items[i], &e);
                if (r == 0 &&
                    e.state == LEDGER_ENDED) { /* ended wins: the begun file is a leftover */
                        r = ledger_forget(&d->ledger, keys.items[i]);
                        r = r > 0 ? 0 : r;
                } else if (r >= 0) {
                        r = drain_spare(d, recover_begun(d, keys.items[i]));
                }
                ledger_entry_done(&e);
        }
        return r;
}

/* As step_parse, and without an answer. unread: of claim_read. */
static int recover_parse(Job *j, int unread) {
        Reason reason;
        const char *detail;
        int r;

        if (unread != 0)
                return 0;
        r = request_parse(&j->name, j->body.data ? j->body.data : "", j->body.len, &j->request,
                          &reason, &detail);
        j->readable = r == 0 || (r > 0 && reason != REASON_MALFORMED);
        return r < 0 ? r : 0;
}

/* The entry that NAME itself began. Ended: its answer may not have been delivered. Begun still: its
 * end could not be recorded (no room), and nothing else may be said of it meanwhile. */
static int recover_answered(Drain *d, const Job *j, bool *ret_done) {
        LedgerEntry e = LEDGER_ENTRY_NULL;
        char key[HASH_HEX_SIZE];
        int r;

        *ret_done = false;
        if (!j->request || !d->ledger_ok)
                return 0;
        ledger_key(j->request->idempotency_key, j->name.text, key);
        r = ledger_find(&d->ledger, key, &e);
        if (r == 0 && str_eq(e.name, j->name.text)) {
                r = e.state == LEDGER_ENDED ? answer_deliver(d, j, &e, false) : 0;
                *ret_done = r >= 0;
        }
        ledger_entry_done(&e);
        return r < 0 ? r : 0;
}

/* An answer that was given is never taken back: a gate asked again might decide otherwise. */
static int recover_told(Drain *d, const Job *j, bool *ret_done) {
        char head[RESPONSE_HEAD_MAX];
        State state;
        size_t len;
        int r = retire_peek_response(&d->spool, j->name.text, head, sizeof(head), &len);

        *ret_done = false;
        if (r != 0)
                return r < 0 ? r : 0;
        if (!response_peek(head, len, j->name.text, &state) || !state_terminal(state))
                return 0;
        *ret_done = true;
        d->worked = true;
        return j->readable ? answer_retire(d, j)
                           : answer_quarantine(d, SPOOL_PROCESSING, j->name.text,
                                               "not a readable request");
}

/* While the ledger can't tell whether it was started: it is neither run nor refused. */
static bool recover_unknown(const Drain *d, const Name *name) {
        const Verb *v = table_find(d->config->table, name->verb);

        return !d->ledger_ok && v && v->class == VERB_MUTATING;
}

/* processing/ENTRY of an earlier drain. A file planted there gains nothing: it meets every gate. */
static int recover_processing(Drain *d, const char *entry) {
        CLEANUP(job_freep) Job *j = NULL;
        char kept[QUARANTINE_NAME_SIZE];
        Name name;
        bool done;
        int r;

        if (drain_find_name(d, entry))
                return 0;
        if (name_parse(entry, &name) == 0) {
                if (recover_unknown(d, &name))
                        return 0;
                r = job_new(&name, &j);
                if (r >= 0)
                        r = claim_read(&d->spool, entry, REQUEST_MAX_BYTES, &j->body);
                if (r >= 0)
                        r = recover_parse(j, r);
                if (r >= 0)
                        r = recover_answered(d, j, &done);
                if (r >= 0 && !done)
                        r = recover_told(d, j, &done);
                if (r < 0 || done)
                        return r;
                r = claim_return(&d->spool, entry);
                if (r <= 0 || r == CLAIM_E_GONE)
                        return r < 0 ? r : 0;
        }
        r = quarantine_take(&d->spool, SPOOL_PROCESSING, entry, clock_wall_ms(), kept);
        if (r < 0)
                return r;
        r = tell_audit(d,
                       &(TellEvent){.event = "quarantined",
                                    .request = entry,
                                    .detail = "stood in processing/",
                                    .duration_ms = -1,
                                    .counted = true},
                       JOURNAL_QUARANTINED);
        return r == -ENOMEM ? r : 0;
}

static int recover_all_processing(Drain *d) {
        CLEANUP(strv_done) Strv names = STRV_NULL;
        bool more;
        int r = scan_visible(d->spool.dirs[SPOOL_PROCESSING], RECOVER_MAX, &names, &more);

        for (size_t i = 0; r >= 0 && i < names.len; i++)
                r = drain_spare(d, recover_processing(d, names.items[i]));
        return r;
}

/* STATE/run/ID whose ledger entry has ended: the crash came between ledger and tidying. Others were
 * read-only runs. */
static int recover_result(Drain *d, const char *id) {
        LedgerEntry e = LEDGER_ENTRY_NULL;
        Name name;
        int r = 0;

        for (const Job *j = d->jobs; j; j = j->next)
                if (str_eq(j->id, id) || str_eq(j->probe_id, id))
                        return 0;
        if (hash_is_hex(id, 64)) {
                r = ledger_find(&d->ledger, id, &e);
                if (r == 0 && e.state == LEDGER_ENDED && name_parse(e.name, &name) == 0)
                        r = retire_respond(&d->spool, name.text, e.response.data, e.response.len,
                                           true);
                ledger_entry_done(&e);
        } else {
                r = result_cancel(d->config->run_fd, id);
        }
        if (r < 0)
                return r;
        return result_forget(d->config->run_fd, id);
}

static int recover_all_results(Drain *d) {
        CLEANUP(strv_done) Strv ids = STRV_NULL;
        int r = result_list(d->config->run_fd, RECOVER_MAX, &ids);

        for (size_t i = 0; r >= 0 && i < ids.len; i++)
                r = drain_spare(d, recover_result(d, ids.items[i]));
        return r;
}

int recover_run(Drain *d) {
        int r = d->ledger_ok ? recover_all_begun(d) : 0;

        if (r >= 0)
                r = recover_all_processing(d);
        if (r >= 0 && d->ledger_ok)
                r = recover_all_results(d);
        return r < 0 ? r : 0;
}

int recover_poll(Drain *d, bool *ret_left) {
        *ret_left = false;
        for (Job *j = d->jobs, *next; j; j = next) {
                bool running;
                int r;

                next = j->next;
                if (j->phase != JOB_FOREIGN)
                        continue;
                r = result_running(d->config->run_fd, j->probe_id[0] ? j->probe_id : j->id,
                                   &running);
                if (r < 0)
                        return r;
                if (running) {
                        *ret_left = true;
                        continue;
                }
                r = drain_spare(d, finish_job(d, j));
                if (r < 0)
                        return r;
                d->dirty = true;
                next = d->jobs; /* followers may have left the list */
        }
        return 0;
}
