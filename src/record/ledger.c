#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/io.h"
#include "fs/publish.h"
#include "record/ledger.h"

/* The line after the first is "sum HEX": the SHA-256 of everything behind it. Half a file after bad
 * luck with a disk must never read as another request's answer. */
#define LEDGER_MAGIC "spoolgate-ledger "
#define LEDGER_MARK ".pruned"
enum { LEDGER_SMALL_DIR = 256 * 1024, LEDGER_PASS_MS = 600 * 1000 };
enum { LEDGER_VERSION = 1, LEDGER_FILE_MAX = 4 * 1024 * 1024, LEDGER_TEXT_MAX = 1024 };

typedef enum LedgerKind { LEDGER_HASH, LEDGER_TEXT, LEDGER_TIME } LedgerKind;
typedef struct LedgerField {
        const char *name;
        LedgerKind kind;
        size_t offset;
        bool begun, ended; /* required in this state */
} LedgerField;

/* In the order in which they are written. */
static const LedgerField ledger_fields[] = {
        {"key", LEDGER_HASH, offsetof(LedgerEntry, key), true, true},
        {"fingerprint", LEDGER_HASH, offsetof(LedgerEntry, fingerprint), true, true},
        {"name", LEDGER_TEXT, offsetof(LedgerEntry, name), true, true},
        {"verb", LEDGER_TEXT, offsetof(LedgerEntry, verb), true, true},
        {"arg", LEDGER_TEXT, offsetof(LedgerEntry, arg), false, false},
        {"unit", LEDGER_TEXT, offsetof(LedgerEntry, unit), false, false},
        {"by", LEDGER_TEXT, offsetof(LedgerEntry, by), false, false},
        {"began_ms", LEDGER_TIME, offsetof(LedgerEntry, began_ms), true, true},
        {"ended_ms", LEDGER_TIME, offsetof(LedgerEntry, ended_ms), false, true}, /* stays last */
};
enum { LEDGER_FIELDS = sizeof(ledger_fields) / sizeof(ledger_fields[0]) };

void ledger_entry_done(LedgerEntry *e) {
        free(e->name);
        free(e->verb);
        free(e->arg);
        free(e->unit);
        free(e->by);
        str_done(&e->response);
        *e = LEDGER_ENTRY_NULL;
}

static void ledger_closep(DIR **dir) {
        if (*dir)
                (void)closedir(*dir); /* only read from */
        *dir = NULL;
}

/* Host-only directories: what pin refuses there is an invariant of ours that is broken. */
static int ledger_dir(int at, const char *name, const PinRule *rule, int *ret_fd) {
        int r = pin_make_dir_at(at, name, 0700, rule, ret_fd);

        return r > 0 ? err_new(EPERM) : r;
}

int ledger_open(int state_fd, const PinRule *rule, Ledger *ret) {
        CLEANUP(ledger_close) Ledger l = LEDGER_NULL;
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        l.rule = *rule;
        r = ledger_dir(state_fd, "ledger", rule, &fd);
        if (r == 0)
                r = ledger_dir(fd, "begun", rule, &l.begun_fd);
        if (r == 0)
                r = ledger_dir(fd, "ended", rule, &l.ended_fd);
        if (r != 0)
                return r;
        *ret = l;
        l = LEDGER_NULL;
        return 0;
}

void ledger_close(Ledger *l) {
        l->begun_fd = fd_close(l->begun_fd);
        l->ended_fd = fd_close(l->ended_fd);
}

void ledger_key(const char *idempotency_key, const char *name, char ret_hash[HASH_HEX_SIZE]) {
        const char *text = idempotency_key ? idempotency_key : name;
        char bytes[512] = {idempotency_key ? 'k' : 'n', ':'};
        size_t len = strnlen(text, sizeof(bytes) - 2); /* both are shorter by their own rules */

        memcpy(bytes + 2, text, len);
        hash_sha256(bytes, len + 2, ret_hash);
}

