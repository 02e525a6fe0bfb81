#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/dotenv.h"
#include "run/families.h"
#include "run/known.h"
#include "run/marker.h"
#include "run/redact-scan.h"
#include "run/sieve.h"
#include "run/strip.h"

enum {
        REDACT_MATCH_LIMIT = 1000000, /* steps of one match: some milliseconds */
        REDACT_HEAP_KIB = 4096,       /* where there is no JIT */
        REDACT_CONF_LINE_MAX = 4096,
        REDACT_PATTERNS_MAX = 256,
};

/* Bits of the sieve above the families' own. */
enum { REDACT_BIT_KEY = 62, REDACT_BIT_CONTROL = 63, REDACT_BITS = 62 };

typedef struct RedactPattern {
        const char *name; /* borrowed from the table or owned by Redact.names */
        const char *text; /* the table's: compiled when a stream first needs it, as most never do
                             and all take 2 ms */
        pcre2_code *code; /* the operator's */
        unsigned flags;
        uint64_t bit; /* 0: tried on every line (the operator's) */
} RedactPattern;

struct Redact {
        RedactPattern *patterns;
        size_t len;
        Strv names; /* of the operator's patterns */
        Strv marks; /* all names that a marker may have */
        Known *known;
        Sieve *sieve;
};

struct RedactScan {
        const Redact *redact;
        pcre2_code **
                codes; /* of redact->patterns, then of the key's begin and end; NULL until needed */
        pcre2_match_data *data;
        pcre2_match_context *limits;
        pcre2_jit_stack *stack;
        Strip strip;
        Spans found, all;
};

int redact_new(Redact **ret) {
        CLEANUP(redact_freep) Redact *r = calloc(1, sizeof(*r));
        int e;

        if (!r)
                return err_new(ENOMEM);
        e = known_new(&r->known);
        if (e < 0)
                return e;
        e = sieve_new(&r->sieve);
        if (e == 0)
                e = strv_add(&r->marks, REDACT_NAME_VALUE);
        if (e == 0)
                e = strv_add(&r->marks, REDACT_NAME_LINE);
        if (e < 0)
                return e;
        *ret = r;
        r = NULL;
        return 0;
}

Redact *redact_free(Redact *r) {
        if (!r)
                return NULL;
        for (size_t i = 0; i < r->len; i++)
                pcre2_code_free(r->patterns[i].code);
        free(r->patterns);
        strv_done(&r->names);
        strv_done(&r->marks);
        known_free(r->known);
        sieve_free(r->sieve);
        free(r);
        return NULL;
}

void redact_freep(Redact **r) {
        *r = redact_free(*r);
}

static int redact_take_env(void *arg, const char *key, size_t key_len, const char *value,
                           size_t value_len) {
        Redact *r = arg;

        if (value_len < KNOWN_MIN || dotenv_ordinary(key, key_len, value, value_len))
                return 0;
        return known_add(r->known, value, value_len);
}

int redact_add_env(Redact *r, const char *bytes, size_t len) {
        return len > 0 ? dotenv_parse(bytes, len, redact_take_env, r) : 0;
}

int redact_add_value(Redact *r, const char *value) {
        return known_add(r->known, value, strlen(value));
}

/* Bytes, never UTF: output need not be valid, and a UTF error would hide a line that is harmless.
 */
static pcre2_code *redact_code(const char *pattern, size_t len, int *ret_error,
                               size_t *ret_offset) {
        uint32_t options = PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;
        pcre2_code *code =
                pcre2_compile((PCRE2_SPTR)pattern, len, options, ret_error, ret_offset, NULL);

        if (code)
                (void)pcre2_jit_compile(
                        code, PCRE2_JIT_COMPLETE); /* no JIT (no W+X memory): slower, as safe */
        return code;
}

/* Takes pattern->code, on failure too. */
static int redact_pattern(Redact *r, const RedactPattern *pattern) {
        RedactPattern *patterns = reallocarray(r->patterns, r->len + 1, sizeof(*patterns));

        if (!patterns) {
                pcre2_code_free(pattern->code);
                return err_new(ENOMEM);
        }
        r->patterns = patterns;
        r->patterns[r->len++] = *pattern;
        return strv_find(&r->marks, pattern->name) ? 0 : strv_add(&r->marks, pattern->name);
}

static int redact_refuse(size_t number, const char *what, char **ret_message) {
        int e = str_printf(ret_message, "redact.conf:%zu: %s", number, what);

        return e < 0 ? e : REDACT_E_PATTERN;
}

