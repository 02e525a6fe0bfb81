#include "drain/outcome.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

void outcome_done(Outcome *o) {
        str_done(&o->message);
        *o = OUTCOME_NULL;
}

/* The sentence of a reason when no gate has a better one. */
static const char *const outcome_sentences[REASON_COUNT] = {
        [REASON_MALFORMED] = "the request is not what protocol version 1 asks for",
        [REASON_NAME_MISMATCH] = "the file's name and its body disagree",
        [REASON_UNKNOWN_KEY] = "the request has a key that version 1 does not know",
        [REASON_HARD_DENIED] = "this verb is denied in code; no setting opens it",
        [REASON_UNKNOWN_VERB] = "this bridge has no such verb",
        [REASON_ARG_MISSING] = "this verb takes an argument",
        [REASON_ARG_UNEXPECTED] = "this verb takes no argument",
        [REASON_ARG_SHAPE] = "the argument is not of the form [a-z][a-z0-9_-]*",
        [REASON_ARG_NOT_LISTED] = "the argument is not in this verb's list",
        [REASON_EXPIRED] = "the request waited longer than its maximum age",
        [REASON_FUTURE_DATED] = "the request is dated more than 60 s ahead of the host's clock",
        [REASON_KEY_CONFLICT] = "this idempotency key belongs to another request",
        [REASON_BAD_MAC] = "the request is not signed with this project's key",
        [REASON_PAUSED] = "mutating verbs are paused until the operator resumes",
        [REASON_POLICY] = "the operator's policy denies this verb",
        [REASON_SCOPE] = "the verb needs a wider permission scope than is allowed here",
        [REASON_RATE] = "the rate limit is reached",
        [REASON_QUEUE_FULL] = "too many requests are waiting",
        [REASON_INTEGRITY_MODIFIED] = "a guarded file differs from what is committed or sealed",
        [REASON_INTEGRITY_UNSEALED] = "the guarded files are not sealed",
        [REASON_INTEGRITY_ENV] = "an env file differs from what was sealed",
        [REASON_INTEGRITY_ERROR] = "the integrity check could not be made",
        [REASON_HOST_CONFIG] = "the host's configuration of this bridge does not hold",
        [REASON_HOST_ERROR] = "the host could not record the run, so nothing was started",
        [REASON_EXIT_NONZERO] = "the command failed",
        [REASON_SIGNAL] = "the command was ended by a signal",
        [REASON_TIMEOUT] = "the command ran into its deadline and was stopped",
        [REASON_SPAWN] = "the command could not be started",
        [REASON_CANCELLED] = "the run was cancelled",
        [REASON_INTERRUPTED] = "the run was interrupted; whether it took effect is not known",
};

static const char *outcome_sentence(Reason r) {
        return outcome_sentences[r] ? outcome_sentences[r] : "";
}

static int outcome_say(Outcome *o, Reason reason, const char *sentence) {
        o->reason = reason;
        o->state = reason_state(reason);
        str_clear(&o->message);
        return str_adds(&o->message, sentence ? sentence : outcome_sentence(reason));
}

/* ` 'path'` in single quotes for a shell, whatever it holds. */
static int outcome_quote(Str *s, const char *path) {
        int r = str_addc(s, '\'');

        for (; r >= 0 && *path; path++)
                r = *path == '\'' ? str_adds(s, "'\\''") : str_addc(s, *path);
        return r < 0 ? r : str_addc(s, '\'');
}

/* A file of the configuration, ready to open. */
static int outcome_edit(Outcome *o, const Config *c, const char *file) {
        CLEANUP(str_freep) char *path = NULL;
        int r = str_printf(&path, "%s/%s", c->layout.config, file);

        if (r < 0)
                return r;
        r = str_adds(&o->message, "\nvi ");
        return r < 0 ? r : outcome_quote(&o->message, path);
}

static int outcome_blame(const Config *c, const char *file, const char *why, Outcome *o) {
        int r = why ? str_addf(&o->message, ": %s", why) : 0;

        return r < 0 ? r : outcome_edit(o, c, file);
}

/* verb: the table's row of the request, or NULL. */
static int outcome_host_config(const Config *c, const Verb *verb, Outcome *o) {
        if (c->key_trouble)
                return str_addf(&o->message, ": %s\nspoolgate install --slug %s --auth", c->trouble,
                                c->layout.slug);
        if (!c->policy)
                return outcome_blame(c, "policy.conf", c->trouble, o);
        if (verb && verb->missing)
                return str_addf(&o->message, ": %s\nspoolgate install --slug %s", verb->missing,
                                c->layout.slug);
        return outcome_blame(c, "verbs.json", c->own_trouble, o);
}

/* record_trouble ends in its own command. */
static int outcome_host_error(const Config *c, Outcome *o) {
        return c->record_trouble
                       ? str_addf(&o->message, ": %s", c->record_trouble)
                       : str_addf(&o->message, "\nspoolgate doctor -s %s", c->layout.slug);
}

int outcome_refuse(const Config *c, Reason reason, const char *detail, Outcome *ret) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        int r = outcome_say(&o, reason, detail);

        if (r >= 0 && reason == REASON_HOST_CONFIG) /* the only one that no gate has found */
                r = outcome_blame(c, "redact.conf", c->redact_trouble, &o);
        if (r >= 0 && reason == REASON_HOST_ERROR)
                r = outcome_host_error(c, &o);
        if (r < 0)
                return r;
        *ret = o;
        o = OUTCOME_NULL;
        return 0;
}

static int outcome_list_args(const Config *c, const Verb *verb, Outcome *o) {
        const Strv *args = verb ? table_args(c->table, verb) : NULL;
        int r = args && args->len > 0 ? str_adds(&o->message, ": one of") : 0;

        for (size_t i = 0; r >= 0 && args && i < args->len && o->message.len < 1024; i++)
                r = str_addf(&o->message, " %s", args->items[i]);
        return r;
}

