#include "drain/pump.h"

#include "base/clock.h"
#include "base/log.h"
#include "drain/step.h"
#include "drain/tell.h"
#include "spool/retire.h"
#include "spool/scan.h"

enum { PUMP_BATCH = 4096, PUMP_RETRY_SEC = 30 };

typedef struct PumpLine {
        size_t read, mutating;
} PumpLine;

static int pump_queued(Drain *d, const Name *name, size_t ahead) {
        CLEANUP(str_done) Str line = STR_NULL;
        Response response = RESPONSE_NULL;
        int r;

        if (retire_has_response(&d->spool, name->text))
                return 0;
        response.request = name->text;
        response.state = STATE_QUEUED;
        response.verb = name->verb;
        response.ahead = (int64_t)ahead;
        r = response_format(&response, &line);
        if (r < 0)
                return r;
        r = retire_acknowledge(&d->spool, name->text, line.data, line.len);
        return r < 0 ? drain_spare(d, r)
                     : 0; /* blocked or newer: the final answer will be tried all the same */
}

int pump_acknowledge(Drain *d) {
        CLEANUP(strv_done) Strv names = STRV_NULL;
        PumpLine line = {0, 0};
        bool more;
        int r = scan_visible(d->spool.dirs[SPOOL_REQUESTS], PUMP_BATCH, &names, &more);

        for (size_t i = 0; r >= 0 && i < names.len; i++) {
                Name name;
                if (name_parse(names.items[i], &name) != 0)
                        continue;
                switch (step_lane(d, &name)) {
                case STEP_NOW:
                        r = pump_queued(d, &name, 0);
                        break;
                case STEP_READ:
                        r = pump_queued(d, &name, line.read++);
                        break;
                case STEP_MUTATING:
                        r = pump_queued(d, &name, line.mutating++);
                        break;
                }
        }
        return r < 0 ? r : 0;
}

/* Waits in its lane's line, or is turned away from a full one. */
static int pump_wait(Drain *d, const Name *name, size_t *line, size_t running) {
        size_t depth = d->config->policy ? policy_queue_depth(d->config->policy) : 256;

        if (*line >= depth)
                return step_turn_away(d, name, REASON_QUEUE_FULL, PUMP_RETRY_SEC);
        return pump_queued(d, name, running + (*line)++);
}

/* Old audit lines must not be pushed out by looking on and on: what the day's budget has no room
 * for waits. The operator's own looks don't come this way. */
static int pump_may_look(Drain *d, bool *ret) {
        uint32_t day = d->config->policy ? policy_audit_day(d->config->policy) : 0;
        int r;

        *ret = true;
        if (!d->audit || day == 0) /* it will be refused */
                return 0;
        r = audit_look(d->audit, day, clock_wall_ms(), ret);
        d->paced = d->paced || !*ret;
        return r;
}

static int pump_say_paced(const Drain *d) {
        CLEANUP(str_freep) char *text = NULL;
        int r = str_printf(&text,
                           "the day's AUDIT_DAY lines are used up: read-only requests wait\n"
                           "spoolgate audit -s %s",
                           d->config->layout.slug);

        if (r >= 0)
                log_message(LOG_LEVEL_WARNING, text);
        return r;
}

static int pump_entry(Drain *d, const char *entry, PumpLine *line) {
        size_t lanes = d->config->policy ? policy_lanes_read(d->config->policy) : 1;
        Name name;
        size_t running;
        bool may;
        int r;

        if (name_parse(entry, &name) != 0)
                return step_hostile(d, entry);
        if (drain_find_name(
                    d, entry)) { /* sent again while the first one is in hand: a replay, later */
                line->mutating++;
                return 0;
        }
        switch (step_lane(d, &name)) {
        case STEP_NOW:
                return step_take(d, &name);
        case STEP_READ:
                running = drain_running(d, VERB_READONLY);
                may = line->read == 0 && running < lanes;
                r = may ? pump_may_look(d, &may) : 0;
                if (r < 0 || may)
                        return r < 0 ? r : step_take(d, &name);
                return pump_wait(d, &name, &line->read, running);
        case STEP_MUTATING:
                break;
        }
        running = drain_running(d, VERB_MUTATING);
        if (line->mutating == 0 && running == 0)
                return step_take(d, &name);
        return pump_wait(d, &name, &line->mutating, running);
}

int pump_run(Drain *d) {
        CLEANUP(strv_done) Strv names = STRV_NULL;
        PumpLine line = {0, 0};
        uint64_t before = d->moved;
        bool more, paced = d->paced;
        int r;

        d->dirty = d->paced = false;
        r = scan_visible(d->spool.dirs[SPOOL_REQUESTS], PUMP_BATCH, &names, &more);
        for (size_t i = 0; r >= 0 && i < names.len; i++)
                r = drain_spare(d, pump_entry(d, names.items[i], &line));
        if (r >= 0 && d->paced && !paced)
                r = pump_say_paced(d); /* once, and not in every pass */
        if (r < 0)
                return r;
        d->waiting_read = line.read;
        d->waiting_mutating = line.mutating;
        /* more: what didn't fit into this pass; without progress it would only be read again */
        d->dirty = more && d->moved != before;
        if (d->beat != d->completed || names.len > 0)
                return tell_heartbeat(d);
        return 0;
}
