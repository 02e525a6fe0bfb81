#include "drain/remains.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "drain/start.h"
#include "drain/tell.h"
#include "fs/pin.h"
#include "run/result.h"
#include "run/scope.h"
#include "spool/retire.h"

enum {
        REMAINS_TERM_GRACE_MS = 5000,
        REMAINS_EXIT_GRACE_MS = 500,
        REMAINS_PROBE_MAX = RESPONSE_OUTPUT_MAX / 2,
        REMAINS_HEAD = 128, /* room for a section's first line */
};

void remains_done(Remains *r) {
        str_done(&r->output);
        *r = REMAINS_NULL;
}

int remains_show(Str *s, const char *bytes, size_t len, size_t max, bool *ret_cut) {
        CLEANUP(str_done) Str text = STR_NULL;
        size_t at = 0;
        int r = str_add_escaped(&text, bytes, len, true);

        if (r < 0)
                return r;
        if (text.len > max)
                at = text.len - max;
        while (at > 0 && at < text.len && ((unsigned char)text.data[at] & 0xc0) == 0x80)
                at++; /* never in the middle of a character */
        *ret_cut = at > 0;
        return text.len > at ? str_add(s, text.data + at, text.len - at) : 0;
}

static const Verb *remains_verb(const Drain *d, const Job *j) {
        const Config *c = d->config;
        const Verb *v = table_find(c->table, j->verb);
        const Verb *probe = v && v->probe ? table_find(c->table, v->probe) : NULL;

        if (!probe || probe->class != VERB_READONLY || probe->launch == VERB_SELF ||
            probe->arg != VERB_ARG_NONE || probe->missing || !c->policy ||
            policy_mode(c->policy, probe) != POLICY_AUTO)
                return NULL;
        return probe;
}

static int remains_plan(const Config *c, const Verb *probe, Job *j) {
        VerbCall call;
        int r = table_call(c->table, probe, NULL, &call);

        if (r != 0)
                return r < 0 ? r : REMAINS_E_NONE;
        j->plan = plan_free(j->plan);
        return plan_new(c->table, call, &j->plan);
}

/* I3 for the probe too: its line stands before it starts. It is no "start" of the request. */
static int remains_record(Drain *d, const Job *j, const Verb *probe) {
        CLEANUP(str_freep) char *argv = NULL;
        int r = plan_format(j->plan, &argv);

        if (r >= 0)
                r = tell_audit(d,
                               &(TellEvent){.event = "probe",
                                            .request = j->name.text,
                                            .verb = probe->name,
                                            .argv = argv,
                                            .by = j->by,
                                            .duration_ms = -1,
                                            .sync = true},
                               JOURNAL_STARTED);
        return r < 0 && r != -ENOMEM ? REMAINS_E_NONE : r;
}

static int remains_keeper(const Config *c, const Verb *probe, Job *j, int lock_fd, int log_fd) {
        RunSpec spec = {.plan = j->plan,
                        .id = j->probe_id,
                        .run_fd = c->run_fd,
                        .lock_fd = lock_fd,
                        .log_fd = log_fd,
                        .timeout_sec = policy_timeout(c->policy, probe),
                        .term_grace_ms = REMAINS_TERM_GRACE_MS,
                        .exit_grace_ms = REMAINS_EXIT_GRACE_MS,
                        .redact = c->redact};

        j->source = sd_event_source_disable_unref(j->source);
        j->run.pidfd = fd_close(j->run.pidfd);
        return keeper_start(&spec, &j->run);
}

int remains_probe(Drain *d, Job **j) {
        CLEANUP(fd_closep) int lock_fd = -EBADF, log_fd = -EBADF;
        CLEANUP(str_freep) char *message = NULL;
        const Verb *probe = remains_verb(d, *j);
        Config *c = d->config;
        Job *job = *j;
        Name log;
        int r;

        if (!probe || job->probe_id[0] || job->class != VERB_MUTATING || d->stopping || !d->audit)
                return REMAINS_E_NONE;
        r = config_redact(c, &message);
        if (r == 0)
                r = remains_plan(c, probe, job);
        if (r != 0)
                return r < 0 ? r : REMAINS_E_NONE;
        memcpy(job->probe_id, "p-", 2);
        hash_random_hex(job->probe_id + 2, 16);
        name_make(probe->name, clock_wall_ms(), &log);
        if (result_lock(c->run_fd, job->probe_id, &lock_fd) != 0 ||
            retire_open_log(&d->spool, log.text, &log_fd) != 0)
                r = REMAINS_E_NONE;
        if (r == 0)
                r = remains_record(d, job, probe);
        if (r == 0 && remains_keeper(c, probe, job, lock_fd, log_fd) < 0)
                r = REMAINS_E_NONE;
        if (r != 0) {
                int x = result_forget(c->run_fd, job->probe_id);
                return x < 0 ? x : r;
        }
        job->phase = JOB_RUNNING;
        drain_link(d, j);
        if (start_watch(d, job) < 0)
                job->phase = JOB_FOREIGN; /* looked at by the clock */
        return 0;
}

