#include "wire/bridge.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "verb/own.h"
#include "verb/stacks.h"

/* What a text must look like. */
typedef enum BridgeShape {
        BRIDGE_TEXT,     /* anything but control characters */
        BRIDGE_SLUG,     /* [a-z][a-z0-9-]{0,30} */
        BRIDGE_STACK,    /* a known stack */
        BRIDGE_ABSOLUTE, /* an absolute path without empty, "." or ".." parts; "/" itself too */
        BRIDGE_BENEATH,  /* a relative path of the same kind */
        BRIDGE_BIN,      /* name=/absolute */
        BRIDGE_ARG,      /* an arg's shape */
        BRIDGE_ENV,      /* K=V that own_env_allowed allows */
        BRIDGE_FILE,     /* a file name without a slash and not hidden */
        BRIDGE_LAUNCH,
        BRIDGE_JAIL,
} BridgeShape;

typedef struct BridgeField {
        const char *key;
        size_t offset;
        BridgeShape shape;
        bool required;
} BridgeField;

#define TEXT(member, shape_, required_)                                                            \
        { #member, offsetof(Bridge, member), shape_, required_ }
static const BridgeField bridge_texts[] = {
        TEXT(slug, BRIDGE_SLUG, true),
        TEXT(spool, BRIDGE_BENEATH, true),
        TEXT(stack, BRIDGE_STACK, true),
        TEXT(project, BRIDGE_FILE, false),
        TEXT(path, BRIDGE_TEXT, true),
        TEXT(home, BRIDGE_ABSOLUTE, true),
        TEXT(runtime_dir, BRIDGE_ABSOLUTE, false),
        TEXT(network, BRIDGE_FILE, false),
        TEXT(compose_dir, BRIDGE_ABSOLUTE, false),
        TEXT(container, BRIDGE_FILE, false),
        TEXT(launch, BRIDGE_LAUNCH, true),
        TEXT(jail, BRIDGE_JAIL, true),
        TEXT(version, BRIDGE_TEXT, false),
};
static const BridgeField bridge_lists[] = {
        TEXT(bins, BRIDGE_BIN, false),           TEXT(compose, BRIDGE_BENEATH, false),
        TEXT(run_files, BRIDGE_ABSOLUTE, false), TEXT(services, BRIDGE_ARG, false),
        TEXT(buildable, BRIDGE_ARG, false),      TEXT(env_files, BRIDGE_BENEATH, false),
        TEXT(guarded, BRIDGE_BENEATH, false),    TEXT(env, BRIDGE_ENV, false),
        TEXT(keys, BRIDGE_FILE, false),          TEXT(run_env_files, BRIDGE_ABSOLUTE, false),
};
#undef TEXT
enum {
        BRIDGE_TEXTS = sizeof(bridge_texts) / sizeof(bridge_texts[0]),
        BRIDGE_LISTS = sizeof(bridge_lists) / sizeof(bridge_lists[0]),
};

static const char *const bridge_keys[] = {
        "v",         "slug",          "checkout",    "git_dir",     "spool",          "stack",
        "project",   "path",          "home",        "runtime_dir", "network",        "container",
        "bins",      "compose",       "compose_dir", "run_files",   "services",       "buildable",
        "env_files", "run_env_files", "guarded",     "env",         "keys",           "launch",
        "jail",      "agent_uid",     "tasks_max",   "memory_max",  "inspect_memory", "version",
        NULL,
};

static char **bridge_text(Bridge *b, const BridgeField *f) {
        return (char **)(void *)((char *)b + f->offset);
}

static Strv *bridge_list(Bridge *b, const BridgeField *f) {
        return (Strv *)(void *)((char *)b + f->offset);
}

static const char *bridge_text_of(const Bridge *b, const BridgeField *f) {
        return *(char *const *)(const void *)((const char *)b + f->offset);
}

static const Strv *bridge_list_of(const Bridge *b, const BridgeField *f) {
        return (const Strv *)(const void *)((const char *)b + f->offset);
}

void bridge_done(Bridge *b) {
        for (size_t i = 0; i < BRIDGE_TEXTS; i++)
                str_freep(bridge_text(b, &bridge_texts[i]));
        for (size_t i = 0; i < BRIDGE_LISTS; i++)
                strv_done(bridge_list(b, &bridge_lists[i]));
        str_freep(&b->checkout.path);
        str_freep(&b->git_dir.path);
        *b = BRIDGE_NULL;
}

Bridge *bridge_free(Bridge *b) {
        if (b)
                bridge_done(b);
        free(b);
        return NULL;
}

void bridge_freep(Bridge **b) {
        *b = bridge_free(*b);
}

/* Neither empty, "." nor ".." between the slashes; s begins behind the first slash or at the first
 * part. */
static bool bridge_parts_clean(const char *s) {
        for (;;) {
                size_t len = strcspn(s, "/");

                if (len == 0 || (len == 1 && s[0] == '.') ||
                    (len == 2 && s[0] == '.' && s[1] == '.'))
                        return false;
                if (!s[len])
                        return true;
                s += len + 1;
        }
}

static bool bridge_absolute(const char *s) {
        return s[0] == '/' && (!s[1] || bridge_parts_clean(s + 1));
}

static bool bridge_slug(const char *s) {
        size_t len = strlen(s);

        return len >= 1 && len <= 31 && s[0] >= 'a' && s[0] <= 'z' &&
               strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static bool bridge_bin(const char *s) {
        const char *eq = strchr(s, '=');

        return eq && eq > s && bridge_absolute(eq + 1) && eq[2];
}

static bool bridge_no_control(const char *s) {
        for (; *s; s++)
                if ((unsigned char)*s < 0x20 || *s == 0x7f)
                        return false;
        return true;
}

/* What s should have been, NULL when it is right. */
static const char *bridge_wrong(BridgeShape shape, const char *s) {
        if (!bridge_no_control(s))
                return "text without control characters";
        switch (shape) {
        case BRIDGE_TEXT:
                return NULL;
        case BRIDGE_SLUG:
                return bridge_slug(s) ? NULL : "[a-z][a-z0-9-]{0,30}";
        case BRIDGE_STACK:
                return stacks_find(s) ? NULL : "script, podman-compose, docker-compose or quadlet";
        case BRIDGE_ABSOLUTE:
                return bridge_absolute(s) ? NULL : "an absolute path without empty, . or .. parts";
        case BRIDGE_BENEATH:
                return bridge_parts_clean(s) ? NULL
                                             : "a relative path without empty, . or .. parts";
        case BRIDGE_BIN:
                return bridge_bin(s) ? NULL : "name=/absolute/path";
        case BRIDGE_ARG:
                return table_arg_shape(s, strlen(s)) ? NULL : "[a-z][a-z0-9_-]*";
        case BRIDGE_ENV:
                return own_env_allowed(s) ? NULL
                                          : "NAME=value with a name that a child may be given";
        case BRIDGE_FILE:
                return *s && *s != '.' && *s != '-' && !strchr(s, '/')
                               ? NULL
                               : "a name without a slash that begins with neither . nor -";
        case BRIDGE_LAUNCH:
                return str_eq(s, "scope") || str_eq(s, "direct") ? NULL : "scope or direct";
        case BRIDGE_JAIL:
                return str_eq(s, "landlock") || str_eq(s, "seccomp") ? NULL : "landlock or seccomp";
        }
        return NULL;
}

/* BRIDGE_E_INVALID with "bridge.json: KEY: WHAT", or -errno. */
static int bridge_fail(char **ret_message, const char *key, const char *what) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_adds(&s, "bridge.json: ");

        if (r >= 0)
                r = str_add_escaped(&s, key, strlen(key), false);
        if (r >= 0)
                r = str_addf(&s, ": %s", what);
        if (r >= 0)
                r = str_take(&s, ret_message);
        return r < 0 ? r : BRIDGE_E_INVALID;
}

static int bridge_fail_shape(char **ret_message, const char *key, const char *wanted) {
        CLEANUP(str_freep) char *what = NULL;
        int r = str_printf(&what, "must be %s", wanted);

        return r < 0 ? r : bridge_fail(ret_message, key, what);
}

static int bridge_take_text(const Record *root, const BridgeField *f, Bridge *b,
                            char **ret_message) {
        RecordType type = record_type(root, f->key);
        const char *text = record_str(root, f->key), *wanted;

        if (!text && (f->required || (type != RECORD_ABSENT && type != RECORD_NULL)))
                return bridge_fail(ret_message, f->key, "must be a string");
        if (!text)
                return 0;
        wanted = bridge_wrong(f->shape, text);
        return wanted ? bridge_fail_shape(ret_message, f->key, wanted)
                      : str_dup(text, bridge_text(b, f));
}

static int bridge_take_list(const Record *root, const BridgeField *f, Bridge *b,
                            char **ret_message) {
        Strv *v = bridge_list(b, f);
        int r = record_strv(root, f->key, v);

        if (r > 0)
                return bridge_fail(ret_message, f->key, "must be a list of strings");
        if (r < 0)
                return r;
        for (size_t i = 0; i < v->len; i++) {
                const char *wanted = bridge_wrong(f->shape, v->items[i]);

                if (wanted)
                        return bridge_fail_shape(ret_message, f->key, wanted);
        }
        return 0;
}

/* device and inode are 64 unsigned bits on the host and 64 signed ones in JSON: the bits are kept.
 */
static int bridge_take_pin(const Record *root, const char *key, bool required, BridgePin *pin,
                           char **ret_message) {
        static const char *const keys[] = {"path", "device", "inode", NULL};
        const Record *o = record_object(root, key);
        RecordType type = record_type(root, key);
        const char *path = o ? record_str(o, "path") : NULL;
        int64_t device, inode;

        if (!o && !required && (type == RECORD_ABSENT || type == RECORD_NULL))
                return 0;
        if (!o || record_unknown(o, keys) || !path || !record_int(o, "device", &device) ||
            !record_int(o, "inode", &inode))
                return bridge_fail(ret_message, key,
                                   "must be {\"path\": ..., \"device\": ..., \"inode\": ...}");
        if (!bridge_no_control(path) || !bridge_absolute(path))
                return bridge_fail_shape(ret_message, key,
                                         "an absolute path without empty, . or .. parts");
        pin->device = (uint64_t)device;
        pin->inode = (uint64_t)inode;
        return str_dup(path, &pin->path);
}

static int bridge_take_int(const Record *root, const char *key, int64_t min, int64_t *to,
                           char **ret_message) {
        int64_t value;

        if (!record_has(root, key))
                return 0;
        if (!record_int(root, key, &value) || value < min)
                return bridge_fail(ret_message, key, "must be an integer in range");
        *to = value;
        return 0;
}

static int bridge_take(const Record *root, Bridge *b, char **ret_message) {
        const char *unknown = record_unknown(root, bridge_keys);
        int64_t version;
        int r = 0;

        if (unknown)
                return bridge_fail(ret_message, unknown, "unknown key");
        if (!record_int(root, "v", &version) || version != 1)
                return bridge_fail(ret_message, "v", "must be 1");
        for (size_t i = 0; r == 0 && i < BRIDGE_TEXTS; i++)
                r = bridge_take_text(root, &bridge_texts[i], b, ret_message);
        for (size_t i = 0; r == 0 && i < BRIDGE_LISTS; i++)
                r = bridge_take_list(root, &bridge_lists[i], b, ret_message);
        if (r == 0)
                r = bridge_take_pin(root, "checkout", true, &b->checkout, ret_message);
        if (r == 0)
                r = bridge_take_pin(root, "git_dir", false, &b->git_dir, ret_message);
        if (r == 0)
                r = bridge_take_int(root, "agent_uid", -1, &b->agent_uid, ret_message);
        if (r == 0)
                r = bridge_take_int(root, "tasks_max", 0, &b->tasks_max, ret_message);
        if (r == 0)
                r = bridge_take_int(root, "memory_max", 0, &b->memory_max, ret_message);
        if (r == 0)
                r = bridge_take_int(root, "inspect_memory", 0, &b->inspect_memory, ret_message);
        return r;
}

static int bridge_load(const char *bytes, size_t len, Record **ret, char **ret_message) {
        CLEANUP(str_done) Str s = STR_NULL;
        RecordError error;
        int r = record_parse(bytes, len, ret, &error);

        if (r <= 0)
                return r;
        r = str_addf(&s, "bridge.json:%d:%d: ", error.line, error.column);
        if (r >= 0)
                r = str_add_escaped(&s, error.text, strlen(error.text), false);
        if (r >= 0)
                r = str_take(&s, ret_message);
        return r < 0 ? r : BRIDGE_E_INVALID;
}

int bridge_parse(const char *bytes, size_t len, Bridge **ret, char **ret_message) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(bridge_freep) Bridge *b = NULL;
        int r;

        r = bridge_load(bytes, len, &root, ret_message);
        if (r != 0)
                return r;
        b = malloc(sizeof(*b));
        if (!b)
                return err_new(ENOMEM);
        *b = BRIDGE_NULL;
        r = bridge_take(root, b, ret_message);
        if (r != 0)
                return r;
        *ret = b;
        b = NULL;
        return 0;
}

