#include "policy/policy.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct PolicyVerb {
        char *name;
        PolicyMode mode;
        uint32_t timeout_sec, cap_sec;
        bool mode_set, timeout_set;
} PolicyVerb;

/* The keys of one number. */
typedef enum PolicyNumber {
        POLICY_MAX_AGE,
        POLICY_QUEUE_DEPTH,
        POLICY_LINGER_MS,
        POLICY_LANES_READ,
        POLICY_KEEP_DAYS,
        POLICY_KEEP_FILES,
        POLICY_KEEP_MIB,
        POLICY_KEEP_LEDGER,
        POLICY_AUDIT_DAY,
        POLICY_NUMBERS,
} PolicyNumber;
typedef enum PolicyPair {
        POLICY_RATE_VERB,
        POLICY_RATE_TOTAL,
        POLICY_REFUSALS,
        POLICY_PAIRS
} PolicyPair;

static const struct {
        const char *key;
        uint32_t value, min, max;
} policy_numbers[POLICY_NUMBERS] = {
        [POLICY_MAX_AGE] = {"MAX_AGE", 300, 1, 86400},
        [POLICY_QUEUE_DEPTH] = {"QUEUE_DEPTH", 256, 1, 10000},
        [POLICY_LINGER_MS] = {"LINGER_MS", 1000, 250, 60000},
        [POLICY_LANES_READ] = {"LANES_READ", 3, 1, 16},
        [POLICY_KEEP_DAYS] = {"KEEP_DAYS", 7, 1, 3650},
        [POLICY_KEEP_FILES] = {"KEEP_FILES", 1000, 10, 1000000},
        [POLICY_KEEP_MIB] = {"KEEP_MIB", 64, 1, 102400},
        [POLICY_KEEP_LEDGER] = {"KEEP_LEDGER", 100000, 100, 10000000},
        [POLICY_AUDIT_DAY] = {"AUDIT_DAY", 20000, 1000, 10000000},
};
static const struct {
        const char *key;
        PolicyRate value;
} policy_pairs[POLICY_PAIRS] = {
        [POLICY_RATE_VERB] = {"RATE_PER_VERB", {6, 600}},
        [POLICY_RATE_TOTAL] = {"RATE_TOTAL", {20, 600}},
        [POLICY_REFUSALS] = {"AUDIT_REFUSALS", {600, 60}},
};
enum { POLICY_RATE_MAX = 100000, POLICY_WINDOW_MAX = 86400 };

struct Policy {
        uint32_t numbers[POLICY_NUMBERS];
        PolicyRate pairs[POLICY_PAIRS];
        PolicyIntegrity integrity;
        VerbScope ceiling;
        PolicyVerb *verbs;
        size_t len;
};

typedef struct PolicySeen { /* what has had its line already */
        bool numbers[POLICY_NUMBERS], pairs[POLICY_PAIRS], integrity, ceiling;
} PolicySeen;

Policy *policy_free(Policy *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->len; i++)
                free(p->verbs[i].name);
        free(p->verbs);
        free(p);
        return NULL;
}

void policy_freep(Policy **p) {
        *p = policy_free(*p);
}

int policy_default(const VerbTable *table, Policy **ret) {
        CLEANUP(policy_freep) Policy *p = calloc(1, sizeof(*p));
        size_t n = 0;

        if (!p)
                return err_new(ENOMEM);
        for (size_t i = 0; i < POLICY_NUMBERS; i++)
                p->numbers[i] = policy_numbers[i].value;
        for (size_t i = 0; i < POLICY_PAIRS; i++)
                p->pairs[i] = policy_pairs[i].value;
        p->integrity = POLICY_BOTH;
        p->ceiling = VERB_SCOPE_FULL;
        while (table_at(table, n))
                n++;
        p->verbs = calloc(n + 1, sizeof(PolicyVerb));
        if (!p->verbs)
                return err_new(ENOMEM);
        for (; p->len < n; p->len++) {
                const Verb *verb = table_at(table, p->len);
                PolicyVerb *v = &p->verbs[p->len];
                int r = str_dup(verb->name, &v->name);

                if (r < 0)
                        return r;
                v->mode = POLICY_DENY;
                v->timeout_sec = verb->timeout_sec;
                v->cap_sec = verb->timeout_cap_sec;
        }
        *ret = p;
        p = NULL;
        return 0;
}

static PolicyVerb *policy_verb(const Policy *p, const char *name) {
        for (size_t i = 0; i < p->len; i++)
                if (strcmp(p->verbs[i].name, name) == 0)
                        return &p->verbs[i];
        return NULL;
}

