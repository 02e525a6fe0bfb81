#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RESTART(arg_, ...) { .verb = "restart", .arg = arg_, .mutating = true, __VA_ARGS__ }
#define KEYED "\"idempotency_key\":\"k1\""
#define LOOK "\"idempotency_key\":\"look\""
enum { RAN = W_DONE | W_UNCERTAIN };

const WorldCase world_cases[] = {
        { .verb = "ping", .ends = W_DONE },
        { .verb = "status", .ends = W_DONE },
        { .verb = "logs", .arg = "web", .ends = W_DONE },
        { .verb = "health", .members = LOOK, .key = "look", .ends = RAN },
        { .verb = "health", .members = LOOK, .key = "look", .ends = RAN },
        { .verb = "report", .ends = W_DONE },
        RESTART("web", .members = KEYED, .key = "k1", .line = "restart web", .ends = RAN),
        RESTART("web", .members = KEYED, .key = "k1", .line = "restart web", .ends = RAN),
        RESTART("cache", .members = KEYED, .key = "k1", .line = "restart cache", .reason = "key-conflict", .ends = W_DENIED),
        RESTART("api", .line = "restart api", .ends = RAN),
        RESTART("fail", .line = "restart fail", .ends = W_FAILED | W_UNCERTAIN),
        RESTART("planned", .members = "\"permission_scope\":\"plan\"", .line = "restart planned", .reason = "plan", .ends = W_DONE),
        RESTART("old", .line = "restart old", .age_sec = 3600, .reason = "expired", .ends = W_EXPIRED),
        RESTART("nope", .line = "restart nope", .reason = "arg-not-listed", .ends = W_DENIED),
        RESTART("torn", .body = "{\"verb\":\"restart\",", .reason = "malformed", .ends = W_DENIED, .quarantined = true),
        { .verb = "up", .line = "start", .mutating = true, .ends = RAN },
        { .verb = "rebuild", .arg = "web", .line = "build web", .mutating = true, .ends = RAN },
        { .verb = "migrate", .line = "own migrate", .mutating = true, .ends = RAN },
        { .verb = "exec", .reason = "hard-denied", .ends = W_DENIED },
        { .verb = "status", .members = "\"extra\":1", .reason = "unknown-key", .ends = W_DENIED },
        { .verb = "status", .link = true, .reason = "malformed", .ends = W_DENIED, .quarantined = true },
};
const size_t world_case_count = sizeof(world_cases) / sizeof(world_cases[0]);

void world_die(const char *what) {
        fprintf(stderr, "sweep: %s: %s\n", what, strerror(errno));
        exit(2);
}

static void world_join(WorldPath *ret, const char *a, const char *b) {
        int n = snprintf(ret->text, sizeof(ret->text), "%s/%s", a, b);

        if (n < 0 || (size_t)n >= sizeof(ret->text))
                world_die(a);
}

void world_open(World *w, const char *root) {
        char real[PATH_MAX];

        memset(w, 0, sizeof(*w));
        if (!realpath(root, real))
                world_die(root);
        world_join(&w->root, real, ".");
        world_join(&w->home, real, "home");
        world_join(&w->drain, real, "drain");
        world_join(&w->state, w->home.text, ".local/state/spoolgate/" WORLD_SLUG);
        world_join(&w->spool, real, "shop/untracked/spoolgate");
        world_join(&w->effects, w->home.text, "effects");
        world_join(&w->violations, w->home.text, "violations");
}

static DIR *world_dir(const char *path) {
        DIR *d = opendir(path);

        if (!d)
                world_die(path);
        return d;
}

static const struct dirent *world_next(DIR *d) {
        const struct dirent *e;

        do
                e = readdir(d);
        while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
        return e;
}

static void world_clear(const char *path) {
        DIR *d = world_dir(path);
        const struct dirent *e;

        while ((e = world_next(d))) {
                WorldPath sub;
                if (unlinkat(dirfd(d), e->d_name, 0) == 0)
                        continue;
                world_join(&sub, path, e->d_name);
                world_clear(sub.text);
                if (unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR) < 0)
                        world_die(sub.text);
        }
        closedir(d);
}

static void world_copy_file(const char *from, const char *to, mode_t mode) {
        int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        char bytes[8192];
        ssize_t n;

        if (in < 0 || out < 0)
                world_die(from);
        while ((n = read(in, bytes, sizeof(bytes))) > 0)
                if (write(out, bytes, (size_t)n) != n)
                        world_die(to);
        if (n < 0 || fchmod(out, mode) < 0)
                world_die(to);
        close(in);
        close(out);
}

