#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "base/str.h"
#include "fs/pin.h"
#include "run/kin.h"

enum { KIN_TEXT_MAX = 64 * 1024, KIN_PROC_MAX = 1 << 17, KIN_PROCS_MAX = 1024 * 1024 };
static const PinRule kin_any_owner = {.owner = (uid_t)-1};

/* One process of the whole host in one look at /proc. */
typedef struct KinProc {
        Kin self;
        pid_t parent;
} KinProc;
typedef struct KinView {
        KinProc *items;
        size_t len, cap;
} KinView;

static void kin_view_done(KinView *v) {
        free(v->items);
        *v = (KinView){0};
}

static void kin_dir_done(DIR **d) {
        if (*d)
                (void)closedir(*d); /* read only: nothing to lose */
}

void kin_done(KinList *l) {
        free(l->items);
        *l = KIN_LIST_NULL;
}

bool kin_has(const KinList *l, const Kin *k) {
        for (size_t i = 0; i < l->len; i++)
                if (l->items[i].pid == k->pid && l->items[i].born == k->born)
                        return true;
        return false;
}

int kin_add(KinList *l, const Kin *k) {
        if ((l->len & (l->len - 1)) == 0) { /* full at each power of two */
                Kin *items = reallocarray(l->items, l->len ? l->len * 2 : 1, sizeof(*items));

                if (!items)
                        return err_new(ENOMEM);
                l->items = items;
        }
        l->items[l->len++] = *k;
        return 0;
}

/* A process that ends in between fails in one of several ways (ENOENT, ESRCH): KIN_E_GONE for all.
 */
static int kin_read(int proc_fd, pid_t pid, const char *what, Str *ret) {
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = str_printf(&name, "%d/%s", pid, what);
        if (r < 0)
                return r;
        if (pin_file_at(proc_fd, name, &kin_any_owner, 0, &fd, NULL) != 0 ||
            io_read_all(fd, KIN_TEXT_MAX, ret) != 0)
                return KIN_E_GONE;
        return 0;
}

/* The n-th blank-separated word, from 0. */
static bool kin_word(const char *text, unsigned n, unsigned long long max,
                     unsigned long long *ret) {
        char digits[24];
        size_t len;

        for (; n > 0; n--) {
                text = strchr(text, ' ');
                if (!text)
                        return false;
                text++;
        }
        len = strcspn(text, " \n");
        if (len >= sizeof(digits))
                return false;
        memcpy(digits, text, len);
        digits[len] = '\0';
        return str_parse_uint(digits, max, ret);
}

/* proc_pid_stat(5): the name stands in parentheses and may hold anything, so the last ")" counts.
 * After it: state (0), ppid (1), ... starttime (19). KIN_E_GONE for a zombie. */
static int kin_look(int proc_fd, pid_t pid, KinProc *ret) {
        CLEANUP(str_done) Str text = STR_NULL;
        unsigned long long parent, born;
        const char *at;
        int r;

        r = kin_read(proc_fd, pid, "stat", &text);
        if (r != 0)
                return r;
        at = text.data ? strrchr(text.data, ')') : NULL;
        if (!at || at[1] != ' ' || strchr("ZXx", at[2]) ||
            !kin_word(at + 2, 1, INT32_MAX, &parent) || !kin_word(at + 2, 19, ~0ULL, &born))
                return KIN_E_GONE;
        *ret = (KinProc){.self = {.pid = pid, .born = born}, .parent = (pid_t)parent};
        return 0;
}

static int kin_view_add(KinView *v, const KinProc *p) {
        if (v->len == v->cap) {
                size_t cap = v->cap ? v->cap * 2 : 256;
                KinProc *items = reallocarray(v->items, cap, sizeof(*items));

                if (!items)
                        return err_new(ENOMEM);
                v->items = items;
                v->cap = cap;
        }
        v->items[v->len++] = *p;
        return 0;
}

static int kin_compare(const void *a, const void *b) {
        pid_t x = ((const KinProc *)a)->self.pid, y = ((const KinProc *)b)->self.pid;

        return (x > y) - (x < y);
}

