#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "spool/quarantine.h"
#include "spool/retire.h"

enum { RETIRE_TRIES = 8, RETIRE_MODE = 0644 };

typedef struct RetireName {
        char text[NAME_MAX + 1];
} RetireName;

static bool retire_name(const char *name, const char *suffix, RetireName *ret) {
        int len = snprintf(ret->text, sizeof(ret->text), "%s%s", name, suffix);

        return len > 0 && (size_t)len < sizeof(ret->text);
}

/* publish_file's answers as ours. */
static int retire_publish(int dirfd, const char *name, const void *bytes, size_t len,
                          PublishFlags flags) {
        int r = publish_file(dirfd, name, bytes, len, RETIRE_MODE, flags);

        switch (r) {
        case PUBLISH_E_EXISTS:
                return RETIRE_E_EXISTS;
        case PUBLISH_E_BLOCKED:
                return RETIRE_E_BLOCKED;
        default:
                return r;
        }
}

/* What stands at processing/NAME now need not be the file that was read: a directory, say. */
static int retire_clear(const Spool *s, const char *name) {
        char to[QUARANTINE_NAME_SIZE];
        int r;

        r = publish_remove(s->dirs[SPOOL_PROCESSING], name);
        if (r == MOVE_E_DENIED)
                r = quarantine_take(s, SPOOL_PROCESSING, name, clock_wall_ms(), to);
        switch (r) {
        case QUARANTINE_E_GONE:
        case QUARANTINE_E_IN_PLACE:
                return 0;
        case QUARANTINE_E_STUCK:
                return RETIRE_E_BLOCKED;
        default:
                return r;
        }
}

int retire_request(const Spool *s, const char *name, const void *bytes, size_t len) {
        int kept, r;

        kept = retire_publish(s->dirs[SPOOL_ARCHIVE], name, bytes, len, 0);
        if (kept < 0)
                return kept; /* no room: the file stays, and the next drain retires it */
        /* Archive blocked by the agent: it loses its own copy, not its place in the line twice. */
        r = retire_clear(s, name);
        return r != 0 ? r : kept;
}

/* Out of the way under a dot name, which the pruner sweeps; else removed. */
static int retire_move_away(int dirfd, const char *name) {
        char old[sizeof(".old-") + 16] = ".old-";
        struct stat st;
        int r = MOVE_E_DENIED;

        /* An empty file is no evidence: on a full disk each attempt would leave one more. */
        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            st.st_size == 0)
                r = publish_remove(dirfd, name);
        if (r == 0)
                return 0;
        hash_random_hex(old + strlen(old), 16);
        r = publish_move(dirfd, name, dirfd, old, 0);
        if (r == MOVE_E_DENIED)
                r = publish_remove(dirfd, name);
        switch (r) {
        case MOVE_E_ABSENT:
        case MOVE_E_EXISTS: /* of the random name: the next try draws another */
                return 0;
        case MOVE_E_DENIED:
                return RETIRE_E_BLOCKED;
        default:
                return r;
        }
}

int retire_open_log(const Spool *s, const char *name, int *ret_fd) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int dirfd = s->dirs[SPOOL_ARCHIVE];
        RetireName log;
        int r = PIN_E_TYPE;

        if (!retire_name(name, ".log", &log))
                return RETIRE_E_BLOCKED;
        for (int i = 0; r == PIN_E_TYPE && i < RETIRE_TRIES; i++) {
                int away;

                r = pin_create_at(dirfd, log.text, RETIRE_MODE, &fd);
                if (r != PIN_E_TYPE)
                        break;
                away = retire_move_away(dirfd, log.text);
                if (away != 0)
                        return away;
        }
        if (r != 0)
                return r > 0 ? RETIRE_E_BLOCKED : r;
        if (fchmod(fd, RETIRE_MODE) < 0) /* whatever the umask: the agent reads it */
                return err_new(errno);
        *ret_fd = fd_take(&fd);
        return 0;
}

int retire_respond(const Spool *s, const char *name, const void *bytes, size_t len, bool sync) {
        RetireName response;

        if (!retire_name(name, ".response.json", &response))
                return RETIRE_E_BLOCKED;
        return retire_publish(s->dirs[SPOOL_RESPONSES], response.text, bytes, len,
                              sync ? PUBLISH_SYNC : 0);
}

int retire_acknowledge(const Spool *s, const char *name, const void *bytes, size_t len) {
        RetireName response;

        if (!retire_name(name, ".response.json", &response))
                return RETIRE_E_BLOCKED;
        return retire_publish(s->dirs[SPOOL_RESPONSES], response.text, bytes, len, PUBLISH_NEW);
}

bool retire_has_response(const Spool *s, const char *name) {
        RetireName response;
        struct stat st;

        return retire_name(name, ".response.json", &response) &&
               fstatat(s->dirs[SPOOL_RESPONSES], response.text, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int retire_peek_response(const Spool *s, const char *name, char *ret, size_t size,
                         size_t *ret_len) {
        static const PinRule any = {(uid_t)-1, 0};
        CLEANUP(fd_closep) int fd = -EBADF;
        RetireName response;
        ssize_t n;
        int r;

        if (!retire_name(name, ".response.json", &response))
                return RETIRE_E_BLOCKED;
        r = pin_file_at(s->dirs[SPOOL_RESPONSES], response.text, &any, PIN_SAME_MOUNT, &fd, NULL);
        if (r != 0)
                return r > 0 ? RETIRE_E_BLOCKED : r;
        do
                n = read(fd, ret, size);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return err_new(errno);
        *ret_len = (size_t)n;
        return 0;
}

int retire_diagnostic(const Spool *s, const char *name, const void *bytes, size_t len) {
        return retire_publish(s->dirs[SPOOL_DIAGNOSTICS], name, bytes, len, 0);
}
