#include "operator/errand.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "fs/lock.h"
#include "fs/publish.h"
#include "installer/notice.h"
#include "operator/command.h"
#include "operator/host.h"
#include "operator/wake.h"

enum {
        ERRAND_POLL_MS = 100,
        ERRAND_POLL_MAX_MS = 1000,
        ERRAND_WAKE_MS = 2000, /* a drain that was just ending has not seen the order */
        ERRAND_IDLE_WAKES = 5, /* so many wakes without a drain: nobody will come */
        ERRAND_ANSWER_MAX = 1024 * 1024,
};

int errand_open(const char *slug, Config *ret, Str *why) {
        int r = hash_init();

        if (r == 0)
                r = host_load(slug, ret, why);
        return r == HOST_E_NONE ? ERRAND_E_NONE : r > 0 ? ERRAND_E_BROKEN : r;
}

int errand_exit(const char *command, int r, const Str *why) {
        if (r < 0)
                return command_broken(command, r);
        command_fail(command, why->data ? why->data : "failed");
        return r == ERRAND_E_BROKEN ? COMMAND_BROKEN : COMMAND_FINDING;
}

int errand_wake(const Config *c) {
        CLEANUP(str_done) Str why = STR_NULL;
        Wake w = WAKE_NULL;
        int r = wake_drain(c, &w, &why);

        return r < 0 ? r : 0; /* without a drain now, the next one writes it down */
}

int errand_note(const Config *c, const char *event, const Name *name, const char *detail) {
        int r = notice_note(c->state_fd, event, name, detail);

        return r < 0 ? r : errand_wake(c);
}

/* Waiting */

static volatile sig_atomic_t errand_interrupted;

static void errand_on_signal(int signo) {
        (void)signo;
        errand_interrupted = 1;
}

static void errand_catch(void) {
        struct sigaction action = {.sa_handler = errand_on_signal};

        (void)sigemptyset(&action.sa_mask);
        errand_interrupted = 0;
        (void)sigaction(SIGINT, &action, NULL); /* these can't fail with such arguments */
        (void)sigaction(SIGTERM, &action, NULL);
}

/* ERRAND_E_LATE: not yet. */
static int errand_look(const Config *c, int dir, const Name *file, ResponseDoc **ret) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        PinRule rule = config_rule(c);
        char done[ORDER_DONE_SIZE];
        int r;

        order_done_name(file, done);
        r = pin_read_at(dir, done, &rule, 0, ERRAND_ANSWER_MAX, &bytes);
        if (r == PIN_E_ABSENT || r == PIN_E_CHANGED)
                return ERRAND_E_LATE;
        if (r == 0)
                r = response_parse(bytes.data ? bytes.data : "", bytes.len, ret);
        if (r != 0)
                return r > 0 ? err_new(EBADMSG) : r;
        r = publish_remove(dir, done);
        return r < 0 ? r : 0; /* one that can't be removed is the drain's to sweep */
}

typedef struct ErrandVigil {
        const Config *config;
        Wake wake;
        int64_t wake_ms; /* when to wake next */
        bool woken;
        int idle; /* wakes since a drain was seen */
} ErrandVigil;

static int errand_gone(const Config *c, int status, Str *why) {
        int r;

        if (WIFEXITED(status))
                r = str_addf(why, "the drain ended with exit status %d", WEXITSTATUS(status));
        else
                r = str_addf(why, "the drain was ended by signal %d", WTERMSIG(status));
        if (r == 0)
                r = str_addf(why, "; the order waits for the next one\n%s/spoolgate-drain %s",
                             c->layout.lib, c->layout.slug);
        return r < 0 ? r : ERRAND_E_DRAIN;
}