static void world_copy(const char *from, const char *to) {
        DIR *d = world_dir(from);
        const struct dirent *e;

        while ((e = world_next(d))) {
                WorldPath a, b;
                struct stat st;
                world_join(&a, from, e->d_name);
                world_join(&b, to, e->d_name);
                if (lstat(a.text, &st) < 0)
                        world_die(a.text);
                if (!S_ISDIR(st.st_mode)) {
                        world_copy_file(a.text, b.text, st.st_mode & 07777);
                        continue;
                }
                if (mkdir(b.text, 0700) < 0 || chmod(b.text, st.st_mode & 07777) < 0)
                        world_die(b.text);
                world_copy(a.text, b.text);
        }
        closedir(d);
}

void world_reset(const World *w) {
        WorldPath from;

        world_clear(w->state.text);
        world_clear(w->spool.text);
        world_join(&from, w->root.text, "template/state");
        world_copy(from.text, w->state.text);
        world_join(&from, w->root.text, "template/spool");
        world_copy(from.text, w->spool.text);
        (void)unlink(w->effects.text);
        (void)unlink(w->violations.text);
}

static void world_stamp(time_t at, bool iso, char ret[32]) {
        struct tm tm;

        if (!gmtime_r(&at, &tm))
                world_die("the clock");
        (void)!(iso ? strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) : strftime(ret, 32, "%Y%m%dT%H%M%SZ", &tm));
}

void world_name(const World *w, size_t i, char ret[128]) {
        char stamp[32];
        struct tm tm = { 0 };
        time_t at;

        (void)strptime(w->now, "%Y%m%dT%H%M%SZ", &tm);
        at = timegm(&tm) - world_cases[i].age_sec;
        world_stamp(at, false, stamp);
        snprintf(ret, 128, "%s-%s-%016zx.json", stamp, world_cases[i].verb, i + 1);
}

static bool world_put(const World *w, const char *name, const char *bytes) {
        WorldPath dir, path;
        int fd;

        world_join(&dir, w->spool.text, "requests");
        world_join(&path, dir.text, name);
        fd = open(path.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, bytes, strlen(bytes)) < 0) {
                if (!w->small || errno != ENOSPC)
                        world_die(path.text);
                if (fd >= 0 && (close(fd) < 0 || unlink(path.text) < 0))
                        world_die(path.text);
                return false;
        }
        close(fd);
        return true;
}

static bool world_put_case(const World *w, size_t i, time_t now) {
        const WorldCase *c = &world_cases[i];
        char name[128], at[32], body[512];
        WorldPath path;

        world_name(w, i, name);
        if (c->link) {
                snprintf(body, sizeof(body), "requests/%s", name);
                world_join(&path, w->spool.text, body);
                if (symlink(w->drain.text, path.text) < 0 && !w->small)
                        world_die(path.text);
                return lstat(path.text, &(struct stat){ 0 }) == 0;
        }
        world_stamp(now - c->age_sec, true, at);
        snprintf(body, sizeof(body), "{\"verb\":\"%s\",\"requested_at\":\"%s\"%s%s%s%s%s}", c->verb, at, c->arg ? ",\"arg\":\"" : "",
                 c->arg ? c->arg : "", c->arg ? "\"" : "", c->members ? "," : "", c->members ? c->members : "");
        return world_put(w, name, c->body ? c->body : body);
}

void world_fill(World *w) {
        time_t now = time(NULL);
        WorldPath path;

        world_stamp(now, false, w->now);
        w->sent = 0;
        for (size_t i = 0; i < world_case_count; i++)
                w->sent |= (uint64_t)world_put_case(w, i, now) << i;
        w->hostile = world_put(w, "junk", "no request\n");
        world_join(&path, w->spool.text, "requests/pipe.json");
        if (mkfifo(path.text, 0600) == 0)
                w->hostile++;
        else if (!w->small)
                world_die(path.text);
}

bool world_sent(const World *w, size_t i) {
        return w->sent >> i & 1;
}

size_t world_sent_count(const World *w) {
        return (size_t)__builtin_popcountll(w->sent);
}

bool world_read(const char *dir, const char *name, char *ret, size_t size, size_t *ret_len) {
        WorldPath path;
        ssize_t n;
        int fd;

        world_join(&path, dir, name);
        fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        if (fd < 0)
                return false;
        n = read(fd, ret, size - 1);
        close(fd);
        if (n < 0)
                return false;
        ret[n] = '\0';
        if (ret_len)
                *ret_len = (size_t)n;
        return true;
}

static size_t world_count(const char *dir, const char *sub, bool dots) {
        WorldPath path;
        const struct dirent *e;
        size_t n = 0;
        DIR *d;

        world_join(&path, dir, sub);
        d = opendir(path.text);
        if (!d) /* not made yet: the drain died before */
                return 0;
        while ((e = world_next(d)))
                n += (e->d_name[0] == '.') == dots;
        closedir(d);
        return n;
}

size_t world_visible(const char *dir, const char *sub) {
        return world_count(dir, sub, false);
}

static size_t world_count_if(const World *w, const char *sub, bool (*keep)(const char *name)) {
        const struct dirent *e;
        WorldPath path;
        size_t n = 0;
        DIR *d;

        world_join(&path, w->spool.text, sub);
        d = world_dir(path.text);
        while ((e = world_next(d)))
                n += keep(e->d_name);
        closedir(d);
        return n;
}

