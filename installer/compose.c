#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/pin.h"
#include "installer/compose.h"
#include "installer/document.h"

enum { COMPOSE_EXTENDS_DEPTH = 8, COMPOSE_PATHS_DEPTH = 3 };

typedef struct ComposeFile {
        char *path;
        char *base; /* the folder that its relative paths are seen from */
        Document *document;
        bool merged; /* its services are in the list */
} ComposeFile;

typedef struct ComposeReader {
        int checkout_fd;
        const char *checkout;
        ComposeFile *files[COMPOSE_MAX_FILES];
        size_t files_len;
        Compose out;
        Str *why;
} ComposeReader;

static void compose_reader_done(ComposeReader *c) {
        for (size_t i = 0; i < c->files_len; i++) {
                c->files[i]->document = document_free(c->files[i]->document);
                free(c->files[i]->path);
                free(c->files[i]->base);
                free(c->files[i]);
        }
        compose_done(&c->out);
}

void compose_done(Compose *c) {
        for (size_t i = 0; i < c->services_len; i++) {
                free(c->services[i].name);
                free(c->services[i].where);
        }
        for (size_t i = 0; i < c->parts_len; i++) {
                free(c->parts[i].text);
                free(c->parts[i].path);
                free(c->parts[i].where);
        }
        free(c->services);
        free(c->parts);
        *c = COMPOSE_NULL;
}

const ComposeService *compose_find(const Compose *c, const char *name) {
        for (size_t i = 0; i < c->services_len; i++)
                if (str_eq(c->services[i].name, name))
                        return &c->services[i];
        return NULL;
}

const char *compose_kind_name(ComposeKind k) {
        static const char *const names[] = {"include", "extends", "env_file",
                                            "config",  "secret",  "dockerfile"};

        return names[k];
}

static int compose_refuse(ComposeReader *c, const ComposeFile *f, DocumentNode n,
                          const char *text) {
        int r = str_addf(c->why, "%s:%d: %s", f->path, document_line(f->document, n), text);

        return r < 0 ? r : COMPOSE_E_INVALID;
}

/* Takes one component off or puts one on; false: above the checkout. */
static int compose_step(Str *at, const char *part, size_t len, bool *ret_beneath) {
        int r = 0;

        *ret_beneath = true;
        if (len == 0 || (len == 1 && part[0] == '.'))
                return 0;
        if (len == 2 && part[0] == '.' && part[1] == '.') {
                const char *slash;

                *ret_beneath = at->len > 0;
                slash = at->len > 0 ? strrchr(at->data, '/') : NULL;
                at->len = slash ? (size_t)(slash - at->data) : 0;
                if (at->data)
                        at->data[at->len] = '\0';
                return 0;
        }
        if (at->len > 0)
                r = str_addc(at, '/');
        return r < 0 ? r : str_add(at, part, len);
}

static int compose_walk(Str *at, const char *path, bool *ret_beneath) {
        int r = 0;

        *ret_beneath = true;
        while (*path && r == 0 && *ret_beneath) {
                size_t len = strcspn(path, "/");

                r = compose_step(at, path, len, ret_beneath);
                path += len;
                path += strspn(path, "/");
        }
        return r;
}

int compose_beneath(const char *checkout, const char *base, const char *path, char **ret) {
        CLEANUP(str_done) Str at = STR_NULL;
        size_t root = strlen(checkout);
        bool beneath = true;
        int r = 0;

        *ret = NULL;
        if (path[0] == '/') {
                if (!str_starts(path, checkout) || (path[root] != '/' && path[root] != '\0'))
                        return 0;
                path += root;
        } else {
                r = compose_walk(&at, base, &beneath);
        }
        if (r == 0 && beneath)
                r = compose_walk(&at, path, &beneath);
        if (r < 0 || !beneath)
                return r;
        return str_take(&at, ret);
}

static int compose_folder(const char *path, char **ret) {
        const char *slash = strrchr(path, '/');

        return str_printf(ret, "%.*s", slash ? (int)(slash - path) : 0, path);
}

