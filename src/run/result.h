/* run/result.h - what the keeper leaves under STATE/run: ID.lock (held while it lives), ID.result
 * (its last act) */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"

typedef enum ResultKind {
        RESULT_EXIT,
        RESULT_SIGNAL,
        RESULT_TIMEOUT,
        RESULT_CANCELLED,
        RESULT_SPAWN
} ResultKind;
enum { RESULT_TAIL_MAX = 64 * 1024 }; /* as CAPTURE_TAIL_MAX */
typedef struct RunResult {
        ResultKind kind;
        int code; /* exit status, signal, or errno of RESULT_SPAWN (0: none to tell) */
        int64_t started_ms, ended_ms; /* wall; started 0: never started */
        int64_t duration_ms;          /* boot clock */
        uint64_t output_bytes;        /* raw bytes the child wrote */
        bool truncated;               /* tail holds less than all, or the log dropped its middle */
        char spawn_stage[32]; /* RESULT_SPAWN: "setup" (the keeper itself) "bus" "exists" "job"
                                 "job-timeout" "place" "fork" "exec" */
        Str tail;             /* valid UTF-8, redacted, escaped, at most 64 KiB */
} RunResult;
#define RUN_RESULT_NULL ((RunResult){0})
void result_done(RunResult *r);

/* "spoolgate-result 1 SHA256\n", "key value\n" lines, an empty line, the tail; the hash is of all
 * behind the first line, so that a file which a power cut left half written is not believed.
 * -EINVAL: r breaks its own rules. */
MUST_CHECK int result_format(const RunResult *r, Str *ret);
enum { RESULT_E_SYNTAX = 1, RESULT_E_ABSENT };
MUST_CHECK int result_parse(const char *bytes, size_t len, RunResult *ret);

/* id everywhere: [A-Za-z0-9-][A-Za-z0-9.-]{0,99}, else -EINVAL. */
/* Publishes ID.result; sync for mutating runs. */
MUST_CHECK int result_store(int run_fd, const char *id, const RunResult *r, bool sync);
/* RESULT_E_SYNTAX also for what is no private regular file of our user. */
MUST_CHECK int result_load(int run_fd, const char *id, RunResult *ret);
/* The lock means: a keeper lives. Taken by the drain before the fork, so there is no moment without
 * an owner. Empties the file. */
MUST_CHECK int result_lock(int run_fd, const char *id,
                           int *ret_fd); /* LOCK_E_BUSY as of fs/lock.h */
/* The keeper: its pid into the lock file. */
MUST_CHECK int result_write_pid(int lock_fd, pid_t pid);
MUST_CHECK int result_running(int run_fd, const char *id, bool *ret_running);
/* Removes both files. */
MUST_CHECK int result_forget(int run_fd, const char *id);
/* IDs that have a lock or result file there, sorted, at most max. */
MUST_CHECK int result_list(int run_fd, size_t max, Strv *ret);
/* Signals the living keeper to cancel (pid in ID.lock, believed only while the lock is held;
 * pidfd_send_signal SIGTERM). RESULT_E_ABSENT: none lives. */
MUST_CHECK int result_cancel(int run_fd, const char *id);
