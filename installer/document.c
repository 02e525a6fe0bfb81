#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "installer/document.h"

enum { DOCUMENT_PURSE = 20 * 1000 * 1000, DOCUMENT_MERGE_DEPTH = 16 };

struct Document {
        yaml_document_t yaml;
        bool loaded;
        char *name;
        unsigned purse;
        int tag_line;
};

Document *document_free(Document *d) {
        if (d) {
                if (d->loaded)
                        yaml_document_delete(&d->yaml);
                free(d->name);
                free(d);
        }
        return NULL;
}

void document_freep(Document **d) {
        *d = document_free(*d);
}

static void document_parser_done(yaml_parser_t *p) {
        yaml_parser_delete(p);
}

static int document_refuse(Str *why, const char *name, size_t line, const char *text) {
        int r = str_addf(why, "%s:%zu: %s", name, line, text);

        return r < 0 ? r : DOCUMENT_E_INVALID;
}

/* What libyaml has to say, with the line; it knows only an offset for bytes that are no UTF-8. */
static int document_problem(const yaml_parser_t *p, const char *name, const char *bytes, size_t len,
                            Str *why) {
        size_t line = p->problem_mark.line + 1;
        const char *text = p->problem ? p->problem : "is not YAML";
        int r;

        if (p->error == YAML_MEMORY_ERROR)
                return err_new(ENOMEM);
        if (p->error == YAML_READER_ERROR) {
                line = 1;
                for (size_t i = 0; i < len && i < p->problem_offset; i++)
                        line += bytes[i] == '\n';
        }
        r = document_refuse(why, name, line, text);
        if (r == DOCUMENT_E_INVALID && p->context && str_addf(why, " (%s)", p->context) < 0)
                return -ENOMEM;
        return r;
}

typedef struct DocumentCount {
        size_t events, anchors, depth, documents;
        int tag_line; /* of the first node with a tag; 0: none */
} DocumentCount;

static bool document_tagged(const yaml_event_t *e) {
        if (e->type == YAML_SCALAR_EVENT)
                return e->data.scalar.tag;
        if (e->type == YAML_SEQUENCE_START_EVENT)
                return e->data.sequence_start.tag;
        return e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.tag;
}

static const char *document_count(DocumentCount *c, const yaml_event_t *e) {
        const yaml_char_t *anchor = NULL;
        yaml_event_type_t type = e->type;

        if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT)
                c->depth++;
        else if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT)
                c->depth--;
        else if (type == YAML_DOCUMENT_START_EVENT)
                c->documents++;
        if (type == YAML_SCALAR_EVENT)
                anchor = e->data.scalar.anchor;
        else if (type == YAML_SEQUENCE_START_EVENT)
                anchor = e->data.sequence_start.anchor;
        else if (type == YAML_MAPPING_START_EVENT)
                anchor = e->data.mapping_start.anchor;
        c->anchors += anchor != NULL;
        if (++c->events > DOCUMENT_MAX_EVENTS)
                return "has too many nodes";
        if (c->depth > DOCUMENT_MAX_DEPTH)
                return "nests too deep";
        if (c->anchors > DOCUMENT_MAX_ANCHORS)
                return "has too many anchors";
        return c->documents > 1 ? "holds a second document" : NULL;
}

/* A first pass over the events: bounds are kept before any tree is built, since libyaml compares
 * each anchor with all others. */
static int document_measure(const char *name, const char *bytes, size_t len, int *ret_tag_line,
                            Str *why) {
        CLEANUP(document_parser_done) yaml_parser_t p = {0};
        DocumentCount count = {0};
        bool end = false;

        if (!yaml_parser_initialize(&p))
                return err_new(ENOMEM);
        yaml_parser_set_input_string(&p, (const unsigned char *)bytes, len);
        while (!end) {
                yaml_event_t event;
                const char *refused;
                size_t line;

                if (!yaml_parser_parse(&p, &event))
                        return document_problem(&p, name, bytes, len, why);
                refused = document_count(&count, &event);
                line = event.start_mark.line + 1;
                if (count.tag_line == 0 && document_tagged(&event))
                        count.tag_line = (int)line;
                end = event.type == YAML_STREAM_END_EVENT;
                yaml_event_delete(&event);
                if (refused)
                        return document_refuse(why, name, line, refused);
        }
        *ret_tag_line = count.tag_line;
        return 0;
}