static int compose_load(ComposeReader *c, const char *path, const char *base, ComposeFile **ret) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        ComposeFile *f;
        int r;

        for (size_t i = 0; i < c->files_len; i++) {
                if (str_eq(c->files[i]->path, path)) {
                        *ret = c->files[i];
                        return 0;
                }
        }
        if (c->files_len == COMPOSE_MAX_FILES) {
                r = str_addf(c->why, "%s: more than %d compose files", path,
                             (int)COMPOSE_MAX_FILES);
                return r < 0 ? r : COMPOSE_E_INVALID;
        }
        r = pin_read_at(c->checkout_fd, path, &(PinRule){(uid_t)-1, 0}, PIN_ANY_LINKS,
                        DOCUMENT_MAX_BYTES, &bytes);
        if (r != 0) {
                int said = str_addf(c->why, "%s: %s", path, r > 0 ? pin_reason(r) : strerror(-r));

                return said < 0 ? said : COMPOSE_E_INVALID;
        }
        f = calloc(1, sizeof(*f));
        if (!f)
                return err_new(ENOMEM);
        c->files[c->files_len++] = f;
        r = str_dup(path, &f->path);
        if (r == 0)
                r = base ? str_dup(base, &f->base) : compose_folder(path, &f->base);
        if (r == 0)
                r = document_parse(path, bytes.data ? bytes.data : "", bytes.len, &f->document,
                                   c->why);
        if (r == 0)
                *ret = f;
        return r;
}

/* A path that we can follow: no variable, no home, no address. */
static bool compose_plain(const char *text) {
        return *text && *text != '~' && !strchr(text, '$') && !strstr(text, "://") &&
               !str_starts(text, "git@") && !str_starts(text, "github.com/");
}

static int compose_part(ComposeReader *c, const ComposeFile *f, DocumentNode n, ComposeKind kind,
                        const char *base, const char *text, const ComposePart **ret) {
        ComposePart *parts = reallocarray(c->out.parts, c->out.parts_len + 1, sizeof(*parts)),
                    *part;
        int r;

        if (!parts)
                return err_new(ENOMEM);
        c->out.parts = parts;
        part = &parts[c->out.parts_len++];
        *part = (ComposePart){.kind = kind};
        r = str_dup(text, &part->text);
        if (r == 0)
                r = str_printf(&part->where, "%s:%d", f->path, document_line(f->document, n));
        if (r == 0 && compose_plain(text))
                r = compose_beneath(c->checkout, base, text, &part->path);
        if (r == 0)
                *ret = part;
        return r;
}

/* text | [text | {path: text}]: env_file, include.path. */
static int compose_paths_at(ComposeReader *c, const ComposeFile *f, DocumentNode n,
                            ComposeKind kind, const char *base, int depth) {
        const ComposePart *part;
        const char *text = document_text(f->document, n);
        int r = 0;

        if (depth > COMPOSE_PATHS_DEPTH) /* an alias may lead back into its own list */
                return compose_refuse(c, f, n, "a path must be text");
        if (document_kind(f->document, n) == DOCUMENT_SCALAR && text)
                return compose_part(c, f, n, kind, base, text, &part);
        if (document_kind(f->document, n) == DOCUMENT_MAP)
                return compose_paths_at(c, f, document_get(f->document, n, "path"), kind, base,
                                        depth + 1);
        for (size_t i = 0; i < document_len(f->document, n) && r == 0; i++)
                r = compose_paths_at(c, f, document_item(f->document, n, i), kind, base, depth + 1);
        return r;
}

static int compose_paths(ComposeReader *c, const ComposeFile *f, DocumentNode n, ComposeKind kind,
                         const char *base) {
        return compose_paths_at(c, f, n, kind, base, 0);
}

