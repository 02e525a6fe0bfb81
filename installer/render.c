#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "fs/pin.h"
#include "installer/render.h"
#include "installer/walk.h"

typedef struct Render {
        Place *place;
        Document *merged[RENDER_MAX_FILES]; /* the -f files */
        size_t merged_len;
        Strv named; /* what they name, and what that names: rendered after them */
        Rendered out;
        Str *why;
} Render;

void rendered_done(Rendered *r) {
        for (size_t i = 0; i < r->len; i++) {
                free(r->files[i].name);
                str_done(&r->files[i].text);
        }
        free(r->files);
        *r = RENDERED_NULL;
}

static void render_done(Render *r) {
        for (size_t i = 0; i < r->merged_len; i++)
                r->merged[i] = document_free(r->merged[i]);
        strv_done(&r->named);
        rendered_done(&r->out);
}

static int render_refuse(Render *r, const char *path, const char *what) {
        int n = str_addf(r->why, "%s: %s", path, what);

        return n < 0 ? n : RENDER_E_REFUSED;
}

static bool render_utf16(const Str *s) {
        return s->len >= 2 &&
               (memcmp(s->data, "\xff\xfe", 2) == 0 || memcmp(s->data, "\xfe\xff", 2) == 0);
}

static int render_load(Render *r, const char *path, Document **ret) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        const Taken *t = place_taken(r->place, path);
        int n;

        if (!t)
                return render_refuse(r, path, "is not guarded");
        if (t->refused != 0)
                return render_refuse(r, path, pin_reason(t->refused));
        n = io_read_file(t->bytes_fd, DOCUMENT_MAX_BYTES, &bytes);
        if (n == IO_E_TOO_BIG)
                return render_refuse(r, path, "is larger than 4 MiB");
        if (n != 0)
                return n < 0 ? n : err_new(EIO); /* a sealed memfd does not change */
        if (render_utf16(&bytes))
                return render_refuse(r, path, "is not UTF-8");
        return document_parse(path, bytes.data ? bytes.data : "", bytes.len, ret, r->why);
}

static int render_one(Render *r, const char *path, const char *name, Document *d,
                      Document *const *merged, size_t merged_len) {
        CLEANUP(emit_freep) Emit *emit = NULL;
        CLEANUP(walk_done)
        Walk w = {.place = r->place,
                  .path = path,
                  .d = d,
                  .merged = merged,
                  .merged_len = merged_len,
                  .why = r->why};
        RenderFile *files = reallocarray(r->out.files, r->out.len + 1, sizeof(*files)), *file;
        int n;

        if (!files)
                return err_new(ENOMEM);
        r->out.files = files;
        file = &files[r->out.len++];
        *file = (RenderFile){0};
        n = str_dup(name, &file->name);
        if (n == 0)
                n = emit_new(&emit);
        w.emit = emit;
        if (n == 0)
                n = walk_document(&w);
        if (n == 0)
                n = emit_end(emit, &file->text);
        if (n == EMIT_E_TOO_BIG && r->why->len == 0)
                return render_refuse(r, path, "is larger than 4 MiB with all aliases written out");
        for (size_t i = 0; i < w.named.len && n == 0; i++)
                if (!strv_find(&r->named, w.named.items[i]))
                        n = strv_add(&r->named, w.named.items[i]);
        return n;
}

/* podman-compose takes a file without services: for a map of services; nobody means that. */
static int render_named(Render *r, const char *path) {
        CLEANUP(document_freep) Document *d = NULL;
        CLEANUP(str_freep) char *stem = NULL;
        CLEANUP(str_freep) char *name = NULL;
        Document *alone[1];
        int n;

        if (r->out.len == RENDER_MAX_FILES)
                return render_refuse(r, path, "more than 64 compose files");
        n = render_load(r, path, &d);
        if (n != 0)
                return n;
        if (document_kind(d, document_get(d, document_root(d), "services")) != DOCUMENT_MAP)
                return render_refuse(r, path, "has no services");
        alone[0] = d;
        n = place_name("extends", path, &stem);
        if (n == 0)
                n = str_printf(&name, "%s.yaml", stem);
        return n < 0 ? n : render_one(r, path, name, d, alone, 1);
}

static int render_merged(Render *r, const Strv *compose) {
        int n = 0;

        if (compose->len > RENDER_MAX_FILES)
                return render_refuse(r, compose->items[0], "more than 64 compose files");
        for (size_t i = 0; i < compose->len && n == 0; i++) {
                n = render_load(r, compose->items[i], &r->merged[i]);
                if (n == 0)
                        r->merged_len++;
        }
        for (size_t i = 0; i < compose->len && n == 0; i++) {
                CLEANUP(str_freep) char *name = NULL;

                n = str_printf(&name, "compose-%zu.yaml", i);
                if (n == 0)
                        n = render_one(r, compose->items[i], name, r->merged[i], r->merged,
                                       r->merged_len);
        }
        return n;
}

int render_files(Place *place, const Strv *compose, Rendered *ret, Str *why) {
        CLEANUP(render_done) Render r = {.place = place, .why = why};
        int n;

        n = render_merged(&r, compose);
        for (size_t i = 0; i < r.named.len && n == 0; i++)
                n = render_named(&r, r.named.items[i]);
        if (n != 0)
                return n < 0 ? n : RENDER_E_REFUSED;
        *ret = r.out;
        r.out = RENDERED_NULL;
        return 0;
}
