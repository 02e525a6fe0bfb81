#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "base/io.h"
#include "fs/pin.h"
#include "installer/document.h"
#include "installer/render.h"
#include "installer/sealed.h"
#include "installer/sources.h"
#include "installer/tree.h"

#define SEALED_RUN "/seal/run"
#define SEALED_FRESH "run."
enum { SEALED_DIGITS = 16, SEALED_STACK_MODE = 0755, SEALED_TEXT_MODE = 0400 };

void sealed_done(Sealed *s) {
        for (size_t i = 0; i < s->len; i++) {
                free(s->files[i].name);
                str_done(&s->files[i].bytes);
        }
        free(s->files);
        strv_done(&s->trusts);
        *s = SEALED_NULL;
}

static int sealed_compose_name(size_t i, char **ret) {
        return str_printf(ret, "compose-%zu.yaml", i);
}

/* "STATE/seal/run/BEFORE-N AFTER", without the space, for N below len. */
static int sealed_numbered(const char *state, const char *before, size_t len, const char *after,
                           Strv *ret) {
        CLEANUP(strv_done) Strv files = STRV_NULL;
        int r = 0;

        for (size_t i = 0; i < len && r == 0; i++) {
                CLEANUP(str_freep) char *path = NULL;

                r = str_printf(&path, "%s" SEALED_RUN "/%s-%zu%s", state, before, i, after);
                if (r == 0)
                        r = strv_add_take(&files, &path);
        }
        if (r < 0)
                return r;
        strv_done(ret);
        *ret = files;
        files = STRV_NULL;
        return 0;
}

int sealed_run_files(const char *state, const char *stack, const Strv *compose, Strv *ret) {
        return sealed_numbered(state, "compose", str_ends(stack, "-compose") ? compose->len : 0,
                               ".yaml", ret);
}

int sealed_run_env_files(const char *state, const char *stack, const Strv *env_files, Strv *ret) {
        return sealed_numbered(state, "env", str_eq(stack, "docker-compose") ? env_files->len : 0,
                               "", ret);
}

int sealed_stack(const char *state, char **ret) {
        return str_printf(ret, "%s" SEALED_RUN "/stack", state);
}

/* Making */

static int sealed_add(Sealed *s, const char *name, mode_t mode, const Str *bytes) {
        SealedFile *files = reallocarray(s->files, s->len + 1, sizeof(*files)), *file;
        int r;

        if (!files)
                return err_new(ENOMEM);
        s->files = files;
        file = &files[s->len++];
        *file = (SealedFile){.mode = mode};
        r = str_dup(name, &file->name);
        return r < 0 ? r : str_add(&file->bytes, bytes->data ? bytes->data : "", bytes->len);
}

static int sealed_refuse(Str *why, const char *path, const char *what) {
        int r = str_addf(why, "%s: %s", path, what);

        return r < 0 ? r : SEALED_E_REFUSED;
}

static int sealed_bytes(const Taken *t, Str *ret) {
        int r = io_read_file(t->bytes_fd, TAKE_MAX, ret);

        return r > 0 ? err_new(EIO) : r; /* a sealed memfd does not change */
}

/* A copy of what was taken; absent: none. */
static int sealed_copy(Sealed *s, const Place *p, const char *path, const char *name, mode_t mode,
                       Str *why) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        const Taken *t = place_taken(p, path);
        int r;

        if (!t || t->refused == PIN_E_ABSENT)
                return 0;
        if (t->refused != 0)
                return sealed_refuse(why, path, pin_reason(t->refused));
        r = sealed_bytes(t, &bytes);
        return r < 0 ? r : sealed_add(s, name, mode ? mode : (t->st.st_mode & 0555) | 0400, &bytes);
}

static int sealed_copies(Sealed *s, const Place *p, Str *why) {
        int r = 0;

        for (size_t i = 0; i < p->copies.len && r == 0; i++) {
                CLEANUP(str_freep) char *name = NULL;

                r = place_name("file", p->copies.items[i], &name);
                if (r == 0)
                        r = sealed_copy(s, p, p->copies.items[i], name, 0, why);
        }
        return r;
}

static int sealed_env(Sealed *s, const Place *p, Str *why) {
        CLEANUP(str_freep) char *path = NULL;
        int r = str_printf(&path, "%s%s.env", p->folder, *p->folder ? "/" : "");

        return r < 0 ? r : sealed_copy(s, p, path, ".env", SEALED_TEXT_MODE, why);
}

static int sealed_sources(Sealed *s, const Place *p) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = 0;

        for (size_t i = 0; i < p->sources.len && r == 0; i++)
                r = str_addf(&text, "%s\n", p->sources.items[i]);
        return r < 0 ? r : sealed_add(s, "sources", SEALED_TEXT_MODE, &text);
}

