#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "guard/head.h"

enum { HEAD_BLOCK = 64 * 1024, HEAD_SHA256_HEX = 64 };

static const PinRule head_any = {.owner = (uid_t)-1}; /* the agent commits under its own uid */

static int head_own_dir(int fd) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return err_new(errno);
        return S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? 0 : INSPECT_OWNER;
}

static void head_trim(Str *s) {
        while (s->len > 0 && isspace((unsigned char)s->data[s->len - 1]))
                s->data[--s->len] = '\0';
}

int head_common(int git_fd, int up_fd, int *ret_fd) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        r = pin_read_at(git_fd, "commondir", &head_any, PIN_ANY_LINKS, HEAD_REF_MAX, &text);
        if (r == PIN_E_ABSENT)
                return fd_dup(git_fd, ret_fd);
        if (r != 0)
                return r > 0 ? INSPECT_COMMON : r;
        head_trim(&text);
        if (!text.data || strcmp(text.data, "../..") != 0)
                return INSPECT_COMMON;
        r = head_own_dir(up_fd);
        return r == 0 ? fd_dup(up_fd, ret_fd) : r;
}

/* config */

static const char *head_skip(const char *at, const char *end) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
                at++;
        return at;
}

static bool head_is(const char *at, size_t len, const char *word) {
        return len == strlen(word) && strncasecmp(at, word, len) == 0;
}

/* `key = value` below [extensions] */
static int head_extension(const char *key, const char *end) {
        const char *at = key, *value;
        size_t len, left;

        while (at < end && (isalnum((unsigned char)*at) || *at == '-'))
                at++;
        len = (size_t)(at - key);
        value = head_skip(at, end);
        if (value < end && *value == '=')
                value++;
        value = head_skip(value, end);
        left = (size_t)(end - value);
        if (head_is(key, len, "partialclone"))
                return INSPECT_PARTIAL;
        if (head_is(key, len, "objectformat"))
                return memmem(value, left, "sha1", 4) ? 0 : INSPECT_SHA256;
        if (head_is(key, len, "refstorage"))
                return memmem(value, left, "files", 5) ? 0 : INSPECT_REFTABLE;
        return 0;
}

/* Enough of git-config(1)'s syntax to name what we can't read. A text that fools it gains nothing:
 * the ids and refs are then refused for what they are. */
int head_config(const char *bytes, size_t len) {
        const char *at = bytes, *stop = bytes + len;
        bool inside = false;

        while (at < stop) {
                const char *end = memchr(at, '\n', (size_t)(stop - at));
                const char *word, *close;
                int r;

                end = end ? end : stop;
                word = head_skip(at, end);
                if (word < end && *word == '[') {
                        close = memchr(word, ']', (size_t)(end - word));
                        close = close ? close : end;
                        inside = head_is(word + 1, (size_t)(close - word - 1), "extensions");
                        word = close < end ? head_skip(close + 1, end) : end;
                }
                r = inside ? head_extension(word, end) : 0;
                if (r > 0)
                        return r;
                at = end < stop ? end + 1 : stop;
        }
        return 0;
}

int head_extensions(int common_fd) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        r = pin_read_at(common_fd, "config", &head_any, PIN_ANY_LINKS, HEAD_CONFIG_MAX, &text);
        if (r == PIN_E_ABSENT)
                return 0;
        if (r != 0)
                return r > 0 ? INSPECT_CONFIG : r;
        return text.data ? head_config(text.data, text.len) : 0;
}

/* refs */

/* git-check-ref-format(1), below refs/ only */
bool head_ref_ok(const char *name) {
        size_t len = strlen(name);

        if (len >= HEAD_REF_MAX || !str_starts(name, "refs/") || name[len - 1] == '/' ||
            name[len - 1] == '.' || strstr(name, "//") || strstr(name, "..") ||
            strstr(name, "/.") || strstr(name, "@{") || strstr(name, ".lock/") ||
            str_ends(name, ".lock"))
                return false;
        for (; *name; name++)
                if ((unsigned char)*name <= 0x20 || *name == 0x7f || strchr("~^:?*[\\", *name))
                        return false;
        return true;
}

static size_t head_hex_len(const char *s) {
        return strspn(s, "0123456789abcdef");
}

static int head_take_hex(const char *s, size_t len, char hex[VERDICT_HEX + 1]) {
        if (len == HEAD_SHA256_HEX)
                return INSPECT_SHA256;
        if (len != VERDICT_HEX)
                return INSPECT_HEAD;
        memcpy(hex, s, VERDICT_HEX);
        hex[VERDICT_HEX] = '\0';
        return 0;
}

