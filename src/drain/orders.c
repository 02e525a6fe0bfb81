#include "drain/orders.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "drain/cancel.h"
#include "drain/step.h"
#include "drain/tell.h"
#include "fs/publish.h"
#include "spool/scan.h"
#include "wire/order.h"

enum { ORDERS_MAX = 256, ORDERS_KEEP_MS = 24 * 3600 * 1000 };

int orders_open(Drain *d) {
        PinRule rule = config_rule(d->config);
        int r = pin_make_dir_at(d->config->state_fd, "orders", 0700, &rule, &d->orders_fd);

        return r > 0 ? err_new(EACCES) : r;
}

int orders_answer(Drain *d, const char *file, const Str *line) {
        char done[ORDER_DONE_SIZE];
        Name name;
        int r;

        if (name_parse(file, &name) != 0)
                return err_new(EINVAL);
        order_done_name(&name, done);
        r = publish_file(d->orders_fd, done, line->data, line->len, 0600, PUBLISH_SYNC);
        if (r == 0)
                r = publish_remove(d->orders_fd, file);
        return r > 0 ? err_new(EIO) : r;
}

/* The answer to an order that started nothing. */
static int orders_reply(Drain *d, const char *file, const Order *o, bool ok, const char *message) {
        CLEANUP(str_done) Str line = STR_NULL;
        Response r = RESPONSE_NULL;
        int x;

        r.request = o->name.text;
        r.state = ok ? STATE_DONE : STATE_FAILED;
        r.message = message;
        x = response_format(&r, &line);
        return x < 0 ? x : orders_answer(d, file, &line);
}

static int orders_cancel(Drain *d, const char *file, const Order *o) {
        bool found = false;
        int r = cancel_name(d, o->name.text, o->by, &found);

        return r < 0 ? r
                     : orders_reply(d, file, o, found,
                                    found ? "cancelled" : "no such request is waiting or running");
}

static JournalKind orders_kind(const char *event) {
        return str_eq(event, "paused")    ? JOURNAL_PAUSED
               : str_eq(event, "resumed") ? JOURNAL_RESUMED
               : str_eq(event, "sealed")  ? JOURNAL_SEALED
                                          : JOURNAL_OPERATOR;
}

static int orders_note(Drain *d, const char *file, const Order *o) {
        int r = tell_audit(d,
                           &(TellEvent){.event = o->event,
                                        .request = o->name.text,
                                        .detail = o->detail,
                                        .by = o->by,
                                        .duration_ms = -1,
                                        .sync = true},
                           orders_kind(o->event));

        if (r >= 0)
                r = publish_remove(d->orders_fd, file);
        return r > 0 ? err_new(EIO) : r;
}

/* The order as the request that an agent would have written: parsed by the same parser. */
static int orders_request(const Order *o, Str *ret_body) {
        Request r = {.name = o->name,
                     .verb = o->verb,
                     .arg = o->arg,
                     .requested_ms = o->name.stamp_ms,
                     .timeout_sec = o->timeout_sec};
        CLEANUP(str_freep) char *body = NULL;
        int x = request_format(&r, &body);

        return x < 0 ? x : str_adds(ret_body, body);
}

/* Who said yes stands in the log before the run's own lines. */
static int orders_approved(Drain *d, const Order *o) {
        return tell_audit(d,
                          &(TellEvent){.event = "approved",
                                       .request = o->name.text,
                                       .verb = o->verb,
                                       .arg = o->arg,
                                       .by = o->by,
                                       .key = o->key,
                                       .duration_ms = -1,
                                       .sync = true},
                          JOURNAL_OPERATOR);
}

static int orders_take(Drain *d, const char *file, const Order *o, bool known) {
        CLEANUP(job_freep) Job *j = NULL;
        Name name;
        int r;

        if (name_parse(file, &name) != 0)
                return err_new(EINVAL);
        r = job_new(&o->name, &j);
        if (r < 0)
                return r;
        j->origin = GATE_OPERATOR;
        memcpy(j->order, name.text, sizeof(j->order));
        r = str_dup(o->by, &j->by);
        if (r >= 0)
                r = orders_request(o, &j->body);
        if (r >= 0 && o->kind == ORDER_APPROVE) {
                memcpy(j->key, o->key, sizeof(j->key));
                memcpy(j->fingerprint, o->fingerprint, sizeof(j->fingerprint));
                r = known ? 0 : orders_approved(d, o);
        }
        return r < 0 ? r : step_ordered(d, &j);
}

