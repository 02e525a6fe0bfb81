#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "fs/lock.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "run/result.h"

enum { RESULT_ID_MAX = 100, RESULT_HEAD_MAX = 1024, RESULT_PID_MAX = 16 };
#define RESULT_MAGIC "spoolgate-result 1 "
#define RESULT_LOCK ".lock"
#define RESULT_FILE ".result"

static const char *const result_kinds[] = {
        [RESULT_EXIT] = "exit",           [RESULT_SIGNAL] = "signal", [RESULT_TIMEOUT] = "timeout",
        [RESULT_CANCELLED] = "cancelled", [RESULT_SPAWN] = "spawn",
};
enum { RESULT_KINDS = sizeof(result_kinds) / sizeof(result_kinds[0]) };

void result_done(RunResult *r) {
        str_done(&r->tail);
        *r = RUN_RESULT_NULL;
}

/* Both directions keep the same rules. */
static bool result_code_ok(ResultKind kind, int code) {
        switch (kind) {
        case RESULT_EXIT:
                return code >= 0 && code <= 255;
        case RESULT_SIGNAL:
                return code >= 1 && code < NSIG;
        case RESULT_TIMEOUT:
        case RESULT_CANCELLED:
                return code == 0;
        case RESULT_SPAWN:
                return code >= 0 && code <= 4095;
        }
        return false;
}

static bool result_stage_ok(ResultKind kind, const char *stage) {
        size_t len = strnlen(stage, sizeof(((RunResult *)NULL)->spawn_stage));

        if (kind != RESULT_SPAWN)
                return len == 0;
        return len > 0 && len < sizeof(((RunResult *)NULL)->spawn_stage) &&
               strspn(stage, "abcdefghijklmnopqrstuvwxyz-") == len;
}

static bool result_ok(const RunResult *r) {
        return result_code_ok(r->kind, r->code) && result_stage_ok(r->kind, r->spawn_stage) &&
               r->started_ms >= 0 && r->ended_ms >= 0 && r->duration_ms >= 0 &&
               r->tail.len <= RESULT_TAIL_MAX;
}

int result_format(const RunResult *r, Str *ret) {
        CLEANUP(str_done) Str body = STR_NULL, out = STR_NULL;
        char hex[HASH_HEX_SIZE];
        int e;

        if (!result_ok(r))
                return err_new(EINVAL);
        e = str_addf(&body,
                     "kind %s\ncode %d\nstarted %" PRId64 "\nended %" PRId64 "\nduration %" PRId64
                     "\noutput %" PRIu64 "\ntruncated %d\nstage %s\ntail %zu\n\n",
                     result_kinds[r->kind], r->code, r->started_ms, r->ended_ms, r->duration_ms,
                     r->output_bytes, r->truncated ? 1 : 0, r->spawn_stage, r->tail.len);
        if (e == 0)
                e = str_add(&body, r->tail.data, r->tail.len);
        if (e < 0)
                return e;
        hash_sha256(body.data, body.len, hex);
        e = str_addf(&out, RESULT_MAGIC "%s\n", hex);
        if (e == 0)
                e = str_add(&out, body.data, body.len);
        if (e < 0)
                return e;
        *ret = out;
        out = STR_NULL;
        return 0;
}

/* A window on the bytes that are left. */
typedef struct ResultText {
        const char *at;
        size_t len;
} ResultText;

/* "key value\n" at the front: value, NUL-ended, into word. */
static bool result_line(ResultText *t, const char *key, char *word, size_t size) {
        const char *end = memchr(t->at, '\n', t->len);
        size_t key_len = strlen(key), line_len, word_len;

        if (!end)
                return false;
        line_len = (size_t)(end - t->at);
        if (line_len < key_len + 1 || memcmp(t->at, key, key_len) != 0 || t->at[key_len] != ' ')
                return false;
        word_len = line_len - key_len - 1;
        if (word_len >= size || memchr(t->at, '\0', line_len))
                return false;
        memcpy(word, t->at + key_len + 1, word_len);
        word[word_len] = '\0';
        t->at += line_len + 1;
        t->len -= line_len + 1;
        return true;
}

static bool result_number(ResultText *t, const char *key, uint64_t max, uint64_t *ret) {
        char word[32];
        unsigned long long value;

        if (!result_line(t, key, word, sizeof(word)) || !str_parse_uint(word, max, &value))
                return false;
        *ret = value;
        return true;
}