static int sealed_rendered(Sealed *s, Place *p, const Strv *compose, Str *why) {
        CLEANUP(rendered_done) Rendered out = RENDERED_NULL;
        int r;

        r = render_files(p, compose, &out, why);
        for (size_t i = 0; i < out.len && r == 0; i++)
                r = sealed_add(s, out.files[i].name, SEALED_TEXT_MODE, &out.files[i].text);
        if (r == 0)
                r = sealed_copies(s, p, why);
        if (r == 0)
                r = sealed_env(s, p, why);
        return r != 0 ? r : sealed_sources(s, p);
}

/* What docker compose reads beside the files that it is given. */
static int sealed_beside(Place *p, const char *path, Document *d, Str *why) {
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        DocumentNode root = document_root(d), services = document_get(d, root, "services");
        CLEANUP(str_freep) char *where = NULL;
        int r = 0;

        if (document_kind(d, document_get(d, root, "include")) != DOCUMENT_NONE)
                r = place_trust(p, path, "include",
                                "is read from the checkout by docker compose, not from the seal");
        if (r == 0 && document_kind(d, services) == DOCUMENT_MAP)
                r = document_pairs(d, services, &pairs, why);
        for (size_t i = 0; i < pairs.len && r == 0; i++) {
                DocumentNode extends = document_get(d, pairs.items[i].value, "extends");
                const char *file = document_text(d, document_get(d, extends, "file"));

                str_freep(&where);
                r = str_printf(&where, "%s:%d", path, document_line(d, extends));
                if (r == 0 && file)
                        r = place_trust(p, where, file,
                                        "is read from the checkout by docker compose, not from "
                                        "the seal");
        }
        return r;
}

static int sealed_plain_one(Sealed *s, Place *p, const char *path, size_t i, Str *why) {
        CLEANUP(document_freep) Document *d = NULL;
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(str_done) Str bytes = STR_NULL;
        const Taken *t = place_taken(p, path);
        int r;

        if (!t)
                return sealed_refuse(why, path, "is not guarded");
        if (t->refused != 0)
                return sealed_refuse(why, path, pin_reason(t->refused));
        r = sealed_bytes(t, &bytes);
        if (r == 0)
                r = document_parse(path, bytes.data ? bytes.data : "", bytes.len, &d, why);
        if (r == 0)
                r = sealed_beside(p, path, d, why);
        if (r == 0)
                r = sources_collect(p, path, d, why);
        if (r == 0)
                r = sealed_compose_name(i, &name);
        return r != 0 ? r : sealed_add(s, name, SEALED_TEXT_MODE, &bytes);
}

/* docker compose refuses an --env-file that is not there: an absent one is empty. */
static int sealed_env_file(Sealed *s, const Place *p, const char *path, size_t i, Str *why) {
        CLEANUP(str_freep) char *name = NULL;
        const Taken *t = place_taken(p, path);
        int r = str_printf(&name, "env-%zu", i);

        if (r < 0)
                return r;
        return t && t->refused == PIN_E_ABSENT
                       ? sealed_add(s, name, SEALED_TEXT_MODE, &STR_NULL)
                       : sealed_copy(s, p, path, name, SEALED_TEXT_MODE, why);
}

static int sealed_plain(Sealed *s, Place *p, const Bridge *b, Str *why) {
        int r = 0;

        for (size_t i = 0; i < b->compose.len && r == 0; i++)
                r = sealed_plain_one(s, p, b->compose.items[i], i, why);
        for (size_t i = 0; i < b->env_files.len && r == 0; i++)
                r = sealed_env_file(s, p, b->env_files.items[i], i, why);
        return r != 0 ? r : sealed_sources(s, p);
}

/* The first guarded file, when one of the programs is to be its copy. */
static int sealed_program(Sealed *s, const Place *p, const char *state, const Bridge *b, Str *why) {
        CLEANUP(str_freep) char *stack = NULL;
        const Taken *t;
        bool wanted = false;
        int r = sealed_stack(state, &stack);

        for (size_t i = 0; r == 0 && i < b->bins.len; i++) {
                const char *path = strchr(b->bins.items[i], '=');

                wanted = wanted || (path && str_eq(path + 1, stack));
        }
        if (r < 0 || !wanted)
                return r;
        if (b->guarded.len == 0)
                return sealed_refuse(why, stack, "the stack's program is not guarded");
        t = place_taken(p, b->guarded.items[0]);
        if (!t || t->refused != 0)
                return sealed_refuse(why, b->guarded.items[0],
                                     t ? pin_reason(t->refused) : "is not guarded");
        return sealed_copy(s, p, t->path, "stack", SEALED_STACK_MODE, why);
}

