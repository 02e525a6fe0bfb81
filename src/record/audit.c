#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "fs/publish.h"
#include "record/audit.h"
#include "record/line.h"

#define AUDIT_FILE "audit.log"
/* What the very first line carries. */
#define AUDIT_GENESIS "0000000000000000000000000000000000000000000000000000000000000000"

struct Audit {
        int state_fd, fd;
        PinRule rule;
        Refusals refusals;
        uint64_t seq; /* of the last line, 0: none */
        char last[HASH_HEX_SIZE];
        off_t size;
        bool dirty;    /* written since the last sync */
        bool poisoned; /* a sync failed: nobody knows what the disk holds */
        Str line;
};

typedef struct AuditName {
        char text[32];
} AuditName;

static AuditName audit_name(int number) {
        AuditName name = {AUDIT_FILE};

        if (number > 0)
                (void)snprintf(name.text, sizeof(name.text), AUDIT_FILE ".%d", number);
        return name;
}

Audit *audit_free(Audit *a) {
        if (!a)
                return NULL;
        refusals_close(&a->refusals);
        str_done(&a->line);
        (void)fd_close(a->fd);
        (void)fd_close(a->state_fd);
        free(a);
        return NULL;
}

void audit_freep(Audit **a) {
        *a = audit_free(*a);
}

uint64_t audit_seq(const Audit *a) {
        return a->seq;
}

/* audit.log is empty: the chain goes on from the newest rotated file, whose end was synced. */
static int audit_resume(Audit *a, int *ret_pin) {
        for (int i = 1; i <= AUDIT_ROTATE_KEEP; i++) {
                CLEANUP(fd_closep) int fd = -EBADF;
                AuditName name = audit_name(i);
                struct stat st;
                LineTail tail;
                int r;

                r = pin_file_at(a->state_fd, name.text, &a->rule, 0, &fd, &st);
                if (r == PIN_E_ABSENT)
                        continue;
                if (r > 0) {
                        *ret_pin = r;
                        return AUDIT_E_RULE;
                }
                if (r == 0)
                        r = line_tail(fd, st.st_size, &tail);
                if (r < 0)
                        return r;
                if (r > 0 || tail.end != st.st_size || tail.seq == 0)
                        return err_new(EBADMSG); /* no crash does that */
                a->seq = tail.seq;
                memcpy(a->last, tail.hash, sizeof(a->last));
                return 0;
        }
        return 0; /* the first line ever */
}

/* A crash in the middle of an append leaves a piece of a line that nobody was told of. It is cut
 * off, and a gap record says how many bytes there were and what they hash to. Cutting, rather than
 * leaving the piece and closing it with a newline, keeps one rule for every reader: a file is whole
 * lines, each in the chain, with no exception for an attacker to hide in. */
static int audit_repair(Audit *a, off_t end) {
        CLEANUP(str_done) Str cut = STR_NULL;
        char when[CLOCK_TEXT_SIZE], hash[HASH_HEX_SIZE], body[256];
        size_t len = (size_t)(a->size - end);
        ssize_t n;
        int r;

        r = str_reserve(&cut, len);
        if (r < 0)
                return r;
        do
                n = pread(a->fd, cut.data, len, end);
        while (n < 0 && errno == EINTR);
        if (n < 0 || (size_t)n != len)
                return err_new(n < 0 ? errno : EIO);
        hash_sha256(cut.data, len, hash);
        if (ftruncate(a->fd, end) < 0)
                return err_new(errno);
        a->size = end;
        clock_format(clock_wall_ms(), when);
        (void)snprintf(body, sizeof(body),
                       "{\"event\":\"gap\",\"at\":\"%s\",\"bytes\":%zu,\"sha256\":\"%s\"}", when,
                       len, hash);
        r = audit_append(a, body, true, hash);
        return r > 0 ? err_new(EBADMSG) : r;
}

static int audit_find_end(Audit *a, int *ret_pin) {
        struct stat st;
        LineTail tail;
        int r;

        if (fstat(a->fd, &st) < 0)
                return err_new(errno);
        a->size = st.st_size;
        r = line_tail(a->fd, a->size, &tail);
        if (r != 0)
                return r > 0 ? err_new(EBADMSG) : r;
        a->seq = tail.seq;
        memcpy(a->last, tail.seq ? tail.hash : AUDIT_GENESIS, sizeof(a->last));
        if (tail.seq == 0)
                r = audit_resume(a, ret_pin);
        if (r == 0 && a->size == 0) /* perhaps new: its name has to outlive a power cut */
                r = io_sync(a->state_fd);
        if (r == 0 && tail.end < a->size)
                r = audit_repair(a, tail.end);
        return r;
}

