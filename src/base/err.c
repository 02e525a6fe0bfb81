#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

static const char *err_file; /* a string literal of the caller's */
static int err_line;
static int err_value;

int err_born(int errno_value, const char *file, int line) {
        /* A caller that got the sign wrong must not turn its failure into a positive "foreseen no".
         */
        if (errno_value <= 0)
                errno_value = EIO;
        err_file = file;
        err_line = line;
        err_value = errno_value;
        return -errno_value;
}

/* From the source root on: where the builder's tree lay tells nobody anything. */
static const char *err_place(const char *file) {
        const char *at = strstr(file, "src/");

        if (!at)
                at = strstr(file, "installer/");
        return at ? at : file;
}

const char *err_last(void) {
        static char text[256];

        if (!err_file)
                return "";
        (void)snprintf(text, sizeof(text), "%s:%d: %s", err_place(err_file), err_line,
                       strerror(err_value)); /* cut is fine */
        return text;
}
