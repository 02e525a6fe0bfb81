#include "installer/builds.h"

typedef struct Build {
        DocumentNode at;
        char *context; /* absolute; NULL: none is to be named */
        char *beneath; /* the context, below the checkout; NULL: it is outside */
        char *dockerfile;
} Build;

static void build_done(Build *b) {
        str_freep(&b->context);
        str_freep(&b->beneath);
        str_freep(&b->dockerfile);
}

static bool builds_has(Document *d, DocumentNode map, const char *key) {
        return document_kind(d, document_get(d, map, key)) != DOCUMENT_NONE;
}

static DocumentNode builds_service(Document *d, const char *name) {
        return document_get(d, document_get(d, document_root(d), "services"), name);
}

/* under: an earlier -f file has a build for this service; extends: any of them extends another. */
static void builds_around(const Walk *w, bool *under, bool *extends) {
        bool before = true;

        *under = *extends = false;
        for (size_t i = 0; i < w->merged_len; i++) {
                DocumentNode service = builds_service(w->merged[i], w->service);

                before = before && w->merged[i] != w->d;
                *under = *under || (before && builds_has(w->merged[i], service, "build"));
                *extends = *extends || builds_has(w->merged[i], service, "extends");
        }
}

static int builds_context(Walk *w, Build *b, DocumentNode at, const char *text) {
        CLEANUP(str_freep) char *where = NULL;
        int r = walk_where(w, at ? at : b->at, &where);

        return r < 0 ? r
                     : place_path(w->place, PLACE_CONTEXT, NULL, text, where, &b->context,
                                  &b->beneath, w->why);
}

/* text NULL: the one that podman-compose finds. Outside the checkout it is left to the tool. */
static int builds_dockerfile(Walk *w, Build *b, DocumentNode at, const char *text) {
        CLEANUP(str_freep) char *where = NULL;
        int r;

        if (!b->beneath && (!text || text[0] != '/'))
                return str_dup(text, &b->dockerfile);
        r = text ? 0 : place_dockerfile(w->place, b->beneath, &text);
        if (r == 0)
                r = walk_where(w, at ? at : b->at, &where);
        return r < 0 ? r
                     : place_path(w->place, PLACE_DOCKERFILE, b->beneath, text, where,
                                  &b->dockerfile, NULL, w->why);
}

static int builds_put(Walk *w, DocumentNode at, const char *key, const char *path) {
        int r;

        if (!path)
                return 0;
        r = walk_key(w, at, key, true);
        return r != 0 ? r : walk_path(w, at, path);
}

static int builds_text(Walk *w, DocumentNode n) {
        CLEANUP(build_done) Build b = {.at = n};
        const char *text = document_text(w->d, n);
        int r;

        if (!text)
                return walk_refuse(w, n, "build must be text or a map");
        r = builds_context(w, &b, n, text);
        if (r == 0)
                r = builds_dockerfile(w, &b, n, NULL);
        if (r == 0)
                r = walk_emitted(w, n, emit_map(w->emit));
        if (r == 0)
                r = builds_put(w, n, "context", b.context);
        if (r == 0)
                r = builds_put(w, n, "dockerfile", b.dockerfile);
        return r != 0 ? r : walk_emitted(w, n, emit_map_end(w->emit));
}

/* Context and Dockerfile of a map: both, or neither where an earlier file says them. */
static int builds_resolve(Walk *w, Build *b) {
        Document *d = w->d;
        DocumentNode context = document_get(d, b->at, "context"),
                     dockerfile = document_get(d, b->at, "dockerfile");
        bool has_context = document_kind(d, context) != DOCUMENT_NONE;
        bool has_file = document_kind(d, dockerfile) != DOCUMENT_NONE;
        bool under, extends;
        int r;

        builds_around(w, &under, &extends);
        if ((has_context &&
             (document_kind(d, context) != DOCUMENT_SCALAR || !document_text(d, context))) ||
            (has_file &&
             (document_kind(d, dockerfile) != DOCUMENT_SCALAR || !document_text(d, dockerfile))))
                return walk_refuse(w, b->at, "context and dockerfile must be text");
        if (extends && (!has_context || !has_file))
                return walk_refuse(w, b->at,
                                   "build of a service with extends: name both context "
                                   "and dockerfile");
        if (under && !has_context && !has_file)
                return 0;
        if (under && has_context != has_file)
                return walk_refuse(w, b->at,
                                   "an earlier file has a build for this service: name "
                                   "both context and dockerfile, or neither");
        r = builds_context(w, b, context, has_context ? document_text(d, context) : ".");
        return r != 0 ? r
                      : builds_dockerfile(w, b, dockerfile,
                                          has_file ? document_text(d, dockerfile) : NULL);
}

static int builds_pair(Walk *w, const Build *b, const DocumentPair *pair, int depth) {
        const char *key = document_text(w->d, pair->key);
        bool path = str_eq(key, "context") || str_eq(key, "dockerfile");
        int r;

        if (path) /* written at the end */
                return 0;
        if (str_eq(key, "additional_contexts"))
                return walk_refuse(w, pair->key, "additional_contexts can't be sealed");
        if (str_eq(key, "dockerfile_inline")) /* 1.0.3 takes what stands in the context instead */
                return walk_refuse(w, pair->key, "podman-compose does not read dockerfile_inline");
        r = walk_key(w, b->at, key, document_plain(w->d, pair->key));
        return r != 0 ? r : walk_any(w, pair->value, depth + 1);
}

static int builds_map(Walk *w, DocumentNode n, int depth) {
        CLEANUP(build_done) Build b = {.at = n};
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        int r;

        r = builds_resolve(w, &b);
        if (r == 0)
                r = walk_pairs(w, n, &pairs);
        if (r == 0)
                r = walk_emitted(w, n, emit_map(w->emit));
        for (size_t i = 0; i < pairs.len && r == 0; i++)
                r = builds_pair(w, &b, &pairs.items[i], depth);
        if (r == 0)
                r = builds_put(w, n, "context", b.context);
        if (r == 0)
                r = builds_put(w, n, "dockerfile", b.dockerfile);
        return r != 0 ? r : walk_emitted(w, n, emit_map_end(w->emit));
}

int builds_render(Walk *w, DocumentNode n, int depth) {
        return document_kind(w->d, n) == DOCUMENT_MAP ? builds_map(w, n, depth) : builds_text(w, n);
}
