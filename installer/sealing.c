#include "installer/sealing.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "fs/pin.h"
#include "guard/ask.h"
#include "guard/diff.h"
#include "installer/notice.h"
#include "verb/table.h"

void sealing_done(Sealing *s) {
        taken_list_done(&s->taken);
        seal_done(&s->before);
        sealed_done(&s->run);
        *s = SEALING_NULL;
}

static int sealing_refused(int added) {
        return added < 0 ? added : SEALING_E_REFUSED;
}

static bool sealing_bad(const Taken *t) {
        return t->refused != 0 && t->refused != PIN_E_ABSENT;
}

/* HEAD, and each guarded file in it. Positive: for ask_reason. */
static int sealing_ask(const SealingPlace *p, Sealing *s) {
        CLEANUP(ask_git_done) AskGit git = {-EBADF, -EBADF};
        CLEANUP(str_freep) char *inspect = NULL;
        AskFile files[TAKE_FILES];
        size_t at[TAKE_FILES], len = 0;
        AskAnswer answer;
        int r = str_printf(&inspect, "%s/spoolgate-inspect", p->layout->lib);

        if (r == 0)
                r = ask_open_git(p->bridge->git_dir.path, p->bridge->git_dir.device,
                                 p->bridge->git_dir.inode, &git);
        if (r != 0)
                return r;
        for (size_t i = 0; i < s->taken.len; i++) {
                const Taken *t = &s->taken.items[i];

                if (t->kind != TAKE_GUARDED || sealing_bad(t))
                        continue;
                at[len] = i;
                files[len++] = (AskFile){t->path, t->st.st_mode, t->bytes_fd};
        }
        r = ask_inspect(inspect, p->bridge->jail, (uint64_t)p->bridge->inspect_memory, &git, files,
                        len, &answer);
        if (r != 0)
                return r;
        memcpy(s->head, answer.head, sizeof(s->head));
        for (size_t i = 0; i < len; i++)
                s->committed[at[i]] = answer.files[i];
        return 0;
}

/* Without guarded files HEAD has nothing to say. */
static int sealing_head(const SealingPlace *p, Sealing *s, Str *why) {
        const char *reason = "no git directory was pinned at install";
        int r;

        if (p->bridge->guarded.len == 0 ||
            (!p->bridge->git_dir.path && p->integrity == POLICY_SEAL))
                return 0;
        if (p->bridge->git_dir.path) {
                r = sealing_ask(p, s);
                if (r <= 0)
                        return r;
                reason = ask_reason(r);
        }
        if (p->integrity == POLICY_SEAL)
                return 0;
        return sealing_refused(str_addf(why, "the last commit can't be asked: %s\n", reason));
}

static const char *sealing_uncommitted(InspectFile file) {
        switch (file) {
        case INSPECT_FILE_BYTES:
                return "differs from the last commit";
        case INSPECT_FILE_MODE:
                return "has another mode than in the last commit";
        case INSPECT_FILE_GONE:
                return "is in the last commit and missing here";
        case INSPECT_FILE_KIND:
                return "is no regular file in the last commit";
        case INSPECT_FILE_SAME:
        case INSPECT_FILE_UNTRACKED: /* held by the seal alone */
        case INSPECT_FILE_COUNT:
        default:
                return NULL;
        }
}

/* One word of a command to paste. */
static int sealing_quote(Str *s, const char *word) {
        int r = str_addc(s, '\'');

        for (; *word && r == 0; word++)
                r = *word == '\'' ? str_adds(s, "'\\''") : str_addc(s, *word);
        return r < 0 ? r : str_addc(s, '\'');
}

/* The agent writes .git/config: hooks, fsmonitor and signing programs named there stay out. */
static int sealing_commit_line(const SealingPlace *p, const Sealing *s, Str *why) {
        int r = str_adds(why, "git -C ");

        if (r == 0)
                r = sealing_quote(why, p->bridge->checkout.path);
        if (r == 0)
                r = str_adds(why, " -c core.hooksPath=/dev/null -c core.fsmonitor=false"
                                  " -c commit.gpgSign=false commit -m sealed --");
        for (size_t i = 0; i < s->taken.len && r == 0; i++)
                if (sealing_uncommitted(s->committed[i])) {
                        r = str_addc(why, ' ');
                        if (r == 0)
                                r = sealing_quote(why, s->taken.items[i].path);
                }
        return r;
}