static int sealed_folder(const Bridge *b, char **ret) {
        const char *first = b->compose.len > 0 ? b->compose.items[0] : "",
                   *slash = strrchr(first, '/');

        return str_printf(ret, "%.*s", slash ? (int)(slash - first) : 0, first);
}

int sealed_prepare(int checkout_fd, const char *state, const Bridge *b, const TakenList *taken,
                   Sealed *ret, Str *why) {
        CLEANUP(sealed_done) Sealed s = SEALED_NULL;
        CLEANUP(str_freep) char *folder = NULL;
        CLEANUP(str_freep) char *run = NULL;
        CLEANUP(place_done)
        Place p = {.checkout_fd = checkout_fd,
                   .checkout = b->checkout.path,
                   .home = b->home,
                   .taken = taken};
        int r;

        r = sealed_folder(b, &folder);
        if (r == 0)
                r = str_printf(&run, "%s" SEALED_RUN, state);
        p.folder = folder;
        p.run = run;
        if (r == 0)
                r = sealed_program(&s, &p, state, b, why);
        if (r == 0 && str_eq(b->stack, "podman-compose"))
                r = sealed_rendered(&s, &p, &b->compose, why);
        else if (r == 0 && str_eq(b->stack, "docker-compose"))
                r = sealed_plain(&s, &p, b, why);
        if (r != 0)
                return r < 0 ? r : SEALED_E_REFUSED;
        s.trusts = p.trusts;
        p.trusts = STRV_NULL;
        *ret = s;
        s = SEALED_NULL;
        return 0;
}

/* Writing */

/* Our own state in a state that isn't ours. */
static int sealed_own(int r) {
        return r > 0 ? err_new(EBADMSG) : r;
}

static int sealed_write_file(int dirfd, const SealedFile *f) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r;

        r = sealed_own(pin_create_at(dirfd, f->name, 0600, &fd));
        if (r == 0)
                r = io_write_all(fd, f->bytes.data, f->bytes.len);
        if (r == 0 && fchmod(fd, f->mode) < 0)
                return err_new(errno);
        return r < 0 ? r : io_sync(fd);
}

static int sealed_fill(int seal_fd, const char *name, const Sealed *s) {
        CLEANUP(fd_closep) int fd = -EBADF;
        PinRule rule = {.owner = geteuid(), .forbid = 0022};
        int r;

        r = sealed_own(pin_make_dir_at(seal_fd, name, 0700, &rule, &fd));
        for (size_t i = 0; i < s->len && r == 0; i++)
                r = sealed_write_file(fd, &s->files[i]);
        return r < 0 ? r : io_sync(fd);
}

static int sealed_exchange(int seal_fd, const char *fresh) {
        if (renameat2(seal_fd, fresh, seal_fd, "run", RENAME_EXCHANGE) < 0 &&
            (errno != ENOENT || renameat2(seal_fd, fresh, seal_fd, "run", RENAME_NOREPLACE) < 0))
                return err_new(errno);
        return io_sync(seal_fd);
}

static void sealed_closedir(DIR **dir) {
        if (*dir)
                (void)closedir(*dir); /* it was only read */
}

/* The old one under the fresh one's name, and what a crash has left. */
static int sealed_sweep(int seal_fd) {
        CLEANUP(fd_closep) int fd = -EBADF;
        CLEANUP(sealed_closedir) DIR *dir = NULL;
        CLEANUP(str_done) Str kept = STR_NULL;
        const struct dirent *entry;
        int r;

        r = fd_dup(seal_fd, &fd);
        if (r < 0)
                return r;
        dir = fdopendir(fd);
        if (!dir)
                return err_new(errno);
        (void)fd_take(&fd);
        rewinddir(dir); /* the duplicate shares its offset */
        while (r == 0 && (entry = readdir(dir)))
                if (str_starts(entry->d_name, SEALED_FRESH))
                        r = tree_remove(seal_fd, entry->d_name, &kept);
        return r < 0 || kept.len == 0 ? r : err_new(ENOTEMPTY);
}

int sealed_write(int state_fd, const Sealed *s) {
        CLEANUP(fd_closep) int seal_fd = -EBADF;
        PinRule rule = {.owner = geteuid(), .forbid = 0022};
        char fresh[sizeof(SEALED_FRESH) + SEALED_DIGITS] = SEALED_FRESH;
        int r;

        hash_random_hex(fresh + sizeof(SEALED_FRESH) - 1, SEALED_DIGITS);
        r = sealed_own(pin_make_dir_at(state_fd, "seal", 0700, &rule, &seal_fd));
        if (r == 0)
                r = sealed_fill(seal_fd, fresh, s);
        if (r == 0)
                r = sealed_exchange(seal_fd, fresh);
        return r < 0 ? r : sealed_sweep(seal_fd);
}
