/* crash/trace.h - runs a program, stops it at each system call's entry and exit, and does to it what the caller says */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct TraceStop {
        pid_t pid;
        unsigned long n; /* stops of the followed process, from 1; entry and exit are both counted */
        bool entry;
        long call;
        int64_t result;  /* exit only */
        uint64_t args[3];
} TraceStop;

typedef enum TraceAct { TRACE_ON, TRACE_KILL, TRACE_LEAVE /* let it run on unfollowed */ } TraceAct;
typedef TraceAct (*TraceEach)(void *userdata, const TraceStop *stop);

typedef struct TraceSpec {
        char *const *argv;
        char *const *env;
        unsigned child;      /* 0: the program is followed; K: the K-th process that it starts, and no other */
        TraceEach each;      /* NULL: nothing is followed */
        bool (*over)(void *userdata); /* asked every 2 ms; true: one SIGTERM to the program */
        void *userdata;
        int64_t deadline_ms; /* then SIGKILL, and late is set */
} TraceSpec;

typedef struct TraceEnd {
        int status;          /* of waitpid */
        bool late, termed;   /* by SIGKILL at the deadline; over's SIGTERM was sent */
        unsigned long stops;
} TraceEnd;

/* Gives when the program has ended; processes that it left go on (they become the caller's children). The caller is a
 * subreaper with SIGCHLD blocked: trace_begin. */
void trace_begin(void);
void trace_run(const TraceSpec *spec, TraceEnd *ret);
/* Waits for what the runs left; false: some outlived ms and were killed. */
bool trace_wait_rest(int64_t ms);
/* In an entry stop: the call isn't made and gives result (-errno) instead, by way of trace_result in the exit stop. */
void trace_skip(pid_t pid);
void trace_result(pid_t pid, int64_t result);
/* In an entry stop: the third argument (the length of read, write). */
void trace_shorten(pid_t pid, uint64_t len);
int64_t trace_now_ms(void);