int audit_open(int state_fd, const PinRule *rule, Audit **ret, int *ret_pin) {
        CLEANUP(audit_freep) Audit *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return err_new(ENOMEM);
        a->state_fd = a->fd = -EBADF;
        a->refusals = REFUSALS_NULL;
        a->rule = *rule;
        r = fd_dup(state_fd, &a->state_fd);
        if (r < 0)
                return r;
        r = pin_append_at(state_fd, AUDIT_FILE, 0600, rule, &a->fd);
        if (r > 0) {
                *ret_pin = r;
                return AUDIT_E_RULE;
        }
        if (r == 0)
                r = audit_find_end(a, ret_pin);
        if (r != 0)
                return r;
        *ret = a;
        a = NULL;
        return 0;
}

int audit_sync(Audit *a) {
        if (a->poisoned)
                return err_new(EIO);
        if (!a->dirty)
                return 0;
        if (fdatasync(a->fd) < 0) { /* believed once (attacks.md "Discipline") */
                a->poisoned = true;
                return err_new(errno);
        }
        a->dirty = false;
        return 0;
}

/* audit.log.K is the first number that is free, made so when there is none; each older file moves
 * up by one, the newest last. A crash at any point leaves a hole in the numbers and never two files
 * in the wrong order; the next rotation fills the hole. */
static int audit_shift(Audit *a) {
        int free_number = 1, r = 0;
        struct stat st;

        while (free_number < AUDIT_ROTATE_KEEP &&
               fstatat(a->state_fd, audit_name(free_number).text, &st, AT_SYMLINK_NOFOLLOW) == 0)
                free_number++;
        if (free_number == AUDIT_ROTATE_KEEP)
                r = publish_remove(a->state_fd, audit_name(AUDIT_ROTATE_KEEP).text);
        for (int i = free_number; r == 0 && i > 0; i--)
                r = publish_move(a->state_fd, audit_name(i - 1).text, a->state_fd,
                                 audit_name(i).text, 0);
        return r > 0 ? err_new(EEXIST) : r;
}

static int audit_rotate(Audit *a) {
        int r;

        r = audit_sync(a); /* the end of a rotated file is never torn */
        if (r != 0)
                return r;
        a->poisoned = true; /* until the new file is there: a->fd may be a rotated one now */
        r = audit_shift(a);
        if (r != 0)
                return r;
        a->fd = fd_close(a->fd);
        r = pin_append_at(a->state_fd, AUDIT_FILE, 0600, &a->rule, &a->fd);
        if (r != 0)
                return r > 0 ? err_new(EPERM) : r;
        r = io_sync(a->state_fd);
        if (r != 0)
                return r;
        a->size = 0;
        a->poisoned = false;
        return 0;
}

/* One write(2): a line is there or not, except across a crash (audit_repair). */
static int audit_write(Audit *a) {
        ssize_t n;
        int error;

        do
                n = write(a->fd, a->line.data, a->line.len);
        while (n < 0 && errno == EINTR);
        if (n >= 0 && (size_t)n == a->line.len) {
                a->size += n;
                a->dirty = true;
                return 0;
        }
        error = n < 0 ? errno : ENOSPC;
        /* The piece that got there has to go, or the next line would be glued to it. */
        if (n != 0 && ftruncate(a->fd, a->size) < 0)
                a->poisoned = true;
        return err_new(error);
}

int audit_append(Audit *a, const char *body, bool sync, char ret_hash[HASH_HEX_SIZE]) {
        char hash[HASH_HEX_SIZE];
        int r;

        if (a->poisoned)
                return err_new(EIO);
        r = line_format(a->seq + 1, a->last, body, &a->line);
        if (r != 0)
                return r > 0 ? AUDIT_E_BODY : r;
        if (a->line.len > AUDIT_LINE_MAX)
                return AUDIT_E_TOO_LONG;
        if (a->size > 0 && a->size + (off_t)a->line.len > AUDIT_ROTATE_BYTES)
                r = audit_rotate(a);
        if (r == 0)
                r = audit_write(a);
        if (r != 0)
                return r;
        hash_sha256(a->line.data, a->line.len - 1, hash);
        a->seq++;
        memcpy(a->last, hash, sizeof(hash));
        if (sync)
                r = audit_sync(a);
        if (r == 0)
                memcpy(ret_hash, hash, sizeof(hash));
        return r;
}

static int audit_budget(Audit *a) {
        return a->refusals.fd < 0 ? refusals_open(a->state_fd, &a->rule, &a->refusals) : 0;
}

int audit_refusal(Audit *a, const RefusalsBudget *b, int64_t now_ms, bool *ret_write,
                  uint64_t *ret_summed) {
        int r = audit_budget(a);

        return r == 0 ? refusals_count(&a->refusals, b, now_ms, ret_write, ret_summed) : r;
}

