#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/pin.h"
#include "guard/ask.h"
#include "guard/guard.h"
#include "guard/reach.h"
#include "guard/seal.h"
#include "guard/take.h"

struct Guard {
        GuardCode code;
        const char *message;
        Strv files;
        const char *whys[TAKE_FILES];
        char head[VERDICT_HEX + 1];
        TakenList taken;
        Strv sources; /* what a compose tool opens by its path */
};

/* What one check has found out; the Guard is made of it. */
typedef struct GuardWork {
        Guard *guard;
        Seal seal;
        bool sealed;                       /* the seal is there */
        InspectFile committed[TAKE_FILES]; /* by index of taken; 0: not asked */
} GuardWork;

Guard *guard_free(Guard *g) {
        if (!g)
                return NULL;
        strv_done(&g->files);
        strv_done(&g->sources);
        taken_list_done(&g->taken);
        free(g);
        return NULL;
}

void guard_freep(Guard **g) {
        *g = guard_free(*g);
}

GuardCode guard_code(const Guard *g) {
        return g->code;
}

const char *guard_message(const Guard *g) {
        return g->message;
}

const Strv *guard_files(const Guard *g) {
        return &g->files;
}

const char *guard_why(const Guard *g, size_t i) {
        return i < g->files.len ? g->whys[i] : "";
}

const char *guard_head(const Guard *g) {
        return g->head;
}

const char *guard_name(GuardCode code) {
        switch (code) {
        case GUARD_OK:
                return "ok";
        case GUARD_MODIFIED:
                return "integrity-modified";
        case GUARD_UNSEALED:
                return "integrity-unsealed";
        case GUARD_ENV:
                return "integrity-env";
        case GUARD_ERROR:
        default:
                return "integrity-error";
        }
}

static const char *guard_sentence(GuardCode code) {
        switch (code) {
        case GUARD_OK:
                return "every guarded file is the approved one";
        case GUARD_MODIFIED:
                return "a guarded file differs from what is committed or sealed";
        case GUARD_UNSEALED:
                return "a guarded file is not sealed in its present state";
        case GUARD_ENV:
                return "an env file differs from what was sealed";
        case GUARD_ERROR:
        default:
                return "the integrity check could not be made";
        }
}

/* Each file's place in the verdict: code GUARD_OK, or which refusal and why. */
typedef struct GuardFinding {
        GuardCode code;
        const char *why;
} GuardFinding;

static const char *guard_committed_why(InspectFile file) {
        switch (file) {
        case INSPECT_FILE_BYTES:
                return "differs from the last commit";
        case INSPECT_FILE_MODE:
                return "has another mode than in the last commit";
        case INSPECT_FILE_UNTRACKED:
                return "is not in the last commit";
        case INSPECT_FILE_GONE:
                return "is in the last commit and missing here";
        case INSPECT_FILE_KIND:
                return "is no regular file in the last commit";
        case INSPECT_FILE_SAME:
        case INSPECT_FILE_COUNT:
        default:
                return "can't be compared with the last commit";
        }
}

static const char *guard_sealed_why(const SealEntry *e, const Taken *t) {
        if (t->refused == PIN_E_ABSENT)
                return "is missing";
        if (e->absent)
                return "was absent when it was sealed";
        if (e->size != (uint64_t)t->st.st_size || strcmp(e->sha256, t->sha256) != 0)
                return "differs from the sealed one";
        return "has another mode than the sealed one";
}

/* An untracked file may be sealed as such; whatever else HEAD doesn't have in this state is
 * uncommitted. */
static bool guard_committed(InspectFile file, const SealEntry *e) {
        return file == INSPECT_FILE_SAME || (file == INSPECT_FILE_UNTRACKED && e && !e->tracked);
}

static GuardFinding guard_judge(const GuardSpec *spec, const GuardWork *w, size_t i) {
        const Taken *t = &w->guard->taken.items[i];
        const SealEntry *e = w->sealed ? seal_find(&w->seal, t->kind, t->path) : NULL;
        bool env = t->kind == TAKE_ENV;
        bool ask_seal = env || spec->need_seal, ask_head = !env && spec->need_head;

        if (t->refused != 0 && t->refused != PIN_E_ABSENT)
                return (GuardFinding){env ? GUARD_ENV : GUARD_MODIFIED, pin_reason(t->refused)};
        if (ask_head && !guard_committed(w->committed[i], spec->need_seal ? e : NULL))
                return (GuardFinding){GUARD_MODIFIED, guard_committed_why(w->committed[i])};
        if (ask_seal && !e)
                return (GuardFinding){env ? GUARD_ENV : GUARD_UNSEALED, "is not in the seal"};
        if (ask_seal && !seal_matches(e, t))
                return (GuardFinding){env        ? GUARD_ENV
                                      : ask_head ? GUARD_UNSEALED
                                                 : GUARD_MODIFIED,
                                      guard_sealed_why(e, t)};
        return (GuardFinding){GUARD_OK, ""};
}

