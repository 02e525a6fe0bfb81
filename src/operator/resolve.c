#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "fs/publish.h"
#include "installer/notice.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/docket.h"
#include "operator/errand.h"
#include "operator/hold.h"
#include "record/ledger.h"
#include "run/result.h"
#include "spool/retire.h"

static const char resolve_help[] = "usage: spoolgate resolve [-s SLUG] NAME done|failed|retry\n"
                                   "\n"
                                   "Says what became of a request that ended `uncertain`: whoever "
                                   "asks with its key gets done\n"
                                   "or failed from now on, and the agent's response is written "
                                   "anew; retry forgets the key, so\n"
                                   "that a new request with it runs.\n"
                                   "\n"
                                   "  -s, --slug SLUG  the project\n";

typedef enum ResolveAs { RESOLVE_DONE, RESOLVE_FAILED, RESOLVE_RETRY } ResolveAs;
static const char *const resolve_words[] = {"done", "failed", "retry"};
enum { RESOLVE_WORDS = sizeof(resolve_words) / sizeof(resolve_words[0]) };

typedef struct Resolve {
        const Config *config;
        Name name;
        const Docket *docket;
        ResolveAs as;
        Ledger ledger;
        LedgerEntry entry;
        ResponseDoc *doc;
} Resolve;

static void resolve_done(Resolve *w) {
        w->doc = response_free(w->doc);
        ledger_entry_done(&w->entry);
        ledger_close(&w->ledger);
}

static int resolve_no(const Resolve *w, Str *why, const char *text, const char *command) {
        int r = str_addf(why, "%s: %s", w->name.text, text);

        if (r == 0 && command)
                r = str_addf(why, "\nspoolgate %s -s %s", command, w->config->layout.slug);
        return r < 0 ? r : ERRAND_E_NONE;
}

static int resolve_uncertain(Resolve *w) {
        CLEANUP(str_done) Str line = STR_NULL;
        Response response = RESPONSE_NULL;
        int r;

        response.request = w->name.text;
        response.state = STATE_UNCERTAIN;
        response.reason = REASON_INTERRUPTED;
        response.verb = w->entry.verb;
        response.arg = w->entry.arg;
        response.started_ms = w->entry.began_ms;
        response.finished_ms = clock_wall_ms();
        r = response_format(&response, &line);
        return r < 0 ? r : response_parse(line.data, line.len, &w->doc);
}

