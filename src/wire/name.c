#include "wire/name.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

enum { NAME_STAMP_LEN = 16, NAME_SUFFIX_LEN = 5 };
#define NAME_SUFFIX ".json"

static int name_check_verb(const char *verb, size_t len) {
        if (len < 1 || len > NAME_VERB_MAX)
                return NAME_E_SHAPE;
        for (size_t i = 0; i < len; i++)
                if (!(verb[i] >= 'a' && verb[i] <= 'z') && verb[i] != '-')
                        return NAME_E_SHAPE;
        return 0;
}

int name_parse(const char *entry, Name *ret) {
        const size_t around = NAME_STAMP_LEN + 1 + 1 + NAME_NONCE_LEN + NAME_SUFFIX_LEN;
        size_t len = strnlen(entry, NAME_MAX_LEN + 1), verb_len;
        const char *verb = entry + NAME_STAMP_LEN + 1, *tail;
        Name name = {.stamp_ms = 0};

        if (len > NAME_MAX_LEN || len <= around)
                return NAME_E_SHAPE;
        verb_len = len - around;
        tail = verb + verb_len; /* "-NONCE.json": read from the end, for a verb has dashes too */
        if (verb[-1] != '-' || tail[0] != '-' ||
            strcmp(tail + 1 + NAME_NONCE_LEN, NAME_SUFFIX) != 0)
                return NAME_E_SHAPE;
        if (name_check_verb(verb, verb_len) > 0)
                return NAME_E_SHAPE;
        if (clock_parse_stamp(entry, &name.stamp_ms) > 0 || name.stamp_ms < 0)
                return NAME_E_SHAPE;
        memcpy(name.nonce, tail + 1, NAME_NONCE_LEN);
        if (!hash_is_hex(name.nonce, NAME_NONCE_LEN))
                return NAME_E_SHAPE;
        memcpy(name.verb, verb, verb_len);
        memcpy(name.text, entry, len);
        *ret = name;
        return 0;
}

void name_make(const char *verb, int64_t now_ms, Name *ret) {
        Name name = {.stamp_ms = now_ms - now_ms % 1000};
        char stamp[NAME_STAMP_LEN + 1];

        clock_format_stamp(now_ms, stamp);
        hash_random_hex(name.nonce, NAME_NONCE_LEN);
        (void)snprintf(name.verb, sizeof(name.verb), "%s",
                       verb); /* a table's verb is never longer */
        (void)snprintf(name.text, sizeof(name.text), "%s-%s-%s" NAME_SUFFIX, stamp, name.verb,
                       name.nonce);
        *ret = name;
}