static bool result_time(ResultText *t, const char *key, int64_t *ret) {
        uint64_t value;

        if (!result_number(t, key, INT64_MAX, &value))
                return false;
        *ret = (int64_t)value;
        return true;
}

static bool result_kind(ResultText *t, ResultKind *ret) {
        char word[16];

        if (!result_line(t, "kind", word, sizeof(word)))
                return false;
        for (unsigned i = 0; i < RESULT_KINDS; i++)
                if (str_eq(word, result_kinds[i])) {
                        *ret = (ResultKind)i;
                        return true;
                }
        return false;
}

/* Everything behind the first line but the tail's bytes; t is left at these. */
static bool result_head(ResultText *t, RunResult *r, size_t *ret_tail) {
        uint64_t code, truncated, tail;

        if (!result_kind(t, &r->kind) || !result_number(t, "code", 4095, &code) ||
            !result_time(t, "started", &r->started_ms) || !result_time(t, "ended", &r->ended_ms) ||
            !result_time(t, "duration", &r->duration_ms) ||
            !result_number(t, "output", UINT64_MAX, &r->output_bytes) ||
            !result_number(t, "truncated", 1, &truncated) ||
            !result_line(t, "stage", r->spawn_stage, sizeof(r->spawn_stage)) ||
            !result_number(t, "tail", RESULT_TAIL_MAX, &tail) || t->len < 1 || t->at[0] != '\n')
                return false;
        t->at++;
        t->len--;
        r->code = (int)code;
        r->truncated = truncated == 1;
        *ret_tail = (size_t)tail;
        return tail == t->len && result_ok(r);
}

int result_parse(const char *bytes, size_t len, RunResult *ret) {
        CLEANUP(result_done) RunResult result = RUN_RESULT_NULL;
        ResultText text = {.at = bytes, .len = len};
        char said[HASH_HEX_SIZE], hex[HASH_HEX_SIZE];
        size_t tail;
        int r;

        if (!result_line(&text, "spoolgate-result 1", said, sizeof(said)))
                return RESULT_E_SYNTAX;
        hash_sha256(text.at, text.len, hex);
        if (!str_eq(said, hex) || !result_head(&text, &result, &tail))
                return RESULT_E_SYNTAX;
        r = str_add(&result.tail, text.at, tail);
        if (r < 0)
                return r;
        *ret = result;
        result = RUN_RESULT_NULL;
        return 0;
}

static bool result_id_ok(const char *id, size_t len) {
        static const char allowed[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";

        return len >= 1 && len <= RESULT_ID_MAX && id[0] != '.' && strspn(id, allowed) >= len;
}

static int result_name(const char *id, const char *suffix, char **ret) {
        if (!result_id_ok(id, strlen(id)))
                return err_new(EINVAL);
        return str_printf(ret, "%s%s", id, suffix);
}

int result_store(int run_fd, const char *id, const RunResult *r, bool sync) {
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int e;

        e = result_name(id, RESULT_FILE, &name);
        if (e == 0)
                e = result_format(r, &text);
        if (e == 0)
                e = publish_file(run_fd, name, text.data, text.len, 0600, sync ? PUBLISH_SYNC : 0);
        return e > 0 ? err_new(EACCES) : e; /* a directory of ours alone: nobody may block there */
}

int result_load(int run_fd, const char *id, RunResult *ret) {
        PinRule rule = {.owner = geteuid(), .forbid = 0077};
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        r = result_name(id, RESULT_FILE, &name);
        if (r == 0)
                r = pin_read_at(run_fd, name, &rule, 0, RESULT_TAIL_MAX + RESULT_HEAD_MAX, &text);
        if (r == PIN_E_ABSENT)
                return RESULT_E_ABSENT;
        if (r > 0)
                return RESULT_E_SYNTAX;
        if (r < 0)
                return r;
        return result_parse(text.data ? text.data : "", text.len, ret);
}

int result_lock(int run_fd, const char *id, int *ret_fd) {
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = result_name(id, RESULT_LOCK, &name);
        if (r == 0)
                r = lock_take(run_fd, name, &fd);
        if (r != 0)
                return r;
        if (ftruncate(fd, 0) < 0)
                return err_new(errno);
        *ret_fd = fd_take(&fd);
        return 0;
}

int result_write_pid(int lock_fd, pid_t pid) {
        CLEANUP(str_freep) char *text = NULL;
        ssize_t n;
        int r;

        r = str_printf(&text, "%d\n", pid);
        if (r < 0)
                return r;
        n = pwrite(lock_fd, text, strlen(text), 0);
        if (n < 0)
                return err_new(errno);
        return (size_t)n == strlen(text) ? 0 : err_new(EIO);
}

int result_running(int run_fd, const char *id, bool *ret_running) {
        CLEANUP(str_freep) char *name = NULL;
        int r;

        r = result_name(id, RESULT_LOCK, &name);
        return r < 0 ? r : lock_held(run_fd, name, ret_running);
}

int result_forget(int run_fd, const char *id) {
        CLEANUP(str_freep) char *file = NULL, *lock = NULL;
        int r;

        r = result_name(id, RESULT_FILE, &file);
        if (r == 0)
                r = result_name(id, RESULT_LOCK, &lock);
        if (r == 0)
                r = publish_remove(run_fd, file);
        if (r == 0)
                r = publish_remove(run_fd, lock);
        return r > 0 ? err_new(EACCES) : r;
}

static void result_dir_done(DIR **d) {
        if (*d)
                (void)closedir(*d); /* read only: nothing to lose */
}

/* ID of "ID.lock" or "ID.result"; NULL for anything else. */
static int result_id_of(const char *name, char **ret) {
        static const char *const suffixes[] = {RESULT_LOCK, RESULT_FILE};

        *ret = NULL;
        for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
                size_t len = strlen(name);

                if (!str_ends(name, suffixes[i]))
                        continue;
                len -= strlen(suffixes[i]);
                if (result_id_ok(name, len))
                        return str_printf(ret, "%.*s", (int)len, name);
        }
        return 0;
}

