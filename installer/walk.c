#include <string.h>

#include "installer/builds.h"
#include "installer/compose.h"
#include "installer/walk.h"

/* Where in a compose file the walk is: what a scalar means there. */
typedef enum WalkAt {
        WALK_ANY,
        WALK_ROOT,
        WALK_SERVICES,
        WALK_SERVICE,
        WALK_BUILD,
        WALK_EXTENDS,
        WALK_COMPOSE_FILE, /* a compose file that is named */
        WALK_INCLUDE,
        WALK_ENV_FILES,
        WALK_FILE, /* one path of a file */
        WALK_VOLUMES,
        WALK_VOLUME,      /* short form, or a map */
        WALK_BIND_SOURCE, /* long form */
        WALK_SECURITY,
        WALK_DEVICES,
        WALK_STORES, /* secrets:, configs: */
        WALK_STORE,
        WALK_DISKS, /* volumes: of the top level */
        WALK_DISK,
        WALK_DISK_OPTIONS,
        WALK_HOST_PATH, /* handed on as it is */
        WALK_REFUSED,
} WalkAt;

typedef struct WalkRule {
        WalkAt at;
        const char *key; /* NULL: any */
        WalkAt to;
} WalkRule;
static const WalkRule walk_rules[] = {
        {WALK_ROOT, "services", WALK_SERVICES},
        {WALK_ROOT, "secrets", WALK_STORES},
        {WALK_ROOT, "configs", WALK_STORES},
        {WALK_ROOT, "volumes", WALK_DISKS},
        {WALK_ROOT, "include", WALK_INCLUDE},
        {WALK_SERVICES, NULL, WALK_SERVICE},
        {WALK_SERVICE, "build", WALK_BUILD},
        {WALK_SERVICE, "extends", WALK_EXTENDS},
        {WALK_SERVICE, "env_file", WALK_ENV_FILES},
        {WALK_SERVICE, "volumes", WALK_VOLUMES},
        {WALK_SERVICE, "security_opt", WALK_SECURITY},
        {WALK_SERVICE, "devices", WALK_DEVICES},
        {WALK_SERVICE, "init-path", WALK_HOST_PATH},
        {WALK_SERVICE, "label_file", WALK_REFUSED},
        {WALK_SERVICE, "credential_spec", WALK_REFUSED},
        {WALK_SERVICE, "provider", WALK_REFUSED},
        {WALK_EXTENDS, "file", WALK_COMPOSE_FILE},
        {WALK_ENV_FILES, "path", WALK_FILE},
        {WALK_STORES, NULL, WALK_STORE},
        {WALK_STORE, "file", WALK_FILE},
        {WALK_DISKS, NULL, WALK_DISK},
        {WALK_DISK, "driver_opts", WALK_DISK_OPTIONS},
        {WALK_DISK_OPTIONS, "device", WALK_HOST_PATH},
};

static int walk_node(Walk *w, WalkAt at, DocumentNode n, int depth);

void walk_done(Walk *w) {
        strv_done(&w->named);
}

int walk_refuse(Walk *w, DocumentNode n, const char *what) {
        int r = str_addf(w->why, "%s:%d: %s", w->path, document_line(w->d, n), what);

        return r < 0 ? r : WALK_E_REFUSED;
}

int walk_where(const Walk *w, DocumentNode n, char **ret) {
        return str_printf(ret, "%s:%d", w->path, document_line(w->d, n));
}

int walk_emitted(Walk *w, DocumentNode n, int r) {
        return r == EMIT_E_TOO_BIG ? walk_refuse(w, n,
                                                 "is larger than 4 MiB with all aliases "
                                                 "written out")
                                   : r;
}

int walk_key(Walk *w, DocumentNode at, const char *key, bool plain) {
        return walk_emitted(w, at, emit_text(w->emit, key, plain));
}

int walk_path(Walk *w, DocumentNode at, const char *path) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = 0;

        for (; *path && r == 0; path++)
                r = *path == '$' ? str_adds(&text, "$$") : str_addc(&text, *path);
        return r < 0 ? r : walk_emitted(w, at, emit_text(w->emit, text.data, false));
}