/* GUARD_MODIFIED when one of the sources leads elsewhere now; named: adds those to g->files. */
static int guard_sources(const GuardSpec *spec, Guard *g, bool named) {
        for (size_t i = 0; i < g->sources.len; i++) {
                int r = reach_look(spec->checkout_fd, g->sources.items[i]);

                if (r < 0)
                        return r;
                if (r == 0)
                        continue;
                g->code = GUARD_MODIFIED;
                if (!named || g->files.len == TAKE_FILES)
                        continue;
                g->whys[g->files.len] = pin_reason(r);
                r = strv_add(&g->files, g->sources.items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The first code in the order of GuardCode decides, and names its own files. */
static int guard_sum(const GuardSpec *spec, GuardWork *w) {
        Guard *g = w->guard;
        int r;

        g->code = GUARD_OK;
        for (size_t i = 0; i < g->taken.len; i++) {
                GuardFinding f = guard_judge(spec, w, i);

                if (f.code != GUARD_OK && (g->code == GUARD_OK || f.code < g->code))
                        g->code = f.code;
        }
        r = guard_sources(spec, g, false);
        if (r < 0)
                return r;
        for (size_t i = 0; i < g->taken.len && g->code != GUARD_OK; i++) {
                GuardFinding f = guard_judge(spec, w, i);

                if (f.code != g->code)
                        continue;
                g->whys[g->files.len] = f.why;
                r = strv_add(&g->files, g->taken.items[i].path);
                if (r < 0)
                        return r;
        }
        g->message = guard_sentence(g->code);
        return guard_sources(spec, g, true);
}

static int guard_error(Guard *g, const char *message) {
        g->code = GUARD_ERROR;
        g->message = message;
        return 0;
}

/* 0, or a positive code for ask_reason. */
static int guard_ask(const GuardSpec *spec, GuardWork *w) {
        CLEANUP(ask_git_done) AskGit git = {-EBADF, -EBADF};
        AskFile files[TAKE_FILES];
        size_t at[TAKE_FILES], len = 0;
        AskAnswer answer;
        int r;

        r = ask_open_git(spec->git_dir, spec->git_device, spec->git_inode, &git);
        if (r != 0)
                return r;
        for (size_t i = 0; i < w->guard->taken.len; i++) {
                const Taken *t = &w->guard->taken.items[i];

                if (t->kind != TAKE_GUARDED || (t->refused != 0 && t->refused != PIN_E_ABSENT))
                        continue;
                at[len] = i;
                files[len++] = (AskFile){t->path, t->st.st_mode, t->bytes_fd};
        }
        r = ask_inspect(spec->inspect, spec->jail, spec->address_space, &git, files, len, &answer);
        if (r < 0)
                return r;
        memcpy(w->guard->head, answer.head, sizeof(answer.head));
        for (size_t i = 0; i < len && r == 0; i++)
                w->committed[at[i]] = answer.files[i];
        return r;
}

static int guard_look(const GuardSpec *spec, GuardWork *w) {
        Guard *g = w->guard;
        bool env = spec->env_files && spec->env_files->len > 0;
        int r;

        r = take_files(spec->checkout_fd, spec->guarded, spec->env_files, &g->taken);
        if (r < 0)
                return r;
        if (spec->need_seal || env) {
                r = seal_load(spec->state_fd, &w->seal);
                if (r == SEAL_E_INVALID)
                        return guard_error(g, "the seal is damaged");
                if (r < 0)
                        return r;
                w->sealed = r == 0;
        }
        r = reach_load(spec->state_fd, &g->sources);
        if (r == REACH_E_INVALID)
                return guard_error(g, "the seal is damaged");
        if (r < 0)
                return r;
        if (spec->need_seal && !w->sealed && g->taken.len == 0) {
                g->code = GUARD_UNSEALED;
                g->message = guard_sentence(g->code);
                return 0;
        }
        if (spec->need_head) {
                if (!spec->git_dir)
                        return guard_error(g, "no git directory was pinned at install; "
                                              "INTEGRITY=seal can be used");
                r = guard_ask(spec, w);
                if (r > 0)
                        return guard_error(g, ask_reason(r));
                if (r < 0)
                        return r;
        }
        return guard_sum(spec, w);
}

int guard_check(const GuardSpec *spec, Guard **ret) {
        CLEANUP(guard_freep) Guard *g = calloc(1, sizeof(*g));
        GuardWork w = {.guard = g};
        int r;

        if (!g)
                return err_new(ENOMEM);
        r = guard_look(spec, &w);
        seal_done(&w.seal);
        if (r < 0)
                return r;
        *ret = g;
        g = NULL;
        return 0;
}

int guard_bytes_fd(const Guard *g, const char *path) {
        for (size_t i = 0; i < g->taken.len; i++)
                if (strcmp(g->taken.items[i].path, path) == 0)
                        return g->taken.items[i].bytes_fd;
        return -EBADF;
}

int guard_recheck(const Guard *g, int checkout_fd, Strv *ret_changed) {
        for (size_t i = 0; i < g->taken.len; i++) {
                const Taken *t = &g->taken.items[i];
                bool changed;
                int r = take_again(checkout_fd, t, &changed);

                if (r >= 0 && changed)
                        r = strv_add(ret_changed, t->path);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < g->sources.len; i++) {
                int r = reach_look(checkout_fd, g->sources.items[i]);

                if (r > 0)
                        r = strv_add(ret_changed, g->sources.items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}