int result_list(int run_fd, size_t max, Strv *ret) {
        CLEANUP(result_dir_done) DIR *dir = NULL;
        CLEANUP(strv_done) Strv list = STRV_NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        const struct dirent *entry;
        int r;

        r = fd_dup(run_fd, &fd);
        if (r < 0)
                return r;
        dir = fdopendir(fd);
        if (!dir)
                return err_new(errno);
        (void)fd_take(&fd);
        rewinddir(dir); /* the offset is shared with run_fd */
        while (list.len < max && (entry = readdir(dir))) {
                CLEANUP(str_freep) char *id = NULL;

                r = result_id_of(entry->d_name, &id);
                if (r == 0 && id && !strv_find(&list, id))
                        r = strv_add_take(&list, &id);
                if (r < 0)
                        return r;
        }
        strv_sort(&list);
        *ret = list;
        list = STRV_NULL;
        return 0;
}

/* RESULT_E_ABSENT: no lock file, or one without a pid (its keeper is not that far). */
static int result_read_pid(int run_fd, const char *name, pid_t *ret) {
        PinRule rule = {.owner = geteuid(), .forbid = 0022};
        CLEANUP(str_done) Str text = STR_NULL;
        unsigned long long pid;
        int r;

        r = pin_read_at(run_fd, name, &rule, 0, RESULT_PID_MAX, &text);
        if (r < 0)
                return r;
        if (r > 0 || text.len < 2 || text.data[text.len - 1] != '\n')
                return RESULT_E_ABSENT;
        text.data[text.len - 1] = '\0';
        if (!str_parse_uint(text.data, INT32_MAX, &pid) || pid < 2)
                return RESULT_E_ABSENT;
        *ret = (pid_t)pid;
        return 0;
}

int result_cancel(int run_fd, const char *id) {
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(fd_closep) int pidfd = -EBADF;
        bool held;
        pid_t pid;
        int r;

        r = result_name(id, RESULT_LOCK, &name);
        if (r == 0)
                r = result_read_pid(run_fd, name, &pid);
        if (r != 0)
                return r;
        pidfd = pidfd_open(pid, 0);
        if (pidfd < 0)
                return errno == ESRCH ? RESULT_E_ABSENT : err_new(errno);
        /* Held now: its keeper lives, so the pid was never free, and the pidfd is the keeper's. */
        r = lock_held(run_fd, name, &held);
        if (r < 0)
                return r;
        if (!held)
                return RESULT_E_ABSENT;
        if (pidfd_send_signal(pidfd, SIGTERM, NULL, 0) < 0)
                return errno == ESRCH ? RESULT_E_ABSENT : err_new(errno);
        return 0;
}