int document_parse(const char *name, const char *bytes, size_t len, Document **ret, Str *why) {
        CLEANUP(document_freep) Document *d = NULL;
        CLEANUP(document_parser_done) yaml_parser_t p = {0};
        int r, tag_line;

        if (len > DOCUMENT_MAX_BYTES)
                return document_refuse(why, name, 1, "is larger than 4 MiB");
        r = document_measure(name, bytes, len, &tag_line, why);
        if (r != 0)
                return r;
        d = calloc(1, sizeof(*d));
        if (!d)
                return err_new(ENOMEM);
        d->purse = DOCUMENT_PURSE;
        d->tag_line = tag_line;
        r = str_dup(name, &d->name);
        if (r < 0)
                return r;
        if (!yaml_parser_initialize(&p))
                return err_new(ENOMEM);
        yaml_parser_set_input_string(&p, (const unsigned char *)bytes, len);
        if (!yaml_parser_load(&p, &d->yaml))
                return document_problem(&p, name, bytes, len, why);
        d->loaded = true;
        *ret = d;
        d = NULL;
        return 0;
}

static yaml_node_t *document_node(Document *d, DocumentNode n) {
        return n > 0 ? yaml_document_get_node(&d->yaml, n) : NULL;
}

DocumentNode document_root(Document *d) {
        return yaml_document_get_root_node(&d->yaml) ? 1
                                                     : 0; /* libyaml: the root is the first node */
}

static bool document_null(const yaml_node_t *node) {
        const char *text = (const char *)node->data.scalar.value;

        return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
               (!*text || str_eq(text, "~") || str_eq(text, "null") || str_eq(text, "Null") ||
                str_eq(text, "NULL"));
}

DocumentKind document_kind(Document *d, DocumentNode n) {
        const yaml_node_t *node = document_node(d, n);

        if (!node)
                return DOCUMENT_NONE;
        switch (node->type) {
        case YAML_SCALAR_NODE:
                return document_null(node) ? DOCUMENT_NONE : DOCUMENT_SCALAR;
        case YAML_SEQUENCE_NODE:
                return DOCUMENT_LIST;
        case YAML_MAPPING_NODE:
                return DOCUMENT_MAP;
        case YAML_NO_NODE:
                break;
        }
        return DOCUMENT_NONE;
}

const char *document_text(Document *d, DocumentNode n) {
        const yaml_node_t *node = document_node(d, n);
        const char *text;

        if (!node || node->type != YAML_SCALAR_NODE)
                return NULL;
        text = (const char *)node->data.scalar.value;
        return strlen(text) == node->data.scalar.length ? text : NULL;
}

int document_line(Document *d, DocumentNode n) {
        const yaml_node_t *node = document_node(d, n);

        return node ? (int)node->start_mark.line + 1 : 1;
}