static int sealing_refusals(const SealingPlace *p, const Sealing *s, Str *why) {
        size_t bad = 0, uncommitted = 0;
        int r = 0;

        for (size_t i = 0; i < s->taken.len && r == 0; i++) {
                const Taken *t = &s->taken.items[i];
                const char *what = sealing_bad(t) ? pin_reason(t->refused)
                                   : p->integrity == POLICY_BOTH
                                           ? sealing_uncommitted(s->committed[i])
                                           : NULL;

                if (!what)
                        continue;
                bad += sealing_bad(t);
                uncommitted += !sealing_bad(t);
                r = str_addf(why, "%s %s\n", t->path, what);
        }
        if (r < 0 || bad + uncommitted == 0)
                return r;
        if (bad == 0)
                r = sealing_commit_line(p, s, why);
        else
                why->data[--why->len] = '\0'; /* no command mends what isn't the operator's file */
        return sealing_refused(r);
}

static int sealing_before(const SealingPlace *p, Sealing *s) {
        int r = seal_load(p->state_fd, &s->before);

        s->had = r == 0;
        s->damaged = r == SEAL_E_INVALID;
        return r < 0 ? r : 0;
}

int sealing_look(const SealingPlace *p, Sealing *s, Str *why) {
        int r = take_files(p->checkout_fd, &p->bridge->guarded, &p->bridge->env_files, &s->taken);

        if (r == 0)
                r = sealing_before(p, s);
        if (r == 0)
                r = sealing_head(p, s, why);
        if (r == 0)
                r = sealing_refusals(p, s, why);
        if (r == 0)
                r = sealed_prepare(p->checkout_fd, p->layout->state, p->bridge, &s->taken, &s->run,
                                   why);
        return r > 0 ? SEALING_E_REFUSED : r;
}

/* What is different */

static bool sealing_tracked(const Sealing *s, size_t i) {
        InspectFile file = s->committed[i];

        return file != 0 && file != INSPECT_FILE_UNTRACKED &&
               !(file == INSPECT_FILE_SAME && s->taken.items[i].refused == PIN_E_ABSENT);
}

static const char *sealing_change(const Sealing *s, size_t i) {
        const Taken *t = &s->taken.items[i];
        const SealEntry *e = s->had ? seal_find(&s->before, t->kind, t->path) : NULL;
        bool absent = t->refused == PIN_E_ABSENT;

        if (!e)
                return absent ? "not sealed yet, absent" : "not sealed yet";
        if (!seal_matches(e, t))
                return absent                              ? "is missing now"
                       : e->absent                         ? "was absent"
                       : strcmp(e->sha256, t->sha256) == 0 ? "has another mode"
                                                           : "changed";
        return s->committed[i] != 0 && e->tracked != sealing_tracked(s, i)
                       ? e->tracked ? "is no longer committed" : "is committed now"
                       : NULL;
}

static bool sealing_taken(const Sealing *s, const SealEntry *e) {
        for (size_t i = 0; i < s->taken.len; i++)
                if (s->taken.items[i].kind == e->kind && str_eq(s->taken.items[i].path, e->path))
                        return true;
        return false;
}

int sealing_changes(const Sealing *s, Strv *ret) {
        CLEANUP(strv_done) Strv lines = STRV_NULL;
        int r = 0;

        for (size_t i = 0; i < s->taken.len && r == 0; i++) {
                CLEANUP(str_freep) char *line = NULL;
                const char *what = sealing_change(s, i);

                if (what)
                        r = str_printf(&line, "%s: %s", s->taken.items[i].path, what);
                if (r == 0 && line)
                        r = strv_add_take(&lines, &line);
        }
        for (size_t i = 0; i < s->before.len && r == 0; i++) {
                CLEANUP(str_freep) char *line = NULL;

                if (!sealing_taken(s, &s->before.entries[i]))
                        r = str_printf(&line, "%s: is no longer guarded",
                                       s->before.entries[i].path);
                if (r == 0 && line)
                        r = strv_add_take(&lines, &line);
        }
        if (r == 0 && (!s->had || s->damaged))
                r = strv_add(&lines, s->damaged ? "the seal is damaged" : "nothing is sealed yet");
        if (r < 0)
                return r;
        strv_done(ret);
        *ret = lines;
        lines = STRV_NULL;
        return 0;
}

