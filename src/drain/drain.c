#include "drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "base/fd.h"
#include "guard/guard.h"

int job_new(const Name *name, Job **ret) {
        Job *j = calloc(1, sizeof(*j));

        if (!j)
                return err_new(ENOMEM);
        j->run.pidfd = -EBADF;
        j->name = *name;
        *ret = j;
        return 0;
}

Job *job_free(Job *j) {
        if (!j)
                return NULL;
        sd_event_source_disable_unref(j->source);
        j->run.pidfd = fd_close(j->run.pidfd);
        str_done(&j->body);
        request_free(j->request);
        grant_free(j->grant);
        plan_free(j->plan);
        guard_free(j->guard);
        str_freep(&j->by);
        str_freep(&j->verb);
        str_freep(&j->arg);
        str_freep(&j->unit);
        free(j);
        return NULL;
}

void job_freep(Job **j) {
        *j = job_free(*j);
}

int drain_spare(Drain *d, int r) {
        if (r != -ENOSPC && r != -EDQUOT)
                return r;
        d->no_room = true;
        return 0;
}

size_t drain_running(const Drain *d, VerbClass class) {
        size_t n = 0;

        for (const Job *j = d->jobs; j; j = j->next)
                n += j->class == class && j->phase != JOB_FOLLOWER;
        return n;
}

Job *drain_find_name(const Drain *d, const char *name) {
        for (Job *j = d->jobs; j; j = j->next)
                if (str_eq(j->name.text, name))
                        return j;
        return NULL;
}

Job *drain_find_key(const Drain *d, const char *key) {
        for (Job *j = d->jobs; j; j = j->next)
                if (j->phase != JOB_FOLLOWER && j->ledgered && str_eq(j->key, key))
                        return j;
        return NULL;
}

void drain_link(Drain *d, Job **take) {
        (*take)->next = d->jobs;
        d->jobs = *take;
        *take = NULL;
}

Job *drain_unlink(Drain *d, Job *j) {
        for (Job **p = &d->jobs; *p; p = &(*p)->next)
                if (*p == j) {
                        *p = j->next;
                        j->next = NULL;
                        return j;
                }
        return NULL;
}