bool document_plain(Document *d, DocumentNode n) {
        const yaml_node_t *node = document_node(d, n);

        return node && node->type == YAML_SCALAR_NODE &&
               node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

int document_tag_line(const Document *d) {
        return d->tag_line;
}

size_t document_len(Document *d, DocumentNode n) {
        const yaml_node_t *node = document_node(d, n);

        if (!node || node->type != YAML_SEQUENCE_NODE)
                return 0;
        return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

DocumentNode document_item(Document *d, DocumentNode n, size_t i) {
        return i < document_len(d, n) ? document_node(d, n)->data.sequence.items.start[i] : 0;
}

static size_t document_pair_count(Document *d, DocumentNode map) {
        const yaml_node_t *node = document_node(d, map);

        if (!node || node->type != YAML_MAPPING_NODE)
                return 0;
        return (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
}

static DocumentPair document_pair(Document *d, DocumentNode map, size_t i) {
        const yaml_node_pair_t *pair = document_node(d, map)->data.mapping.pairs.start + i;

        return (DocumentPair){pair->key, pair->value};
}

static bool document_pay(Document *d) {
        if (d->purse == 0)
                return false;
        d->purse--;
        return true;
}

bool document_spent(Document *d) {
        return d->purse == 0;
}

/* Own keys only; 0: not there. */
static DocumentNode document_own(Document *d, DocumentNode map, const char *key) {
        size_t len = document_pair_count(d, map);

        for (size_t i = 0; i < len && document_pay(d); i++) {
                DocumentPair pair = document_pair(d, map, i);

                if (str_eq(document_text(d, pair.key), key))
                        return pair.value;
        }
        return 0;
}

static DocumentNode document_find(Document *d, DocumentNode map, const char *key, int depth) {
        DocumentNode found, merged;

        if (depth > DOCUMENT_MERGE_DEPTH || !document_pay(d)) {
                d->purse = 0;
                return 0;
        }
        found = document_own(d, map, key);
        if (found)
                return found;
        merged = document_own(d, map, "<<");
        if (document_kind(d, merged) == DOCUMENT_MAP)
                return document_find(d, merged, key, depth + 1);
        for (size_t i = 0; i < document_len(d, merged) && !found && d->purse > 0; i++)
                if (document_kind(d, document_item(d, merged, i)) == DOCUMENT_MAP)
                        found = document_find(d, document_item(d, merged, i), key, depth + 1);
        return found;
}

DocumentNode document_get(Document *d, DocumentNode map, const char *key) {
        return document_find(d, map, key, 0);
}

void document_pairs_done(DocumentPairs *p) {
        free(p->items);
        *p = DOCUMENT_PAIRS_NULL;
}

/* Where `key` is among the first len of p; len: nowhere. */
static size_t document_where(Document *d, const DocumentPairs *p, size_t len, const char *key) {
        size_t i = 0;

        while (i < len && document_pay(d) && !str_eq(document_text(d, p->items[i].key), key))
                i++;
        return i;
}

/* A key that is there already keeps its place and gets the new value, as in a Python dict. */
static int document_put(Document *d, DocumentPairs *p, DocumentPair pair) {
        size_t i = document_where(d, p, p->len, document_text(d, pair.key));
        DocumentPair *items;

        if (i < p->len) {
                p->items[i] = pair;
                return 0;
        }
        items = reallocarray(p->items, p->len + 1, sizeof(*items));
        if (!items)
                return err_new(ENOMEM);
        p->items = items;
        p->items[p->len++] = pair;
        return 0;
}

static int document_refuse_at(Document *d, DocumentNode n, const char *text, Str *why) {
        return document_refuse(why, d->name, (size_t)document_line(d, n), text);
}

/* The map's own keys are texts, each there once; a quoted << is a merge to some readers only. */
static int document_keys(Document *d, DocumentNode map, Str *why) {
        CLEANUP(document_pairs_done) DocumentPairs own = DOCUMENT_PAIRS_NULL;
        size_t len = document_pair_count(d, map);
        int r = 0;

        for (size_t i = 0; i < len && r == 0 && d->purse > 0; i++) {
                DocumentPair pair = document_pair(d, map, i);
                const char *key = document_text(d, pair.key);

                if (!key)
                        return document_refuse_at(d, pair.key, "a key must be text", why);
                if (str_eq(key, "<<") && !document_plain(d, pair.key))
                        return document_refuse_at(d, pair.key, "<< must not be quoted", why);
                r = document_put(d, &own, pair);
                if (r == 0 && own.len != i + 1 && d->purse > 0)
                        return document_refuse_at(d, pair.key, "the same key twice", why);
        }
        return r;
}

static int document_collect(Document *d, DocumentNode map, int depth, DocumentPairs *p, Str *why);

/* The first of a list counts most, hence it comes last. */
static int document_merged(Document *d, DocumentNode merged, int depth, DocumentPairs *p,
                           Str *why) {
        int r = 0;

        if (!merged)
                return 0;
        if (document_kind(d, merged) == DOCUMENT_MAP)
                return document_collect(d, merged, depth, p, why);
        if (document_kind(d, merged) != DOCUMENT_LIST)
                return document_refuse_at(d, merged, "<< must name a map, or a list of maps", why);
        for (size_t i = document_len(d, merged); i > 0 && r == 0 && d->purse > 0; i--) {
                DocumentNode item = document_item(d, merged, i - 1);

                if (document_kind(d, item) != DOCUMENT_MAP)
                        return document_refuse_at(d, item, "<< must name a map, or a list of maps",
                                                  why);
                r = document_collect(d, item, depth, p, why);
        }
        return r;
}

static int document_collect(Document *d, DocumentNode map, int depth, DocumentPairs *p, Str *why) {
        size_t len = document_pair_count(d, map);
        int r;

        if (depth > DOCUMENT_MERGE_DEPTH || !document_pay(d)) {
                d->purse = 0;
                return 0;
        }
        r = document_keys(d, map, why);
        if (r == 0)
                r = document_merged(d, document_own(d, map, "<<"), depth + 1, p, why);
        for (size_t i = 0; i < len && r == 0 && d->purse > 0; i++) {
                DocumentPair pair = document_pair(d, map, i);

                if (!str_eq(document_text(d, pair.key), "<<"))
                        r = document_put(d, p, pair);
        }
        return r;
}

int document_pairs(Document *d, DocumentNode map, DocumentPairs *ret, Str *why) {
        CLEANUP(document_pairs_done) DocumentPairs p = DOCUMENT_PAIRS_NULL;
        int r = document_collect(d, map, 0, &p, why);

        if (r != 0)
                return r;
        *ret = p;
        p = DOCUMENT_PAIRS_NULL;
        return 0;
}
