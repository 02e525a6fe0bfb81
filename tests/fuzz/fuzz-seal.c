/* The seal file: what parses has one form, and no path in it is absolute or listed twice. */
#include "fuzz.h"

#include "guard/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        CLEANUP(seal_done) Seal s = SEAL_NULL;
        CLEANUP(str_freep) char *again = NULL;
        int r = seal_parse(size ? (const char *)data : "", size, &s);

        FUZZ_CHECK(r == 0 || r == SEAL_E_INVALID);
        if (r != 0) {
                FUZZ_CHECK(!s.entries && !s.by && s.len == 0);
                return 0;
        }
        FUZZ_CHECK(seal_format(&s, &again) == 0);
        FUZZ_CHECK(strlen(again) == size && memcmp(again, data, size) == 0);
        FUZZ_CHECK(s.by && s.time_ms >= 0);
        for (size_t i = 0; i < s.len; i++) {
                const SealEntry *e = &s.entries[i];

                FUZZ_CHECK(*e->path && *e->path != '/' && seal_find(&s, e->kind, e->path) == e);
                FUZZ_CHECK(e->absent ? !*e->sha256 && e->mode == 0 : hash_is_hex(e->sha256, 64));
                FUZZ_CHECK(e->size <= TAKE_MAX);
        }
        return 0;
}