static int redact_conf_pattern(Redact *r, const char *name, size_t name_len, const char *pattern,
                               size_t len, size_t number, char **ret_message) {
        CLEANUP(str_freep) char *copy = NULL;
        uint32_t empty = 0;
        pcre2_code *code;
        int error = 0, e;
        size_t offset = 0;

        code = redact_code(pattern, len, &error, &offset);
        if (!code) {
                char text[128] = "bad pattern";

                (void)pcre2_get_error_message(error, (PCRE2_UCHAR *)text,
                                              sizeof(text)); /* at worst cut */
                e = str_printf(&copy, "%s at offset %zu of the pattern", text, offset);
                return e < 0 ? e : redact_refuse(number, copy, ret_message);
        }
        if (pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &empty) < 0 || empty) {
                pcre2_code_free(code);
                return redact_refuse(number, "the pattern matches the empty string", ret_message);
        }
        copy = strndup(name, name_len);
        e = copy ? strv_add_take(&r->names, &copy) : err_new(ENOMEM);
        if (e < 0) {
                pcre2_code_free(code);
                return e;
        }
        return redact_pattern(
                r, &(RedactPattern){.name = r->names.items[r->names.len - 1], .code = code});
}

static int redact_conf_line(Redact *r, const char *line, size_t len, size_t number,
                            char **ret_message) {
        size_t name = 0, at;

        while (len > 0 && (line[len - 1] == '\r'))
                len--;
        while (len > 0 && (*line == ' ' || *line == '\t')) {
                line++;
                len--;
        }
        if (len == 0 || *line == '#')
                return 0;
        if (len > REDACT_CONF_LINE_MAX)
                return redact_refuse(number, "the line is longer than 4096 bytes", ret_message);
        if (memchr(line, '\0', len))
                return redact_refuse(number, "a NUL byte", ret_message);
        if (r->names.len >= REDACT_PATTERNS_MAX)
                return redact_refuse(number, "more than 256 patterns", ret_message);
        while (name < len && line[name] != ' ' && line[name] != '\t')
                name++;
        if (!marker_name_check(line, name))
                return redact_refuse(number, "the name must be [a-z][a-z0-9-]{0,30}", ret_message);
        for (at = name; at < len && (line[at] == ' ' || line[at] == '\t'); at++)
                ;
        if (at == len)
                return redact_refuse(number, "a pattern must follow the name", ret_message);
        return redact_conf_pattern(r, line, name, line + at, len - at, number, ret_message);
}

int redact_add_conf(Redact *r, const char *bytes, size_t len, char **ret_message) {
        const char *end = bytes + len;
        size_t number = 1;

        for (const char *at = bytes; at < end; number++) {
                const char *nl = memchr(at, '\n', (size_t)(end - at));
                int e = redact_conf_line(r, at, (size_t)((nl ? nl : end) - at), number,
                                         ret_message);

                if (e != 0)
                        return e;
                at = nl ? nl + 1 : end;
        }
        return 0;
}

static int redact_sieve_control(Redact *r) {
        int e = sieve_add(r->sieve, "\xc2\x9b", 2, true, REDACT_BIT_CONTROL);

        for (int c = 0; c < 0x20 && e == 0; c++)
                if (c != '\t' && c != '\r' && c != '\n')
                        e = sieve_add(r->sieve, &(char){(char)c}, 1, true, REDACT_BIT_CONTROL);
        if (e == 0)
                e = sieve_add(r->sieve, "\x7f", 1, true, REDACT_BIT_CONTROL);
        return e < 0 ? e
                     : sieve_add(r->sieve, FAMILY_KEY_WORD, strlen(FAMILY_KEY_WORD), false,
                                 REDACT_BIT_KEY);
}

int redact_compile(Redact *r) {
        unsigned bit = 0;
        int e = redact_sieve_control(r);

        for (const Family *f = family_table; f->name && e == 0; f++) {
                bit += f->words[0] && f > family_table;
                if (bit >= REDACT_BITS)
                        return err_new(E2BIG); /* a bug in the table */
                e = redact_pattern(r, &(RedactPattern){f->name, f->pattern, NULL, f->flags,
                                                       UINT64_C(1) << bit});
                for (size_t i = 0;
                     i < sizeof(f->words) / sizeof(f->words[0]) && f->words[i] && e == 0; i++)
                        e = sieve_add(r->sieve, f->words[i], strlen(f->words[i]),
                                      f->flags & FAMILY_EXACT, bit);
        }
        if (e == 0)
                e = known_compile(r->known);
        return e < 0 ? e : sieve_compile(r->sieve);
}