/* The probe's section. None stands for one that left no result. */
static int remains_add_probe(Drain *d, const Job *j, Remains *m) {
        CLEANUP(result_done) RunResult result = RUN_RESULT_NULL;
        const Verb *v = table_find(d->config->table, j->verb);
        bool cut = false;
        int r = result_load(d->config->run_fd, j->probe_id, &result);

        if (r != 0 || !v || !v->probe)
                return r < 0 ? r : 0;
        m->said.probe = v->probe;
        m->said.probe_ok = result.kind == RESULT_EXIT && result.code == 0;
        r = str_addf(&m->output, "[spoolgate: probe %s, %s %d]\n", v->probe,
                     result.kind == RESULT_EXIT ? "exit" : "not ended by itself:", result.code);
        if (r >= 0 && result.tail.len > 0)
                r = remains_show(&m->output, result.tail.data, result.tail.len, REMAINS_PROBE_MAX,
                                 &cut);
        if (r >= 0 && m->output.data[m->output.len - 1] != '\n')
                r = str_addc(&m->output, '\n');
        m->bytes = result.output_bytes;
        m->truncated = cut || result.truncated;
        return r < 0 ? r : 0;
}

/* The end of an open file; it may grow meanwhile. */
static int remains_tail(int fd, off_t size, Str *ret) {
        off_t at = size > RESPONSE_OUTPUT_MAX ? size - RESPONSE_OUTPUT_MAX : 0;
        int r = str_reserve(ret, RESPONSE_OUTPUT_MAX);

        while (r >= 0 && ret->len < RESPONSE_OUTPUT_MAX) {
                ssize_t n = pread(fd, ret->data + ret->len, RESPONSE_OUTPUT_MAX - ret->len,
                                  at + (off_t)ret->len);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? err_new(errno) : 0;
                ret->len += (size_t)n;
        }
        return r;
}

/* archive/NAME.log, which the keeper wrote, redacted, and the agent can write too. What can't be
 * read is left out. */
static int remains_add_log(Drain *d, const Job *j, Remains *m) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(str_done) Str tail = STR_NULL;
        PinRule rule = {.owner = d->config->uid, .forbid = 0};
        struct stat st;
        bool cut = false;
        int r = str_printf(&name, "%s.log", j->name.text);

        if (r < 0)
                return r;
        if (pin_file_at(d->spool.dirs[SPOOL_ARCHIVE], name, &rule, PIN_SAME_MOUNT, &fd, &st) != 0)
                return 0;
        m->said.log = true;
        r = remains_tail(fd, st.st_size, &tail);
        if (r < 0 || tail.len == 0)
                return r == -ENOMEM ? r : 0;
        if (m->output.len > 0)
                r = str_adds(&m->output, "[spoolgate: the log, which the agent can write]\n");
        if (r >= 0)
                r = remains_show(&m->output, tail.data, tail.len,
                                 RESPONSE_OUTPUT_MAX - m->output.len, &cut);
        m->said.log_shown = true;
        m->bytes += (uint64_t)st.st_size;
        m->truncated = m->truncated || cut || st.st_size > RESPONSE_OUTPUT_MAX;
        return r < 0 ? r : 0;
}

int remains_gather(Drain *d, const Job *j, Remains *ret) {
        CLEANUP(remains_done) Remains m = REMAINS_NULL;
        bool active;
        int r = 0;

        m.said.request = j->name.text;
        m.said.unit = j->unit;
        if (j->unit && scope_active(j->unit, &active) == 0)
                m.said.scope = active ? SCOPE_SAID_ACTIVE : SCOPE_SAID_GONE;
        if (j->probe_id[0])
                r = remains_add_probe(d, j, &m);
        if (r >= 0)
                r = remains_add_log(d, j, &m);
        if (r < 0)
                return r;
        *ret = m;
        m = REMAINS_NULL;
        return 0;
}
