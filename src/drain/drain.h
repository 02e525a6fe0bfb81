/* drain/drain.h - one drain of one project's spool: what its modules share
 *
 * A request's life, one function each (drain/step.c):
 *
 *   requests/NAME -> step_take:  claim -> read -> parse -> judge -> begin -> start (a keeper)
 *                    finish_job: result -> outcome -> audit -> ledger -> response -> archive */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "drain/config.h"
#include "policy/gates.h"
#include "record/audit.h"
#include "record/ledger.h"
#include "run/keeper.h"
#include "spool/spool.h"
#include "wire/name.h"
#include "wire/request.h"

typedef struct sd_event sd_event;
typedef struct sd_event_source sd_event_source;

typedef enum JobPhase {
        JOB_RUNNING, /* our keeper: pidfd */
        JOB_FOREIGN, /* a keeper that an earlier drain started: its lock and result file are watched
                      */
        JOB_FOLLOWER, /* waits for the running job of the same key, to replay its answer */
} JobPhase;

typedef struct Job {
        struct Job *next;
        JobPhase phase;
        Name name;
        Str body;      /* the judged bytes; empty for a foreign job whose file is gone */
        bool readable; /* body holds them: to archive/, else to quarantine/ */
        GateSource origin;
        char order[NAME_MAX_LEN + 1]; /* file of the operator's order, "" for an agent's request */
        char *by;                     /* the operator's login name, or NULL */
        Request *request;             /* NULL for a foreign job */
        Grant *grant;                 /* NULL for foreign and followers */
        Plan *plan;
        struct Guard *guard; /* the guarded files as judged; NULL: not asked */
        VerbClass class;
        char *verb,
                *arg; /* the table's words, copied (a table may be renewed under a foreign job) */
        char key[HASH_HEX_SIZE];
        char fingerprint[HASH_HEX_SIZE];
        bool ledgered; /* ledger/begun/KEY is ours to end */
        bool unkeyed;  /* the ledger can't tell of this key: a look goes on without it */
        char *unit;    /* scope, or NULL */
        char id[HASH_HEX_SIZE];
        char probe_id[HASH_HEX_SIZE]; /* the run is the verb's probe now (drain/remains); "" */
        Run run;
        sd_event_source *source;
        int64_t began_ms;
} Job;

typedef struct Drain {
        Config *config;
        Spool spool;
        int lock_fd;
        Audit *audit; /* NULL: it can't be written, nothing may start */
        Ledger ledger;
        bool ledger_ok; /* ledger and audit log are there: what changes something may start */
        Job *jobs;
        int orders_fd; /* STATE/orders */
        bool ordered;  /* orders must be looked at */
        sd_event *event;
        bool watch;                            /* endless linger */
        bool dirty;                            /* requests/ must be scanned */
        bool stopping;                         /* start nothing more */
        bool restart;                          /* load the configuration again */
        size_t waiting_read, waiting_mutating; /* in line for a lane */
        bool worked;                           /* this activation did something */
        bool paced;           /* read-only requests wait for the audit log's budget */
        bool no_room;         /* something stays in processing/ until the disk has room */
        uint64_t completed;   /* outcomes since start; the heartbeat moves with it */
        uint64_t moved;       /* entries taken out of requests/ since start: a pass made progress */
        uint64_t beat;        /* completed, at the last heartbeat */
        int64_t beat_ms;      /* boot clock of it */
        int64_t last_work_ms; /* boot clock */
        int64_t pruned_ms;    /* boot clock; 0: not yet */
} Drain;

MUST_CHECK int job_new(const Name *name, Job **ret);
Job *job_free(Job *j);
void job_freep(Job **j);
/* A full disk must not keep the line from moving: what can't be answered now stays in processing/,
 * where the next drain finds it, and this one goes on. Any other trouble is passed up. */
MUST_CHECK int drain_spare(Drain *d, int r);
size_t drain_running(const Drain *d, VerbClass class); /* followers don't count */
Job *drain_find_name(const Drain *d, const char *name);
Job *drain_find_key(const Drain *d, const char *key); /* running or foreign */
void drain_link(Drain *d, Job **take);
Job *drain_unlink(Drain *d, Job *j);
