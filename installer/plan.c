#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "installer/plan.h"

enum { PLAN_MODE_BITS = 07777 };

void plan_done(Plan *p) {
        for (size_t i = 0; i < p->len; i++) {
                free(p->steps[i].dir);
                free(p->steps[i].name);
                str_done(&p->steps[i].bytes);
        }
        free(p->steps);
        *p = PLAN_NULL;
}

static int plan_refused(int added) {
        return added < 0 ? added : PLAN_E_REFUSED;
}

static int plan_add(Plan *p, int at, const char *dir, mode_t mode, PlanFlags flags,
                    PlanStep **ret) {
        PlanStep *steps = reallocarray(p->steps, p->len + 1, sizeof(*steps)), *s;
        int r;

        if (!steps)
                return err_new(ENOMEM);
        p->steps = steps;
        s = &steps[p->len];
        *s = (PlanStep){.at = at, .mode = mode, .flags = flags};
        r = str_dup(dir, &s->dir);
        if (r < 0)
                return r;
        p->len++;
        *ret = s;
        return 0;
}

int plan_add_dir(Plan *p, int at, const char *dir, mode_t mode, PlanFlags flags) {
        PlanStep *s;

        return plan_add(p, at, dir, mode, flags, &s);
}

int plan_add_file(Plan *p, int at, const char *dir, const char *name, Str *bytes, mode_t mode,
                  PlanFlags flags) {
        PlanStep *s;
        int r;

        r = plan_add(p, at, dir, mode, flags, &s);
        if (r == 0)
                r = str_dup(name, &s->name);
        if (r < 0)
                return r;
        s->bytes = *bytes;
        *bytes = STR_NULL;
        return 0;
}

/* Only our own directories; of the host's, none that others may write to. */
static int plan_open_dir(const PlanStep *s, int *ret_fd) {
        PinRule mine = {geteuid(), s->at < 0 ? 0022 : 0}, any = {(uid_t)-1, 0};
        const PinRule *rule = s->flags & PLAN_SHARED ? &any : &mine;

        return s->at < 0 ? pin_host_dir(s->dir, rule, ret_fd)
                         : pin_dir_at(s->at, s->dir, rule, 0, ret_fd);
}

static int plan_refuse_dir(const PlanStep *s, int code, Str *why) {
        const char *fix = code == PIN_E_MODE ? "\nchmod go-w " : "";
        int r = str_addf(why, "the directory %s %s", s->dir, pin_reason(code));

        if (r == 0 && *fix)
                r = str_addf(why, "%s%s", fix, s->dir);
        return plan_refused(r);
}

static int plan_check_dir(PlanStep *s, Str *why) {
        CLEANUP(fd_closep) int fd = -EBADF;
        struct stat st;
        int r;

        r = plan_open_dir(s, &fd);
        if (r == PIN_E_ABSENT) {
                s->state = PLAN_NEW;
                return 0;
        }
        if (r != 0)
                return r < 0 ? r : plan_refuse_dir(s, r, why);
        if (fstat(fd, &st) < 0)
                return err_new(errno);
        s->state = s->flags & PLAN_SHARED || (st.st_mode & PLAN_MODE_BITS) == s->mode
                           ? PLAN_SAME
                           : PLAN_CHANGED;
        return 0;
}

/* *ret_state of what stands in the way of a file. A link is replaced, never followed. */
static int plan_compare(const PlanStep *s, int dir, PlanState *ret_state) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str old = STR_NULL;
        struct stat st;
        int r;

        r = pin_file_at(dir, s->name, &(PinRule){(uid_t)-1, 0}, PIN_ANY_LINKS, &fd, &st);
        *ret_state = r == PIN_E_ABSENT ? PLAN_NEW : PLAN_CHANGED;
        if (r == PIN_E_ABSENT || r == PIN_E_LINK || r == PIN_E_ACCESS)
                return 0;
        if (r != 0)
                return r;
        if (s->flags & PLAN_ONCE) {
                *ret_state = PLAN_KEPT;
                return 0;
        }
        if ((st.st_mode & PLAN_MODE_BITS) != s->mode || st.st_uid != geteuid() || st.st_nlink != 1)
                return 0;
        r = io_read_file(fd, s->bytes.len, &old);
        if (r == 0 && old.len == s->bytes.len &&
            (old.len == 0 || memcmp(old.data, s->bytes.data, old.len) == 0))
                *ret_state = PLAN_SAME;
        return r < 0 ? r : 0;
}

