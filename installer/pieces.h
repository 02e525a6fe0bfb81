/* installer/pieces.h - what install lays down and upgrade renews, as steps of a plan */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "installer/plan.h"
#include "installer/survey.h"

enum { PIECES_E_REFUSED = 1 }; /* why says what */

/* The bytes of bridge.json: formatted and parsed again, so what we write the drain will take. */
MUST_CHECK int pieces_bridge(const Survey *s, Str *ret, Str *why);
/* The pinned programs. Without the inspection a warning: mutating verbs are refused then. */
MUST_CHECK int pieces_programs(Plan *p, const Layout *l, Strv *warnings, Str *why);
/* The config directory and policy.conf, which stays when it is there. */
MUST_CHECK int pieces_config(Plan *p, const Layout *l, Str *why);
MUST_CHECK int pieces_state(Plan *p, const Layout *l);
/* The spool's directories and the agent's client in it. */
MUST_CHECK int pieces_spool(Plan *p, const Survey *s, Str *why);
MUST_CHECK int pieces_units(Plan *p, const Survey *s, Str *why);
