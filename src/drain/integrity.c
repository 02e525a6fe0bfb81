#include "drain/integrity.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "drain/tell.h"
#include "fs/publish.h"
#include "guard/guard.h"
#include "wire/record.h"

enum { INTEGRITY_NAMED = 8 }; /* files that a message names; the diagnostics name all */

Reason integrity_reason(GuardCode code) {
        switch (code) {
        case GUARD_OK:
                return REASON_NONE;
        case GUARD_MODIFIED:
                return REASON_INTEGRITY_MODIFIED;
        case GUARD_UNSEALED:
                return REASON_INTEGRITY_UNSEALED;
        case GUARD_ENV:
                return REASON_INTEGRITY_ENV;
        case GUARD_ERROR:
                break;
        }
        return REASON_INTEGRITY_ERROR;
}

static int integrity_put_file(Record *all, const char *path, const char *why) {
        CLEANUP(record_freep) Record *one = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = record_new(&one);

        if (r >= 0)
                r = str_add_escaped(&text, path, strlen(path), false);
        if (r >= 0)
                r = record_put_str(one, "path", text.data);
        if (r >= 0)
                r = record_put_str(one, "why", why);
        return r < 0 ? r : record_append_take(all, "files", &one);
}

static int integrity_diagnose(Drain *d, const Guard *g) {
        CLEANUP(record_freep) Record *r = NULL;
        char now[CLOCK_TEXT_SIZE];
        const Strv *files = guard_files(g);
        int x = record_new(&r);

        clock_format(clock_wall_ms(), now);
        if (x >= 0)
                x = record_put_int(r, "v", 1);
        if (x >= 0)
                x = record_put_str(r, "at", now);
        if (x >= 0)
                x = record_put_str(r, "verdict", guard_name(guard_code(g)));
        if (x >= 0)
                x = record_put_str(r, "message", guard_message(g));
        if (x >= 0)
                x = record_put_list(r, "files");
        for (size_t i = 0; x >= 0 && i < files->len; i++)
                x = integrity_put_file(r, files->items[i], guard_why(g, i));
        return x < 0 ? x : tell_diagnostic(d, "integrity.json", r);
}

int integrity_ask(const Config *c, Guard **ret) {
        CLEANUP(str_freep) char *inspect = NULL;
        const Bridge *b = c->bridge;
        PolicyIntegrity mode = c->policy ? policy_integrity(c->policy) : POLICY_BOTH;
        GuardSpec spec;
        int r = str_printf(&inspect, "%s/spoolgate-inspect", c->layout.lib);

        if (r < 0)
                return r;
        spec = (GuardSpec){
                .checkout_fd = c->checkout_fd,
                .state_fd = c->state_fd,
                .inspect = inspect,
                .git_dir = b->git_dir.path,
                .git_device = b->git_dir.device,
                .git_inode = b->git_dir.inode,
                .jail = b->jail,
                .address_space = (uint64_t)b->inspect_memory,
                .need_seal = mode != POLICY_HEAD,
                .need_head = mode != POLICY_SEAL,
                .guarded = &b->guarded,
                .env_files = &b->env_files,
        };
        return guard_check(&spec, ret);
}

int integrity_check(Drain *d, Job *j, Reason *ret_reason) {
        int r;

        j->guard = guard_free(j->guard);
        r = integrity_ask(d->config, &j->guard);
        if (r < 0)
                return r;
        *ret_reason = integrity_reason(guard_code(j->guard));
        return integrity_diagnose(d, j->guard);
}

static int integrity_name_files(const Strv *files, const Guard *g, Str *message) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < files->len && i < INTEGRITY_NAMED; i++) {
                r = str_adds(message, i == 0 ? ": " : ", ");
                if (r >= 0)
                        r = str_add_escaped(message, files->items[i], strlen(files->items[i]),
                                            false);
                if (r >= 0 && g)
                        r = str_addf(message, " %s", guard_why(g, i));
        }
        if (r >= 0 && files->len > INTEGRITY_NAMED)
                r = str_addf(message, " and %zu more", files->len - INTEGRITY_NAMED);
        return r;
}

int integrity_outcome(const Config *c, const Guard *g, Outcome *ret) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        Reason reason = g ? integrity_reason(guard_code(g)) : REASON_INTEGRITY_ERROR;
        int r = outcome_refuse(c, reason, g ? guard_message(g) : NULL, &o);

        if (r >= 0 && g)
                r = integrity_name_files(guard_files(g), g, &o.message);
        if (r >= 0)
                r = str_addf(&o.message, "\nspoolgate %s -s %s",
                             reason == REASON_INTEGRITY_ERROR ? "doctor" : "seal", c->layout.slug);
        if (r < 0)
                return r;
        *ret = o;
        o = OUTCOME_NULL;
        return 0;
}

static int integrity_pause(Drain *d, const Job *j) {
        CLEANUP(str_freep) char *text = NULL;
        char now[CLOCK_TEXT_SIZE];
        int r;

        clock_format(clock_wall_ms(), now);
        r = str_printf(&text, "at %s\nby drain\nreason guarded files changed while %s ran\n", now,
                       j->name.text);
        if (r < 0)
                return r;
        r = publish_file(d->config->state_fd, "paused", text, strlen(text), 0600, PUBLISH_SYNC);
        return r > 0 ? err_new(EIO) : r;
}

int integrity_recheck(Drain *d, Job *j, Outcome *o) {
        CLEANUP(strv_done) Strv changed = STRV_NULL;
        CLEANUP(outcome_done) Outcome alarm = OUTCOME_NULL;
        CLEANUP(str_done) Str detail = STR_NULL;
        int r;

        if (!j->guard)
                return 0;
        r = guard_recheck(j->guard, d->config->checkout_fd, &changed);
        if (r < 0 || changed.len == 0)
                return r;
        r = outcome_refuse(d->config, REASON_INTEGRITY_MODIFIED,
                           "guarded files changed during the run", &alarm);
        if (r >= 0)
                r = integrity_name_files(&changed, NULL, &alarm.message);
        if (r >= 0)
                r = str_adds(&detail, alarm.message.data);
        if (r >= 0)
                r = str_addf(&alarm.message, "\nspoolgate resume -s %s", d->config->layout.slug);
        if (r >= 0)
                r = integrity_pause(d, j);
        if (r >= 0)
                r = tell_audit(d,
                               &(TellEvent){.event = "changed_during_run",
                                            .request = j->name.text,
                                            .verb = j->verb,
                                            .arg = j->arg,
                                            .detail = detail.data,
                                            .duration_ms = -1,
                                            .sync = true},
                               JOURNAL_INTEGRITY);
        if (r < 0)
                return r;
        alarm.state = STATE_FAILED;
        outcome_done(o);
        *o = alarm;
        alarm = OUTCOME_NULL;
        return 0;
}