static int plan_check_file(PlanStep *s, Str *why) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = plan_open_dir(s, &fd);
        if (r == PIN_E_ABSENT) {
                s->state = PLAN_NEW;
                return 0;
        }
        if (r != 0)
                return r < 0 ? r : plan_refuse_dir(s, r, why);
        r = plan_compare(s, fd, &s->state);
        if (r > 0)
                return plan_refused(str_addf(why, "%s/%s %s", s->dir, s->name, pin_reason(r)));
        return r;
}

int plan_check(Plan *p, Str *why) {
        int r = 0;

        for (size_t i = 0; i < p->len && r == 0; i++)
                r = p->steps[i].name ? plan_check_file(&p->steps[i], why)
                                     : plan_check_dir(&p->steps[i], why);
        return r;
}

static int plan_make_below(const PlanStep *s, int *ret_fd) {
        CLEANUP(fd_closep) int at = -EBADF;
        CLEANUP(str_freep) char *path = NULL;
        char *save = NULL;
        int r;

        r = fd_dup(s->at, &at);
        if (r == 0)
                r = str_dup(s->dir, &path);
        if (r < 0)
                return r;
        for (char *part = strtok_r(path, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
                int next = -EBADF;

                r = pin_make_dir_at(at, part, 0755, &(PinRule){(uid_t)-1, 0}, &next);
                if (r != 0)
                        return r;
                (void)fd_close(at);
                at = next;
        }
        *ret_fd = fd_take(&at);
        return 0;
}

static int plan_apply_dir(const PlanStep *s, Str *why) {
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        int r = 0;

        if (s->at >= 0)
                r = plan_make_below(s, &fd);
        else if (s->state == PLAN_NEW)
                r = pin_make_host_dir(s->dir, s->flags & PLAN_SHARED ? 0755 : 0700);
        if (r == 0 && s->at < 0)
                r = pin_host_dir(s->dir, &any, &fd);
        if (r != 0)
                return r < 0 ? r : plan_refuse_dir(s, r, why);
        if (s->flags & PLAN_SHARED)
                return 0;
        return fchmod(fd, s->mode) < 0 ? err_new(errno) : 0;
}

static int plan_apply_file(const PlanStep *s, Str *why) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = plan_open_dir(s, &fd);
        if (r != 0)
                return r < 0 ? r : plan_refuse_dir(s, r, why);
        r = publish_file(fd, s->name, s->bytes.data ? s->bytes.data : "", s->bytes.len, s->mode,
                         PUBLISH_SYNC | (s->flags & PLAN_ONCE ? PUBLISH_NEW : 0));
        if (r == PUBLISH_E_EXISTS) /* PLAN_ONCE: somebody was faster, and what is there stays */
                return 0;
        if (r == PUBLISH_E_BLOCKED)
                return plan_refused(str_addf(why, "%s/%s can't be written", s->dir, s->name));
        return r;
}

int plan_apply(const Plan *p, Str *why) {
        int r = 0;

        for (size_t i = 0; i < p->len && r == 0; i++) {
                const PlanStep *s = &p->steps[i];

                if (s->state != PLAN_NEW && s->state != PLAN_CHANGED)
                        continue;
                r = s->name ? plan_apply_file(s, why) : plan_apply_dir(s, why);
        }
        return r;
}

bool plan_changes(const Plan *p) {
        for (size_t i = 0; i < p->len; i++)
                if (p->steps[i].state == PLAN_NEW || p->steps[i].state == PLAN_CHANGED)
                        return true;
        return false;
}

int plan_report(const Plan *p, const char *checkout, bool dry, Str *out) {
        static const char *const done[] = {"created", "updated", "unchanged", "kept"};
        static const char *const would[] = {"would create", "would update", "unchanged", "kept"};
        int r = 0;

        for (size_t i = 0; i < p->len && r == 0; i++) {
                const PlanStep *s = &p->steps[i];

                r = str_addf(out, "%-12s ", (dry ? would : done)[s->state]);
                if (r == 0 && s->at >= 0)
                        r = str_addf(out, "%s/", checkout);
                if (r == 0)
                        r = str_addf(out, "%s/%s\n", s->dir, s->name ? s->name : "");
        }
        return r;
}