static int errand_keep_awake(ErrandVigil *v, Str *why) {
        const Config *c = v->config;
        bool held;
        int status, r;

        if (wake_ended(&v->wake, &status) && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
                return errand_gone(c, status, why);
        if (clock_mono_ms() < v->wake_ms)
                return 0;
        v->wake_ms = clock_mono_ms() + ERRAND_WAKE_MS;
        r = lock_held(c->state_fd, "lock", &held);
        if (r < 0)
                return r;
        v->idle = held ? 0 : v->idle + 1;
        if (held && v->woken)
                return 0; /* it watches the orders; one that is just ending is found out next time
                           */
        v->woken = true;
        if (v->idle <= ERRAND_IDLE_WAKES) {
                r = wake_drain(c, &v->wake, why);
                return r > 0 ? ERRAND_E_DRAIN : r;
        }
        r = str_addf(why,
                     "no drain takes the order; is the pinned one older than this program?\n"
                     "spoolgate upgrade -s %s",
                     c->layout.slug);
        return r < 0 ? r : ERRAND_E_DRAIN;
}

static int errand_late(const Config *c, const Name *file, Str *why) {
        int r = str_addf(why, "%s: no answer yet, it stays in the line\nspoolgate cancel %s -s %s",
                         file->text, file->text, c->layout.slug);

        return r < 0 ? r : ERRAND_E_LATE;
}

int errand_wait(const Config *c, const Name *file, uint32_t wait_sec, ResponseDoc **ret, Str *why) {
        ErrandVigil v = {.config = c, .wake = WAKE_NULL};
        CLEANUP(fd_closep) int dir = -EBADF;
        int64_t end = clock_mono_ms() + (int64_t)wait_sec * 1000;
        int pause = ERRAND_POLL_MS, r = notice_dir(c->state_fd, &dir);

        errand_catch();
        while (r == 0) {
                r = errand_look(c, dir, file, ret);
                if (r != ERRAND_E_LATE)
                        return r;
                if (errand_interrupted || (wait_sec > 0 && clock_mono_ms() >= end))
                        return errand_late(c, file, why);
                r = errand_keep_awake(&v, why);
                if (r == 0)
                        (void)poll(NULL, 0, pause); /* cut short by a signal: looked at above */
                pause = pause * 3 / 2 < ERRAND_POLL_MAX_MS ? pause * 3 / 2 : ERRAND_POLL_MAX_MS;
        }
        return r;
}

/* What people see of it */

static int errand_outcome(const Response *r, Str *text) {
        const char *reason = reason_name(r->reason);
        int x = str_addf(text, "%s: %s", r->request ? r->request : "-", state_name(r->state));

        if (x == 0 && reason)
                x = str_addf(text, ": %s", reason);
        if (x == 0 && r->has_exit)
                x = str_addf(text, ", exit %d", r->exit);
        if (x == 0 && r->has_signal)
                x = str_addf(text, ", signal %d", r->signal);
        if (x == 0 && r->duration_ms >= 0)
                x = str_addf(text, ", %.1f s", (double)r->duration_ms / 1000);
        if (x == 0 && r->replayed)
                x = str_adds(text, ", replayed");
        if (x == 0 && r->message)
                x = str_addf(text, "\n%s", r->message);
        return x;
}

static int errand_print(const char *command, const Response *r, bool json) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(str_done) Str outcome = STR_NULL;
        int x = 0;

        if (json)
                x = response_format(r, &text);
        else if (r->has_output && r->output_len > 0)
                x = str_add(&text, r->output, r->output_len);
        if (x == 0 && text.len > 0 && text.data[text.len - 1] != '\n')
                x = str_addc(&text, '\n');
        if (x == 0)
                x = errand_outcome(r, &outcome);
        if (x < 0)
                return x;
        command_print(&text);
        if (!json)
                command_fail(command, outcome.data);
        return 0;
}

int errand_run(const char *command, const Config *c, Order *o, uint32_t wait_sec, bool json) {
        CLEANUP(response_freep) ResponseDoc *doc = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        Name file;
        int r = notice_send(c->state_fd, o, &file);

        if (r == 0)
                r = errand_wait(c, &file, wait_sec, &doc, &why);
        if (r == 0)
                r = errand_print(command, response_of(doc), json);
        if (r != 0)
                return errand_exit(command, r, &why);
        return response_of(doc)->state == STATE_DONE ? COMMAND_OK : COMMAND_FINDING;
}

bool errand_seconds(const char *text, uint32_t max, uint32_t *ret) {
        unsigned long long n;

        if (!str_parse_uint(text, max, &n) || n == 0)
                return false;
        *ret = (uint32_t)n;
        return true;
}

bool errand_name(const char *text, Name *ret) {
        static const char *const ends[] = {".json.response.json", ".json.log", ".json", ""};
        const char *slash = strrchr(text, '/');

        text = slash ? slash + 1 : text;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                CLEANUP(str_freep) char *name = NULL;
                size_t len = strlen(text);

                if (!str_ends(text, ends[i]))
                        continue;
                return str_printf(&name, "%.*s.json", (int)(len - strlen(ends[i])), text) == 0 &&
                       name_parse(name, ret) == 0;
        }
        return false;
}

bool errand_confirm(const char *command, const char *question, bool yes) {
        CLEANUP(str_done) Str text = STR_NULL;
        char answer[16] = "";
        ssize_t n;

        if (yes)
                return true;
        if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
                command_fail(command, "there is no terminal to ask on; nothing was done\n"
                                      "--yes says yes beforehand");
                return false;
        }
        if (str_addf(&text, "%s [y/N] ", question) < 0)
                return false;
        command_print(&text);
        n = read(STDIN_FILENO, answer, sizeof(answer) - 1);
        if (n > 0 && (answer[0] == 'y' || answer[0] == 'Y'))
                return true;
        command_fail(command, "nothing was done");
        return false;
}