static int kin_view(int proc_fd, KinView *v) {
        CLEANUP(kin_dir_done) DIR *dir = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        const struct dirent *entry;
        int r;

        r = fd_dup(proc_fd, &fd);
        if (r < 0)
                return r;
        dir = fdopendir(fd);
        if (!dir)
                return err_new(errno);
        (void)fd_take(&fd);
        while (v->len < KIN_PROC_MAX && (entry = readdir(dir))) {
                unsigned long long pid;
                KinProc p;

                if (!str_parse_uint(entry->d_name, INT32_MAX, &pid))
                        continue;
                r = kin_look(proc_fd, (pid_t)pid, &p);
                if (r == 0)
                        r = kin_view_add(v, &p);
                if (r < 0)
                        return r;
        }
        if (v->len > 0)
                qsort(v->items, v->len, sizeof(*v->items), kin_compare);
        return 0;
}

/* Bounded by the number of processes: a look that was torn by a reused pid could hold a ring. */
static bool kin_descends(const KinView *v, const KinProc *p, pid_t from) {
        for (size_t hops = 0; p && hops < v->len; hops++) {
                KinProc key = {.self.pid = p->parent};

                if (p->parent == from)
                        return true;
                p = bsearch(&key, v->items, v->len, sizeof(*v->items), kin_compare);
        }
        return false;
}

/* What follows `key` in its line, NULL when there is none. Cuts the text. */
static const char *kin_after(char *text, const char *key) {
        char *at = strstr(text, key);

        if (!at)
                return NULL;
        at += strlen(key);
        at[strcspn(at, "\n")] = '\0';
        return at;
}

static int kin_cgroup_at(int proc_fd, pid_t pid, char **ret) {
        CLEANUP(str_done) Str file = STR_NULL, text = STR_NULL;
        const char *path;
        int r;

        r = kin_read(proc_fd, pid, "cgroup", &file);
        if (r == 0)
                r = str_addc(&text, '\n'); /* so that every line has one before it */
        if (r == 0)
                r = str_add(&text, file.data, file.len);
        if (r != 0)
                return r;
        path = kin_after(text.data, "\n0::");
        if (!path)
                path = kin_after(text.data, ":name=systemd:");
        return str_dup(path ? path : "", ret);
}

static int kin_open_proc(int *ret_fd) {
        int r = pin_host_dir("/proc", &kin_any_owner, ret_fd);

        return r > 0 ? err_new(ENOENT) : r;
}

int kin_cgroup(pid_t pid, char **ret) {
        CLEANUP(fd_closep) int proc_fd = -EBADF;
        int r;

        r = kin_open_proc(&proc_fd);
        if (r < 0)
                return r;
        return kin_cgroup_at(proc_fd, pid, ret);
}

/* Equal, or below. The root is no parent here: where nothing has a cgroup of its own, whatever
 * moved to one did so on purpose. */
static bool kin_same_cgroup(const char *own, const char *other) {
        size_t len = strlen(own);

        if (strcmp(own, other) == 0)
                return true;
        return len > 1 && strncmp(own, other, len) == 0 && other[len] == '/';
}

int kin_list(bool whole_cgroup, KinList *ret) {
        CLEANUP(kin_view_done) KinView view = {0};
        CLEANUP(kin_done) KinList list = KIN_LIST_NULL;
        CLEANUP(fd_closep) int proc_fd = -EBADF;
        CLEANUP(str_freep) char *own = NULL;
        pid_t self = getpid();
        int r;

        r = kin_open_proc(&proc_fd);
        if (r == 0)
                r = kin_cgroup_at(proc_fd, self, &own);
        if (r > 0)
                r = err_new(ESRCH);
        if (r == 0)
                r = kin_view(proc_fd, &view);
        for (size_t i = 0; r == 0 && i < view.len; i++) {
                const KinProc *p = &view.items[i];
                CLEANUP(str_freep) char *cgroup = NULL;

                if (p->self.pid == self || (!whole_cgroup && !kin_descends(&view, p, self)))
                        continue;
                r = kin_cgroup_at(proc_fd, p->self.pid, &cgroup);
                if (r == 0 && kin_same_cgroup(own, cgroup))
                        r = kin_add(&list, &p->self);
                if (r == KIN_E_GONE)
                        r = 0;
        }
        if (r < 0)
                return r;
        *ret = list;
        list = KIN_LIST_NULL;
        return 0;
}

