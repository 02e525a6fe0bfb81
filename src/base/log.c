#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/str.h"

static const char *log_program = "spoolgate";

void log_open(const char *program) {
        log_program = program;
}

PRINTF_LIKE(3, 0)
static int log_format(LogLevel level, Str *line, const char *format, va_list args) {
        CLEANUP(str_freep) char *text = NULL;
        int len, r = 0;

        len = vasprintf(&text, format, args);
        if (len < 0) {
                text = NULL; /* vasprintf(3) leaves it undefined */
                return err_new(ENOMEM);
        }
        if (getenv("JOURNAL_STREAM"))
                r = str_addf(line, "<%d>", (int)level);
        if (r == 0)
                r = str_addf(line, "%s: ", log_program);
        if (r == 0)
                r = str_add_escaped(line, text, (size_t)len, false);
        if (r == 0)
                r = str_addc(line, '\n');
        return r;
}

void log_print(LogLevel level, const char *format, ...) {
        static const char poor[] = "spoolgate: no memory for a message\n";
        CLEANUP(str_done) Str line = STR_NULL;
        va_list args;
        int r;

        va_start(args, format);
        r = log_format(level, &line, format, args);
        va_end(args);
        /* One write, so that lines of two processes do not mix. Where stderr is gone there is
         * nobody to tell. */
        if (r == 0)
                r = io_write_all(STDERR_FILENO, line.data, line.len);
        else
                r = io_write_all(STDERR_FILENO, poor, sizeof(poor) - 1);
        (void)r;
}

static int log_lines(LogLevel level, Str *out, const char *text) {
        bool first = true;
        int r = 0;

        while (r == 0 && *text) {
                size_t len = strcspn(text, "\n");

                if (getenv("JOURNAL_STREAM"))
                        r = str_addf(out, "<%d>", (int)level);
                if (r == 0 && first)
                        r = str_addf(out, "%s: ", log_program);
                if (r == 0)
                        r = str_add_escaped(out, text, len, false);
                if (r == 0)
                        r = str_addc(out, '\n');
                first = false;
                text += len + (text[len] == '\n');
        }
        return r;
}

void log_message(LogLevel level, const char *text) {
        CLEANUP(str_done) Str out = STR_NULL;

        if (log_lines(level, &out, text) == 0 &&
            io_write_all(STDERR_FILENO, out.data, out.len) == 0)
                return;
        log_print(level, "%s", text);
}