int redact_scan_new(const Redact *r, RedactScan **ret) {
        CLEANUP(redact_scan_freep) RedactScan *s = calloc(1, sizeof(*s));

        if (!s)
                return err_new(ENOMEM);
        s->redact = r;
        s->codes = calloc(r->len + 2, sizeof(s->codes[0]));
        s->data = pcre2_match_data_create(16, NULL);
        s->limits = pcre2_match_context_create(NULL);
        s->stack = pcre2_jit_stack_create((size_t)32 * 1024, (size_t)512 * 1024,
                                          NULL); /* NULL without JIT */
        if (!s->codes || !s->data || !s->limits)
                return err_new(ENOMEM);
        (void)pcre2_set_match_limit(s->limits, REDACT_MATCH_LIMIT); /* these always give 0 */
        (void)pcre2_set_heap_limit(s->limits, REDACT_HEAP_KIB);
        pcre2_jit_stack_assign(s->limits, NULL, s->stack);
        *ret = s;
        s = NULL;
        return 0;
}

RedactScan *redact_scan_free(RedactScan *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->redact->len + 2 && s->codes; i++)
                pcre2_code_free(s->codes[i]);
        free(s->codes);
        pcre2_match_data_free(s->data);
        pcre2_match_context_free(s->limits);
        pcre2_jit_stack_free(s->stack);
        strip_done(&s->strip);
        spans_done(&s->found);
        spans_done(&s->all);
        free(s);
        return NULL;
}

void redact_scan_freep(RedactScan **s) {
        *s = redact_scan_free(*s);
}

static int redact_code_of(RedactScan *s, size_t pattern, const pcre2_code **ret) {
        const Redact *r = s->redact;
        size_t offset;
        int error;

        if (pattern < r->len && r->patterns[pattern].code) {
                *ret = r->patterns[pattern].code;
                return 0;
        }
        if (!s->codes[pattern]) {
                const char *text =
                        pattern < r->len ? r->patterns[pattern].text : family_key[pattern - r->len];

                s->codes[pattern] = redact_code(text, strlen(text), &error, &offset);
        }
        if (!s->codes[pattern])
                return err_new(ENOMEM);
        *ret = s->codes[pattern];
        return 0;
}

/* Group 0 and 1 in at[0..3]; at[2] is PCRE2_UNSET when there is no group 1. */
static int redact_match(RedactScan *s, size_t pattern, const char *text, size_t len, size_t from,
                        bool *ret_found, size_t at[4]) {
        const PCRE2_SIZE *vector = pcre2_get_ovector_pointer(s->data);
        const pcre2_code *code;
        int n = redact_code_of(s, pattern, &code);

        if (n < 0)
                return n;
        n = pcre2_match(code, (PCRE2_SPTR)text, len, from, PCRE2_NOTEMPTY, s->data, s->limits);

        if (n == PCRE2_ERROR_NOMATCH) {
                *ret_found = false;
                return 0;
        }
        if (n == PCRE2_ERROR_NOMEMORY)
                return err_new(ENOMEM);
        if (n < 0 || vector[0] >= vector[1]) /* a limit; or \K went astray */
                return REDACT_SCAN_E_LIMIT;
        at[0] = vector[0];
        at[1] = vector[1];
        at[2] = n > 1 ? vector[2] : PCRE2_UNSET;
        at[3] = n > 1 ? vector[3] : PCRE2_UNSET;
        *ret_found = true;
        return 0;
}

static int redact_pattern_scan(RedactScan *s, size_t pattern, const char *text, size_t len) {
        const RedactPattern *p = &s->redact->patterns[pattern];
        size_t from = 0, at[4] = {0};

        while (from < len) {
                bool found = false, whole;
                int e = redact_match(s, pattern, text, len, from, &found, at);

                if (e != 0)
                        return e;
                if (!found)
                        return 0;
                from = at[1];
                whole = at[2] == PCRE2_UNSET || p->bit == 0;
                if (marker_covers(&s->redact->marks, text, len, at[0]) ||
                    (p->flags & FAMILY_ENTROPY && !family_is_mixed(text + at[2], at[3] - at[2]))) {
                        from = at[0] + 1;
                        continue;
                }
                e = spans_add(&s->found, whole ? at[0] : at[2], whole ? at[1] : at[3], p->name);
                if (e < 0)
                        return e;
        }
        return 0;
}

