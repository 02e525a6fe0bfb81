#include "drain/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "drain/drain.h"
#include "drain/orders.h"
#include "drain/pump.h"
#include "drain/recover.h"
#include "drain/tell.h"
#include "fs/lock.h"
#include "run/spawn.h"
#include "spool/prune.h"
#include "spool/scan.h"

enum {
        LOOP_PACE_MS = 1000,   /* woken for nothing or unable to clear: never faster than this */
        LOOP_FOREIGN_MS = 200, /* how often a keeper of an earlier drain is looked at */
        LOOP_EXTEND_MS = 20 * 1000, /* how often the unit's start timeout is pushed back */
        LOOP_BEAT_MS = 5 * 1000,    /* how often the heartbeat moves while something runs */
        LOOP_PRUNE_MS = 600 * 1000,
        LOOP_PRUNE_BUDGET = 2000,
};

static void loop_pace(void) {
        (void)nanosleep(&(struct timespec){.tv_sec = LOOP_PACE_MS / 1000}, NULL);
}

static int loop_on_inotify(sd_event_source *source, const struct inotify_event *event,
                           void *userdata) {
        Drain *d = userdata;

        (void)source;
        if (event->mask & IN_Q_OVERFLOW || event->len == 0 || event->name[0] != '.')
                d->dirty = true; /* a writer's dotfile wakes nobody */
        return 0;
}

static int loop_on_signal(sd_event_source *source, const struct signalfd_siginfo *info,
                          void *userdata) {
        Drain *d = userdata;

        (void)info;
        d->stopping = true;
        d->restart = false;
        return sd_event_exit(sd_event_source_get_event(source), 0);
}

/* Signals meant for the loop. */
static void loop_signals(sigset_t *ret) {
        (void)sigemptyset(ret);
        (void)sigaddset(ret, SIGTERM);
        (void)sigaddset(ret, SIGINT);
}

static int loop_on_order(sd_event_source *source, const struct inotify_event *event,
                         void *userdata) {
        Drain *d = userdata;

        (void)source;
        (void)event;
        d->ordered = true;
        return 0;
}

/* -EMFILE, -ENOSPC: the user's inotify instances are used up; then it is looked at by the clock. */
static int loop_add_inotify(Drain *d, int fd, sd_event_inotify_handler_t handler) {
        int r = sd_event_add_inotify_fd(d->event, NULL, fd, IN_MOVED_TO | IN_CREATE | IN_ONLYDIR,
                                        handler, d);

        if (r != -EMFILE && r != -ENOSPC)
                return r;
        log_print(LOG_LEVEL_WARNING,
                  "no inotify instance is left; requests are found by the sweep");
        return 0;
}

/* Before everything else that is pending: who is told to stop takes no further request. */
static int loop_add_signal(Drain *d, int sig) {
        sd_event_source *source = NULL;
        int r = sd_event_add_signal(d->event, &source, sig, loop_on_signal, d);

        if (r >= 0)
                r = sd_event_source_set_priority(source, SD_EVENT_PRIORITY_IMPORTANT);
        if (r >= 0)
                r = sd_event_source_set_floating(source, 1);
        (void)sd_event_source_unref(source);
        return r;
}

static int loop_setup(Drain *d) {
        sigset_t set;
        int r;

        loop_signals(&set);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return err_new(errno);
        r = sd_event_new(&d->event);
        if (r >= 0)
                r = loop_add_inotify(d, d->spool.dirs[SPOOL_REQUESTS], loop_on_inotify);
        if (r >= 0)
                r = loop_add_inotify(d, d->orders_fd, loop_on_order);
        if (r >= 0)
                r = loop_add_signal(d, SIGTERM);
        if (r >= 0)
                r = loop_add_signal(d, SIGINT);
        return r < 0 ? err_new(-r) : 0;
}

static bool loop_has_jobs(const Drain *d, JobPhase phase) {
        for (const Job *j = d->jobs; j; j = j->next)
                if (j->phase == phase)
                        return true;
        return false;
}