/* Its begun file is damaged: what was begun stands in the audit log too. */
static int resolve_rebuild(Resolve *w, const char *key, Str *why) {
        const Docket *d = w->docket;
        LedgerEntry *e = &w->entry;
        int r;

        if (faccessat(w->ledger.begun_fd, key, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ||
            faccessat(w->ledger.ended_fd, key, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || !d->begun_as ||
            !hash_is_hex(d->begun_as, HASH_HEX_SIZE - 1) || !hash_is_hex(key, HASH_HEX_SIZE - 1))
                return resolve_no(w, why, "its ledger entry can't be read", "doctor");
        memcpy(e->key, key, sizeof(e->key));
        memcpy(e->fingerprint, d->begun_as, sizeof(e->fingerprint));
        e->ended_ms = clock_wall_ms();
        if (clock_parse(d->begun_at, &e->began_ms) != 0)
                e->began_ms = e->ended_ms;
        r = str_dup(w->name.text, &e->name);
        if (r == 0)
                r = str_dup(d->verb, &e->verb);
        if (r == 0)
                r = str_dup(d->arg, &e->arg);
        return r == 0 ? resolve_uncertain(w) : r;
}

/* The entry of this very request, ended, and uncertain. */
static int resolve_find(Resolve *w, const char *key, Str *why) {
        PinRule rule = config_rule(w->config);
        int r = ledger_open(w->config->state_fd, &rule, &w->ledger);

        if (r == 0)
                r = ledger_find(&w->ledger, key, &w->entry);
        if (r == LEDGER_E_ABSENT)
                return resolve_no(w, why, "the ledger has no entry of it", NULL);
        if (r == LEDGER_E_CORRUPT)
                return resolve_rebuild(w, key, why);
        if (r > 0)
                return resolve_no(w, why, "its ledger entry can't be read", "doctor");
        if (r < 0)
                return r;
        if (w->entry.state == LEDGER_BEGUN)
                return resolve_no(w, why, "no drain has settled it yet; let one look first",
                                  "run ping");
        if (!str_eq(w->entry.name, w->name.text))
                return resolve_no(w, why, "its key belongs to another request", NULL);
        r = response_parse(w->entry.response.data, w->entry.response.len, &w->doc);
        if (r != 0)
                return r < 0 ? r : resolve_no(w, why, "its ledger entry can't be read", "doctor");
        if (response_of(w->doc)->state != STATE_UNCERTAIN)
                return resolve_no(w, why, "it is not uncertain", NULL);
        return 0;
}

static int resolve_publish(const Resolve *w, const Str *line) {
        CLEANUP(spool_close) Spool s = SPOOL_NULL;
        PinRule rule = {.owner = w->config->uid, .forbid = 0};
        const char *which;
        int r = spool_open(w->config->checkout_fd, w->config->bridge->spool, &rule, &s, &which);

        if (r == 0)
                r = retire_respond(&s, w->name.text, line->data, line->len, true);
        return r < 0 ? r : 0; /* what can't be delivered stands in the ledger all the same */
}

static int resolve_rewrite(Resolve *w) {
        CLEANUP(str_freep) char *message = NULL;
        CLEANUP(str_freep) char *by = NULL;
        CLEANUP(str_done) Str line = STR_NULL;
        Response response = *response_of(w->doc);
        int r = notice_by(&by);

        if (r == 0)
                r = str_printf(&message, "the run was interrupted; %s says that it %s", by,
                               w->as == RESOLVE_DONE ? "took effect" : "failed");
        if (r < 0)
                return r;
        response.state = w->as == RESOLVE_DONE ? STATE_DONE : STATE_FAILED;
        response.reason = w->as == RESOLVE_DONE ? REASON_NONE : REASON_INTERRUPTED;
        response.message = message;
        response.replayed = false;
        r = response_format(&response, &line);
        if (r < 0)
                return r;
        str_done(&w->entry.response);
        w->entry.response = line;
        line = STR_NULL;
        r = ledger_end(&w->ledger, &w->entry);
        if (r != 0)
                return r > 0 ? err_new(EIO) : r;
        return resolve_publish(w, &w->entry.response);
}

/* ended/ first: as long as it stands, nothing runs. */
static int resolve_forget(Resolve *w) {
        int r = result_forget(w->config->run_fd, w->entry.key);

        if (r == 0)
                r = ledger_forget(&w->ledger, w->entry.key);
        if (r == 0)
                r = publish_remove(w->ledger.ended_fd, w->entry.key);
        if (r > 0)
                return err_new(EACCES);
        return r < 0 ? r : io_sync(w->ledger.ended_fd);
}

/* Under the lock; the note for the audit log stands before anything is changed. */
static int resolve_apply(Resolve *w, const char *key, Str *why) {
        CLEANUP(fd_closep) int lock = -EBADF;
        bool running;
        int r = hold_lock(w->config, &lock, why);

        if (r == 0)
                r = resolve_find(w, key, why);
        if (r != 0)
                return r < 0 ? r : ERRAND_E_NONE;
        r = result_running(w->config->run_fd, w->entry.key, &running);
        if (r == 0 && running)
                return resolve_no(w, why, "its keeper still lives", "run ping");
        if (r == 0)
                r = notice_note(w->config->state_fd, "resolved", &w->name, resolve_words[w->as]);
        if (r == 0)
                r = w->as == RESOLVE_RETRY ? resolve_forget(w) : resolve_rewrite(w);
        return r > 0 ? err_new(EIO) : r;
}

static int resolve_say(const Resolve *w) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = w->as == RESOLVE_RETRY
                        ? str_addf(&text, "%s: its key is free for a new request\n", w->name.text)
                        : str_addf(&text, "%s: %s\n", w->name.text, resolve_words[w->as]);

        if (r == 0)
                command_print(&text);
        return r;
}

static int resolve_act(const char *slug, const Name *name, ResolveAs as) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(docket_done) Docket d = DOCKET_NULL;
        CLEANUP(resolve_done)
        Resolve w = {.config = &c, .name = *name, .docket = &d, .as = as, .ledger = LEDGER_NULL};
        CLEANUP(str_done) Str why = STR_NULL;
        char key[HASH_HEX_SIZE];
        int r = errand_open(slug, &c, &why);

        if (r != 0)
                return errand_exit("resolve", r, &why);
        r = docket_read(&c, name, &d, &why);
        if (r != 0)
                return errand_exit("resolve", r < 0 ? r : ERRAND_E_NONE, &why);
        ledger_key(NULL, name->text, key);
        r = resolve_apply(&w, d.key ? d.key : key, &why);
        if (r == 0)
                r = errand_wake(&c);
        if (r == 0)
                r = resolve_say(&w);
        return r != 0 ? errand_exit("resolve", r, &why) : COMMAND_OK;
}

int resolve_command(int argc, char **argv) {
        const char *slug;
        Name name;
        int status = command_slug_only("resolve", resolve_help, argc, argv, &slug);

        if (status >= 0)
                return status;
        if (optind + 2 != argc)
                return command_usage("resolve", '?',
                                     argv + (optind + 2 < argc ? optind + 2 : argc));
        if (!errand_name(argv[optind], &name)) {
                command_fail("resolve", "this is no request's name");
                return COMMAND_FINDING;
        }
        for (size_t i = 0; i < RESOLVE_WORDS; i++)
                if (str_eq(argv[optind + 1], resolve_words[i]))
                        return resolve_act(slug, &name, (ResolveAs)i);
        return command_usage("resolve", '?', argv + optind + 1);
}
