#include "installer/sources.h"

#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "installer/compose.h"

enum { SOURCES_DEPTH = 16, SOURCES_FILES = COMPOSE_MAX_FILES };

typedef struct Sources {
        Place *place;
        const char *path; /* of the file that is read */
        const char *base; /* what its relative paths are seen from */
        Document *d;
        Strv *seen; /* files, each read once */
        Str *why;
} Sources;

static int sources_where(const Sources *s, DocumentNode n, char **ret) {
        return str_printf(ret, "%s:%d", s->path, document_line(s->d, n));
}

static int sources_path(const Sources *s, DocumentNode n, const char *text) {
        CLEANUP(str_freep) char *where = NULL;
        int r = sources_where(s, n, &where);

        return r < 0 ? r : place_source(s->place, s->base, text, where, s->why);
}

/* text | [text | {path: text}] */
static int sources_texts(const Sources *s, DocumentNode n, int depth) {
        const char *text = document_text(s->d, n);
        int r = 0;

        if (depth > SOURCES_DEPTH)
                return 0;
        if (document_kind(s->d, n) == DOCUMENT_SCALAR && text)
                return sources_path(s, n, text);
        if (document_kind(s->d, n) == DOCUMENT_MAP)
                return sources_texts(s, document_get(s->d, n, "path"), depth + 1);
        for (size_t i = 0; i < document_len(s->d, n) && r == 0; i++)
                r = sources_texts(s, document_item(s->d, n, i), depth + 1);
        return r;
}

/* NAME: PATH of a map, NAME=PATH of a list; an image or another service is no path. */
static int sources_context(const Sources *s, DocumentNode n, const char *text) {
        if (!text || strstr(text, "://") || str_starts(text, "service:") ||
            str_starts(text, "target:"))
                return 0;
        return sources_path(s, n, text);
}

static int sources_contexts(const Sources *s, DocumentNode n) {
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        int r = 0;

        if (document_kind(s->d, n) == DOCUMENT_MAP)
                r = document_pairs(s->d, n, &pairs, s->why);
        for (size_t i = 0; i < pairs.len && r == 0; i++)
                r = sources_context(s, pairs.items[i].value,
                                    document_text(s->d, pairs.items[i].value));
        for (size_t i = 0; i < document_len(s->d, n) && r == 0; i++) {
                const char *text = document_text(s->d, document_item(s->d, n, i)),
                           *equals = text ? strchr(text, '=') : NULL;

                if (equals)
                        r = sources_context(s, n, equals + 1);
        }
        return r;
}

static int sources_build(const Sources *s, DocumentNode build) {
        CLEANUP(str_freep) char *path = NULL;
        bool map = document_kind(s->d, build) == DOCUMENT_MAP;
        const char *context =
                           document_text(s->d, map ? document_get(s->d, build, "context") : build),
                   *file = document_text(s->d, document_get(s->d, build, "dockerfile"));
        int r;

        if (document_kind(s->d, build) == DOCUMENT_NONE)
                return 0;
        context = context ? context : ".";
        file = file && *file ? file : "Dockerfile";
        r = sources_path(s, build, context);
        if (r == 0 && map)
                r = sources_contexts(s, document_get(s->d, build, "additional_contexts"));
        if (r != 0 || strstr(context, "://") || str_starts(context, "git@"))
                return r;
        r = file[0] == '/' ? str_dup(file, &path) : str_printf(&path, "%s/%s", context, file);
        return r < 0 ? r : sources_path(s, build, path);
}

/* SOURCE:TARGET[:OPTIONS], or a map; a source that begins with one of ~/.$ is or may be a path. */
static int sources_volume(const Sources *s, DocumentNode n) {
        CLEANUP(str_freep) char *source = NULL;
        const char *text = document_text(s->d, n), *colon = text ? strchr(text, ':') : NULL;
        int r;

        if (document_kind(s->d, n) == DOCUMENT_MAP) {
                text = document_text(s->d, document_get(s->d, n, "type"));
                if (text && str_eq(text, "volume"))
                        return 0;
                text = document_text(s->d, document_get(s->d, n, "source"));
                return text ? sources_path(s, n, text) : 0;
        }
        if (!text || (text[0] != '$' && (!colon || !strchr("~/.", text[0]))))
                return 0;
        if (text[0] == '$') /* its own colons hide where it ends */
                return sources_path(s, n, text);
        r = str_printf(&source, "%.*s", (int)(colon - text), text);
        return r < 0 ? r : sources_path(s, n, source);
}

static int sources_file(const Sources *s, DocumentNode n, const char *text);