/* Retention, when there is nothing better to do. */
static int loop_prune(Drain *d) {
        CLEANUP(strv_done) Strv busy = STRV_NULL;
        const Policy *p = d->config->policy;
        PruneLimits limits;
        PruneReport report;
        size_t removed;
        int r = 0;

        if (!p || (d->pruned_ms != 0 && clock_mono_ms() - d->pruned_ms < LOOP_PRUNE_MS))
                return 0;
        d->pruned_ms = clock_mono_ms();
        limits = (PruneLimits){.keep_ms = (int64_t)policy_keep_days(p) * 86400 * 1000,
                               .keep_files = policy_keep_files(p),
                               .keep_bytes = (uint64_t)policy_keep_mib(p) * 1024 * 1024,
                               .budget = LOOP_PRUNE_BUDGET};
        for (const Job *j = d->jobs; r >= 0 && j; j = j->next)
                r = strv_add(&busy, j->name.text);
        if (r >= 0)
                r = prune_run(&d->spool, &limits, &busy, clock_wall_ms(), &report);
        if (r >= 0 && d->ledger_ok)
                r = ledger_prune(&d->ledger, policy_keep_ledger(p), limits.keep_ms * 4,
                                 clock_wall_ms(), LOOP_PRUNE_BUDGET, &removed);
        if (r < 0 && r != -ENOMEM) { /* what can't be tidied holds up nobody */
                log_print(LOG_LEVEL_WARNING, "retention stopped: %s", err_last());
                r = 0;
        }
        return r < 0 ? r : 0;
}

/* The configuration and the spool are still those that were proven. */
static int loop_check(Drain *d) {
        bool same, restart;
        bool policy;
        int r = config_refresh(d->config, &restart, &policy);

        if (r >= 0 && policy)
                r = tell_capabilities(d);
        if (r < 0)
                return r;
        r = spool_same(&d->spool, d->config->checkout_fd, d->config->bridge->spool, &same);
        if (r < 0)
                return r;
        if (restart || !same) {
                d->stopping = true;
                d->restart = true;
        }
        return 0;
}

static void loop_notify(const Drain *d, int64_t *extended_ms) {
        int64_t now = clock_mono_ms();

        if (*extended_ms != 0 && now - *extended_ms < LOOP_EXTEND_MS)
                return;
        *extended_ms = now;
        (void)sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%llu\nSTATUS=%zu running, %llu answered",
                         60ULL * 1000000,
                         drain_running(d, VERB_READONLY) + drain_running(d, VERB_MUTATING),
                         (unsigned long long)d->completed);
}

static int64_t loop_linger_ms(const Drain *d) {
        int64_t linger = d->config->policy ? policy_linger_ms(d->config->policy) : LOOP_PACE_MS;
        bool left = false;

        if (scan_any(d->spool.dirs[SPOOL_REQUESTS], &left) != 0)
                left = true;
        return (left || !d->worked) && linger < LOOP_PACE_MS ? LOOP_PACE_MS : linger;
}

/* How long to sleep; 0: go on at once; < 0: this drain is over. */
static int64_t loop_wait_ms(const Drain *d) {
        int64_t idle = clock_mono_ms() - d->last_work_ms;
        int64_t linger;

        if (d->dirty && !d->stopping)
                return 0;
        if (loop_has_jobs(d, JOB_FOREIGN) && !d->stopping)
                return LOOP_FOREIGN_MS;
        if (loop_has_jobs(d, JOB_RUNNING))
                return LOOP_PACE_MS;
        if (d->stopping)
                return -1;
        if (d->paced)
                return LOOP_PACE_MS;
        linger = loop_linger_ms(d);
        if (idle < linger)
                return linger - idle;
        return d->watch && !d->no_room ? LOOP_PACE_MS : -1;
}

static int loop_pass(Drain *d, uint64_t *seen) {
        bool left;
        int r = 0;

        if (d->dirty && !d->stopping)
                r = loop_check(d);
        if (r >= 0 && loop_has_jobs(d, JOB_FOREIGN))
                r = recover_poll(d, &left);
        if (r >= 0 && d->ordered && !d->stopping)
                r = orders_run(d); /* before the line: a person waits */
        if (r >= 0 && d->dirty && !d->stopping)
                r = pump_run(d);
        if (d->completed + d->moved != *seen) /* a run that ended while we slept counts too */
                d->last_work_ms = clock_mono_ms();
        *seen = d->completed + d->moved;
        return r;
}