/* One line's value can't bring about another line. */
static bool ledger_text_ok(const char *text) {
        size_t len = strnlen(text, LEDGER_TEXT_MAX + 1);

        for (size_t i = 0; i < len; i++)
                if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
                        return false;
        return len > 0 && len <= LEDGER_TEXT_MAX;
}

static int ledger_format_field(const LedgerEntry *e, const LedgerField *f, LedgerState state,
                               Str *s) {
        const void *at = (const char *)e + f->offset;
        bool required = state == LEDGER_ENDED ? f->ended : f->begun;
        const char *text;
        int64_t time;

        if (f->kind == LEDGER_TIME) {
                if (!required)
                        return 0;
                memcpy(&time, at, sizeof(time));
                return time < 0 ? err_new(EINVAL)
                                : str_addf(s, "%s %lld\n", f->name, (long long)time);
        }
        if (f->kind == LEDGER_HASH)
                text = at;
        else
                memcpy(&text, at, sizeof(text));
        if (!text && !required)
                return 0;
        if (!text || !ledger_text_ok(text))
                return err_new(EINVAL);
        if (f->kind == LEDGER_HASH && !hash_is_hex(text, HASH_HEX_SIZE - 1))
                return err_new(EINVAL);
        return str_addf(s, "%s %s\n", f->name, text);
}

static int ledger_format(const LedgerEntry *e, LedgerState state, Str *ret) {
        CLEANUP(str_done) Str body = STR_NULL;
        char sum[HASH_HEX_SIZE];
        int r = 0;

        for (size_t i = 0; r == 0 && i < LEDGER_FIELDS; i++)
                r = ledger_format_field(e, &ledger_fields[i], state, &body);
        if (r == 0)
                r = str_addc(&body, '\n');
        if (r == 0 && state == LEDGER_ENDED)
                r = str_add(&body, e->response.data, e->response.len);
        if (r != 0)
                return r;
        if (body.len > LEDGER_FILE_MAX - 128)
                return err_new(EFBIG); /* it could never be read again */
        hash_sha256(body.data, body.len, sum);
        r = str_addf(ret, LEDGER_MAGIC "%d\nsum %s\n", LEDGER_VERSION, sum);
        return r == 0 ? str_add(ret, body.data, body.len) : r;
}

static int ledger_parse_value(LedgerEntry *e, const LedgerField *f, const char *value) {
        void *at = (char *)e + f->offset;
        unsigned long long number;
        int64_t time;
        char *copy;
        int r;

        switch (f->kind) {
        case LEDGER_HASH:
                if (!hash_is_hex(value, HASH_HEX_SIZE - 1))
                        return LEDGER_E_CORRUPT;
                memcpy(at, value, HASH_HEX_SIZE);
                return 0;
        case LEDGER_TIME:
                if (!str_parse_uint(value, INT64_MAX, &number))
                        return LEDGER_E_CORRUPT;
                time = (int64_t)number;
                memcpy(at, &time, sizeof(time));
                return 0;
        case LEDGER_TEXT:
                if (!ledger_text_ok(value))
                        return LEDGER_E_CORRUPT;
                r = str_dup(value, &copy);
                if (r == 0)
                        memcpy(at, &copy, sizeof(copy));
                return r;
        }
        return LEDGER_E_CORRUPT;
}

/* "field value", NUL-terminated. *seen has a bit for each field that was there. */
static int ledger_parse_line(LedgerEntry *e, char *line, unsigned *seen) {
        char *value = strchr(line, ' ');

        if (!value)
                return LEDGER_E_CORRUPT;
        *value++ = '\0';
        for (unsigned i = 0; i < LEDGER_FIELDS; i++) {
                if (!str_eq(line, ledger_fields[i].name))
                        continue;
                if (*seen & 1U << i)
                        return LEDGER_E_CORRUPT;
                *seen |= 1U << i;
                return ledger_parse_value(e, &ledger_fields[i], value);
        }
        return LEDGER_E_CORRUPT;
}