static int compose_build(ComposeReader *c, const ComposeFile *f, DocumentNode build) {
        CLEANUP(str_freep) char *path = NULL;
        Document *d = f->document;
        const char *context = document_text(d, build), *dockerfile = NULL;
        const ComposePart *part;
        int r;

        if (document_kind(d, build) == DOCUMENT_MAP) {
                if (document_kind(d, document_get(d, build, "dockerfile_inline")) != DOCUMENT_NONE)
                        return 0;
                context = document_text(d, document_get(d, build, "context"));
                dockerfile = document_text(d, document_get(d, build, "dockerfile"));
        } else if (document_kind(d, build) != DOCUMENT_SCALAR) {
                return compose_refuse(c, f, build, "build must be text or a map");
        }
        if (!context)
                context = ".";
        if (!dockerfile || !*dockerfile)
                dockerfile = "Dockerfile";
        if (dockerfile[0] == '/')
                r = str_dup(dockerfile, &path);
        else
                r = str_printf(&path, "%s/%s", context, dockerfile);
        return r < 0 ? r : compose_part(c, f, build, COMPOSE_DOCKERFILE, f->base, path, &part);
}

static DocumentNode compose_service_node(const ComposeFile *f, const char *name) {
        Document *d = f->document;

        return document_get(d, document_get(d, document_root(d), "services"), name);
}

/* Follows extends: until a build: is found. */
static int compose_builds(ComposeReader *c, ComposeFile *f, DocumentNode service, int depth,
                          bool *ret) {
        CLEANUP(str_freep) char *folder = NULL;
        Document *d = f->document;
        DocumentNode extends = document_get(d, service, "extends"), file;
        const char *base = document_text(d, extends);
        const ComposePart *part;
        int r;

        *ret = document_kind(d, document_get(d, service, "build")) != DOCUMENT_NONE;
        if (*ret || document_kind(d, extends) == DOCUMENT_NONE)
                return 0;
        if (depth == COMPOSE_EXTENDS_DEPTH)
                return compose_refuse(c, f, extends, "extends goes on too long, or in a circle");
        if (!base) {
                base = document_text(d, document_get(d, extends, "service"));
                file = document_get(d, extends, "file");
                if (!base)
                        return compose_refuse(c, f, extends, "extends names no service");
                if (document_kind(d, file) == DOCUMENT_SCALAR && document_text(d, file)) {
                        r = compose_folder(f->path, &folder); /* seen from the file itself */
                        if (r == 0)
                                r = compose_part(c, f, file, COMPOSE_EXTENDS, folder,
                                                 document_text(d, file), &part);
                        if (r != 0 || !part->path)
                                return r;
                        r = compose_load(c, part->path, NULL, &f);
                        if (r != 0)
                                return r;
                }
        }
        return compose_builds(c, f, compose_service_node(f, base), depth + 1, ret);
}

static int compose_add(ComposeReader *c, const ComposeFile *f, const DocumentPair *pair,
                       ComposeService **ret) {
        const char *name = document_text(f->document, pair->key);
        ComposeService *services;
        int r;

        for (size_t i = 0; i < c->out.services_len; i++) {
                if (str_eq(c->out.services[i].name, name)) {
                        *ret = &c->out.services[i];
                        return 0;
                }
        }
        services = reallocarray(c->out.services, c->out.services_len + 1, sizeof(*services));
        if (!services)
                return err_new(ENOMEM);
        c->out.services = services;
        *ret = &services[c->out.services_len++];
        **ret = (ComposeService){0};
        r = str_dup(name, &(*ret)->name);
        return r < 0 ? r
                     : str_printf(&(*ret)->where, "%s:%d", f->path,
                                  document_line(f->document, pair->key));
}

static int compose_service(ComposeReader *c, ComposeFile *f, const DocumentPair *pair) {
        Document *d = f->document;
        DocumentNode build;
        ComposeService *s = NULL;
        bool builds = false;
        int r;

        if (document_kind(d, pair->value) != DOCUMENT_MAP)
                return compose_refuse(c, f, pair->key, "a service must be a map");
        r = compose_builds(c, f, pair->value, 0, &builds);
        if (r == 0)
                r = compose_add(c, f, pair, &s);
        if (r != 0)
                return r;
        s->build = s->build || builds;
        s->profiled = s->profiled || document_len(d, document_get(d, pair->value, "profiles")) > 0;
        build = document_get(d, pair->value, "build");
        if (document_kind(d, build) != DOCUMENT_NONE)
                r = compose_build(c, f, build);
        if (r == 0)
                r = compose_paths(c, f, document_get(d, pair->value, "env_file"), COMPOSE_ENV_FILE,
                                  f->base);
        return r;
}

