/* The diff of two files, cut at the first NUL: it ends, says no value it was told to hide, and is
 * empty for equal files only. */
#include "fuzz.h"

#include "guard/diff.h"

static void fuzz_hidden(const Str *out) {
        for (const char *line = out->data; line && *line; line = strchr(line, '\n') + 1) {
                size_t len = strcspn(line, "\n"), name;

                FUZZ_CHECK(line[len] == '\n');
                if (line[0] == '@' || line[0] == '\\' || strncmp(line, "--- f", 5) == 0 ||
                    strncmp(line, "+++ f", 5) == 0 || line[0] == 't' || line[0] == 'a')
                        continue;
                name = strspn(line + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
                name += line[1 + name] == '=';
                FUZZ_CHECK(len == 1 || strncmp(line + 1 + name, "(hidden)\n", 9) == 0);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
        size_t a_len = cut ? (size_t)(cut - data) : size;
        CLEANUP(str_done) Str a = STR_NULL, b = STR_NULL, out = STR_NULL, hidden = STR_NULL;

        FUZZ_CHECK(str_add(&a, size ? (const char *)data : "", a_len) == 0);
        if (cut)
                FUZZ_CHECK(str_add(&b, cut + 1, size - a_len - 1) == 0);
        FUZZ_CHECK(diff_add("f", &a, &b, 0, &out) == 0);
        FUZZ_CHECK(diff_add("f", &a, &b, DIFF_HIDE, &hidden) == 0);
        FUZZ_CHECK((out.len == 0) ==
                   (a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0)));
        fuzz_hidden(&hidden);
        return 0;
}
