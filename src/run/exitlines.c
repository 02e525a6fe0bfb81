#include "run/exitlines.h"

#include <string.h>

#include "base/str.h"

static void exitlines_fail(ExitLines *e, int code) {
        if (e->code == 0)
                e->code = code;
}

static void exitlines_command(ExitLines *e, const char *verb) {
        size_t n = strcspn(verb, " ");

        if (e->pending != 0 && strncmp(verb, "start ", 6) != 0)
                exitlines_fail(e, e->pending);
        e->pending = 0;
        e->absent = false;
        if (n >= sizeof(e->command))
                n = sizeof(e->command) - 1;
        memcpy(e->command, verb, n);
        e->command[n] = 0;
}

static void exitlines_status(ExitLines *e, const char *digits) {
        bool negative = *digits == '-'; /* python: minus the signal */
        unsigned long long n;
        int code;

        if (!str_parse_uint(digits + negative, 255, &n))
                return;
        code = negative && n != 0 ? 128 + (int)(n & 127) : (int)n;
        if (strcmp(e->command, "run") == 0 || strcmp(e->command, "logs") == 0) {
                e->pending = code;
                return;
        }
        if (code == 0)
                return;
        if (e->absent && (strcmp(e->command, "stop") == 0 || strcmp(e->command, "rm") == 0 ||
                          strcmp(e->command, "pod") == 0))
                return;
        exitlines_fail(e, code);
}

static void exitlines_line(ExitLines *e) {
        if (e->len > 0 && e->line[e->len - 1] == '\r')
                e->len--;
        e->line[e->len] = 0;
        if (str_starts(e->line, "podman "))
                exitlines_command(e, e->line + 7);
        else if (str_starts(e->line, "exit code: "))
                exitlines_status(e, e->line + 11);
        else if (strstr(e->line, "no such container") ||
                 strstr(e->line, "no container with name") || strstr(e->line, "no such pod"))
                e->absent = true;
        e->len = 0;
}

void exitlines_feed(ExitLines *e, const void *bytes, size_t len) {
        const char *p = bytes;

        for (size_t i = 0; i < len; i++) {
                if (p[i] == '\n')
                        exitlines_line(e);
                else if (e->len < sizeof(e->line) - 1)
                        e->line[e->len++] = p[i];
        }
}

int exitlines_end(ExitLines *e) {
        if (e->len > 0)
                exitlines_line(e);
        if (e->pending != 0)
                exitlines_fail(e, e->pending);
        return e->code;
}
