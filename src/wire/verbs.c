#include "wire/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/record.h"

enum { VERBS_MAX = 256, VERBS_TIMEOUT_SEC = 60 };

static const char *const verbs_keys[] = {
        "name", "class", "launch",           "argv",  "arg", "timeout_sec",
        "cwd",  "env",   "permission_scope", "probe", NULL,
};

/* VERBS_E_INVALID with "verbs.json: verb NAME: WHAT", or -errno. */
static int verbs_fail(const char *name, const char *what, const char *key, char **ret_message) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_adds(&s, "verbs.json: ");

        if (r >= 0 && name)
                r = str_adds(&s, "verb ");
        if (r >= 0 && name)
                r = str_add_escaped(&s, name, strlen(name), false);
        if (r >= 0 && name)
                r = str_adds(&s, ": ");
        if (r >= 0)
                r = str_adds(&s, what);
        if (r >= 0 && key)
                r = str_add_escaped(&s, key, strlen(key), false);
        if (r >= 0)
                r = str_take(&s, ret_message);
        return r < 0 ? r : VERBS_E_INVALID;
}

/* The text of an optional key: NULL when absent or null, *ret_ok false for any other type. */
static const char *verbs_text(const Record *r, const char *key, bool *ret_ok) {
        RecordType type = record_type(r, key);

        *ret_ok = type == RECORD_STR || type == RECORD_ABSENT || type == RECORD_NULL;
        return record_str(r, key);
}

/* The index of text in names (NULL-ended), or -1. */
static int verbs_index(const char *text, const char *const *names) {
        for (int i = 0; names[i]; i++)
                if (strcmp(names[i], text) == 0)
                        return i;
        return -1;
}

/* What is wrong, NULL: nothing. */
static const char *verbs_take_words(const Record *r, OwnVerb *v) {
        static const char *const classes[] = {"read-only", "mutating", NULL};
        static const char *const launches[] = {"direct", "scope", NULL};
        static const char *const cwds[] = {"host", "checkout", NULL};
        bool launch_ok, cwd_ok, scope_ok;
        const char *class = record_str(r, "class"), *launch = verbs_text(r, "launch", &launch_ok);
        const char *cwd = verbs_text(r, "cwd", &cwd_ok),
                   *scope = verbs_text(r, "permission_scope", &scope_ok);

        if (!class || verbs_index(class, classes) < 0)
                return "class must be read-only or mutating";
        if (!launch_ok || (launch && verbs_index(launch, launches) < 0))
                return "launch must be direct or scope";
        if (!cwd_ok || (cwd && verbs_index(cwd, cwds) < 0))
                return "cwd must be host or checkout";
        v->class = verbs_index(class, classes) == 0 ? VERB_READONLY : VERB_MUTATING;
        v->launch = launch ? (verbs_index(launch, launches) == 0 ? VERB_DIRECT : VERB_SCOPE)
                           : (v->class == VERB_READONLY ? VERB_DIRECT : VERB_SCOPE);
        v->cwd = cwd && verbs_index(cwd, cwds) == 1 ? VERB_CWD_CHECKOUT : VERB_CWD_HOST;
        v->needs = v->class == VERB_READONLY ? VERB_SCOPE_READONLY : VERB_SCOPE_EDIT;
        if (!scope_ok || (scope && !verb_scope_parse(scope, &v->needs)))
                return "permission_scope must be edit or full";
        return NULL; /* own_check judges which scope a class may have */
}

static const char *verbs_take_timeout(const Record *r, OwnVerb *v) {
        int64_t sec = VERBS_TIMEOUT_SEC;

        if (record_has(r, "timeout_sec") && !record_int(r, "timeout_sec", &sec))
                return "timeout_sec must be an integer";
        if (sec < 0 || sec > UINT32_MAX)
                return "timeout_sec is out of range";
        v->timeout_sec = (uint32_t)sec;
        return NULL;
}

static int verbs_take_env(const Record *r, OwnVerb *v, const char **ret_fault) {
        const Record *env = record_object(r, "env");
        const char *key;

        if (!env) {
                RecordType type = record_type(r, "env");
                if (type != RECORD_ABSENT && type != RECORD_NULL)
                        *ret_fault = "env must be an object of strings";
                return 0;
        }
        for (size_t i = 0; (key = record_key_at(env, i)); i++) {
                CLEANUP(str_freep) char *kv = NULL;
                const char *value = record_str(env, key);
                int e;

                if (!value || strchr(key, '=')) {
                        *ret_fault = "env must be an object of strings, its names without =";
                        return 0;
                }
                e = str_printf(&kv, "%s=%s", key, value);
                if (e >= 0)
                        e = strv_add_take(&v->env, &kv);
                if (e < 0)
                        return e;
        }
        return 0;
}