/* configs: and secrets: of the top level, {NAME: {file: PATH}}. */
static int compose_mounted(ComposeReader *c, const ComposeFile *f, const char *key,
                           ComposeKind kind) {
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        Document *d = f->document;
        DocumentNode map = document_get(d, document_root(d), key);
        int r = 0;

        if (document_kind(d, map) == DOCUMENT_MAP)
                r = document_pairs(d, map, &pairs, c->why);
        for (size_t i = 0; i < pairs.len && r == 0; i++)
                r = compose_paths(c, f, document_get(d, pairs.items[i].value, "file"), kind,
                                  f->base);
        return r;
}

static int compose_merge(ComposeReader *c, ComposeFile *f);

static int compose_includes(ComposeReader *c, ComposeFile *f) {
        CLEANUP(str_freep) char *folder = NULL;
        Document *d = f->document;
        DocumentNode include = document_get(d, document_root(d), "include");
        size_t first = c->out.parts_len, end;
        int r;

        r = compose_folder(f->path, &folder);
        if (r == 0)
                r = compose_paths(c, f, include, COMPOSE_INCLUDE, folder);
        end = c->out.parts_len;
        for (size_t i = first; i < end && r == 0; i++) {
                ComposeFile *other;

                if (!c->out.parts[i].path)
                        continue;
                r = compose_load(c, c->out.parts[i].path, NULL, &other);
                if (r == 0)
                        r = compose_merge(c, other);
        }
        return r;
}

static int compose_merge(ComposeReader *c, ComposeFile *f) {
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        Document *d = f->document;
        DocumentNode root = document_root(d), services;
        int r;

        if (f->merged)
                return 0; /* a file that includes itself, or is included twice */
        f->merged = true;
        if (root && document_kind(d, root) != DOCUMENT_MAP)
                return compose_refuse(c, f, root,
                                      "is no compose file: the top level must be a map");
        services = document_get(d, root, "services");
        if (document_kind(d, services) != DOCUMENT_NONE &&
            document_kind(d, services) != DOCUMENT_MAP)
                return compose_refuse(c, f, services, "services must be a map");
        r = compose_includes(c, f);
        if (r == 0 && document_kind(d, services) == DOCUMENT_MAP)
                r = document_pairs(d, services, &pairs, c->why);
        for (size_t i = 0; i < pairs.len && r == 0; i++)
                r = compose_service(c, f, &pairs.items[i]);
        if (r == 0)
                r = compose_mounted(c, f, "configs", COMPOSE_CONFIG);
        if (r == 0)
                r = compose_mounted(c, f, "secrets", COMPOSE_SECRET);
        return r;
}

static int compose_check_spent(ComposeReader *c) {
        for (size_t i = 0; i < c->files_len; i++)
                if (document_spent(c->files[i]->document))
                        return compose_refuse(c, c->files[i], 0, "merges nest too deep");
        return 0;
}

int compose_read(int checkout_fd, const char *checkout, const Strv *files, Compose *ret, Str *why) {
        CLEANUP(compose_reader_done)
        ComposeReader c = {.checkout_fd = checkout_fd, .checkout = checkout, .why = why};
        CLEANUP(str_freep) char *base = NULL;
        int r = 0;

        if (files->len > 0)
                r = compose_folder(
                        files->items[0],
                        &base); /* of several -f, the first one's folder is the project's */
        for (size_t i = 0; i < files->len && r == 0; i++) {
                ComposeFile *f;

                r = compose_load(&c, files->items[i], base, &f);
                if (r == 0)
                        r = compose_merge(&c, f);
        }
        if (r == 0)
                r = compose_check_spent(&c);
        if (r != 0)
                return r;
        *ret = c.out;
        c.out = COMPOSE_NULL;
        return 0;
}