/* The first two lines; *ret_at is what they vouch for. */
static int ledger_parse_head(const char *bytes, size_t len, size_t *ret_at) {
        enum { MAGIC = sizeof(LEDGER_MAGIC) - 1, SUM = 4 + HASH_HEX_SIZE };
        char version[10], sum[HASH_HEX_SIZE], is[HASH_HEX_SIZE];
        unsigned long long number;
        const char *end;
        size_t at;

        if (len < MAGIC || memcmp(bytes, LEDGER_MAGIC, MAGIC) != 0)
                return LEDGER_E_CORRUPT;
        end = memchr(bytes + MAGIC, '\n', len - MAGIC);
        if (!end || (size_t)(end - bytes) - MAGIC >= sizeof(version))
                return LEDGER_E_CORRUPT;
        at = (size_t)(end - bytes) + 1;
        memcpy(version, bytes + MAGIC, at - 1 - MAGIC);
        version[at - 1 - MAGIC] = '\0';
        if (!str_parse_uint(version, 999999999, &number) || number < LEDGER_VERSION)
                return LEDGER_E_CORRUPT;
        if (number > LEDGER_VERSION)
                return LEDGER_E_NEWER;
        if (len - at < SUM || memcmp(bytes + at, "sum ", 4) != 0 || bytes[at + SUM - 1] != '\n')
                return LEDGER_E_CORRUPT;
        memcpy(sum, bytes + at + 4, HASH_HEX_SIZE - 1);
        sum[HASH_HEX_SIZE - 1] = '\0';
        at += SUM;
        hash_sha256(bytes + at, len - at, is);
        if (!str_eq(sum, is))
                return LEDGER_E_CORRUPT;
        *ret_at = at;
        return 0;
}

/* Cuts the lines of `bytes` in place. */
static int ledger_parse(char *bytes, size_t len, LedgerState state, LedgerEntry *e) {
        unsigned seen = 0;
        size_t at;
        int r;

        r = ledger_parse_head(bytes, len, &at);
        while (r == 0 && at < len && bytes[at] != '\n') {
                char *end = memchr(bytes + at, '\n', len - at);

                if (!end || memchr(bytes + at, '\0', (size_t)(end - bytes) - at))
                        return LEDGER_E_CORRUPT;
                *end = '\0';
                r = ledger_parse_line(e, bytes + at, &seen);
                at = (size_t)(end - bytes) + 1;
        }
        if (r != 0)
                return r;
        for (unsigned i = 0; i < LEDGER_FIELDS; i++)
                if ((state == LEDGER_ENDED ? ledger_fields[i].ended : ledger_fields[i].begun) &&
                    !(seen & 1U << i))
                        return LEDGER_E_CORRUPT;
        if (at >= len)
                return LEDGER_E_CORRUPT;
        if (state == LEDGER_BEGUN && (at + 1 != len || seen & 1U << (LEDGER_FIELDS - 1)))
                return LEDGER_E_CORRUPT; /* an answer, or the time of it, before the end */
        e->state = state;
        return str_add(&e->response, bytes + at + 1, len - at - 1);
}

static int ledger_load(const Ledger *l, LedgerState state, const char *key, LedgerEntry *ret) {
        CLEANUP(ledger_entry_done) LedgerEntry e = LEDGER_ENTRY_NULL;
        CLEANUP(str_done) Str bytes = STR_NULL;
        int r;

        if (!hash_is_hex(key, HASH_HEX_SIZE - 1))
                return err_new(EINVAL);
        r = pin_read_at(state == LEDGER_ENDED ? l->ended_fd : l->begun_fd, key, &l->rule, 0,
                        LEDGER_FILE_MAX, &bytes);
        if (r !=
            0) /* what stands there and is no file of ours is as bad as one that doesn't parse */
                return r == PIN_E_ABSENT ? LEDGER_E_ABSENT : r > 0 ? LEDGER_E_CORRUPT : r;
        r = ledger_parse(bytes.data, bytes.len, state, &e);
        if (r != 0)
                return r;
        if (!str_eq(e.key, key))
                return LEDGER_E_CORRUPT; /* another entry's file under this name */
        *ret = e;
        e = LEDGER_ENTRY_NULL;
        return 0;
}

