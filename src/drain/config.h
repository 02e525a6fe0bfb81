/* drain/config.h - everything the host says about one project, loaded and proven before a request
 * is read
 *
 * Host files must belong to this user, be writable by nobody else and lie outside the checkout. A
 * bridge file that is missing or wrong stops the drain (nothing is known of the spool then); a
 * wrong policy.conf, verbs.json or redact.conf does not: `trouble` or `own_trouble` is set,
 * requests are drained and answered host-config. */
#pragma once
#include <stdbool.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/str.h"
#include "fs/layout.h"
#include "fs/pin.h"
#include "policy/policy.h"
#include "run/redact.h"
#include "verb/own.h"
#include "verb/table.h"
#include "wire/bridge.h"

typedef struct ConfigStamp { /* what a file looked like; equal stamps: not touched */
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec changed;
} ConfigStamp;

typedef struct Config {
        Layout layout;
        uid_t uid;
        int config_fd, state_fd, run_fd, checkout_fd;
        Bridge *bridge;
        VerbSetup setup;
        OwnVerbs own;
        VerbTable *table;
        Policy *policy;    /* NULL: trouble is set */
        Strv keys;         /* MAC keys in hex, of the bridge's key files; empty: no MAC is asked */
        char *trouble;     /* why nothing runs, for people, with the file and line */
        bool key_trouble;  /* it is a key file's */
        char *own_trouble; /* why no own verb runs */
        char *redact_trouble; /* why nothing is run at all: redact.conf */
        char *record_trouble; /* which ledger entry is no good, and the command that mends it */
        ConfigStamp bridge_stamp, verbs_stamp, policy_stamp, redact_stamp, env_stamp;
        Redact *redact; /* made by config_redact */
} Config;

enum { CONFIG_E_INVALID = 1 };
/* On CONFIG_E_INVALID *ret_message (caller's) says what, where and the remedy. */
MUST_CHECK int config_load(const char *slug, Config *ret, char **ret_message);
void config_done(Config *c);
/* Reads policy.conf again when it was touched (*ret_policy). *ret_restart: the bridge file or
 * verbs.json was; load all again when idle. */
MUST_CHECK int config_refresh(Config *c, bool *ret_restart, bool *ret_policy);
/* Patterns and the values of the project's env files, compiled when first needed and again when a
 * file was touched. CONFIG_E_INVALID: redact.conf doesn't hold; *ret_message (caller's) says the
 * line. */
MUST_CHECK int config_redact(Config *c, char **ret_message);
/* The rule for host files: this user's, not writable by others. */
PinRule config_rule(const Config *c);