/* A long run is no stopped queue: waiting clients look at the heartbeat. */
static int loop_beat(Drain *d) {
        if (!loop_has_jobs(d, JOB_RUNNING) && !loop_has_jobs(d, JOB_FOREIGN))
                return 0;
        if (clock_mono_ms() - d->beat_ms < LOOP_BEAT_MS)
                return 0;
        return tell_heartbeat(d);
}

static int loop_run(Drain *d) {
        int64_t extended_ms = 0, wait;
        uint64_t seen = d->completed + d->moved;
        int r;

        d->dirty = d->ordered = true;
        d->last_work_ms = clock_mono_ms();
        for (;;) {
                r = loop_pass(d, &seen);
                if (r < 0)
                        return r;
                loop_notify(d, &extended_ms);
                r = loop_beat(d);
                if (r >= 0 && !d->jobs && !d->dirty)
                        r = loop_prune(d);
                wait = loop_wait_ms(d);
                if (r < 0 || wait < 0)
                        return r;
                r = sd_event_run(d->event, (uint64_t)wait * 1000);
                if (r < 0)
                        return err_new(-r);
                if (sd_event_get_state(d->event) == SD_EVENT_FINISHED)
                        return 0;
                if (r == 0 && wait == LOOP_PACE_MS)
                        d->dirty = d->ordered = true; /* what inotify can't see (watch on network
                                                         mounts, no instance left) */
        }
}

static void loop_done(Drain *d) {
        sigset_t set;

        while (d->jobs)
                (void)job_free(drain_unlink(d, d->jobs)); /* NULL, always */
        (void)sd_event_unref(d->event);
        ledger_close(&d->ledger);
        d->audit = audit_free(d->audit);
        d->lock_fd = fd_close(d->lock_fd);
        d->orders_fd = fd_close(d->orders_fd);
        spool_close(&d->spool);
        loop_signals(&set);
        (void)sigprocmask(SIG_UNBLOCK, &set,
                          NULL); /* between two rounds of --watch they end us at once */
}

/* The records: what can't be opened makes nothing start, and every request is answered host-error.
 */
static int loop_open_records(Drain *d) {
        PinRule rule = config_rule(d->config);
        int pin = 0, r;

        r = audit_open(d->config->state_fd, &rule, &d->audit, &pin);
        if (r != 0) {
                if (r == -ENOMEM)
                        return r;
                log_print(LOG_LEVEL_ERR, "the audit log %s: nothing will be started (%s)",
                          r > 0 ? pin_reason(pin) : strerror(-r), d->config->layout.state);
        }
        r = ledger_open(d->config->state_fd, &rule, &d->ledger);
        d->ledger_ok = r == 0 && d->audit;
        if (r != 0 && r != -ENOMEM)
                log_print(LOG_LEVEL_ERR, "the ledger %s: nothing will be started (%s)",
                          r > 0 ? pin_reason(r) : strerror(-r), d->config->layout.state);
        return r == -ENOMEM ? r : 0;
}

static int loop_refuse_spool(const Config *c, const char *which, int pin) {
        CLEANUP(str_freep) char *text = NULL;
        int r = str_printf(
                &text, "the spool's %s %s; nothing was read (%s/%s)\nspoolgate install --slug %s",
                which, pin_reason(pin), c->bridge->checkout.path, c->bridge->spool, c->layout.slug);

        if (r < 0)
                return r;
        log_message(LOG_LEVEL_ERR, text);
        loop_pace();
        return DRAIN_EXIT_CONFIG;
}

/* Told once, when this drain can do no more about it. */
static int loop_no_room(const Config *c) {
        log_print(LOG_LEVEL_ERR,
                  "no room on the disk: what could not be answered waits in processing/ (%s/%s)",
                  c->bridge->checkout.path, c->bridge->spool);
        loop_pace();
        return DRAIN_EXIT_LATER;
}