int ledger_find(const Ledger *l, const char *key, LedgerEntry *ret) {
        int r = ledger_load(l, LEDGER_ENDED, key, ret);

        return r == LEDGER_E_ABSENT ? ledger_load(l, LEDGER_BEGUN, key, ret) : r;
}

int ledger_load_begun(const Ledger *l, const char *key, LedgerEntry *ret) {
        return ledger_load(l, LEDGER_BEGUN, key, ret);
}

int ledger_begin(const Ledger *l, const LedgerEntry *e) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        struct stat st;
        int r;

        r = ledger_format(e, LEDGER_BEGUN, &bytes);
        if (r != 0)
                return r;
        if (fstatat(l->ended_fd, e->key, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return LEDGER_E_EXISTS; /* the belt: ended has begun */
        if (errno != ENOENT)
                return err_new(errno);
        r = publish_file(l->begun_fd, e->key, bytes.data, bytes.len, 0600,
                         PUBLISH_NEW | PUBLISH_SYNC);
        switch (r) {
        case PUBLISH_E_EXISTS:
                return LEDGER_E_EXISTS;
        case PUBLISH_E_BLOCKED:
                return err_new(EACCES);
        default:
                return r;
        }
}

int ledger_forget(const Ledger *l, const char *key) {
        int r;

        if (!hash_is_hex(key, HASH_HEX_SIZE - 1))
                return err_new(EINVAL);
        r = publish_remove(l->begun_fd, key);
        if (r > 0)
                return err_new(EACCES);
        return r == 0 ? io_sync(l->begun_fd) : r;
}

int ledger_end(const Ledger *l, const LedgerEntry *e) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        int r;

        r = ledger_format(e, LEDGER_ENDED, &bytes);
        if (r == 0)
                r = publish_file(l->ended_fd, e->key, bytes.data, bytes.len, 0600, PUBLISH_SYNC);
        if (r > 0)
                return err_new(EACCES);
        return r == 0 ? ledger_forget(l, e->key) : r;
}

static int ledger_opendir(int dirfd, DIR **ret) {
        static const PinRule any = {(uid_t)-1, 0};
        CLEANUP(fd_closep) int fd = -EBADF;
        DIR *dir;
        int r;

        r = pin_dir_at(dirfd, ".", &any, 0, &fd); /* an offset of its own */
        if (r != 0)
                return r > 0 ? err_new(EACCES) : r;
        dir = fdopendir(fd);
        if (!dir)
                return err_new(errno);
        (void)fd_take(&fd); /* dir's now */
        *ret = dir;
        return 0;
}

/* NULL at the end. */
static int ledger_next(DIR *dir, const char **ret) {
        const struct dirent *entry;

        errno = 0;
        entry = readdir(dir);
        if (!entry && errno != 0)
                return err_new(errno);
        *ret = entry ? entry->d_name : NULL;
        return 0;
}

int ledger_list_begun(const Ledger *l, size_t max, Strv *ret) {
        CLEANUP(ledger_closep) DIR *dir = NULL;
        CLEANUP(strv_done) Strv keys = STRV_NULL;
        const char *name = NULL;
        int r;

        r = ledger_opendir(l->begun_fd, &dir);
        while (r == 0 && keys.len < max && (r = ledger_next(dir, &name)) == 0 && name)
                if (hash_is_hex(name, HASH_HEX_SIZE - 1))
                        r = strv_add(&keys, name);
        if (r != 0)
                return r;
        strv_sort(&keys);
        strv_done(ret);
        *ret = keys;
        keys = STRV_NULL;
        return 0;
}

typedef struct LedgerAge {
        int64_t ms;
        char key[HASH_HEX_SIZE];
} LedgerAge;

static int ledger_newest_first(const void *a, const void *b) {
        const LedgerAge *x = a, *y = b;

        return x->ms == y->ms ? strcmp(x->key, y->key) : x->ms > y->ms ? -1 : 1;
}

static void ledger_agesp(LedgerAge **ages) {
        free(*ages);
}

/* Entries with the time of their publication (the directory is the host's: nobody forges it), max
 * at the most. tmp files of a process that died go on the way. */
