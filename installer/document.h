/* installer/document.h - YAML bytes -> one tree (libyaml), with bounds, merge keys and line numbers
 *
 * Anchors and aliases share nodes, so an alias bomb costs nothing to load; whoever walks the tree
 * pays from a fixed purse (document_spent), so it costs nothing to walk either. A node is a number,
 * 0 is no node. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

enum {
        DOCUMENT_MAX_BYTES = 4 * 1024 * 1024,
        DOCUMENT_MAX_DEPTH = 64,
        DOCUMENT_MAX_ANCHORS = 1000,
        DOCUMENT_MAX_EVENTS = 400 * 1000,
};
enum { DOCUMENT_E_INVALID = 1 };

typedef struct Document Document;
typedef int DocumentNode;
typedef enum DocumentKind {
        DOCUMENT_NONE,
        DOCUMENT_SCALAR,
        DOCUMENT_LIST,
        DOCUMENT_MAP
} DocumentKind;
typedef struct DocumentPair {
        DocumentNode key, value;
} DocumentPair;
typedef struct DocumentPairs {
        DocumentPair *items;
        size_t len;
} DocumentPairs;
#define DOCUMENT_PAIRS_NULL ((DocumentPairs){0})

/* Exactly one document, nothing else. DOCUMENT_E_INVALID: "NAME:LINE: what" is appended to why. An
 * empty file is a document without a root. */
MUST_CHECK int document_parse(const char *name, const char *bytes, size_t len, Document **ret,
                              Str *why);
Document *document_free(Document *d);
void document_freep(Document **d);

DocumentNode document_root(Document *d);
DocumentKind
document_kind(Document *d,
              DocumentNode n); /* a null scalar (empty, ~, null, not quoted) is DOCUMENT_NONE */
const char *
document_text(Document *d,
              DocumentNode n); /* NULL: no scalar, or one with a NUL in it; d's memory */
bool document_plain(Document *d, DocumentNode n); /* a scalar without quotes */
int document_tag_line(const Document *d);       /* of the first node with a tag; 0: there is none */
int document_line(Document *d, DocumentNode n); /* from 1 */
size_t document_len(Document *d, DocumentNode n); /* items of a list, else 0 */
DocumentNode document_item(Document *d, DocumentNode n, size_t i);
/* The value of a map's key; keys merged in by << count after the map's own. 0: not there, or no
 * map. */
DocumentNode document_get(Document *d, DocumentNode map, const char *key);
/* Every pair of a map, each key once, merged ones first: the order of PyYAML, which is the order
 * that services start in. DOCUMENT_E_INVALID with "NAME:LINE: what" in why: a key that is no text,
 * the same key twice, a << that names no map. */
MUST_CHECK int document_pairs(Document *d, DocumentNode map, DocumentPairs *ret, Str *why);
void document_pairs_done(DocumentPairs *p);
/* true: merges nest so deep or wide that the walk was cut short; what was read is not to be used.
 */
bool document_spent(Document *d);
