#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "spool/scan.h"

void scan_closep(DIR **dir) {
        if (*dir)
                (void)closedir(*dir); /* only read from */
        *dir = NULL;
}

int scan_open(int dirfd, const char *name, DIR **ret) {
        static const PinRule any = {(uid_t)-1, 0};
        CLEANUP(fd_closep) int fd = -EBADF;
        DIR *dir;
        int r;

        r = pin_dir_at(dirfd, name, &any, PIN_SAME_MOUNT, &fd);
        if (r != 0)
                return r;
        dir = fdopendir(fd);
        if (!dir)
                return err_new(errno);
        (void)fd_take(&fd); /* dir's now */
        *ret = dir;
        return 0;
}

int scan_next(DIR *dir, const char **ret) {
        const struct dirent *entry;

        do {
                errno = 0;
                entry = readdir(dir);
                if (!entry && errno != 0)
                        return err_new(errno);
        } while (entry && (str_eq(entry->d_name, ".") || str_eq(entry->d_name, "..")));
        *ret = entry ? entry->d_name : NULL;
        return 0;
}

static int scan_pinned(int dirfd, DIR **ret) {
        int r = scan_open(dirfd, ".", ret);

        return r > 0 ? err_new(EACCES) : r; /* a pinned directory that may no longer be read */
}

static int scan_next_visible(DIR *dir, const char **ret) {
        int r;

        do
                r = scan_next(dir, ret);
        while (r == 0 && *ret && (*ret)[0] == '.');
        return r;
}

/* `heap` has its greatest name first: the item at `i` sinks to its place. */
static void scan_sink(Strv *heap, size_t i) {
        for (;;) {
                size_t child = 2 * i + 1;
                char *item = heap->items[i];

                if (child >= heap->len)
                        return;
                if (child + 1 < heap->len && strcmp(heap->items[child], heap->items[child + 1]) < 0)
                        child++;
                if (strcmp(item, heap->items[child]) >= 0)
                        return;
                heap->items[i] = heap->items[child];
                heap->items[child] = item;
                i = child;
        }
}

/* Keeps the max smallest names of all that were offered. Of a flood of a hundred thousand only max
 * are ever in memory, and a name that is too great costs one comparison. */
static int scan_offer(Strv *heap, size_t max, const char *name, bool *more) {
        char *copy = NULL;
        int r;

        if (heap->len < max) {
                r = strv_add(heap, name);
                for (size_t i = heap->len / 2; r == 0 && heap->len == max && i-- > 0;)
                        scan_sink(heap, i);
                return r;
        }
        *more = true;
        if (max == 0 || strcmp(name, heap->items[0]) >= 0)
                return 0;
        r = str_dup(name, &copy);
        if (r < 0)
                return r;
        free(heap->items[0]);
        heap->items[0] = copy;
        scan_sink(heap, 0);
        return 0;
}

int scan_visible(int dirfd, size_t max, Strv *ret, bool *ret_more) {
        CLEANUP(scan_closep) DIR *dir = NULL;
        CLEANUP(strv_done) Strv heap = STRV_NULL;
        const char *name = NULL;
        bool more = false;
        int r;

        r = scan_pinned(dirfd, &dir);
        if (r == 0)
                r = scan_next_visible(dir, &name);
        while (r == 0 && name) {
                r = scan_offer(&heap, max, name, &more);
                if (r == 0)
                        r = scan_next_visible(dir, &name);
        }
        if (r != 0)
                return r;
        strv_sort(&heap);
        strv_done(ret);
        *ret = heap;
        heap = STRV_NULL;
        *ret_more = more;
        return 0;
}

int scan_any(int dirfd, bool *ret_any) {
        CLEANUP(scan_closep) DIR *dir = NULL;
        const char *name = NULL;
        int r;

        r = scan_pinned(dirfd, &dir);
        if (r == 0)
                r = scan_next_visible(dir, &name);
        if (r != 0)
                return r;
        *ret_any = name != NULL;
        return 0;
}
