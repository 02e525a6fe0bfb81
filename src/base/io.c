#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

enum { IO_CHUNK = 16384 };

int io_write_all(int fd, const void *bytes, size_t len) {
        const char *at = bytes;

        while (len > 0) {
                ssize_t n = write(fd, at, len);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_new(errno);
                if (n == 0)
                        return err_new(EIO); /* no progress and no reason: never spin on it */
                at += n;
                len -= (size_t)n;
        }
        return 0;
}

/* Appends what one read gives, at most `want` bytes; offset < 0: read(2), else pread(2). */
static int io_read_some(int fd, off_t offset, size_t want, Str *s, size_t *ret_got) {
        int r = str_reserve(s, want);
        ssize_t n;

        if (r < 0)
                return r;
        do
                n = offset < 0 ? read(fd, s->data + s->len, want)
                               : pread(fd, s->data + s->len, want, offset);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return err_new(errno);
        s->len += (size_t)n;
        s->data[s->len] = '\0';
        *ret_got = (size_t)n;
        return 0;
}

static void io_replace(Str *ret, Str *with) {
        str_done(ret);
        *ret = *with;
        *with = STR_NULL;
}

int io_read_all(int fd, size_t max, Str *ret) {
        CLEANUP(str_done) Str s = STR_NULL;
        size_t got = 0, left;
        int r;

        do {
                left = max - s.len;
                r = io_read_some(fd, -1, left < IO_CHUNK ? left + 1 : IO_CHUNK, &s, &got);
                if (r < 0)
                        return r;
                if (s.len > max)
                        return IO_E_TOO_BIG;
        } while (got > 0);
        io_replace(ret, &s);
        return 0;
}

int io_read_file(int fd, size_t max, Str *ret) {
        CLEANUP(str_done) Str s = STR_NULL;
        struct stat st;
        size_t size, got = 0;
        int r;

        if (fstat(fd, &st) < 0)
                return err_new(errno);
        if (!S_ISREG(st.st_mode) || st.st_size < 0)
                return err_new(EINVAL);
        if ((uintmax_t)st.st_size > max || (uintmax_t)st.st_size >= SIZE_MAX)
                return IO_E_TOO_BIG;
        size = (size_t)st.st_size;
        do {
                /* One byte more than fstat saw: a file that grew meanwhile is noticed, not half
                 * read. */
                r = io_read_some(fd, (off_t)s.len, size + 1 - s.len, &s, &got);
                if (r < 0)
                        return r;
                if (s.len > size)
                        return IO_E_CHANGED;
        } while (got > 0);
        if (s.len != size)
                return IO_E_CHANGED;
        io_replace(ret, &s);
        return 0;
}

int io_sync(int fd) {
        if (fsync(fd) < 0)
                return err_new(errno);
        return 0;
}