static int verbs_take_arg(const Record *r, OwnVerb *v, const char **ret_fault) {
        static const char *const keys[] = {"enum", NULL};
        const Record *arg = record_object(r, "arg");
        RecordType type = record_type(r, "arg");
        int e;

        if (type == RECORD_ABSENT || type == RECORD_NULL)
                return 0;
        if (!arg || record_unknown(arg, keys) || record_type(arg, "enum") != RECORD_LIST ||
            record_list_len(arg, "enum") == 0) {
                *ret_fault = "arg must be null or {\"enum\": [...]} with at least one entry";
                return 0;
        }
        e = record_strv(arg, "enum", &v->args);
        if (e > 0)
                *ret_fault = "an arg enum must be a list of strings";
        return e < 0 ? e : 0;
}

static int verbs_take_lists(const Record *r, OwnVerb *v, const char **ret_fault) {
        bool ok;
        const char *probe = verbs_text(r, "probe", &ok);
        int e;

        if (!ok) {
                *ret_fault = "probe must be a string";
                return 0;
        }
        e = str_dup(probe, &v->probe);
        if (e < 0)
                return e;
        e = record_type(r, "argv") == RECORD_LIST ? record_strv(r, "argv", &v->argv)
                                                  : RECORD_E_TYPE;
        if (e < 0)
                return e;
        if (e > 0) {
                *ret_fault = "argv must be a list of strings";
                return 0;
        }
        e = verbs_take_arg(r, v, ret_fault);
        return e < 0 || *ret_fault ? e : verbs_take_env(r, v, ret_fault);
}

static int verbs_take(const Record *r, OwnVerb *v, char **ret_message) {
        const char *name = r ? record_str(r, "name") : NULL, *fault = NULL, *unknown;
        int e;

        if (!r)
                return verbs_fail(NULL, "each entry of verbs must be an object", NULL, ret_message);
        if (!name)
                return verbs_fail(NULL, "a verb without a name", NULL, ret_message);
        unknown = record_unknown(r, verbs_keys);
        if (unknown)
                return verbs_fail(name, "unknown key ", unknown, ret_message);
        e = str_dup(name, &v->name);
        if (e < 0)
                return e;
        fault = verbs_take_words(r, v);
        if (!fault)
                fault = verbs_take_timeout(r, v);
        if (!fault)
                e = verbs_take_lists(r, v, &fault);
        if (e < 0)
                return e;
        return fault ? verbs_fail(name, fault, NULL, ret_message) : 0;
}

static int verbs_take_all(const Record *root, OwnVerbs *v, char **ret_message) {
        static const char *const keys[] = {"v", "verbs", NULL};
        const char *unknown = record_unknown(root, keys);
        size_t len = record_list_len(root, "verbs");
        int64_t version;

        if (unknown)
                return verbs_fail(NULL, "unknown key ", unknown, ret_message);
        if (!record_int(root, "v", &version) || version != 1)
                return verbs_fail(NULL, "\"v\" must be 1", NULL, ret_message);
        if (record_type(root, "verbs") != RECORD_LIST)
                return verbs_fail(NULL, "\"verbs\" must be a list", NULL, ret_message);
        if (len > VERBS_MAX)
                return verbs_fail(NULL, "more than 256 verbs", NULL, ret_message);
        v->items = calloc(len + 1, sizeof(OwnVerb));
        if (!v->items)
                return err_new(ENOMEM);
        for (; v->len < len; v->len++) {
                int e = verbs_take(record_list_at(root, "verbs", v->len), &v->items[v->len],
                                   ret_message);
                if (e != 0) {
                        v->len++; /* own_done frees what this one holds already */
                        return e;
                }
        }
        return 0;
}

static int verbs_load(const char *bytes, size_t len, Record **ret, char **ret_message) {
        CLEANUP(str_done) Str s = STR_NULL;
        RecordError error;
        int r = record_parse(bytes, len, ret, &error);

        if (r <= 0)
                return r;
        r = str_addf(&s, "verbs.json:%d:%d: ", error.line, error.column);
        if (r >= 0)
                r = str_add_escaped(&s, error.text, strlen(error.text), false);
        if (r >= 0)
                r = str_take(&s, ret_message);
        return r < 0 ? r : VERBS_E_INVALID;
}

int verbs_parse(const char *bytes, size_t len, const char *checkout, OwnVerbs *ret,
                char **ret_message) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(own_done) OwnVerbs v = OWN_VERBS_NULL;
        CLEANUP(str_freep) char *why = NULL;
        int r;

        r = verbs_load(bytes, len, &root, ret_message);
        if (r != 0)
                return r;
        r = verbs_take_all(root, &v, ret_message);
        if (r != 0)
                return r;
        r = own_check(&v, checkout, &why);
        if (r < 0)
                return r;
        if (r > 0) {
                r = str_printf(ret_message, "verbs.json: %s", why);
                return r < 0 ? r : VERBS_E_INVALID;
        }
        *ret = v;
        v = OWN_VERBS_NULL;
        return 0;
}
