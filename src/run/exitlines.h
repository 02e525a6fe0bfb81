/* run/exitlines.h - the status that podman-compose 1.x says but does not give
 *
 * It ends 0 whatever podman ended with, and prints "podman VERB ..." before and "exit code: N"
 * after each command (podman_compose.py, Podman.run; PYTHONUNBUFFERED keeps the order). Read here:
 * any N but 0 fails the run, except run    answered by a following "podman start" of the same
 * container, whose status then decides logs  whose text may hold such lines itself: the last one
 * counts stop, rm, pod   of what is not there ("no such container", "no container with name", "no
 * such pod") A forged line in a build's output can only turn a success into a failure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { EXITLINES_LINE_MAX = 512 }; /* of a longer line the beginning is judged */
typedef struct ExitLines {
        char line[EXITLINES_LINE_MAX];
        size_t len;
        char command[16]; /* podman's verb */
        bool absent;      /* since the command: it said that the thing is not there */
        int pending;      /* of a run that a start may still mend, or of logs so far */
        int code;         /* the first failure; 0: none */
} ExitLines;
#define EXITLINES_NULL ((ExitLines){0})

void exitlines_feed(ExitLines *e, const void *bytes, size_t len); /* raw output */
int exitlines_end(ExitLines *e); /* 0, or the exit status (1..255) that failed */