static int bridge_put_pin(Record *root, const char *key, const BridgePin *pin) {
        CLEANUP(record_freep) Record *o = NULL;
        int r;

        if (!pin->path)
                return record_put_null(root, key);
        r = record_new(&o);
        if (r == 0)
                r = record_put_str(o, "path", pin->path);
        if (r == 0)
                r = record_put_int(o, "device", (int64_t)pin->device);
        if (r == 0)
                r = record_put_int(o, "inode", (int64_t)pin->inode);
        return r < 0 ? r : record_put_take(root, key, &o);
}

/* One key of bridge_keys, found by its name: the order is bridge_keys' own. */
static int bridge_put(Record *root, const Bridge *b, const char *key) {
        for (size_t i = 0; i < BRIDGE_TEXTS; i++)
                if (str_eq(bridge_texts[i].key, key))
                        return record_put_str(root, key, bridge_text_of(b, &bridge_texts[i]));
        for (size_t i = 0; i < BRIDGE_LISTS; i++)
                if (str_eq(bridge_lists[i].key, key))
                        return record_put_strv(root, key, bridge_list_of(b, &bridge_lists[i]));
        if (str_eq(key, "v"))
                return record_put_int(root, key, 1);
        if (str_eq(key, "checkout"))
                return bridge_put_pin(root, key, &b->checkout);
        if (str_eq(key, "git_dir"))
                return bridge_put_pin(root, key, &b->git_dir);
        if (str_eq(key, "agent_uid"))
                return record_put_int(root, key, b->agent_uid);
        if (str_eq(key, "tasks_max"))
                return record_put_int(root, key, b->tasks_max);
        if (str_eq(key, "memory_max"))
                return record_put_int(root, key, b->memory_max);
        if (str_eq(key, "inspect_memory"))
                return record_put_int(root, key, b->inspect_memory);
        return err_new(EINVAL);
}