static bool policy_bounded(const char *text, uint32_t min, uint32_t max, uint32_t *ret) {
        unsigned long long value;

        if (!str_parse_uint(text, max, &value) || value < min)
                return false;
        *ret = (uint32_t)value;
        return true;
}

/* "6/600"; text is scratch. */
static bool policy_pair(char *text, PolicyRate *ret) {
        char *slash = strchr(text, '/');
        PolicyRate rate;

        if (!slash)
                return false;
        *slash = '\0';
        if (!policy_bounded(text, 1, POLICY_RATE_MAX, &rate.count) ||
            !policy_bounded(slash + 1, 1, POLICY_WINDOW_MAX, &rate.window_sec))
                return false;
        *ret = rate;
        return true;
}

/* True once for each flag. */
static bool policy_first(bool *seen) {
        bool first = !*seen;

        *seen = true;
        return first;
}

#define POLICY_TWICE "this key has a line already"

static const char *policy_set_mode(Policy *p, const char *name, const char *value, bool lenient) {
        PolicyVerb *v = policy_verb(p, name);
        bool is_auto = strcmp(value, "auto") == 0;

        if (!v && !(lenient && table_verb_shape(name, strlen(name))))
                return "there is no such verb";
        if (!is_auto && strcmp(value, "deny") != 0)
                return "must be auto or deny";
        if (!v)
                return NULL;
        if (!policy_first(&v->mode_set))
                return POLICY_TWICE;
        v->mode = is_auto ? POLICY_AUTO : POLICY_DENY;
        return NULL;
}

static const char *policy_set_timeout(Policy *p, const char *name, const char *value,
                                      bool lenient) {
        PolicyVerb *v = policy_verb(p, name);

        if (!v)
                return lenient && table_verb_shape(name, strlen(name)) ? NULL
                                                                       : "there is no such verb";
        if (!policy_bounded(value, 1, v->cap_sec, &v->timeout_sec))
                return "must be a whole number of seconds between 1 and the verb's cap";
        return policy_first(&v->timeout_set) ? NULL : POLICY_TWICE;
}

static const char *policy_set_integrity(Policy *p, const char *value) {
        static const char *const names[] = {
                [POLICY_BOTH] = "both", [POLICY_SEAL] = "seal", [POLICY_HEAD] = "head"};

        for (PolicyIntegrity i = POLICY_BOTH; i <= POLICY_HEAD; i++)
                if (strcmp(names[i], value) == 0) {
                        p->integrity = i;
                        return NULL;
                }
        return "must be both, seal or head";
}

static const char *policy_set_ceiling(Policy *p, const char *value) {
        VerbScope scope;

        if (!verb_scope_parse(value, &scope) || scope == VERB_SCOPE_PLAN)
                return "must be readonly, edit or full";
        p->ceiling = scope;
        return NULL;
}

/* What is wrong with the line, NULL: nothing. */
static const char *policy_set(Policy *p, PolicySeen *seen, const char *key, char *value,
                              bool lenient) {
        if (str_starts(key, "MODE_"))
                return policy_set_mode(p, key + strlen("MODE_"), value, lenient);
        if (str_starts(key, "TIMEOUT_"))
                return policy_set_timeout(p, key + strlen("TIMEOUT_"), value, lenient);
        for (size_t i = 0; i < POLICY_NUMBERS; i++)
                if (strcmp(key, policy_numbers[i].key) == 0) {
                        if (!policy_first(&seen->numbers[i]))
                                return POLICY_TWICE;
                        return policy_bounded(value, policy_numbers[i].min, policy_numbers[i].max,
                                              &p->numbers[i])
                                       ? NULL
                                       : "must be a whole number within its bounds";
                }
        for (size_t i = 0; i < POLICY_PAIRS; i++)
                if (strcmp(key, policy_pairs[i].key) == 0) {
                        if (!policy_first(&seen->pairs[i]))
                                return POLICY_TWICE;
                        return policy_pair(value, &p->pairs[i])
                                       ? NULL
                                       : "must be COUNT/SECONDS within its bounds";
                }
        if (strcmp(key, "INTEGRITY") == 0)
                return policy_first(&seen->integrity) ? policy_set_integrity(p, value)
                                                      : POLICY_TWICE;
        if (strcmp(key, "SCOPE_CEILING") == 0)
                return policy_first(&seen->ceiling) ? policy_set_ceiling(p, value) : POLICY_TWICE;
        return "unknown key";
}

static int policy_fail(size_t line, const char *key, const char *what, char **ret_message) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_addf(&s, "policy.conf:%zu: ", line);

        if (r >= 0 && key) {
                r = str_add_escaped(&s, key, strnlen(key, 64), false);
                if (r >= 0)
                        r = str_adds(&s, ": ");
        }
        if (r >= 0)
                r = str_adds(&s, what);
        if (r >= 0)
                r = str_take(&s, ret_message);
        return r < 0 ? r : POLICY_E_INVALID;
}

