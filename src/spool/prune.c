#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "spool/prune.h"
#include "spool/scan.h"

enum { PRUNE_STALE_MS = 3600 * 1000, PRUNE_DIGITS = 16, PRUNE_LOOK_MAX = 65536 };
/* A tree on its way out. Whatever has this prefix goes at once, whatever its age. */
#define PRUNE_GONE ".gone-"

typedef enum PruneWhat { PRUNE_VISIBLE, PRUNE_STALE_VISIBLE, PRUNE_STALE_DOTS } PruneWhat;

typedef struct PruneEntry {
        char *name;
        int64_t mtime_ms;
        uint64_t bytes; /* on the disk: a sparse file is no reason to drop the others */
} PruneEntry;

typedef struct PruneList {
        PruneEntry *items;
        size_t len;
} PruneList;

typedef struct PruneWork {
        const PruneLimits *limits;
        const Strv *busy;
        int64_t now_ms;
        size_t budget; /* what is left of this directory's share */
        Strv lifted;   /* trees in the directory in hand that are still to be emptied */
        PruneReport report;
} PruneWork;

static void prune_list_done(PruneList *list) {
        for (size_t i = 0; i < list->len; i++)
                free(list->items[i].name);
        free(list->items);
        *list = (PruneList){0};
}

static int prune_list_add(PruneList *list, const char *name, int64_t mtime_ms, uint64_t bytes) {
        CLEANUP(str_freep) char *copy = NULL;
        int r = str_dup(name, &copy);

        if (r < 0)
                return r;
        if ((list->len & (list->len - 1)) == 0) { /* a power of two: full */
                size_t slots = list->len ? list->len * 2 : 1;
                PruneEntry *items = reallocarray(list->items, slots, sizeof(*items));

                if (!items)
                        return err_new(ENOMEM);
                list->items = items;
        }
        list->items[list->len++] = (PruneEntry){copy, mtime_ms, bytes};
        copy = NULL;
        return 0;
}

static int prune_look(PruneWork *w, PruneWhat what, int dirfd, const char *name, PruneList *list) {
        struct stat st;
        int64_t mtime_ms;

        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : err_new(errno);
        mtime_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
        if (what != PRUNE_VISIBLE && w->now_ms - mtime_ms <= PRUNE_STALE_MS &&
            !str_starts(name, PRUNE_GONE))
                return 0;
        return prune_list_add(list, name, mtime_ms, (uint64_t)st.st_blocks * 512);
}

/* At most max entries, in the directory's own order. */
static int prune_list(PruneWork *w, PruneWhat what, int dirfd, size_t max, PruneList *list) {
        CLEANUP(scan_closep) DIR *dir = NULL;
        const char *name = NULL;
        int r;

        r = scan_open(dirfd, ".", &dir);
        if (r > 0)
                return err_new(EACCES); /* a pinned directory that may no longer be read */
        for (size_t looked = 0; r == 0 && looked < PRUNE_LOOK_MAX;) {
                r = scan_next(dir, &name);
                if (r != 0 || !name)
                        break;
                if ((name[0] == '.') != (what == PRUNE_STALE_DOTS))
                        continue;
                if (list->len == max) {
                        w->report.more = true;
                        break;
                }
                looked++;
                r = prune_look(w, what, dirfd, name, list);
        }
        return r;
}

static int prune_newest_first(const void *a, const void *b) {
        const PruneEntry *x = a, *y = b;

        if (x->mtime_ms != y->mtime_ms)
                return x->mtime_ms > y->mtime_ms ? -1 : 1;
        return strcmp(y->name, x->name); /* names begin with a stamp */
}

static bool prune_is_busy(const Strv *busy, const char *name) {
        for (size_t i = 0; i < busy->len; i++) {
                size_t len = strlen(busy->items[i]);

                if (strncmp(name, busy->items[i], len) == 0 && (!name[len] || name[len] == '.'))
                        return true; /* NAME, NAME.log, NAME.response.json */
        }
        return false;
}

static bool prune_spend(PruneWork *w) {
        if (w->budget == 0) {
                w->report.more = true;
                return false;
        }
        w->budget--;
        return true;
}

/* dirfd/name -> base/.gone-RANDOM, and on the list. MOVE_E_*. */
static int prune_lift(PruneWork *w, int dirfd, const char *name, int base_fd) {
        char to[sizeof(PRUNE_GONE) + PRUNE_DIGITS] = PRUNE_GONE;
        int r;

        hash_random_hex(to + sizeof(PRUNE_GONE) - 1, PRUNE_DIGITS);
        r = publish_move(dirfd, name, base_fd, to, 0);
        return r == 0 ? strv_add(&w->lifted, to) : r;
}

static int prune_inner(PruneWork *w, int dirfd, const char *name, int base_fd) {
        int r = publish_remove(dirfd, name); /* an empty directory too */

        if (r == 0)
                w->report.removed++;
        if (r != MOVE_E_DENIED)
                return r;
        r = prune_lift(w, dirfd, name, base_fd);
        if (r > 0 && r != MOVE_E_ABSENT)
                w->report.stuck++;
        return r < 0 ? r : 0;
}

/* Empties base/name as far as the budget goes. A directory in it that isn't empty is lifted up to
 * the base, to be emptied in its turn: whatever the depth, two descriptors and no recursion. */
