#include "guard/reach.h"

#include <string.h>
#include <unistd.h>

#include "fs/pin.h"

static int reach_add(Strv *v, const char *line, size_t len) {
        CLEANUP(str_freep) char *path = NULL;
        int r;

        if (len == 0 || line[0] == '/' || memchr(line, '\0', len))
                return REACH_E_INVALID;
        r = str_printf(&path, "%.*s", (int)len, line);
        return r < 0 ? r : strv_add_take(v, &path);
}

int reach_load(int state_fd, Strv *ret) {
        PinRule rule = {.owner = geteuid(), .forbid = 0022};
        CLEANUP(strv_done) Strv paths = STRV_NULL;
        CLEANUP(str_done) Str text = STR_NULL;
        int r = pin_read_at(state_fd, "seal/run/sources", &rule, 0, REACH_MAX_BYTES, &text);

        if (r < 0 || r == PIN_E_ABSENT)
                return r < 0 ? r : 0;
        if (r > 0)
                return REACH_E_INVALID;
        for (size_t at = 0; at < text.len && r == 0;) {
                const char *end = memchr(text.data + at, '\n', text.len - at);

                if (!end)
                        return REACH_E_INVALID;
                r = reach_add(&paths, text.data + at, (size_t)(end - text.data) - at);
                at = (size_t)(end - text.data) + 1;
        }
        if (r != 0)
                return r;
        *ret = paths;
        paths = STRV_NULL;
        return 0;
}

int reach_look(int checkout_fd, const char *path) {
        int r = pin_see_at(checkout_fd, path);

        return r < 0 || r == PIN_E_LINK || r == PIN_E_ACCESS ? r : 0;
}