static int redact_key_scan(RedactScan *s, const char *text, size_t len, bool *open_key) {
        for (size_t from = 0; from < len;) {
                size_t begin[4], end[4];
                bool found, closed = false;
                int e = redact_match(s, s->redact->len, text, len, from, &found, begin);

                if (e == 0 && found)
                        e = redact_match(s, s->redact->len + 1, text, len, begin[1], &closed, end);
                if (e != 0)
                        return e;
                if (!found)
                        return 0;
                if (!closed)
                        *open_key = true;
                from = closed ? end[1] : len;
                e = spans_add(&s->found, begin[0], from, FAMILY_KEY);
                if (e < 0)
                        return e;
        }
        return 0;
}

/* Fills s->found. Private keys are looked for when open_key is given. */
static int redact_scan_text(RedactScan *s, const char *text, size_t len, uint64_t bits,
                            bool *open_key) {
        bool some = bits & ((UINT64_C(1) << REDACT_BITS) - 1);
        size_t patterns =
                some ? s->redact->len : s->redact->names.len; /* the operator's stand first */
        int e;

        spans_clear(&s->found);
        e = known_scan(s->redact->known, text, len, REDACT_NAME_VALUE, &s->found);
        if (e < 0)
                return e;
        for (size_t i = 0; i < patterns; i++) {
                if (s->redact->patterns[i].bit && !(bits & s->redact->patterns[i].bit))
                        continue;
                e = redact_pattern_scan(s, i, text, len);
                if (e != 0)
                        return e;
        }
        return open_key && bits & UINT64_C(1) << REDACT_BIT_KEY
                       ? redact_key_scan(s, text, len, open_key)
                       : 0;
}

/* Moves s->found over, from places in `text` to places in the original. */
static int redact_scan_keep(RedactScan *s, const char *text, size_t len, const uint32_t *origin) {
        for (size_t i = 0; i < s->found.len; i++) {
                const Span *f = &s->found.items[i];
                int e;

                if (marker_covers(&s->redact->marks, text, len, f->start))
                        continue;
                e = spans_add(&s->all, origin ? origin[f->start] : f->start,
                              origin ? origin[f->end - 1] + 1 : f->end, f->name);
                if (e < 0)
                        return e;
        }
        return 0;
}

int redact_scan(RedactScan *s, const char *text, size_t len, const Spans **ret_spans,
                bool *ret_open_key) {
        uint64_t bits = sieve_scan(s->redact->sieve, text, len);
        bool open_key = false;
        int e = 0;

        spans_clear(&s->all);
        if (bits & UINT64_C(1) << REDACT_BIT_CONTROL) {
                for (int mode = STRIP_JOIN; mode <= STRIP_SPACE && e == 0; mode++) {
                        const Str *t = &s->strip.text;

                        e = strip_build(&s->strip, text, len, (StripMode)mode);
                        if (e == 0) /* a space in an END line would leave its key open */
                                e = redact_scan_text(s, t->data, t->len,
                                                     sieve_scan(s->redact->sieve, t->data, t->len),
                                                     mode == STRIP_JOIN ? &open_key : NULL);
                        if (e == 0)
                                e = redact_scan_keep(s, t->data, t->len, s->strip.from);
                }
        } else {
                e = redact_scan_text(s, text, len, bits, &open_key);
                if (e == 0)
                        e = redact_scan_keep(s, text, len, NULL);
        }
        if (e != 0)
                return e;
        spans_merge(&s->all);
        if (open_key && s->all.len > 0) /* sequences behind the last letter belong to it too */
                s->all.items[s->all.len - 1].end = len;
        *ret_spans = &s->all;
        *ret_open_key = open_key;
        return 0;
}

int redact_scan_key_end(RedactScan *s, const char *text, size_t len, bool *ret_found,
                        size_t *ret_after) {
        size_t at[4] = {0};
        bool found = false;
        int e = strip_build(&s->strip, text, len, STRIP_JOIN);

        if (e < 0)
                return e;
        e = redact_match(s, s->redact->len + 1, s->strip.text.data, s->strip.text.len, 0, &found,
                         at);
        if (e < 0)
                return e;
        *ret_found = e == 0 && found; /* a limit here: the key is taken to go on */
        *ret_after = *ret_found ? s->strip.from[at[1] - 1] + (size_t)1 : 0;
        return 0;
}