int walk_pairs(Walk *w, DocumentNode n, DocumentPairs *ret) {
        int r = document_pairs(w->d, n, ret, w->why);

        if (r == 0 && document_spent(w->d))
                return walk_refuse(w, n, "merges nest too deep");
        return r;
}

int walk_any(Walk *w, DocumentNode n, int depth) {
        return walk_node(w, WALK_ANY, n, depth);
}

static int walk_as_is(Walk *w, DocumentNode n) {
        const char *text = document_text(w->d, n);

        if (!text)
                return walk_refuse(w, n, "a NUL byte");
        return walk_emitted(w, n, emit_text(w->emit, text, document_plain(w->d, n)));
}

/* A path of kind FILE or BIND, absolute; before and after: what stands around it in the scalar. */
static int walk_placed(Walk *w, PlaceKind kind, DocumentNode n, const char *before,
                       const char *path, const char *after) {
        CLEANUP(str_freep) char *where = NULL;
        CLEANUP(str_freep) char *absolute = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        r = walk_where(w, n, &where);
        if (r == 0)
                r = place_path(w->place, kind, NULL, path, where, &absolute, NULL, w->why);
        if (r == 0 && kind == PLACE_BIND && strchr(absolute, ':'))
                return walk_refuse(w, n, "a bind source with ':' in its path");
        if (r == 0)
                r = str_adds(&text, before);
        for (const char *c = absolute; r == 0 && *c; c++)
                r = *c == '$' ? str_adds(&text, "$$") : str_addc(&text, *c);
        if (r == 0)
                r = str_adds(&text, after);
        return r != 0 ? r : walk_emitted(w, n, emit_text(w->emit, text.data, false));
}

/* SOURCE:TARGET[:OPTIONS], TARGET, or TARGET:OPTIONS, as parse_short_mount reads it: a source that
 * begins with one of ~/. is a path. */
static int walk_short_volume(Walk *w, DocumentNode n) {
        CLEANUP(str_freep) char *source = NULL;
        const char *text = document_text(w->d, n), *colon = text ? strchr(text, ':') : NULL;
        int r;

        if (text && text[0] == '$' && text[1] != '$')
                return walk_refuse(w, n,
                                   "a volume whose source is a variable can't be sealed; "
                                   "write it out");
        if (!colon || !strchr("~/.", text[0]) ||
            (!strchr(colon + 1, ':') && colon[1] != '/' && colon[1] != '$'))
                return walk_as_is(w, n);
        r = str_printf(&source, "%.*s", (int)(colon - text), text);
        return r < 0 ? r : walk_placed(w, PLACE_BIND, n, "", source, colon);
}

/* The long form is handed to podman unseen, for which a name without a leading . or / is a
 * volume's.
 */
static int walk_bind_source(Walk *w, DocumentNode n) {
        const char *text = document_text(w->d, n);

        if (text && text[0] != '/' && text[0] != '.')
                return walk_refuse(w, n,
                                   "the source of a bind must begin with / or ./ to be taken "
                                   "for a path");
        return walk_placed(w, PLACE_BIND, n, "", text ? text : "", "");
}

static int walk_security(Walk *w, DocumentNode n) {
        const char *text = document_text(w->d, n);
        bool seccomp = str_starts(text ? text : "", "seccomp=") ||
                       str_starts(text ? text : "", "seccomp:");

        if (text && text[0] == '$')
                return walk_refuse(w, n,
                                   "a security_opt that begins with a variable can't be "
                                   "sealed; write it out");
        if (!seccomp || str_eq(text + 8, "unconfined") || str_eq(text + 8, "image"))
                return walk_as_is(w, n);
        return walk_placed(w, PLACE_FILE, n, text[7] == '=' ? "seccomp=" : "seccomp:", text + 8,
                           "");
}