static int loop_drain(Config *c, bool watch, bool *ret_restart) {
        CLEANUP(loop_done)
        Drain d = {.config = c,
                   .spool = SPOOL_NULL,
                   .lock_fd = -EBADF,
                   .orders_fd = -EBADF,
                   .ledger = LEDGER_NULL,
                   .watch = watch};
        PinRule rule = {.owner = c->uid, .forbid = 0};
        const char *which = "";
        int r;

        *ret_restart = false;
        r = spool_open(c->checkout_fd, c->bridge->spool, &rule, &d.spool, &which);
        if (r > 0)
                return loop_refuse_spool(c, which, r);
        if (r >= 0)
                r = pump_acknowledge(&d);
        if (r < 0)
                return r;
        r = lock_take(c->state_fd, "lock", &d.lock_fd);
        if (r == LOCK_E_BUSY) { /* that one works; a watcher waits for its turn */
                loop_pace();
                *ret_restart = watch;
                return DRAIN_EXIT_OK;
        }
        if (r >= 0)
                r = loop_open_records(&d);
        if (r >= 0)
                r = orders_open(&d);
        if (r >= 0)
                r = loop_setup(&d);
        if (r >= 0)
                r = recover_run(&d);
        if (r >= 0)
                r = tell_capabilities(&d);
        if (r >= 0)
                r = loop_run(&d);
        *ret_restart = d.restart && r >= 0;
        return r >= 0 && d.no_room && !d.restart ? loop_no_room(c) : r;
}

/* One project, loaded afresh each time its configuration or its spool was replaced. */
static int loop_project(const char *slug, bool watch) {
        bool restart = false;

        do {
                CLEANUP(config_done)
                Config c = {.config_fd = -EBADF,
                            .state_fd = -EBADF,
                            .run_fd = -EBADF,
                            .checkout_fd = -EBADF};
                CLEANUP(str_freep) char *message = NULL;
                int r = config_load(slug, &c, &message);

                if (r == CONFIG_E_INVALID) {
                        log_message(LOG_LEVEL_ERR, message);
                        loop_pace();
                        return DRAIN_EXIT_CONFIG;
                }
                if (r >= 0)
                        r = loop_drain(&c, watch, &restart);
                if (r < 0) {
                        log_print(LOG_LEVEL_ERR, "stopped by host trouble: %s", err_last());
                        loop_pace();
                        r = DRAIN_EXIT_LATER;
                }
                if (r > 0 && !watch)
                        return r;
                restart = restart || r > 0; /* a watcher tries again */
        } while (restart);
        return DRAIN_EXIT_OK;
}

static int loop_usage(FILE *to, int status) {
        (void)fputs("usage: spoolgate-drain [--watch] SLUG\n\n"
                    "Drains the request spool of the project SLUG once and exits; with --watch it "
                    "stays.\n"
                    "Run by the user manager (spoolgate-SLUG.service); see spoolgate-drain(8).\n",
                    to);
        return status;
}

int drain_main(int argc, char **argv) {
        bool watch = argc == 3 && strcmp(argv[1], "--watch") == 0;

        log_open("spoolgate-drain");
        if (argc == 2 && strcmp(argv[1], "--help") == 0)
                return loop_usage(stdout, 0);
        if (argc == 2 && strcmp(argv[1], "--version") == 0)
                return puts("spoolgate-drain " SPOOLGATE_VERSION) < 0;
        if (argc != 2 + watch || argv[argc - 1][0] == '-')
                return loop_usage(stderr, DRAIN_EXIT_USAGE);
        if (geteuid() == 0) {
                log_print(LOG_LEVEL_ERR,
                          "refuses to run as root: a bridge acts with its user's rights only");
                return DRAIN_EXIT_CONFIG;
        }
        if (spawn_reset_self() < 0 || hash_init() < 0) {
                log_print(LOG_LEVEL_ERR, "could not start: %s", err_last());
                return DRAIN_EXIT_BROKEN;
        }
        return loop_project(argv[argc - 1], watch);
}