void kin_signal(const Kin *k, int sig) {
        CLEANUP(fd_closep) int proc_fd = -EBADF;
        CLEANUP(fd_closep) int pidfd = -EBADF;
        KinProc now;

        pidfd = pidfd_open(k->pid, 0);
        if (pidfd < 0 || kin_open_proc(&proc_fd) < 0)
                return;
        if (kin_look(proc_fd, k->pid, &now) == 0 && now.self.born == k->born)
                (void)pidfd_send_signal(pidfd, sig, NULL,
                                        0); /* gone, or not ours: the next look says */
}

/* The next of pids between blanks or newlines. */
static bool kin_next_pid(const char **at, pid_t *ret) {
        char digits[16];
        size_t len;
        unsigned long long pid;

        if (!*at)
                return false;
        *at += strspn(*at, " \n");
        len = strcspn(*at, " \n");
        if (len == 0 || len >= sizeof(digits))
                return false;
        memcpy(digits, *at, len);
        digits[len] = '\0';
        *at += len;
        if (!str_parse_uint(digits, INT32_MAX, &pid) || pid < 2) /* 0: not of our namespace */
                return false;
        *ret = (pid_t)pid;
        return true;
}

static bool kin_kill_child(int proc_fd, const char *own, pid_t pid) {
        CLEANUP(str_freep) char *cgroup = NULL;

        return kin_cgroup_at(proc_fd, pid, &cgroup) == 0 && kin_same_cgroup(own, cgroup) &&
               kill(pid, SIGKILL) == 0;
}

size_t kin_kill_children(void) {
        CLEANUP(fd_closep) int proc_fd = -EBADF;
        CLEANUP(str_freep) char *own = NULL, *name = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        const char *at;
        size_t n = 0;
        pid_t pid;

        if (kin_open_proc(&proc_fd) < 0 || kin_cgroup_at(proc_fd, getpid(), &own) != 0 ||
            str_printf(&name, "task/%d/children", getpid()) < 0 ||
            kin_read(proc_fd, getpid(), name, &text) != 0)
                return 0;
        at = text.data;
        while (kin_next_pid(&at, &pid))
                n += kin_kill_child(proc_fd, own, pid);
        return n;
}

static int kin_open_cgroup(int *ret_fd) {
        CLEANUP(str_freep) char *own = NULL, *path = NULL;
        int r;

        r = kin_cgroup(getpid(), &own);
        if (r == 0 &&
            (strlen(own) < 2 || strstr(own, "/.."))) /* the root, or outside our namespace */
                r = KIN_E_GONE;
        if (r == 0)
                r = str_printf(&path, "/sys/fs/cgroup%s", own);
        return r == 0 ? pin_root(path, &kin_any_owner, ret_fd) : r;
}

size_t kin_kill_cgroup(void) {
        CLEANUP(fd_closep) int dir = -EBADF, fd = -EBADF;
        CLEANUP(str_done) Str text = STR_NULL;
        const char *at;
        size_t n = 0;
        pid_t pid;

        if (kin_open_cgroup(&dir) != 0 ||
            pin_file_at(dir, "cgroup.procs", &kin_any_owner, 0, &fd, NULL) != 0 ||
            io_read_all(fd, KIN_PROCS_MAX, &text) != 0)
                return 0;
        at = text.data;
        while (kin_next_pid(&at, &pid))
                if (pid != getpid())
                        n += kill(pid, SIGKILL) == 0;
        return n;
}

void kin_kill_cgroup_and_self(void) {
        CLEANUP(fd_closep) int dir = -EBADF, fd = -EBADF;

        if (kin_open_cgroup(&dir) != 0)
                return;
        fd = openat(dir, "cgroup.kill", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0)
                (void)!write(fd, "1", 1); /* before Linux 5.14 there is no such file: best effort */
}
