/* installer/survey.h - options and the host, looked at, become a Bridge; nothing is written */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "installer/compose.h"
#include "installer/detect.h"
#include "installer/install.h"
#include "wire/bridge.h"

enum { SURVEY_E_REFUSED = 1 };

typedef struct Survey {
        Checkout checkout;
        Layout layout;
        Bridge bridge;
        Strv warnings;
} Survey;
#define SURVEY_NULL ((Survey){.checkout = CHECKOUT_NULL, .bridge = BRIDGE_NULL})
void survey_done(Survey *s);

/* Checkout, slug, spool, the host's folders outside the checkout. SURVEY_E_REFUSED: why says what,
 * the remedy alone on the last line. */
MUST_CHECK int survey_place(const InstallOptions *o, Survey *s, Str *why);
/* Stack, binaries, PATH, compose files, services, guarded files (needs survey_place). */
MUST_CHECK int survey_stack(const InstallOptions *o, Survey *s, Str *why);
/* services and buildable of s->bridge out of what the compose files have and the options say
 * (survey_stack's). */
MUST_CHECK int survey_services(const InstallOptions *o, const Compose *c, bool from_compose,
                               Survey *s, Str *why);