static int ledger_ages(int dirfd, size_t max, LedgerAge **ages, size_t *ret_len) {
        CLEANUP(ledger_closep) DIR *dir = NULL;
        const char *name = NULL;
        struct stat st;
        size_t len = 0;
        int r;

        r = ledger_opendir(dirfd, &dir);
        while (r == 0 && len < max && (r = ledger_next(dir, &name)) == 0 && name) {
                if (str_starts(name, ".tmp.") && (r = publish_remove(dirfd, name)) < 0)
                        return r; /* > 0: litter that stays */
                r = 0;
                if (!hash_is_hex(name, HASH_HEX_SIZE - 1) ||
                    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if ((len & (len - 1)) == 0) { /* a power of two: full */
                        LedgerAge *more = reallocarray(*ages, len ? len * 2 : 1, sizeof(**ages));

                        if (!more)
                                return err_new(ENOMEM);
                        *ages = more;
                }
                (*ages)[len].ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
                memcpy((*ages)[len++].key, name, HASH_HEX_SIZE);
        }
        if (r == 0)
                *ret_len = len;
        return r;
}

/* A pass costs a stat per entry. Where there are thousands, one in ten minutes is enough, however
 * many drains start meanwhile. */
static bool ledger_is_due(const Ledger *l, int64_t now_ms) {
        struct stat dir, mark;
        int64_t since_ms;

        if (fstat(l->ended_fd, &dir) < 0 || dir.st_size < LEDGER_SMALL_DIR ||
            fstatat(l->ended_fd, LEDGER_MARK, &mark, AT_SYMLINK_NOFOLLOW) < 0)
                return true;
        since_ms = now_ms - (int64_t)mark.st_mtim.tv_sec * 1000;
        return since_ms < -LEDGER_PASS_MS || since_ms > LEDGER_PASS_MS; /* or the clock jumped */
}

static int ledger_prune_ended(const Ledger *l, size_t keep_count, int64_t keep_ms, int64_t now_ms,
                              size_t budget, size_t *ret_removed) {
        CLEANUP(ledger_agesp) LedgerAge *ages = NULL;
        size_t max = keep_count < SIZE_MAX - budget ? keep_count + budget : SIZE_MAX;
        size_t len = 0, removed = 0;
        struct stat st;
        int r;

        /* A part of the directory does: what has keep_count newer ones in it has them in all. */
        r = ledger_ages(l->ended_fd, max, &ages, &len);
        if (r == 0 && len > 1)
                qsort(ages, len, sizeof(*ages), ledger_newest_first);
        for (size_t i = len; r == 0 && i-- > 0 && removed < budget;) {
                if (i < keep_count && now_ms - ages[i].ms <= keep_ms)
                        break; /* and all before it are newer */
                /* Without its end a begun entry would turn from done into uncertain. */
                if (fstatat(l->begun_fd, ages[i].key, &st, AT_SYMLINK_NOFOLLOW) == 0)
                        continue;
                r = publish_remove(l->ended_fd, ages[i].key);
                if (r > 0)
                        r = err_new(EACCES);
                else if (r == 0)
                        removed++;
        }
        if (r == 0)
                *ret_removed = removed;
        return r;
}

int ledger_prune(const Ledger *l, size_t keep_count, int64_t keep_ms, int64_t now_ms, size_t budget,
                 size_t *ret_removed) {
        CLEANUP(ledger_agesp) LedgerAge *begun = NULL;
        size_t len, removed = 0;
        int r;

        r = ledger_ages(l->begun_fd, SIZE_MAX, &begun, &len); /* for the tmp litter */
        if (r == 0 && ledger_is_due(l, now_ms)) {
                r = ledger_prune_ended(l, keep_count, keep_ms, now_ms, budget, &removed);
                if (r == 0 && removed < budget) /* without the mark the next pass is early */
                        r = publish_file(l->ended_fd, LEDGER_MARK, "", 0, 0600, 0);
        }
        if (r > 0)
                return err_new(EACCES);
        if (r == 0)
                *ret_removed = removed;
        return r;
}