/* A path of the host that is no file of the project's; a relative one would change its meaning. */
static int walk_host_path(Walk *w, DocumentNode n) {
        CLEANUP(str_freep) char *where = NULL;
        const char *text = document_text(w->d, n);
        int r;

        if (!text || text[0] == '.' || text[0] == '~')
                return walk_refuse(w, n, "must be an absolute path to be sealed");
        r = walk_where(w, n, &where);
        if (r == 0 && !str_starts(text, "/dev/"))
                r = place_trust(w->place, where, text, "is taken as it is");
        return r < 0 ? r : walk_as_is(w, n);
}

static bool walk_same_folder(const Walk *w, const char *beneath) {
        const char *slash = strrchr(beneath, '/');
        size_t len = slash ? (size_t)(slash - beneath) : 0;

        return strlen(w->place->folder) == len && memcmp(w->place->folder, beneath, len) == 0;
}

static int walk_compose_file(Walk *w, WalkAt at, DocumentNode n) {
        CLEANUP(str_freep) char *where = NULL;
        CLEANUP(str_freep) char *name = NULL;
        CLEANUP(str_freep) char *path = NULL;
        const char *text = document_text(w->d, n);
        const Taken *t;
        int r;

        r = walk_where(w, n, &where);
        if (r == 0)
                r = place_compose(w->place, text ? text : "", where, &t, w->why);
        if (r != 0)
                return r;
        if (at == WALK_INCLUDE && !walk_same_folder(w, t->path))
                return walk_refuse(w, n,
                                   "include of a file in another folder can't be sealed; "
                                   "name it with --compose");
        if (!strv_find(&w->named, t->path))
                r = strv_add(&w->named, t->path);
        if (r == 0)
                r = place_name("extends", t->path, &name);
        if (r == 0)
                r = str_printf(&path, "%s/%s.yaml", w->place->run, name);
        return r < 0 ? r : walk_path(w, n, path);
}

static int walk_scalar(Walk *w, WalkAt at, DocumentNode n) {
        const char *text = document_text(w->d, n);

        switch (at) {
        case WALK_ROOT:
        case WALK_SERVICES:
        case WALK_SERVICE:
        case WALK_STORES:
        case WALK_DISKS:
                return walk_refuse(w, n, "must be a map");
        case WALK_FILE:
        case WALK_ENV_FILES:
                return walk_placed(w, PLACE_FILE, n, "", text ? text : "", "");
        case WALK_COMPOSE_FILE:
        case WALK_INCLUDE:
                return walk_compose_file(w, at, n);
        case WALK_VOLUMES:
        case WALK_VOLUME:
                return walk_short_volume(w, n);
        case WALK_BIND_SOURCE:
                return walk_bind_source(w, n);
        case WALK_SECURITY:
                return walk_security(w, n);
        case WALK_DEVICES:
        case WALK_HOST_PATH:
                return walk_host_path(w, n);
        case WALK_ANY:
        case WALK_BUILD: /* builds_render's */
        case WALK_EXTENDS:
        case WALK_STORE:
        case WALK_DISK:
        case WALK_DISK_OPTIONS:
        case WALK_REFUSED:
                break;
        }
        return walk_as_is(w, n);
}

static WalkAt walk_to(WalkAt at, const char *key) {
        if ((at == WALK_ROOT || at == WALK_SERVICE) && str_starts(key, "x-podman"))
                return WALK_REFUSED;
        for (size_t i = 0; i < sizeof(walk_rules) / sizeof(walk_rules[0]); i++)
                if (walk_rules[i].at == at &&
                    (!walk_rules[i].key || str_eq(walk_rules[i].key, key)))
                        return walk_rules[i].to;
        return WALK_ANY;
}

/* A long volume's source is a path when its type is bind. */
static int walk_volume_to(Walk *w, DocumentNode map, const char *key, WalkAt *ret) {
        DocumentNode type = document_get(w->d, map, "type");
        const char *text = document_text(w->d, type);

        *ret = WALK_ANY;
        if (str_eq(key, "type") && text && strchr(text, '$'))
                return walk_refuse(w, type, "the type of a volume must not be a variable");
        if (str_eq(key, "source") && str_eq(text, "bind"))
                *ret = WALK_BIND_SOURCE;
        return 0;
}

