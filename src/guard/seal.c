#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "guard/seal.h"

enum { SEAL_BY_MAX = 256, SEAL_PATH_MAX = 4095, SEAL_ENTRIES_MAX = 2 * TAKE_FILES };

static const char seal_magic[] = "spoolgate-seal 1\n";

void seal_entry_done(SealEntry *e) {
        free(e->path);
        *e = (SealEntry){0};
}

void seal_done(Seal *s) {
        for (size_t i = 0; i < s->len; i++)
                seal_entry_done(&s->entries[i]);
        free(s->entries);
        free(s->by);
        *s = SEAL_NULL;
}

int seal_add(Seal *s, const SealEntry *e) {
        SealEntry copy = *e;
        SealEntry *grown;
        int r;

        if (s->len == SEAL_ENTRIES_MAX)
                return err_new(E2BIG);
        grown = reallocarray(s->entries, s->len + 1, sizeof(*grown));
        if (!grown)
                return err_new(ENOMEM);
        s->entries = grown;
        r = str_dup(e->path, &copy.path);
        if (r < 0)
                return r;
        s->entries[s->len++] = copy;
        return 0;
}

const SealEntry *seal_find(const Seal *s, TakeKind kind, const char *path) {
        for (size_t i = 0; i < s->len; i++)
                if (s->entries[i].kind == kind && strcmp(s->entries[i].path, path) == 0)
                        return &s->entries[i];
        return NULL;
}

bool seal_matches(const SealEntry *e, const Taken *t) {
        if (t->refused != 0)
                return e->absent && t->refused == PIN_E_ABSENT;
        return !e->absent && e->mode == t->st.st_mode && e->size == (uint64_t)t->st.st_size &&
               strcmp(e->sha256, t->sha256) == 0;
}

int seal_entry(const Taken *t, bool tracked, SealEntry *ret) {
        SealEntry e = {.kind = t->kind, .tracked = tracked, .absent = t->refused == PIN_E_ABSENT};
        int r;

        if (t->refused != 0 && !e.absent)
                return SEAL_E_REFUSED;
        if (!e.absent) {
                e.mode = t->st.st_mode;
                e.size = (uint64_t)t->st.st_size;
                memcpy(e.sha256, t->sha256, sizeof(e.sha256));
        }
        r = str_dup(t->path, &e.path);
        if (r < 0)
                return r;
        *ret = e;
        return 0;
}

/* Writing */

static int seal_add_text(Str *s, const char *text) {
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;
                int r = c < 0x20 || c > 0x7e || c == '\\' ? str_addf(s, "\\x%02x", c)
                                                          : str_addc(s, *text);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int seal_add_line(Str *s, const SealEntry *e) {
        int r = str_addf(s, "file %s %s ", e->kind == TAKE_ENV ? "env" : "guarded",
                         e->tracked ? "tracked" : "untracked");

        if (r < 0)
                return r;
        r = e->absent ? str_adds(s, "- - absent ")
                      : str_addf(s, "%o %llu %s ", e->mode, (unsigned long long)e->size, e->sha256);
        if (r < 0)
                return r;
        r = seal_add_text(s, e->path);
        return r < 0 ? r : str_addc(s, '\n');
}

static int seal_add_head(Str *s, const Seal *seal) {
        char time[CLOCK_TEXT_SIZE];
        int r;

        clock_format(seal->time_ms, time);
        r = str_addf(s, "%stime %s\nby ", seal_magic, time);
        if (r < 0)
                return r;
        r = seal_add_text(s, seal->by ? seal->by : "");
        if (r < 0)
                return r;
        return str_addf(s, "\ncommit %s\n", *seal->commit ? seal->commit : "-");
}

int seal_format(const Seal *s, char **ret) {
        CLEANUP(str_done) Str out = STR_NULL;
        int r;

        r = seal_add_head(&out, s);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->len; i++) {
                r = seal_add_line(&out, &s->entries[i]);
                if (r < 0)
                        return r;
        }
        r = str_addf(&out, "end %zu\n", s->len);
        return r < 0 ? r : str_take(&out, ret);
}

/* Reading: each line is cut off in a private copy; that there is one form only is proven at the
 * end, by writing it again. */

static char *seal_line(char **at, const char *key) {
        char *line = *at, *end = strchr(line, '\n');

        if (!end || !str_starts(line, key))
                return NULL;
        *end = '\0';
        *at = end + 1;
        return line + strlen(key);
}

static char *seal_word(char **at) {
        char *word = *at, *end = strchr(word, ' ');

        if (!end)
                return NULL;
        *end = '\0';
        *at = end + 1;
        return word;
}

