/* crash/check.h - what must hold once a healthy drain has been there (design: "What must always hold") */
#pragma once
#include <stddef.h>
#include "world.h"

typedef enum CheckRule { CHECK_I1, CHECK_I2, CHECK_I3, CHECK_I4, CHECK_I8, CHECK_AUDIT, CHECK_LEDGER, CHECK_TIDY, CHECK_SPIN, CHECK_STATUS, CHECK_RULES } CheckRule;

enum { CHECK_CASES = 64 };

typedef struct CheckReport {
        size_t count[CHECK_RULES];
        size_t states[32];        /* by WorldEnd bit value */
        size_t uncertain_ran;     /* uncertain, and its effect is there */
        const char *where;        /* printed with each breach */
        size_t quiet;             /* breaches after these many are only counted; 0: 40 */
        unsigned also;            /* WorldEnds that are right for every request */
        bool cut;                 /* the power: what nothing ran by was not synced, and may be off the record */
        bool faulty;              /* a host fault was injected: refusals with host-* are right answers too */
} CheckReport;

void check_breach(CheckReport *r, CheckRule rule, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* I1 also means that an answer, once given, stays: taken before the healthy drain, compared after it. */
typedef struct CheckGiven {
        uint64_t answers[CHECK_CASES];
} CheckGiven;
void check_given(const World *w, CheckGiven *ret);
void check_kept(const World *w, const CheckGiven *given, CheckReport *r);
/* After the first healthy drain. */
void check_world(const World *w, CheckReport *r);
size_t check_total(const CheckReport *r);
const char *check_name(CheckRule rule);
