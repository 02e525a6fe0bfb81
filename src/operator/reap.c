#include <errno.h>
#include <getopt.h>

#include "base/clock.h"
#include "base/fd.h"
#include "installer/notice.h"
#include "installer/systemctl.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/errand.h"
#include "operator/hold.h"
#include "record/ledger.h"
#include "run/result.h"
#include "run/scope.h"
#include "spool/prune.h"
#include "spool/spool.h"

static const char reap_help[] =
        "usage: spoolgate reap [-s SLUG]\n"
        "\n"
        "Removes now what drains remove by and by: files of finished runs, empty scopes, and what\n"
        "policy.conf doesn't keep (KEEP_*). What still runs is left alone.\n"
        "\n"
        "  -s, --slug SLUG  the project\n";

enum { REAP_RUNS_MAX = 10000, REAP_BUDGET = 10000 };

typedef struct Reap {
        const Config *config;
        Ledger ledger;
        Strv busy; /* names of requests in hand */
        size_t living, unsettled, runs, scopes, files, stuck, entries;
} Reap;

static void reap_done(Reap *w) {
        ledger_close(&w->ledger);
        strv_done(&w->busy);
}

/* A run whose ledger entry is begun and that has no keeper is the next drain's to settle. */
static int reap_run(Reap *w, const char *id) {
        CLEANUP(ledger_entry_done) LedgerEntry e = LEDGER_ENTRY_NULL;
        bool running;
        int r = result_running(w->config->run_fd, id, &running);

        if (r < 0)
                return r;
        r = hash_is_hex(id, HASH_HEX_SIZE - 1) ? ledger_load_begun(&w->ledger, id, &e)
                                               : LEDGER_E_ABSENT;
        if (r < 0)
                return r;
        w->living += running;
        w->unsettled += !running && r != LEDGER_E_ABSENT;
        if (r == 0)
                return strv_add(&w->busy, e.name);
        if (running || r != LEDGER_E_ABSENT)
                return 0;
        r = result_forget(w->config->run_fd, id);
        w->runs += r == 0;
        return r < 0 ? r : 0;
}

static int reap_runs(Reap *w) {
        CLEANUP(strv_done) Strv ids = STRV_NULL;
        int r = result_list(w->config->run_fd, REAP_RUNS_MAX, &ids);

        for (size_t i = 0; i < ids.len && r == 0; i++)
                r = reap_run(w, ids.items[i]);
        return r;
}

/* While a keeper lives, a scope may be empty because its keeper is just about to enter it. */
static int reap_scopes(Reap *w) {
        CLEANUP(strv_done) Strv scopes = STRV_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r;

        if (w->living > 0 || !str_eq(w->config->bridge->launch, "scope"))
                return 0;
        r = systemctl_scopes(w->config->layout.slug, &scopes, &why);
        if (r > 0)
                return 0; /* no manager: no scopes */
        for (size_t i = 0; i < scopes.len && r == 0; i++) {
                bool before = false, after = false;

                if (scope_active(scopes.items[i], &before) != 0 || !before)
                        continue;
                r = scope_drop_empty(scopes.items[i]);
                if (r >= 0 && scope_active(scopes.items[i], &after) == 0)
                        w->scopes += !after;
                r = r > 0 ? 0 : r;
        }
        return r;
}

static int reap_spool(Reap *w) {
        CLEANUP(spool_close) Spool s = SPOOL_NULL;
        const Policy *p = w->config->policy;
        PinRule rule = {.owner = w->config->uid, .forbid = 0};
        PruneLimits limits = {.keep_ms = (int64_t)policy_keep_days(p) * 86400 * 1000,
                              .keep_files = policy_keep_files(p),
                              .keep_bytes = (uint64_t)policy_keep_mib(p) * 1024 * 1024,
                              .budget = REAP_BUDGET};
        PruneReport report = {0};
        const char *which;
        size_t removed = 0;
        int r = spool_open(w->config->checkout_fd, w->config->bridge->spool, &rule, &s, &which);

        do {
                if (r == 0)
                        r = prune_run(&s, &limits, &w->busy, clock_wall_ms(), &report);
                w->files += r == 0 ? report.removed : 0;
        } while (r == 0 && report.more && report.removed > 0);
        w->stuck = report.stuck;
        do {
                if (r == 0) /* as the drain does: an answer is kept four times as long */
                        r = ledger_prune(&w->ledger, policy_keep_ledger(p), limits.keep_ms * 4,
                                         clock_wall_ms(), REAP_BUDGET, &removed);
                w->entries += r == 0 ? removed : 0;
        } while (r == 0 && removed == REAP_BUDGET);
        return r > 0 ? err_new(ENOTDIR) : r;
}

static int reap_say(const Reap *w, Str *text) {
        int r = str_addf(text,
                         "removed: files of %zu finished runs, %zu empty scopes, %zu old files, "
                         "%zu ledger entries",
                         w->runs, w->scopes, w->files, w->entries);

        if (r == 0 && w->living > 0)
                r = str_addf(text, "; %zu still run", w->living);
        if (r == 0 && w->stuck > 0)
                r = str_addf(text, "; %zu can't be removed", w->stuck);
        if (r == 0 && w->unsettled > 0)
                r = str_addf(text, "; %zu are for the next drain to settle", w->unsettled);
        return r;
}

static int reap_go(Reap *w, Str *why) {
        CLEANUP(fd_closep) int lock = -EBADF;
        CLEANUP(str_done) Str text = STR_NULL;
        PinRule rule = config_rule(w->config);
        int r;

        if (!w->config->policy)
                return str_addf(why,
                                "policy.conf says what is kept, and it is broken: %s\n"
                                "spoolgate policy --check -s %s",
                                w->config->trouble, w->config->layout.slug) < 0
                               ? -ENOMEM
                               : ERRAND_E_BROKEN;
        r = hold_lock(w->config, &lock, why);
        if (r != 0)
                return r < 0 ? r : ERRAND_E_NONE;
        r = ledger_open(w->config->state_fd, &rule, &w->ledger);
        if (r == 0)
                r = reap_runs(w);
        if (r == 0)
                r = reap_scopes(w);
        if (r == 0)
                r = reap_spool(w);
        if (r == 0)
                r = reap_say(w, &text);
        if (r == 0)
                r = notice_note(w->config->state_fd, "reaped", NULL, text.data);
        if (r == 0)
                r = str_addc(&text, '\n');
        if (r == 0)
                command_print(&text);
        return r > 0 ? err_new(EIO) : r;
}

static int reap_act(const char *slug) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(reap_done) Reap w = {.config = &c, .ledger = LEDGER_NULL};
        CLEANUP(str_done) Str why = STR_NULL;
        int r = errand_open(slug, &c, &why);

        if (r == 0)
                r = reap_go(&w, &why);
        if (r == 0)
                r = errand_wake(&c);
        return r != 0 ? errand_exit("reap", r, &why) : COMMAND_OK;
}

int reap_command(int argc, char **argv) {
        const char *slug;
        int status = command_slug_only("reap", reap_help, argc, argv, &slug);

        if (status >= 0)
                return status;
        return optind < argc ? command_usage("reap", '?', argv + optind) : reap_act(slug);
}