/* A line "HEX NAME"; INSPECT_UNBORN: another ref's. */
static int head_packed_line(const char *line, size_t len, const char *name,
                            char hex[VERDICT_HEX + 1]) {
        size_t name_len = strlen(name);
        size_t digits = len > name_len ? len - name_len - 1 : 0;

        if (digits == 0 || line[digits] != ' ' || memcmp(line + digits + 1, name, name_len) != 0)
                return INSPECT_UNBORN;
        if (strspn(line, "0123456789abcdef") != digits)
                return INSPECT_HEAD;
        return head_take_hex(line, digits, hex);
}

/* The whole lines of buf; what is left of the last one moves to the front. */
static int head_packed_lines(Str *buf, const char *name, char hex[VERDICT_HEX + 1]) {
        const char *at = buf->data, *end;
        size_t left = buf->len;
        int r = INSPECT_UNBORN;

        while (r == INSPECT_UNBORN && (end = memchr(at, '\n', left))) {
                size_t len = (size_t)(end - at);

                r = head_packed_line(at, len, name, hex);
                left -= len + 1;
                at = end + 1;
        }
        memmove(buf->data, at, left);
        buf->len = left;
        return r;
}

static int head_packed(int common_fd, const char *name, char hex[VERDICT_HEX + 1]) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(str_done) Str buf = STR_NULL;
        int r;

        r = pin_file_at(common_fd, "packed-refs", &head_any, PIN_ANY_LINKS, &fd, NULL);
        if (r == PIN_E_ABSENT)
                return INSPECT_UNBORN;
        if (r != 0)
                return r > 0 ? INSPECT_HEAD : r;
        r = str_reserve(&buf, HEAD_BLOCK);
        if (r < 0)
                return r;
        for (;;) {
                ssize_t n;

                if (buf.len >= 2 * HEAD_REF_MAX)
                        return INSPECT_HEAD; /* no end of line in sight */
                n = read(fd, buf.data + buf.len, HEAD_BLOCK - buf.len);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_new(errno);
                if (n == 0)
                        return INSPECT_UNBORN;
                buf.len += (size_t)n;
                r = head_packed_lines(&buf, name, hex);
                if (r != INSPECT_UNBORN)
                        return r;
        }
}

static int head_ref_dir(int git_fd, int common_fd, const char *name) {
        return str_starts(name, "refs/bisect/") || str_starts(name, "refs/worktree/") ||
                               str_starts(name, "refs/rewritten/")
                       ? git_fd
                       : common_fd;
}

/* PIN_E_ABSENT also for a directory: git leaves empty ones behind. */
static int head_read_loose(int dir_fd, const char *name, Str *ret) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r = pin_read_at(dir_fd, name, &head_any, PIN_ANY_LINKS, HEAD_REF_MAX, ret);

        if (r != PIN_E_TYPE)
                return r;
        return pin_dir_at(dir_fd, name, &head_any, 0, &fd) == 0 ? PIN_E_ABSENT : PIN_E_TYPE;
}

/* One step: *ret_next is the next symbolic name, or hex is set and it stays empty. */
static int head_step(const char *text, char hex[VERDICT_HEX + 1], Str *ret_next) {
        size_t digits = head_hex_len(text);
        const char *name;

        str_clear(ret_next);
        if (!str_starts(text, "ref:"))
                return text[digits] ? INSPECT_HEAD : head_take_hex(text, digits, hex);
        name = text + strlen("ref:");
        name += strspn(name, " \t");
        if (strcmp(name, "refs/heads/.invalid") == 0)
                return INSPECT_REFTABLE;
        if (!head_ref_ok(name))
                return INSPECT_HEAD;
        return str_adds(ret_next, name);
}

int head_resolve(int git_fd, int common_fd, char hex[VERDICT_HEX + 1]) {
        CLEANUP(str_done) Str name = STR_NULL;
        int r;

        r = str_adds(&name, "HEAD");
        if (r < 0)
                return r;
        for (int depth = 0; depth <= HEAD_DEPTH; depth++) {
                CLEANUP(str_done) Str text = STR_NULL;
                int dir_fd = depth == 0 ? git_fd : head_ref_dir(git_fd, common_fd, name.data);

                r = head_read_loose(dir_fd, name.data, &text);
                if (r == PIN_E_ABSENT && depth > 0)
                        return head_packed(common_fd, name.data, hex);
                if (r != 0)
                        return r > 0 ? INSPECT_HEAD : r;
                head_trim(&text);
                if (!text.data || strlen(text.data) != text.len)
                        return INSPECT_HEAD;
                r = head_step(text.data, hex, &name);
                if (r != 0 || name.len == 0)
                        return r;
        }
        return INSPECT_HEAD;
}
