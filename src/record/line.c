#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "record/audit.h"
#include "record/line.h"

enum { LINE_DAMAGE_MAX = 1024 * 1024, LINE_HEX = HASH_HEX_SIZE - 1 };
static const char line_seq[] = "{\"seq\":";
static const char line_prev[] = ",\"prev\":\"";

static bool line_has_control(const char *bytes, size_t len) {
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)bytes[i] < ' ')
                        return true;
        return false;
}

int line_format(uint64_t seq, const char *prev, const char *body, Str *ret) {
        size_t len = strlen(body);
        int r;

        if (len < 2 || body[0] != '{' || body[len - 1] != '}' || line_has_control(body, len))
                return LINE_E_FORM;
        str_clear(ret);
        r = str_addf(ret, "%s%llu%s%s\"%s", line_seq, (unsigned long long)seq, line_prev, prev,
                     len > 2 ? "," : "");
        if (r == 0)
                r = str_add(ret, body + 1, len - 1);
        return r == 0 ? str_addc(ret, '\n') : r;
}

/* Moves *at past `text`. */
static bool line_skip(const char **at, const char *end, const char *text) {
        size_t len = strlen(text);

        if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
                return false;
        *at += len;
        return true;
}

int line_parse(const char *bytes, size_t len, uint64_t *ret_seq, char ret_prev[HASH_HEX_SIZE]) {
        const char *at = bytes, *end = bytes + len;
        char digits[21], prev[HASH_HEX_SIZE];
        unsigned long long seq;
        size_t n = 0;

        if (len == 0 || len >= AUDIT_LINE_MAX || line_has_control(bytes, len) ||
            !line_skip(&at, end, line_seq))
                return LINE_E_FORM;
        while (at < end && *at >= '0' && *at <= '9' && n < sizeof(digits) - 1)
                digits[n++] = *at++;
        digits[n] = '\0';
        if (digits[0] == '0' || !str_parse_uint(digits, UINT64_MAX, &seq) ||
            !line_skip(&at, end, line_prev) || (size_t)(end - at) < LINE_HEX + 2)
                return LINE_E_FORM;
        memcpy(prev, at, LINE_HEX);
        prev[LINE_HEX] = '\0';
        at += LINE_HEX;
        if (!hash_is_hex(prev, LINE_HEX) || *at != '"' || end[-1] != '}' ||
            (at[1] != ',' && at + 2 != end))
                return LINE_E_FORM;
        *ret_seq = seq;
        memcpy(ret_prev, prev, sizeof(prev));
        return 0;
}

static int line_read(int fd, char *bytes, size_t len, off_t offset) {
        while (len > 0) {
                ssize_t n = pread(fd, bytes, len, offset);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return err_new(n < 0 ? errno
                                             : EIO); /* shorter than it was: not under our lock */
                bytes += n;
                len -= (size_t)n;
                offset += n;
        }
        return 0;
}

/* The last newline in bytes[0..len), as the offset behind it; 0 when there is none. */
static size_t line_break(const char *bytes, size_t len) {
        const char *at = memrchr(bytes, '\n', len);

        return at ? (size_t)(at - bytes) + 1 : 0;
}

int line_tail(int fd, off_t size, LineTail *ret) {
        char chunk[AUDIT_LINE_MAX + 1],
                prev[HASH_HEX_SIZE]; /* a whole line, and the newline before */
        LineTail tail = {.end = size};

        while (tail.end > 0) {
                size_t len = tail.end < (off_t)sizeof(chunk) ? (size_t)tail.end : sizeof(chunk);
                off_t offset = tail.end - (off_t)len;
                size_t start;
                int r;

                if (size - tail.end > LINE_DAMAGE_MAX)
                        return LINE_E_DAMAGE;
                r = line_read(fd, chunk, len, offset);
                if (r < 0)
                        return r;
                start = line_break(chunk, chunk[len - 1] == '\n' ? len - 1 : len);
                if (chunk[len - 1] == '\n' &&
                    line_parse(chunk + start, len - 1 - start, &tail.seq, prev) == 0) {
                        hash_sha256(chunk + start, len - 1 - start, tail.hash);
                        break;
                }
                tail.end = offset + (off_t)start;
        }
        *ret = tail;
        return 0;
}
