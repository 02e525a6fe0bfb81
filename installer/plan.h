/* installer/plan.h - what an install will write, checked as a whole before the first byte is
 * written
 *
 * Each step is compared with what stands there, so that a second run changes nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"

enum { PLAN_E_REFUSED = 1 };
typedef enum PlanState { PLAN_NEW, PLAN_CHANGED, PLAN_SAME, PLAN_KEPT } PlanState;
typedef enum PlanFlags {
        PLAN_ONCE = 1,   /* a file: what is there stays (policy.conf) */
        PLAN_SHARED = 2, /* a directory that is not ours alone: its mode stays */
} PlanFlags;

typedef struct PlanStep {
        int at; /* a directory that dir is relative to and below (the checkout; not owned), or
                   -EBADF: dir is an absolute host path */
        char *dir;
        char *name; /* NULL: the directory itself */
        Str bytes;
        mode_t mode;
        PlanFlags flags;
        PlanState state; /* plan_check's */
} PlanStep;

typedef struct Plan {
        PlanStep *steps;
        size_t len;
} Plan;
#define PLAN_NULL ((Plan){0})

void plan_done(Plan *p);
/* mkdir -p and the last part's mode. */
MUST_CHECK int plan_add_dir(Plan *p, int at, const char *dir, mode_t mode, PlanFlags flags);
/* *bytes are taken on 0. Every directory must be an earlier step, or be there. */
MUST_CHECK int plan_add_file(Plan *p, int at, const char *dir, const char *name, Str *bytes,
                             mode_t mode, PlanFlags flags);

/* Compares; PLAN_E_REFUSED with why: a directory of another user or writable by others, something
 * that is no file or no directory, a link below the checkout. Writes nothing. */
MUST_CHECK int plan_check(Plan *p, Str *why);
/* Does what plan_check found to do. PLAN_E_REFUSED with why: it changed in between. */
MUST_CHECK int plan_apply(const Plan *p, Str *why);
bool plan_changes(const Plan *p);
/* One line a step: "created PATH", or with dry "would create PATH"; `checkout` is put before
 * relative ones. */
MUST_CHECK int plan_report(const Plan *p, const char *checkout, bool dry, Str *out);