/* text is one line without its end, NUL-terminated, and scratch. */
static int policy_line(Policy *p, PolicySeen *seen, size_t line, char *text, size_t len,
                       bool lenient, char **ret_message) {
        char *eq;
        const char *fault;

        if (memchr(text, '\0', len))
                return policy_fail(line, NULL, "has a NUL byte", ret_message);
        if (len == 0 || text[0] == '#')
                return 0;
        eq = strchr(text, '=');
        if (!eq || eq == text)
                return policy_fail(line, NULL, "must be KEY=value", ret_message);
        *eq = '\0';
        fault = policy_set(p, seen, text, eq + 1, lenient);
        return fault ? policy_fail(line, text, fault, ret_message) : 0;
}

static int policy_lines(Policy *p, char *text, size_t len, bool lenient, char **ret_message) {
        PolicySeen seen = {.integrity = false};
        size_t line = 1;

        for (size_t at = 0; at < len; line++) {
                char *start = text + at, *end = memchr(start, '\n', len - at);
                size_t n = end ? (size_t)(end - start) : len - at;
                int r;

                at += n + 1;
                if (n > 0 && start[n - 1] == '\r')
                        n--;
                start[n] = '\0'; /* the end of line, or the byte that str_add put behind the last */
                r = policy_line(p, &seen, line, start, n, lenient, ret_message);
                if (r != 0)
                        return r;
        }
        return 0;
}

static int policy_parse_any(const char *bytes, size_t len, const VerbTable *table, bool lenient,
                            Policy **ret, char **ret_message) {
        CLEANUP(policy_freep) Policy *p = NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r;

        if (len > POLICY_MAX_BYTES)
                return policy_fail(1, NULL, "the file is larger than 64 KiB", ret_message);
        r = policy_default(table, &p);
        if (r < 0)
                return r;
        r = str_add(&text, bytes, len);
        if (r < 0)
                return r;
        r = policy_lines(p, text.data, text.len, lenient, ret_message);
        if (r != 0)
                return r;
        *ret = p;
        p = NULL;
        return 0;
}

int policy_parse(const char *bytes, size_t len, const VerbTable *table, Policy **ret,
                 char **ret_message) {
        return policy_parse_any(bytes, len, table, false, ret, ret_message);
}

int policy_parse_built_in(const char *bytes, size_t len, const VerbTable *table, Policy **ret,
                          char **ret_message) {
        return policy_parse_any(bytes, len, table, true, ret, ret_message);
}

PolicyMode policy_mode(const Policy *p, const Verb *verb) {
        const PolicyVerb *v = policy_verb(p, verb->name);

        return v ? v->mode : POLICY_DENY;
}

uint32_t policy_timeout(const Policy *p, const Verb *verb) {
        const PolicyVerb *v = policy_verb(p, verb->name);

        return v ? v->timeout_sec : verb->timeout_sec;
}

PolicyRate policy_rate_verb(const Policy *p) {
        return p->pairs[POLICY_RATE_VERB];
}

PolicyRate policy_rate_total(const Policy *p) {
        return p->pairs[POLICY_RATE_TOTAL];
}

PolicyRate policy_audit_refusals(const Policy *p) {
        return p->pairs[POLICY_REFUSALS];
}

uint32_t policy_max_age(const Policy *p) {
        return p->numbers[POLICY_MAX_AGE];
}

uint32_t policy_queue_depth(const Policy *p) {
        return p->numbers[POLICY_QUEUE_DEPTH];
}

uint32_t policy_linger_ms(const Policy *p) {
        return p->numbers[POLICY_LINGER_MS];
}

uint32_t policy_lanes_read(const Policy *p) {
        return p->numbers[POLICY_LANES_READ];
}

uint32_t policy_keep_days(const Policy *p) {
        return p->numbers[POLICY_KEEP_DAYS];
}

uint32_t policy_keep_files(const Policy *p) {
        return p->numbers[POLICY_KEEP_FILES];
}

uint32_t policy_keep_mib(const Policy *p) {
        return p->numbers[POLICY_KEEP_MIB];
}

uint32_t policy_keep_ledger(const Policy *p) {
        return p->numbers[POLICY_KEEP_LEDGER];
}

uint32_t policy_audit_day(const Policy *p) {
        return p->numbers[POLICY_AUDIT_DAY];
}

PolicyIntegrity policy_integrity(const Policy *p) {
        return p->integrity;
}

VerbScope policy_ceiling(const Policy *p) {
        return p->ceiling;
}
