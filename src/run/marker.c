#include <string.h>

#include "run/marker.h"

static const char marker_head[] = "[redacted:";
enum { MARKER_HEAD = sizeof(marker_head) - 1 };

bool marker_name_check(const char *name, size_t len) {
        if (len == 0 || len > MARKER_NAME_MAX || name[0] < 'a' || name[0] > 'z')
                return false;
        for (size_t i = 0; i < len; i++)
                if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') ||
                      name[i] == '-'))
                        return false;
        return true;
}

int marker_add(Str *out, const char *name) {
        int r = str_adds(out, marker_head);

        if (r == 0)
                r = str_adds(out, name);
        return r < 0 ? r : str_addc(out, ']');
}

bool marker_covers(const Strv *names, const char *text, size_t len, size_t at) {
        size_t start = at, stop;

        while (start > 0 && at - start < MARKER_HEAD + MARKER_NAME_MAX && text[start] != '[')
                start--;
        if (len - start <= MARKER_HEAD || memcmp(text + start, marker_head, MARKER_HEAD) != 0)
                return false;
        start += MARKER_HEAD;
        for (stop = start; stop < len && stop - start <= MARKER_NAME_MAX && text[stop] != ']';
             stop++)
                ;
        if (stop == len || text[stop] != ']' || at > stop)
                return false;
        for (size_t i = 0; i < names->len; i++)
                if (strlen(names->items[i]) == stop - start &&
                    memcmp(names->items[i], text + start, stop - start) == 0)
                        return true;
        return false;
}