static int sources_service(const Sources *s, DocumentNode service) {
        DocumentNode volumes = document_get(s->d, service, "volumes"),
                     extends = document_get(s->d, document_get(s->d, service, "extends"), "file");
        int r;

        r = sources_build(s, document_get(s->d, service, "build"));
        if (r == 0)
                r = sources_texts(s, document_get(s->d, service, "env_file"), 0);
        if (r == 0)
                r = sources_texts(s, document_get(s->d, service, "label_file"), 0);
        for (size_t i = 0; i < document_len(s->d, volumes) && r == 0; i++)
                r = sources_volume(s, document_item(s->d, volumes, i));
        if (r == 0 && document_text(s->d, extends))
                r = sources_file(s, extends, document_text(s->d, extends));
        return r;
}

/* Each value of the top level's map `key`, or of what stands in it under `inner`. */
static int sources_each(const Sources *s, const char *key, const char *inner) {
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        DocumentNode map = document_get(s->d, document_root(s->d), key);
        int r = 0;

        if (document_kind(s->d, map) == DOCUMENT_MAP)
                r = document_pairs(s->d, map, &pairs, s->why);
        for (size_t i = 0; i < pairs.len && r == 0; i++)
                r = inner ? sources_texts(s, document_get(s->d, pairs.items[i].value, inner), 0)
                          : sources_service(s, pairs.items[i].value);
        return r;
}

/* A volume whose driver mounts a folder of the host. */
static int sources_volumes(const Sources *s) {
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        DocumentNode map = document_get(s->d, document_root(s->d), "volumes");
        int r = 0;

        if (document_kind(s->d, map) == DOCUMENT_MAP)
                r = document_pairs(s->d, map, &pairs, s->why);
        for (size_t i = 0; i < pairs.len && r == 0; i++) {
                DocumentNode options = document_get(s->d, pairs.items[i].value, "driver_opts"),
                             device = document_get(s->d, options, "device");
                const char *text = document_text(s->d, device);

                if (text && strchr("./~$", text[0]))
                        r = sources_path(s, device, text);
        }
        return r;
}

static int sources_includes(const Sources *s, DocumentNode n, int depth) {
        const char *text = document_text(s->d, n);
        int r = 0;

        if (depth > SOURCES_DEPTH)
                return 0;
        if (document_kind(s->d, n) == DOCUMENT_SCALAR && text)
                return sources_file(s, n, text);
        if (document_kind(s->d, n) == DOCUMENT_MAP) {
                r = sources_texts(s, document_get(s->d, n, "env_file"), 0);
                return r != 0 ? r : sources_includes(s, document_get(s->d, n, "path"), depth + 1);
        }
        for (size_t i = 0; i < document_len(s->d, n) && r == 0; i++)
                r = sources_includes(s, document_item(s->d, n, i), depth + 1);
        return r;
}

static int sources_document(const Sources *s) {
        int r;

        r = sources_each(s, "services", NULL);
        if (r == 0)
                r = sources_each(s, "configs", "file");
        if (r == 0)
                r = sources_each(s, "secrets", "file");
        if (r == 0)
                r = sources_volumes(s);
        if (r == 0)
                r = sources_includes(s, document_get(s->d, document_root(s->d), "include"), 0);
        if (r == 0 && document_spent(s->d)) {
                r = str_addf(s->why, "%s: merges nest too deep", s->path);
                return r < 0 ? r : SOURCES_E_REFUSED;
        }
        return r > 0 ? SOURCES_E_REFUSED : r;
}

/* Reads on in a guarded file that this one names; one that is not guarded is listed alone. */
static int sources_file(const Sources *s, DocumentNode n, const char *text) {
        CLEANUP(document_freep) Document *d = NULL;
        CLEANUP(str_freep) char *beneath = NULL;
        CLEANUP(str_freep) char *folder = NULL;
        CLEANUP(str_done) Str bytes = STR_NULL;
        const Taken *t;
        int r = sources_path(s, n, text);

        if (r == 0)
                r = compose_beneath(s->place->checkout, s->base, text, &beneath);
        if (r != 0 || !beneath || strv_find(s->seen, beneath) || s->seen->len >= SOURCES_FILES)
                return r;
        t = place_taken(s->place, beneath);
        r = strv_add(s->seen, beneath);
        if (r < 0 || !t || t->refused != 0)
                return r;
        r = io_read_file(t->bytes_fd, TAKE_MAX, &bytes);
        if (r != 0)
                return r < 0 ? r : err_new(EIO); /* a sealed memfd does not change */
        r = document_parse(beneath, bytes.data ? bytes.data : "", bytes.len, &d, s->why);
        if (r == 0)
                r = str_printf(&folder, "%.*s",
                               strrchr(beneath, '/') ? (int)(strrchr(beneath, '/') - beneath) : 0,
                               beneath);
        return r != 0 ? r
                      : sources_document(&(Sources){s->place, beneath, folder, d, s->seen, s->why});
}

int sources_collect(Place *p, const char *path, Document *d, Str *why) {
        CLEANUP(strv_done) Strv seen = STRV_NULL;
        int r = strv_add(&seen, path);

        return r < 0 ? r : sources_document(&(Sources){p, path, p->folder, d, &seen, why});
}
