#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "run/dotenv.h"

typedef struct DotenvKey {
        const char *key;
        size_t len;
        DotenvTake *take;
        void *arg;
} DotenvKey;

static bool dotenv_blank(char c) {
        return c == ' ' || c == '\t' || c == '\r';
}

/* scheme://user:PASSWORD@host, to the last @ before a slash. */
static int dotenv_password(const DotenvKey *k, const char *value, size_t len) {
        const char *at = memmem(value, len, "://", 3), *end = value + len, *colon, *last = NULL;

        if (!at)
                return 0;
        at += 3;
        colon = memchr(at, ':', (size_t)(end - at));
        for (const char *p = colon; p && p < end && *p != '/'; p++)
                if (*p == '@')
                        last = p;
        return last ? k->take(k->arg, k->key, k->len, colon + 1, (size_t)(last - colon - 1)) : 0;
}

static int dotenv_give(const DotenvKey *k, const char *value, size_t len) {
        int r = k->take(k->arg, k->key, k->len, value, len);

        if (r < 0)
                return r;
        r = dotenv_password(k, value, len);
        if (r < 0 || !memchr(value, '\n', len))
                return r;
        for (const char *at = value, *end = value + len; at < end && r == 0;) {
                const char *nl = memchr(at, '\n', (size_t)(end - at));
                size_t n = (size_t)((nl ? nl : end) - at);

                while (n > 0 && dotenv_blank(at[n - 1]))
                        n--;
                while (n > 0 && dotenv_blank(*at)) {
                        at++;
                        n--;
                }
                /* A BEGIN or END line tells nothing, and the whole key is found by it. */
                r = n > 5 && memcmp(at, "-----", 5) == 0 ? 0
                                                         : k->take(k->arg, k->key, k->len, at, n);
                at = nl ? nl + 1 : end;
        }
        return r;
}

/* A double-quoted value with its escapes undone. */
static int dotenv_unescaped(const DotenvKey *k, const char *value, size_t len) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_reserve(&s, len);

        for (size_t i = 0; i < len && r == 0; i++) {
                static const char coat[] = "nrtbf", plain[] = "\n\r\t\b\f";
                const char *at = NULL;

                if (value[i] == '\\' && i + 1 < len) {
                        i++;
                        at = value[i] ? strchr(coat, value[i]) : NULL;
                }
                r = str_addc(&s, at ? plain[at - coat] : value[i]);
        }
        return r < 0 ? r : dotenv_give(k, s.data, s.len);
}

static int dotenv_bare(const DotenvKey *k, const char *value, size_t len) {
        int r;

        while (len > 0 && dotenv_blank(value[len - 1]))
                len--;
        r = dotenv_give(k, value, len);
        for (size_t i = 1; i < len && r == 0; i++) {
                size_t n = i;

                if (value[i] != '#' || !dotenv_blank(value[i - 1]))
                        continue;
                while (n > 0 && dotenv_blank(value[n - 1]))
                        n--;
                return dotenv_give(k, value, n);
        }
        return r;
}

/* The quote that ends a value which begins behind `at`; NULL when there is none. */
static const char *dotenv_quote(const char *at, const char *end, char quote) {
        for (; at < end; at++) {
                if (*at == '\\' && quote == '"' && at + 1 < end)
                        at++;
                else if (*at == quote)
                        return at;
        }
        return NULL;
}

/* Gives where to go on. */
static int dotenv_value(const DotenvKey *k, const char *at, const char *end,
                        const char **ret_next) {
        const char *nl, *quote = NULL;
        int r;

        while (at < end && dotenv_blank(*at))
                at++;
        if (at < end && (*at == '"' || *at == '\''))
                quote = dotenv_quote(at + 1, end, *at);
        nl = memchr(at, '\n', (size_t)(end - at));
        r = dotenv_bare(k, at,
                        (size_t)((nl ? nl : end) - at)); /* docker's --env-file keeps the quotes */
        if (r == 0 && quote) {
                r = dotenv_give(k, at + 1, (size_t)(quote - at - 1));
                if (r == 0 && *at == '"' && memchr(at, '\\', (size_t)(quote - at)))
                        r = dotenv_unescaped(k, at + 1, (size_t)(quote - at - 1));
                nl = memchr(quote, '\n', (size_t)(end - quote));
        } else if (r == 0 && at < end && (*at == '"' || *at == '\'')) {
                r = dotenv_bare(k, at + 1, (size_t)((nl ? nl : end) - at - 1)); /* never closed */
        }
        if (r < 0)
                return r;
        *ret_next = nl ? nl + 1 : end;
        return 0;
}

int dotenv_parse(const char *bytes, size_t len, DotenvTake *take, void *arg) {
        const char *at = bytes, *end = bytes + len;

        if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
                at += 3;
        while (at < end) {
                const char *nl = memchr(at, '\n', (size_t)(end - at));
                const char *stop = nl ? nl : end, *next = nl ? nl + 1 : end, *sep;
                int r = 0;

                while (at < stop && dotenv_blank(*at))
                        at++;
                if (stop - at > 7 && memcmp(at, "export", 6) == 0 && dotenv_blank(at[6]))
                        for (at += 6; at < stop && dotenv_blank(*at); at++)
                                ;
                for (sep = at; sep < stop && *sep != '=' && *sep != ':'; sep++)
                        ;
                if (sep < stop && sep > at && *at != '#') {
                        DotenvKey key = {at, (size_t)(sep - at), take, arg};

                        while (dotenv_blank(at[key.len - 1]))
                                key.len--;
                        r = dotenv_value(&key, sep + 1, end, &next);
                }
                if (r < 0)
                        return r;
                at = next;
        }
        return 0;
}

static bool dotenv_has(const char *text, size_t len, const char *word) {
        size_t n = strlen(word);

        for (size_t i = 0; i + n <= len; i++)
                if (strncasecmp(text + i, word, n) == 0)
                        return true;
        return false;
}

bool dotenv_ordinary(const char *key, size_t key_len, const char *value, size_t value_len) {
        static const char *const secret[] = {
                "pass",   "pwd", "secret",  "token", "key",  "cred", "auth", "session",
                "cookie", "dsn", "private", "salt",  "hash", "pin",  "code", "conn"};
        static const char *const word[] = {
                "production", "development", "localhost", "127.0.0.1",  "postgres", "postgresql",
                "disabled",   "enabled",     "container", "info,debug", "registry", "database",
                "internal",   "external",    "undefined", "0.0.0.0:80", "loopback", "username"};
        size_t n = 0;

        for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
                if (dotenv_has(key, key_len, secret[i]))
                        return false;
        for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
                if (strlen(word[i]) == value_len && strncasecmp(value, word[i], value_len) == 0)
                        return true;
        while (n < value_len && value[n] &&
               strchr("0123456789.:", value[n])) /* a number, an address, a port */
                n++;
        if (n == value_len)
                return true;
        if (value[0] != '/')
                return false;
        while (n < value_len && value[n] &&
               strchr("abcdefghijklmnopqrstuvwxyz/._-", value[n])) /* a plain path */
                n++;
        return n == value_len;
}