static bool world_is_archived(const char *name) {
        return name[0] != '.' && !strstr(name, ".json.log");
}

static bool world_is_bad(const char *name) {
        return strncmp(name, ".bad-", 5) == 0;
}

size_t world_kept(const World *w) {
        return world_count_if(w, "archive", world_is_archived) + world_count_if(w, "requests", world_is_bad) +
               world_count_if(w, "processing", world_is_bad) + world_visible(w->spool.text, "quarantine");
}

size_t world_dotfiles(const World *w) {
        static const char *const spool[] = { "tmp", "requests", "processing", "responses", "archive", "quarantine", "diagnostics", "inbox" };
        static const char *const state[] = { ".", "ledger/begun", "ledger/ended", "rate", "run" };
        size_t n = 0;

        for (size_t i = 0; i < sizeof(spool) / sizeof(spool[0]); i++)
                n += world_count(w->spool.text, spool[i], true);
        for (size_t i = 0; i < sizeof(state) / sizeof(state[0]); i++)
                n += world_count(w->state.text, state[i], true);
        return n;
}

unsigned world_state(const World *w, size_t i) {
        static const struct { const char *word; unsigned end; } words[] = {
                { "\"state\":\"done\"", W_DONE }, { "\"state\":\"failed\"", W_FAILED }, { "\"state\":\"uncertain\"", W_UNCERTAIN },
                { "\"state\":\"denied\"", W_DENIED }, { "\"state\":\"expired\"", W_EXPIRED },
        };
        static char bytes[256 * 1024];
        char name[128], file[192];

        world_name(w, i, name);
        snprintf(file, sizeof(file), "responses/%s.response.json", name);
        if (!world_read(w->spool.text, file, bytes, sizeof(bytes), NULL))
                return 0;
        for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
                if (strstr(bytes, words[k].word))
                        return words[k].end;
        return 0;
}

bool world_settled(const World *w) {
        if (world_visible(w->spool.text, "requests") || world_visible(w->spool.text, "processing") ||
            world_visible(w->state.text, "ledger/begun"))
                return false;
        for (size_t i = 0; i < world_case_count; i++)
                if (world_sent(w, i) && !world_state(w, i))
                        return false;
        return true;
}

static uint64_t world_mix(uint64_t h, const void *bytes, size_t len) { /* FNV-1a */
        const unsigned char *p = bytes;

        for (size_t i = 0; i < len; i++)
                h = (h ^ p[i]) * 0x100000001b3;
        return h;
}

uint64_t world_answer(const World *w, size_t i) {
        static char bytes[256 * 1024];
        char name[128], file[192];
        size_t len;

        world_name(w, i, name);
        snprintf(file, sizeof(file), "responses/%s.response.json", name);
        if (!world_state(w, i) || !world_read(w->spool.text, file, bytes, sizeof(bytes), &len))
                return 0;
        return world_mix(0xcbf29ce484222325, bytes, len);
}

static uint64_t world_hash_dir(const char *path) {
        static char bytes[1024 * 1024];
        DIR *d = world_dir(path);
        const struct dirent *e;
        uint64_t sum = 0; /* of the entries: their order says nothing */

        while ((e = world_next(d))) {
                uint64_t h = world_mix(0xcbf29ce484222325, e->d_name, strlen(e->d_name));
                struct stat st;
                WorldPath sub;
                size_t len;
                if (strcmp(e->d_name, "heartbeat.json") == 0 || strcmp(e->d_name, "capabilities.json") == 0 ||
                    strcmp(e->d_name, "lock") == 0 || strcmp(e->d_name, ".pruned") == 0)
                        continue;
                world_join(&sub, path, e->d_name);
                if (lstat(sub.text, &st) < 0)
                        world_die(sub.text);
                h = world_mix(h, &st.st_mode, sizeof(st.st_mode));
                if (S_ISDIR(st.st_mode))
                        h = world_mix(h, &(uint64_t){ world_hash_dir(sub.text) }, sizeof(uint64_t));
                else if (S_ISREG(st.st_mode) && world_read(path, e->d_name, bytes, sizeof(bytes), &len))
                        h = world_mix(h, bytes, len);
                sum += h;
        }
        closedir(d);
        return sum;
}

uint64_t world_hash(const World *w) {
        return world_hash_dir(w->state.text) * 31 + world_hash_dir(w->spool.text);
}

size_t world_effects(const World *w, const char *line) {
        static char bytes[64 * 1024];
        size_t n = 0, len = strlen(line);

        if (!world_read(w->home.text, "effects", bytes, sizeof(bytes), NULL))
                return 0;
        for (const char *at = bytes; *at;) {
                const char *end = strchrnul(at, '\n');
                n += (size_t)(end - at) == len && memcmp(at, line, len) == 0;
                at = *end ? end + 1 : end;
        }
        return n;
}