static int prune_empty(PruneWork *w, int base_fd, const char *name) {
        CLEANUP(scan_closep) DIR *dir = NULL;
        const char *inner = NULL;
        int r;

        r = scan_open(base_fd, name, &dir);
        if (r > 0) {
                w->report.stuck++; /* closed to us, a mount, or no directory any more */
                return 0;
        }
        while (r == 0 && (r = scan_next(dir, &inner)) == 0 && inner) {
                if (!prune_spend(w))
                        return 0;
                r = prune_inner(w, dirfd(dir), inner, base_fd);
        }
        if (r == 0 && unlinkat(base_fd, name, AT_REMOVEDIR) == 0)
                w->report.removed++;
        return r; /* else not empty: stuck ones in it, or a writer that fills it again */
}

static int prune_empty_lifted(PruneWork *w, int base_fd) {
        int r = 0;

        while (r == 0 && w->lifted.len > 0 && w->budget > 0) {
                CLEANUP(str_freep) char *name = w->lifted.items[--w->lifted.len];

                w->lifted.items[w->lifted.len] = NULL;
                r = prune_empty(w, base_fd, name);
        }
        if (w->lifted.len > 0) /* they stand there under their .gone- names */
                w->report.more = true;
        strv_done(&w->lifted);
        return r;
}

/* One entry of dirfd: a file, an empty directory, or a tree (first out of sight, since emptying it
 * makes its mtime new). */
static int prune_entry(PruneWork *w, int dirfd, const char *name) {
        bool gone = str_starts(name, PRUNE_GONE); /* out of sight already, if it is a tree */
        int r = gone ? publish_remove(dirfd, name) : prune_inner(w, dirfd, name, dirfd);

        if (gone && r == 0)
                w->report.removed++;
        if (gone && r == MOVE_E_DENIED)
                r = strv_add(&w->lifted, name);
        return r == 0 ? prune_empty_lifted(w, dirfd) : r;
}

/* What the limits say, over the newest-first list. Sound also when the list is only a part of the
 * directory: an entry with keep_files newer ones in a part has as many in the whole. */
static int prune_visible(PruneWork *w, int dirfd) {
        CLEANUP(prune_list_done) PruneList list = {0};
        const PruneLimits *l = w->limits;
        size_t max = l->keep_files < SIZE_MAX - w->budget ? l->keep_files + w->budget : SIZE_MAX;
        uint64_t bytes = 0;
        int r;

        r = prune_list(w, PRUNE_VISIBLE, dirfd, max, &list);
        if (r == 0 && list.len > 1)
                qsort(list.items, list.len, sizeof(*list.items), prune_newest_first);
        for (size_t i = 0; r == 0 && i < list.len; i++) {
                const PruneEntry *e = &list.items[i];

                bytes += e->bytes;
                if (i < l->keep_files && bytes <= l->keep_bytes &&
                    w->now_ms - e->mtime_ms <= l->keep_ms)
                        continue;
                if (prune_is_busy(w->busy, e->name))
                        continue;
                if (!prune_spend(w))
                        break;
                r = prune_entry(w, dirfd, e->name);
        }
        return r;
}

/* What is older than an hour, and trees on their way out. */
static int prune_stale(PruneWork *w, PruneWhat what, int dirfd) {
        CLEANUP(prune_list_done) PruneList list = {0};
        int r;

        r = prune_list(w, what, dirfd, w->budget, &list);
        for (size_t i = 0; r == 0 && i < list.len; i++)
                if (!prune_is_busy(w->busy, list.items[i].name)) {
                        if (!prune_spend(w))
                                break;
                        r = prune_entry(w, dirfd, list.items[i].name);
                }
        return r;
}

static int prune_dir(PruneWork *w, SpoolDir d, int dirfd) {
        int r = 0;

        switch (d) {
        case SPOOL_RESPONSES:
        case SPOOL_ARCHIVE:
        case SPOOL_QUARANTINE:
        case SPOOL_INBOX:
                r = prune_visible(w, dirfd);
                break;
        case SPOOL_TMP: /* drafts, whatever they are called */
                r = prune_stale(w, PRUNE_STALE_VISIBLE, dirfd);
                break;
        case SPOOL_REQUESTS:
        case SPOOL_PROCESSING:
        case SPOOL_DIAGNOSTICS: /* what is visible there is not ours to judge */
        case SPOOL_DIR_COUNT:
                break;
        }
        return r == 0 ? prune_stale(w, PRUNE_STALE_DOTS, dirfd) : r;
}

int prune_run(const Spool *s, const PruneLimits *limits, const Strv *busy, int64_t now_ms,
              PruneReport *ret) {
        PruneWork w = {.limits = limits, .busy = busy, .now_ms = now_ms};
        size_t left = limits->budget;

        for (SpoolDir d = 0; d < SPOOL_DIR_COUNT; d++) {
                size_t dirs = SPOOL_DIR_COUNT - d, share = left / dirs + (left % dirs != 0);
                int r;

                /* A flood in one directory takes its share and no more; the rest is passed on. */
                w.budget = share;
                r = prune_dir(&w, d, s->dirs[d]);
                strv_done(&w.lifted); /* left by an error only */
                if (r != 0)
                        return r;
                left -= share - w.budget;
        }
        *ret = w.report;
        return 0;
}
