#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "fs/pin.h"
#include "fs/publish.h"
#include "operator/errand.h"
#include "operator/policy-edit.h"

#define POLICY_EDIT_COPY "policy.conf.edit"

static int policy_edit_refused(int added) {
        return added < 0 ? added : POLICY_EDIT_E_REFUSED;
}

static int policy_edit_read(const Config *c, const char *name, Str *ret, Str *said) {
        PinRule rule = config_rule(c);
        int r = pin_read_at(c->config_fd, name, &rule, PIN_ANY_LINKS, POLICY_MAX_BYTES, ret);

        if (r <= 0)
                return r;
        return policy_edit_refused(str_addf(said, "%s/%s %s\nspoolgate doctor -s %s",
                                            c->layout.config, name, pin_reason(r), c->layout.slug));
}

static int policy_edit_publish(const Config *c, const char *name, const Str *text, Str *said) {
        int r = publish_file(c->config_fd, name, text->data ? text->data : "", text->len, 0600,
                             PUBLISH_SYNC);

        return r <= 0 ? r
                      : policy_edit_refused(
                                str_addf(said, "%s/%s can't be written", c->layout.config, name));
}

/* The operator's own editor with the operator's own environment and terminal; $EDITOR may have
 * words of its own, hence the shell. */
static int policy_edit_spawn(const char *path, Str *said) {
        const char *argv[] = {"/bin/sh",   "-c", "exec ${VISUAL:-${EDITOR:-vi}} \"$1\"",
                              "spoolgate", path, NULL};
        int status, e;
        pid_t pid;

        e = posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ);
        if (e != 0)
                return err_new(e);
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return err_new(errno);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return 0;
        return policy_edit_refused(
                str_addf(said, "the editor failed; nothing was saved, your text is in %s", path));
}

static bool policy_edit_same(const Str *a, const Str *b) {
        return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* The text as the drain will read it. */
static int policy_edit_lint(const Config *c, const char *path, const Str *text, Str *said) {
        CLEANUP(policy_freep) Policy *policy = NULL;
        CLEANUP(str_freep) char *message = NULL;
        const char *bytes = text->data ? text->data : "";
        const char *what;
        int r;

        r = c->own_trouble ? policy_parse_built_in(bytes, text->len, c->table, &policy, &message)
                           : policy_parse(bytes, text->len, c->table, &policy, &message);
        if (r != POLICY_E_INVALID)
                return r;
        what = message + (str_starts(message, "policy.conf") ? strlen("policy.conf") : 0);
        return policy_edit_refused(str_addf(said,
                                            "nothing was saved; your text is kept\n%s%s%s\n"
                                            "spoolgate policy --edit -s %s",
                                            path, *what == ':' ? "" : ": ", what, c->layout.slug));
}

static int policy_edit_save(const Config *c, const Str *before, const Str *text, Str *said) {
        CLEANUP(str_done) Str now = STR_NULL;
        int r = policy_edit_read(c, "policy.conf", &now, said);

        if (r == 0 && !policy_edit_same(&now, before))
                return policy_edit_refused(
                        str_addf(said,
                                 "policy.conf was changed meanwhile; nothing was saved, your text "
                                 "is in %s/" POLICY_EDIT_COPY "\nspoolgate policy --edit -s %s",
                                 c->layout.config, c->layout.slug));
        if (r == 0)
                r = policy_edit_publish(c, "policy.conf", text, said);
        if (r == 0)
                r = publish_remove(c->config_fd, POLICY_EDIT_COPY);
        return r < 0 ? r : r > 0 ? POLICY_EDIT_E_REFUSED : 0;
}

/* Makes the copy, unless one from before is there; *before is policy.conf as it stands. */
static int policy_edit_begin(const Config *c, Str *before, Str *said) {
        PinRule rule = config_rule(c);
        CLEANUP(str_done) Str left = STR_NULL;
        int r = policy_edit_read(c, "policy.conf", before, said);

        if (r != 0)
                return r;
        r = pin_read_at(c->config_fd, POLICY_EDIT_COPY, &rule, PIN_ANY_LINKS, POLICY_MAX_BYTES,
                        &left);
        return r == PIN_E_ABSENT ? policy_edit_publish(c, POLICY_EDIT_COPY, before, said)
               : r > 0           ? policy_edit_refused(str_addf(said, "%s/" POLICY_EDIT_COPY " %s",
                                                                c->layout.config, pin_reason(r)))
                                 : r;
}

static int policy_edit_note(const Config *c, const Str *text) {
        CLEANUP(str_freep) char *detail = NULL;
        char hex[HASH_HEX_SIZE];
        int r;

        hash_sha256(text->data ? text->data : "", text->len, hex);
        r = str_printf(&detail, "policy.conf, now %s", hex);
        return r < 0 ? r : errand_note(c, "edited", NULL, detail);
}

int policy_edit(const Config *c, Str *said) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_done) Str before = STR_NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = str_printf(&path, "%s/" POLICY_EDIT_COPY, c->layout.config);

        if (r == 0)
                r = policy_edit_begin(c, &before, said);
        if (r == 0)
                r = policy_edit_spawn(path, said);
        if (r == 0)
                r = policy_edit_read(c, POLICY_EDIT_COPY, &text, said);
        if (r != 0)
                return r;
        if (policy_edit_same(&before, &text)) {
                r = publish_remove(c->config_fd, POLICY_EDIT_COPY);
                return r < 0 ? r : str_addf(said, "%s: nothing changed\n", c->layout.slug);
        }
        r = policy_edit_lint(c, path, &text, said);
        if (r == 0)
                r = policy_edit_save(c, &before, &text, said);
        if (r == 0)
                r = policy_edit_note(c, &text);
        return r == 0 ? str_addf(said, "%s: policy.conf is saved; the next request meets it\n",
                                 c->layout.slug)
                      : r;
}