static int seal_hex_value(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool seal_unescape(char *text, size_t max) {
        char *to = text;

        for (const char *from = text; *from; to++) {
                int high, low;

                if (*from != '\\') {
                        *to = *from++;
                        continue;
                }
                if (from[1] != 'x')
                        return false;
                high = seal_hex_value(from[2]);
                low = high < 0 ? -1 : seal_hex_value(from[3]);
                if (low < 0 || high + low == 0)
                        return false;
                *to = (char)(high * 16 + low);
                from += 4;
        }
        *to = '\0';
        return (size_t)(to - text) <= max;
}

static bool seal_parse_state(char **at, SealEntry *e) {
        const char *mode = seal_word(at), *size = mode ? seal_word(at) : NULL;
        const char *sha256 = size ? seal_word(at) : NULL;
        unsigned long long number;

        if (!sha256)
                return false;
        if (strcmp(sha256, "absent") == 0) {
                e->absent = true;
                return strcmp(mode, "-") == 0 && strcmp(size, "-") == 0;
        }
        if (!str_parse_uint(size, TAKE_MAX, &number) || !hash_is_hex(sha256, HASH_HEX_SIZE - 1))
                return false;
        e->size = number;
        memcpy(e->sha256, sha256, sizeof(e->sha256));
        if (strlen(mode) != 6 || strspn(mode, "01234567") != 6)
                return false;
        for (; *mode; mode++)
                e->mode = e->mode * 8 + (mode_t)(*mode - '0');
        return S_ISREG(e->mode);
}

static int seal_parse_entry(char *line, Seal *s) {
        SealEntry e = {0};
        const char *kind = seal_word(&line), *tracked = kind ? seal_word(&line) : NULL;

        if (!tracked || !seal_parse_state(&line, &e) || !seal_unescape(line, SEAL_PATH_MAX))
                return SEAL_E_INVALID;
        e.kind = strcmp(kind, "env") == 0 ? TAKE_ENV : TAKE_GUARDED;
        e.tracked = strcmp(tracked, "tracked") == 0;
        e.path = line;
        if (!*line || *line == '/' || seal_find(s, e.kind, line) || s->len == SEAL_ENTRIES_MAX)
                return SEAL_E_INVALID;
        return seal_add(s, &e);
}

static int seal_parse_head(char **at, Seal *s) {
        char *time = seal_line(at, "time "), *by = time ? seal_line(at, "by ") : NULL;
        char *commit = by ? seal_line(at, "commit ") : NULL;
        int r;

        if (!commit || !seal_unescape(by, SEAL_BY_MAX))
                return SEAL_E_INVALID;
        r = clock_parse(time, &s->time_ms);
        if (r != 0 || s->time_ms < 0)
                return r < 0 ? r : SEAL_E_INVALID;
        if (strcmp(commit, "-") != 0) {
                if (!hash_is_hex(commit, 40) && !hash_is_hex(commit, 64))
                        return SEAL_E_INVALID;
                memcpy(s->commit, commit, strlen(commit) + 1);
        }
        return str_dup(by, &s->by);
}

static int seal_parse_text(char *at, Seal *s) {
        char *line;
        int r;

        r = seal_parse_head(&at, s);
        if (r != 0)
                return r;
        while ((line = seal_line(&at, "file "))) {
                r = seal_parse_entry(line, s);
                if (r != 0)
                        return r;
        }
        return seal_line(&at, "end ") && !*at ? 0 : SEAL_E_INVALID;
}

int seal_parse(const char *bytes, size_t len, Seal *ret) {
        CLEANUP(seal_done) Seal s = SEAL_NULL;
        CLEANUP(str_done) Str copy = STR_NULL;
        CLEANUP(str_freep) char *again = NULL;
        size_t magic = sizeof(seal_magic) - 1;
        int r;

        if (len > SEAL_MAX_BYTES || len < magic || memchr(bytes, '\0', len) ||
            memcmp(bytes, seal_magic, magic) != 0)
                return SEAL_E_INVALID;
        r = str_add(&copy, bytes + magic, len - magic);
        if (r < 0)
                return r;
        r = copy.data ? seal_parse_text(copy.data, &s) : SEAL_E_INVALID;
        if (r != 0)
                return r;
        r = seal_format(&s, &again);
        if (r < 0)
                return r;
        if (strlen(again) != len || memcmp(again, bytes, len) != 0)
                return SEAL_E_INVALID;
        *ret = s;
        s = SEAL_NULL;
        return 0;
}

/* On disk */

static PinRule seal_rule(void) {
        return (PinRule){.owner = geteuid(), .forbid = 0022};
}

/* Our own state in a state that isn't ours: no refusal of a request, but trouble of the host. */
static int seal_own(int r) {
        return r > 0 ? err_new(EBADMSG) : r;
}

int seal_load(int state_fd, Seal *ret) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        PinRule rule = seal_rule();
        int r;

        r = pin_read_at(state_fd, "seal/seal", &rule, 0, SEAL_MAX_BYTES, &bytes);
        if (r == PIN_E_ABSENT)
                return SEAL_E_ABSENT;
        if (r > 0)
                return SEAL_E_INVALID;
        if (r < 0)
                return r;
        return seal_parse(bytes.data ? bytes.data : "", bytes.len, ret);
}