/* *ret_there false: absent, or a copy that is lost or not what was sealed, which is shown as absent
 * then. */
static int sealing_old(const SealingPlace *p, const SealEntry *e, Str *ret, bool *ret_there) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        *ret_there = false;
        if (!e || e->absent)
                return 0;
        r = seal_open_copy(p->state_fd, e, &fd);
        if (r == 0)
                r = io_read_file(fd, TAKE_MAX, ret);
        *ret_there = r == 0;
        return r < 0 ? r : 0;
}

int sealing_diff(const SealingPlace *p, const Sealing *s, Str *out) {
        int r = 0;

        for (size_t i = 0; i < s->taken.len && r == 0; i++) {
                CLEANUP(str_done) Str before = STR_NULL;
                CLEANUP(str_done) Str after = STR_NULL;
                const Taken *t = &s->taken.items[i];
                const SealEntry *e = s->had ? seal_find(&s->before, t->kind, t->path) : NULL;
                bool there;

                if (t->refused == 0)
                        r = io_read_file(t->bytes_fd, TAKE_MAX, &after);
                if (r == 0)
                        r = sealing_old(p, e, &before, &there);
                if (r == 0 && e && !e->absent && t->refused == 0 && e->mode != t->st.st_mode)
                        r = str_addf(out, "%s: mode %o -> %o\n", t->path, e->mode, t->st.st_mode);
                if (r == 0)
                        r = diff_add(t->path, there ? &before : NULL,
                                     t->refused == 0 ? &after : NULL,
                                     t->kind == TAKE_ENV ? DIFF_HIDE : 0, out);
        }
        return r > 0 ? err_new(EIO) : r;
}

/* Sealing */

static int sealing_seal(const Sealing *s, Seal *ret) {
        CLEANUP(seal_done) Seal seal = {.time_ms = clock_wall_ms()};
        int r = notice_by(&seal.by);

        memcpy(seal.commit, s->head, strlen(s->head) + 1);
        for (size_t i = 0; i < s->taken.len && r == 0; i++) {
                CLEANUP(seal_entry_done) SealEntry e = {0};

                r = seal_entry(&s->taken.items[i], sealing_tracked(s, i), &e);
                if (r == 0)
                        r = seal_add(&seal, &e);
        }
        if (r != 0)
                return r > 0 ? err_new(EINVAL) : r; /* sealing_look has refused those */
        *ret = seal;
        seal = SEAL_NULL;
        return 0;
}

static int sealing_note(const SealingPlace *p, const Sealing *s) {
        CLEANUP(strv_done) Strv changes = STRV_NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = sealing_changes(s, &changes);

        if (r == 0)
                r = str_addf(&text, "%zu files at commit %.12s", s->taken.len,
                             *s->head ? s->head : "-");
        for (size_t i = 0; i < changes.len && r == 0; i++)
                r = str_addf(&text, "; %s", changes.items[i]);
        return r < 0 ? r : notice_note(p->state_fd, "sealed", NULL, text.data);
}

int sealing_store(const SealingPlace *p, const Sealing *s) {
        CLEANUP(seal_done) Seal seal = SEAL_NULL;
        int r = sealing_seal(s, &seal);

        if (r == 0)
                r = sealing_note(p, s);
        if (r == 0)
                r = sealed_write(p->state_fd, &s->run);
        if (r == 0)
                r = seal_store(p->state_fd, &seal, &s->taken);
        if (r == 0)
                r = seal_prune(p->state_fd, &seal);
        return r > 0 ? err_new(EACCES) : r;
}