static int walk_pair(Walk *w, WalkAt at, DocumentNode map, const DocumentPair *pair, int depth) {
        const char *key = document_text(w->d, pair->key);
        WalkAt to = walk_to(at, key);
        int r = 0;

        if (at == WALK_VOLUME)
                r = walk_volume_to(w, map, key, &to);
        if (r == 0 && to == WALK_REFUSED) {
                r = str_addf(w->why, "%s:%d: %s can't be sealed", w->path,
                             document_line(w->d, pair->key), key);
                return r < 0 ? r : WALK_E_REFUSED;
        }
        if (at == WALK_SERVICES)
                w->service = key;
        if (r == 0)
                r = walk_key(w, pair->key, key, document_plain(w->d, pair->key));
        return r != 0 ? r : walk_node(w, to, pair->value, depth + 1);
}

static bool walk_takes_map(WalkAt at) {
        return at != WALK_FILE && at != WALK_COMPOSE_FILE && at != WALK_INCLUDE &&
               at != WALK_VOLUMES && at != WALK_BIND_SOURCE && at != WALK_SECURITY &&
               at != WALK_HOST_PATH;
}

static int walk_map(Walk *w, WalkAt at, DocumentNode n, int depth) {
        CLEANUP(document_pairs_done) DocumentPairs pairs = DOCUMENT_PAIRS_NULL;
        int r;

        if (!walk_takes_map(at))
                return walk_refuse(w, n, "a map where a path or a list of paths was looked for");
        r = walk_pairs(w, n, &pairs);
        if (r == 0)
                r = walk_emitted(w, n, emit_map(w->emit));
        for (size_t i = 0; i < pairs.len && r == 0; i++)
                r = walk_pair(w, at, n, &pairs.items[i], depth);
        return r != 0 ? r : walk_emitted(w, n, emit_map_end(w->emit));
}

static bool walk_takes_list(WalkAt at) {
        return at == WALK_ANY || at == WALK_ENV_FILES || at == WALK_VOLUMES ||
               at == WALK_SECURITY || at == WALK_DEVICES || at == WALK_INCLUDE;
}

static int walk_list(Walk *w, WalkAt at, DocumentNode n, int depth) {
        int r;

        if (!walk_takes_list(at))
                return walk_refuse(w, n, "must not be a list");
        r = walk_emitted(w, n, emit_list(w->emit));
        for (size_t i = 0; i < document_len(w->d, n) && r == 0; i++)
                r = walk_node(w, at == WALK_VOLUMES ? WALK_VOLUME : at, document_item(w->d, n, i),
                              depth + 1);
        return r != 0 ? r : walk_emitted(w, n, emit_list_end(w->emit));
}

static int walk_node(Walk *w, WalkAt at, DocumentNode n, int depth) {
        if (depth > DOCUMENT_MAX_DEPTH)
                return walk_refuse(w, n, "nests too deep, or names itself");
        switch (document_kind(w->d, n)) {
        case DOCUMENT_NONE:
                return walk_as_is(w, n);
        case DOCUMENT_SCALAR:
                return at == WALK_BUILD ? builds_render(w, n, depth) : walk_scalar(w, at, n);
        case DOCUMENT_MAP:
                return at == WALK_BUILD ? builds_render(w, n, depth) : walk_map(w, at, n, depth);
        case DOCUMENT_LIST:
                break;
        }
        return walk_list(w, at, n, depth);
}

int walk_document(Walk *w) {
        DocumentNode root = document_root(w->d);

        if (document_tag_line(w->d) > 0) {
                int r = str_addf(w->why, "%s:%d: a tag (!...) can't be sealed", w->path,
                                 document_tag_line(w->d));

                return r < 0 ? r : WALK_E_REFUSED;
        }
        if (!root || document_kind(w->d, root) != DOCUMENT_MAP)
                return walk_refuse(w, root, "is no compose file: the top level must be a map");
        return walk_node(w, WALK_ROOT, root, 0);
}
