#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "operator/follow.h"

enum { FOLLOW_CHUNK = 64 * 1024 };

void follow_done(Follow *f) {
        f->fd = fd_close(f->fd);
        str_done(&f->rest);
}

static int follow_line(Follow *f, const char *line, size_t len, HistoryEach each, void *userdata) {
        CLEANUP(record_freep) Record *r = NULL;
        RecordError error;
        int64_t seq;
        int x = record_parse(line, len, &r, &error);

        if (x != 0 || !record_int(r, "seq", &seq) || seq <= f->seq)
                return x < 0 ? x : 0;
        f->seq = seq;
        return each(userdata, r, line, len, NULL);
}

static int follow_lines(Follow *f, HistoryEach each, void *userdata) {
        size_t at = 0;
        int r = 0;

        while (r == 0 && at < f->rest.len) {
                const char *line = f->rest.data + at;
                const char *end = memchr(line, '\n', f->rest.len - at);

                if (!end)
                        break;
                r = follow_line(f, line, (size_t)(end - line), each, userdata);
                at += (size_t)(end - line) + 1;
        }
        if (at > 0) {
                memmove(f->rest.data, f->rest.data + at, f->rest.len - at);
                f->rest.len -= at;
        }
        return r;
}

static int follow_drain(Follow *f, HistoryEach each, void *userdata) {
        int r = 0;

        while (r == 0) {
                ssize_t n;

                r = str_reserve(&f->rest, FOLLOW_CHUNK);
                if (r < 0)
                        return r;
                n = read(f->fd, f->rest.data + f->rest.len, FOLLOW_CHUNK);
                if (n < 0 && errno != EINTR)
                        return err_new(errno);
                if (n == 0)
                        return 0;
                f->rest.len += n > 0 ? (size_t)n : 0;
                r = follow_lines(f, each, userdata);
        }
        return r;
}

/* Is audit.log another file than the one held? Then that one was rotated, and is whole. */
static int follow_renew(Follow *f, bool *ret_renewed) {
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule rule = {geteuid(), 0022};
        struct stat now, held;
        int r = pin_file_at(f->state_fd, "audit.log", &rule, 0, &fd, &now);

        *ret_renewed = false;
        if (r != 0)
                return r < 0 ? r : 0; /* not there at this moment */
        if (f->fd >= 0) {
                if (fstat(f->fd, &held) < 0)
                        return err_new(errno);
                if (held.st_dev == now.st_dev && held.st_ino == now.st_ino)
                        return 0;
        }
        f->fd = fd_close(f->fd);
        f->fd = fd_take(&fd);
        str_clear(&f->rest);
        *ret_renewed = true;
        return 0;
}

int follow_poll(Follow *f, HistoryEach each, void *userdata) {
        bool renewed = true;
        int r = 0;

        while (r == 0 && renewed) {
                if (f->fd >= 0)
                        r = follow_drain(f, each, userdata);
                if (r == 0)
                        r = follow_renew(f, &renewed);
        }
        return r;
}