static bool orders_lane_free(const Drain *d, const Order *o) {
        switch (step_lane(d, &o->name)) {
        case STEP_NOW:
                return true;
        case STEP_READ:
                return drain_running(d, VERB_READONLY) < policy_lanes_read(d->config->policy);
        case STEP_MUTATING:
                break;
        }
        return drain_running(d, VERB_MUTATING) == 0;
}

/* An order that nobody took up in time must not surprise anyone later. */
static bool orders_late(const Drain *d, const Order *o) {
        int64_t age_ms = clock_wall_ms() - o->at_ms;

        return d->config->policy && age_ms > (int64_t)policy_max_age(d->config->policy) * 1000;
}

/* Begun or ended under this order: what became of it is the answer, however late. */
static int orders_known(const Drain *d, const Order *o, bool *ret) {
        LedgerEntry e = LEDGER_ENTRY_NULL;
        char key[HASH_HEX_SIZE];
        int r;

        *ret = false;
        if (!d->ledger_ok)
                return 0;
        ledger_key(NULL, o->name.text, key);
        r = ledger_find(&d->ledger, o->kind == ORDER_APPROVE ? o->key : key, &e);
        ledger_entry_done(&e);
        *ret = r == 0;
        return r < 0 ? r : 0;
}

static int orders_do(Drain *d, const char *file, const Order *o) {
        bool known;
        int r;

        switch (o->kind) {
        case ORDER_CANCEL:
                return orders_cancel(d, file, o);
        case ORDER_NOTE:
                return orders_note(d, file, o);
        case ORDER_RUN:
        case ORDER_APPROVE:
                break;
        }
        if (drain_find_name(d, o->name.text))
                return 0; /* in hand: its end answers */
        r = orders_known(d, o, &known);
        if (r < 0)
                return r;
        if (!known && orders_late(d, o))
                return orders_reply(d, file, o, false,
                                    "the order is older than MAX_AGE; nothing was started");
        return orders_lane_free(d, o) ? orders_take(d, file, o, known) : 0;
}

static int orders_one(Drain *d, const char *file) {
        CLEANUP(order_done) Order o = ORDER_NULL;
        CLEANUP(str_done) Str bytes = STR_NULL;
        PinRule rule = config_rule(d->config);
        Name name;
        int r;

        r = name_parse(file, &name) != 0;
        if (r == 0)
                r = pin_read_at(d->orders_fd, file, &rule, 0, ORDER_MAX_BYTES, &bytes);
        if (r == 0)
                r = order_parse(bytes.data, bytes.len, &o);
        if (r < 0)
                return r;
        if (r >
            0) { /* no order of this version: it can't be answered, and must not be read for ever */
                r = publish_remove(d->orders_fd, file);
                return r > 0 ? err_new(EACCES) : r;
        }
        return orders_do(d, file, &o);
}

/* An answer that nobody came for. */
static int orders_stale(Drain *d, const char *file) {
        struct stat st;

        if (fstatat(d->orders_fd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            clock_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 < ORDERS_KEEP_MS)
                return 0;
        return publish_remove(d->orders_fd, file) < 0 ? err_new(EIO) : 0;
}

int orders_run(Drain *d) {
        CLEANUP(strv_done) Strv files = STRV_NULL;
        bool more;
        int r = scan_visible(d->orders_fd, ORDERS_MAX, &files, &more);

        d->ordered = false;
        for (size_t i = 0; r >= 0 && i < files.len; i++) {
                const char *file = files.items[i];
                r = drain_spare(d, str_ends(file, ".done.json") ? orders_stale(d, file)
                                                                : orders_one(d, file));
        }
        return r < 0 ? r : 0;
}
