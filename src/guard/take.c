#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/io.h"
#include "fs/pin.h"
#include "guard/take.h"

enum { TAKE_SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

static int take_open(int checkout_fd, const char *path, int *ret_fd, struct stat *ret_stat) {
        PinRule own = {.owner = geteuid()};

        return pin_file_at(checkout_fd, path, &own, 0, ret_fd, ret_stat);
}

static int take_read(int fd, Str *ret) {
        int r = io_read_file(fd, TAKE_MAX, ret);

        switch (r) {
        case IO_E_TOO_BIG:
                return PIN_E_TOO_BIG;
        case IO_E_CHANGED:
                return PIN_E_CHANGED;
        default:
                return r;
        }
}

/* Judged, handed over and run are these bytes: no later write to the file reaches them. */
static int take_memfd(const Str *bytes, int *ret_fd) {
        CLEANUP(fd_closep) int fd = memfd_create("spoolgate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        int r;

        if (fd < 0)
                return err_new(errno);
        r = io_write_all(fd, bytes->data, bytes->len);
        if (r < 0)
                return r;
        if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, TAKE_SEALS) < 0)
                return err_new(errno);
        *ret_fd = fd_take(&fd);
        return 0;
}

static int take_file(int checkout_fd, Taken *t) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        int r;

        r = take_open(checkout_fd, t->path, &t->fd, &t->st);
        if (r != 0)
                return r;
        r = take_read(t->fd, &bytes);
        if (r != 0)
                return r;
        hash_sha256(bytes.data, bytes.len, t->sha256);
        return take_memfd(&bytes, &t->bytes_fd);
}

static int take_list(int checkout_fd, TakeKind kind, const Strv *paths, TakenList *list) {
        for (size_t i = 0; paths && i < paths->len; i++) {
                Taken *t = &list->items[list->len];
                int r;

                *t = (Taken){.kind = kind, .fd = -EBADF, .bytes_fd = -EBADF};
                list->len++;
                r = str_dup(paths->items[i], &t->path);
                if (r < 0)
                        return r;
                r = take_file(checkout_fd, t);
                if (r < 0)
                        return r;
                t->refused = r;
        }
        return 0;
}

int take_files(int checkout_fd, const Strv *guarded, const Strv *env_files, TakenList *ret) {
        CLEANUP(taken_list_done) TakenList list = TAKEN_LIST_NULL;
        size_t count = (guarded ? guarded->len : 0) + (env_files ? env_files->len : 0);
        int r;

        if (count > TAKE_FILES)
                return err_new(E2BIG);
        list.items = calloc(count + 1, sizeof(*list.items));
        if (!list.items)
                return err_new(ENOMEM);
        r = take_list(checkout_fd, TAKE_GUARDED, guarded, &list);
        if (r < 0)
                return r;
        r = take_list(checkout_fd, TAKE_ENV, env_files, &list);
        if (r < 0)
                return r;
        *ret = list;
        list = TAKEN_LIST_NULL;
        return 0;
}

void taken_list_done(TakenList *list) {
        for (size_t i = 0; i < list->len; i++) {
                free(list->items[i].path);
                (void)fd_close(list->items[i].fd);
                (void)fd_close(list->items[i].bytes_fd);
        }
        free(list->items);
        *list = TAKEN_LIST_NULL;
}

static bool take_same_stat(const struct stat *a, const struct stat *b) {
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
               a->st_mode == b->st_mode && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
               a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

int take_again(int checkout_fd, const Taken *t, bool *ret_changed) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str bytes = STR_NULL;
        char sha256[HASH_HEX_SIZE];
        struct stat st;
        int r;

        r = take_open(checkout_fd, t->path, &fd, &st);
        if (r < 0)
                return r;
        if (r > 0 || t->refused != 0) {
                *ret_changed = r != t->refused;
                return 0;
        }
        if (!take_same_stat(&st, &t->st)) {
                *ret_changed = true;
                return 0;
        }
        r = take_read(fd, &bytes); /* ctime is coarse: two writes within one tick look like one */
        if (r < 0)
                return r;
        if (r == 0)
                hash_sha256(bytes.data, bytes.len, sha256);
        *ret_changed = r > 0 || strcmp(sha256, t->sha256) != 0;
        return 0;
}