static bool seal_copy_good(int files_fd, const char *sha256, mode_t mode) {
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule rule = seal_rule();
        char seen[HASH_HEX_SIZE];
        struct stat st;
        uint64_t size;

        return pin_file_at(files_fd, sha256, &rule, 0, &fd, &st) == 0 &&
               (st.st_mode & mode) == mode && hash_sha256_fd(fd, TAKE_MAX, seen, &size) == 0 &&
               strcmp(seen, sha256) == 0;
}

static int seal_store_copy(int files_fd, const Taken *t) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        mode_t mode = t->st.st_mode & 0100 ? 0500 : 0400;
        int r;

        if (seal_copy_good(files_fd, t->sha256, mode))
                return 0;
        r = io_read_file(t->bytes_fd, TAKE_MAX, &bytes);
        if (r != 0)
                return seal_own(r);
        return seal_own(publish_file(files_fd, t->sha256, bytes.data ? bytes.data : "", bytes.len,
                                     mode, PUBLISH_SYNC));
}

int seal_store(int state_fd, const Seal *s, const TakenList *taken) {
        CLEANUP(fd_closep) int dir_fd = -EBADF;
        CLEANUP(fd_closep) int files_fd = -EBADF;
        CLEANUP(str_freep) char *text = NULL;
        PinRule rule = seal_rule();
        int r;

        r = pin_make_dir_at(state_fd, "seal", 0700, &rule, &dir_fd);
        if (r != 0)
                return seal_own(r);
        r = pin_make_dir_at(dir_fd, "files", 0700, &rule, &files_fd);
        if (r != 0)
                return seal_own(r);
        for (size_t i = 0; i < taken->len; i++) {
                if (taken->items[i].refused != 0)
                        continue;
                r = seal_store_copy(files_fd, &taken->items[i]);
                if (r < 0)
                        return r;
        }
        r = seal_format(s, &text);
        if (r < 0)
                return r;
        return seal_own(publish_file(dir_fd, "seal", text, strlen(text), 0600, PUBLISH_SYNC));
}

int seal_open_copy(int state_fd, const SealEntry *e, int *ret_fd) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_freep) char *name = NULL;
        char seen[HASH_HEX_SIZE];
        PinRule rule = seal_rule();
        struct stat st;
        uint64_t size;
        int r;

        if (e->absent)
                return SEAL_E_ABSENT;
        r = str_printf(&name, "seal/files/%s", e->sha256);
        if (r < 0)
                return r;
        r = pin_file_at(state_fd, name, &rule, 0, &fd, &st);
        if (r != 0)
                return r == PIN_E_ABSENT ? SEAL_E_ABSENT : r > 0 ? SEAL_E_INVALID : r;
        if ((uint64_t)st.st_size != e->size)
                return SEAL_E_INVALID;
        r = hash_sha256_fd(fd, TAKE_MAX, seen, &size);
        if (r < 0)
                return r;
        if (strcmp(seen, e->sha256) != 0)
                return SEAL_E_INVALID;
        *ret_fd = fd_take(&fd);
        return 0;
}

static bool seal_names(const Seal *s, const char *sha256) {
        for (size_t i = 0; i < s->len; i++)
                if (strcmp(s->entries[i].sha256, sha256) == 0)
                        return true;
        return false;
}

static void seal_closedir(DIR **dir) {
        if (*dir)
                (void)closedir(*dir);
}

int seal_prune(int state_fd, const Seal *s) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(seal_closedir) DIR *dir = NULL;
        PinRule rule = seal_rule();
        int r;

        r = pin_dir_at(state_fd, "seal/files", &rule, 0, &fd);
        if (r == PIN_E_ABSENT)
                return 0;
        if (r != 0)
                return seal_own(r);
        dir = fdopendir(fd);
        if (!dir)
                return err_new(errno);
        (void)fd_take(&fd);
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                    seal_names(s, entry->d_name))
                        continue;
                r = publish_remove(dirfd(dir), entry->d_name);
                if (r != 0)
                        return seal_own(r);
        }
        return 0;
}
