/* operator/doctor.h - what is wrong with a project's host side, and the one line that mends it
 *
 * Checks are grouped by theme, one file each; a check only looks. Whatever it finds ends in a
 * command, alone on its line when printed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "operator/host.h"
#include "operator/unitstate.h"
#include "wire/bridge.h"

typedef enum DoctorKind {
        DOCTOR_NOTE, /* worth knowing; no finding */
        DOCTOR_FINDING,
        DOCTOR_SAFE, /* a finding that --fix mends: its command loses nothing and approves nothing
                      */
} DoctorKind;

typedef struct DoctorItem {
        DoctorKind kind;
        const char *check; /* static memory */
        char *text, *command;
} DoctorItem;

typedef struct Doctor {
        Layout layout;
        Bridge *bridge; /* NULL: no good, trouble says why */
        Config config;
        bool loaded; /* config is there, as the drain would have it */
        Str trouble;
        UnitStates units;
        bool has_units; /* a user manager answered */
        Str units_trouble;
        const char *check; /* the one that runs */
        DoctorItem *items;
        size_t len;
} Doctor;

typedef struct DoctorCheck {
        const char *name;
        int (*look)(Doctor *d); /* 0, or -errno: could not look */
        bool needs_load;        /* passed over while the configuration doesn't load */
} DoctorCheck;
/* NULL past the end. */
const DoctorCheck *doctor_units_check(size_t i);
const DoctorCheck *doctor_files_check(size_t i);
const DoctorCheck *doctor_host_check(size_t i);
const DoctorCheck *doctor_policy_check(size_t i);
const DoctorCheck *doctor_ledger_check(size_t i);

/* Takes *command on 0; text by format. */
MUST_CHECK int doctor_add(Doctor *d, DoctorKind kind, char **command, const char *format, ...)
        PRINTF_LIKE(4, 5);
/* "FORMAT..." as a command; for doctor_add. */
MUST_CHECK int doctor_say(Doctor *d, DoctorKind kind, const char *command, const char *text);
/* A path in single quotes, whatever it holds. Owned by the caller. */
MUST_CHECK int doctor_quote(const char *path, char **ret);

/* slug must be one of the layout's. */
MUST_CHECK int doctor_open(const char *slug, Doctor *ret);
void doctor_done(Doctor *d);
/* Every check; *ret_blind counts those that could not look, each named in said. */
MUST_CHECK int doctor_look(Doctor *d, size_t *ret_blind, Str *said);
size_t doctor_findings(const Doctor *d);
/* Runs the safe commands, each after asking on stdin (yes: without). */
MUST_CHECK int doctor_fix(const Doctor *d, bool yes);

/* The pure parts.
 * /etc/subuid: how many ids does user (by name or number) have, and is `id` among them? */
void doctor_subids(const char *text, const char *user, unsigned uid, long long id,
                   unsigned long long *ret_count, bool *ret_holds);
/* Too little to go on with? */
bool doctor_tight(uint64_t free_bytes, uint64_t free_inodes);