int bridge_format(const Bridge *b, char **ret) {
        CLEANUP(record_freep) Record *root = NULL;
        int r = record_new(&root);

        for (size_t i = 0; r == 0 && bridge_keys[i]; i++)
                r = bridge_put(root, b, bridge_keys[i]);
        return r < 0 ? r : record_format_pretty(root, ret);
}

int bridge_setup(const Bridge *b, VerbSetup *ret) {
        CLEANUP(setup_done)
        VerbSetup s = {
                .stack = b->stack,
                .checkout = b->checkout.path,
                .compose_dir = b->compose_dir ? b->compose_dir : b->checkout.path,
                .project = b->project,
                .path = b->path,
                .home = b->home,
                .runtime_dir = b->runtime_dir,
                .network = b->network,
                .container = b->container,
        };
        int r;

        r = strv_copy(&b->services, &s.services);
        if (r == 0)
                r = strv_copy(&b->buildable, &s.buildable);
        if (r == 0)
                r = strv_copy(&b->run_files, &s.files);
        if (r == 0)
                r = strv_copy(&b->bins, &s.bins);
        if (r == 0)
                r = strv_copy(&b->env, &s.env);
        if (r == 0)
                r = strv_copy(&b->run_env_files, &s.env_files);
        if (r < 0)
                return r;
        *ret = s;
        s = (VerbSetup){.stack = NULL};
        return 0;
}