int outcome_of_verdict(const Config *c, const char *verb, const Verdict *v, Outcome *ret) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        const Verb *row = table_find(c->table, verb); /* a refused call holds none */
        int r = outcome_say(&o, v->reason, NULL);

        if (r < 0)
                return r;
        switch ((int)v->reason) {
        case REASON_POLICY:
                r = str_addf(&o.message, ": MODE_%s is not auto in policy.conf",
                             v->call.verb->name);
                if (r >= 0)
                        r = outcome_edit(&o, c, "policy.conf");
                break;
        case REASON_PAUSED:
                r = str_addf(&o.message, "\nspoolgate resume -s %s", c->layout.slug);
                break;
        case REASON_RATE:
                o.retry_after_sec = v->retry_after_sec;
                r = str_addf(&o.message, "; try again in %lld s", (long long)v->retry_after_sec);
                break;
        case REASON_ARG_MISSING:
        case REASON_ARG_NOT_LISTED:
                r = outcome_list_args(c, row, &o);
                break;
        case REASON_UNKNOWN_VERB:
                r = str_addf(&o.message, "\nspoolgate verbs -s %s", c->layout.slug);
                break;
        case REASON_HOST_CONFIG:
                r = outcome_host_config(c, row, &o);
                break;
        case REASON_HOST_ERROR:
                r = outcome_host_error(c, &o);
                break;
        default:
                break;
        }
        if (r < 0)
                return r;
        *ret = o;
        o = OUTCOME_NULL;
        return 0;
}

static const char *outcome_stage(const char *stage) {
        static const struct {
                const char *stage, *text;
        } words[] = {
                {"bus", "the user manager could not be reached\nsystemctl --user status"},
                {"exists", "a scope of that name is there already"},
                {"job", "the user manager refused the scope"},
                {"job-timeout", "the user manager did not make the scope in time"},
                {"place", "the run did not arrive in its scope"},
                {"fork", "no process could be made"},
        };

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (str_eq(stage, words[i].stage))
                        return words[i].text;
        return NULL;
}

int outcome_of_result(const RunResult *r, const Grant *grant, Outcome *ret) {
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        int e = 0;

        switch (r->kind) {
        case RESULT_EXIT:
                if (r->code == 0) {
                        o.state = STATE_DONE;
                        e = str_adds(&o.message, "done");
                        break;
                }
                e = outcome_say(&o, REASON_EXIT_NONZERO, NULL);
                if (e >= 0)
                        e = str_addf(&o.message, " with exit status %d", r->code);
                break;
        case RESULT_SIGNAL:
                e = outcome_say(&o, REASON_SIGNAL, NULL);
                if (e >= 0)
                        e = str_addf(&o.message, " (SIG%s)",
                                     sigabbrev_np(r->code) ? sigabbrev_np(r->code) : "?");
                break;
        case RESULT_TIMEOUT:
                e = outcome_say(&o, REASON_TIMEOUT, NULL);
                if (e >= 0 && grant)
                        e = str_addf(&o.message, " after %u s", grant_timeout_sec(grant));
                break;
        case RESULT_CANCELLED:
                e = outcome_say(&o, REASON_CANCELLED, NULL);
                break;
        case RESULT_SPAWN:
                e = outcome_say(&o, REASON_SPAWN, NULL);
                if (e >= 0)
                        e = str_addf(&o.message, ": %s",
                                     outcome_stage(r->spawn_stage) ? outcome_stage(r->spawn_stage)
                                                                   : strerror(r->code));
                break;
        }
        if (e < 0)
                return e;
        *ret = o;
        o = OUTCOME_NULL;
        return 0;
}

static int outcome_known(const Interrupted *what, Str *s) {
        static const char *const scopes[] = {
                [SCOPE_SAID_NOTHING] = "can't be asked after",
                [SCOPE_SAID_GONE] = "is gone",
                [SCOPE_SAID_ACTIVE] = "is still active",
        };
        int r = 0;

        if (what->unit)
                r = str_addf(s, " (scope %s %s)", what->unit, scopes[what->scope]);
        if (r >= 0 && what->probe)
                r = str_addf(s, "; its probe %s %s, see the output", what->probe,
                             what->probe_ok ? "was run" : "failed");
        if (r >= 0 && what->log)
                r = str_adds(s, what->log_shown
                                        ? "; the log so far is not verified, the agent can write it"
                                        : "; its log is empty");
        return r;
}

/* The last line is the one that runs nothing again and claims no success. */
int outcome_interrupted(const Config *c, const Interrupted *what, Outcome *ret) {
        static const char *const words[] = {"retry", "done", "failed"};
        CLEANUP(outcome_done) Outcome o = OUTCOME_NULL;
        int r = outcome_say(&o, REASON_INTERRUPTED, NULL);

        if (r >= 0)
                r = outcome_known(what, &o.message);
        if (r >= 0 && what->unit && what->scope == SCOPE_SAID_ACTIVE)
                r = str_addf(&o.message, "\nsystemctl --user stop %s", what->unit);
        for (size_t i = 0; r >= 0 && i < sizeof(words) / sizeof(words[0]); i++)
                r = str_addf(&o.message, "\nspoolgate resolve -s %s %s %s", c->layout.slug,
                             what->request, words[i]);
        if (r < 0)
                return r;
        *ret = o;
        o = OUTCOME_NULL;
        return 0;
}

void outcome_fill(const Outcome *o, Response *r) {
        r->state = o->state;
        r->reason = o->reason;
        r->message = o->message.len > 0 ? o->message.data : NULL;
        r->retry_after_sec = o->retry_after_sec;
}