int audit_look(Audit *a, uint32_t day, int64_t now_ms, bool *ret_may) {
        int r = audit_budget(a);

        return r == 0 ? refusals_look(&a->refusals, day, AUDIT_LOOK_LINES, now_ms, ret_may) : r;
}

typedef struct AuditWalk {
        AuditEach each;
        void *userdata;
        AuditBreak *broken;
        bool pruned; /* an older file may have been there once: the chain may begin anywhere */
        uint64_t seq, lines;
        char last[HASH_HEX_SIZE];
} AuditWalk;

static int audit_broken(AuditWalk *w, const char *what) {
        (void)snprintf(w->broken->what, sizeof(w->broken->what), "%s", what);
        return AUDIT_E_BROKEN;
}

static int audit_walk_line(AuditWalk *w, const char *line, size_t len) {
        bool first = w->lines == 0 && w->pruned;
        char prev[HASH_HEX_SIZE];
        uint64_t seq;

        w->broken->line++;
        w->broken->seq = w->seq + 1;
        if (line_parse(line, len, &seq, prev) != 0)
                return audit_broken(w, "is not a whole audit record");
        if (first && seq > 1) {
                w->seq = seq - 1;
                memcpy(w->last, prev, sizeof(prev));
        }
        w->broken->seq = seq;
        if (seq > w->seq + 1)
                return audit_broken(w, "has too high a number: records before it are missing");
        if (seq < w->seq + 1)
                return audit_broken(w, "has too low a number: it stands in the wrong place");
        if (!str_eq(prev, w->last))
                return audit_broken(w,
                                    "doesn't carry the hash of the record before: one was changed");
        hash_sha256(line, len, w->last);
        w->seq = seq;
        w->lines++;
        return w->each ? w->each(w->userdata, line, len, w->last) : 0;
}

/* The whole lines in `bytes`; what is left behind the last one moves to the front. */
static int audit_walk_lines(AuditWalk *w, Str *bytes) {
        size_t at = 0;
        int r = 0;

        while (r == 0 && at < bytes->len) {
                const char *line = bytes->data + at;
                const char *end = memchr(line, '\n', bytes->len - at);

                if (!end)
                        break;
                r = audit_walk_line(w, line, (size_t)(end - line));
                at += (size_t)(end - line) + 1;
        }
        if (at > 0) {
                memmove(bytes->data, bytes->data + at, bytes->len - at);
                bytes->len -= at;
        }
        return r;
}

static int audit_walk_file(AuditWalk *w, int fd) {
        enum { CHUNK = 64 * 1024 };
        CLEANUP(str_done) Str bytes = STR_NULL;
        ssize_t n = 1;
        int r = 0;

        while (r == 0 && n != 0 && bytes.len < AUDIT_LINE_MAX) {
                r = str_reserve(&bytes, CHUNK);
                if (r < 0)
                        return r;
                n = read(fd, bytes.data + bytes.len, CHUNK);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_new(errno);
                bytes.len += (size_t)n;
                r = audit_walk_lines(w, &bytes);
        }
        if (r == 0 && bytes.len > 0) {
                w->broken->line++;
                w->broken->seq = w->seq + 1;
                return audit_broken(w, "is torn (has no end) or is too long");
        }
        return r;
}

int audit_verify(int state_fd, const PinRule *rule, AuditEach each, void *userdata,
                 AuditBreak *ret_break, uint64_t *ret_lines) {
        AuditBreak broken = {0};
        AuditWalk w = {
                .each = each, .userdata = userdata, .broken = &broken, .last = AUDIT_GENESIS};
        int r = 0;

        for (int i = AUDIT_ROTATE_KEEP; r == 0 && i >= 0; i--) {
                CLEANUP(fd_closep) int fd = -EBADF;
                AuditName name = audit_name(i);

                r = pin_file_at(state_fd, name.text, rule, 0, &fd, NULL);
                if (r == PIN_E_ABSENT) {
                        r = 0;
                        continue;
                }
                memcpy(broken.file, name.text, sizeof(broken.file));
                broken.line = 0;
                if (r > 0) {
                        (void)audit_broken(&w, pin_reason(r));
                        r = AUDIT_E_RULE;
                }
                /* The oldest goes only when all numbers are in use; a crash then may leave the hole
                 * at the top. */
                w.pruned = w.pruned || i >= AUDIT_ROTATE_KEEP - 1;
                if (r == 0)
                        r = audit_walk_file(&w, fd);
        }
        if (r == AUDIT_E_BROKEN || r == AUDIT_E_RULE)
                *ret_break = broken;
        if (r == 0)
                *ret_lines = w.lines;
        return r;
}
