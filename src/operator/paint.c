#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "operator/paint.h"

enum { PAINT_LABEL = 11, PAINT_INDENT = 2, PAINT_NARROWEST = 20 };

void paint_init(Paint *p) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
        struct winsize size = {0};

        *p = PAINT_NULL;
        p->terminal = isatty(STDOUT_FILENO) == 1;
        if (p->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
                p->width = size.ws_col;
        p->colour = p->terminal && !(no && *no) && term && !str_eq(term, "dumb");
}

void paint_done(Paint *p) {
        str_done(&p->out);
}

static int paint_on(Paint *p, PaintTone tone) {
        static const char *const codes[] = {"", "\033[32m", "\033[33m", "\033[31m", "\033[1m"};

        return p->colour ? str_adds(&p->out, codes[tone]) : 0;
}

static int paint_off(Paint *p, PaintTone tone) {
        return p->colour && tone != PAINT_PLAIN ? str_adds(&p->out, "\033[0m") : 0;
}

int paint_title(Paint *p, PaintTone tone, const char *text) {
        int r = paint_on(p, tone);

        if (r == 0)
                r = str_add_escaped(&p->out, text, strlen(text), false);
        if (r == 0)
                r = paint_off(p, tone);
        return r == 0 ? str_addc(&p->out, '\n') : r;
}

int paint_command(Paint *p, const char *text) {
        return paint_title(p, PAINT_PLAIN, text);
}

/* Columns of valid UTF-8, a code point each. */
static size_t paint_columns(const char *text, size_t len) {
        size_t n = 0;

        for (size_t i = 0; i < len; i++)
                n += ((unsigned char)text[i] & 0xC0) != 0x80;
        return n;
}

static int paint_words(Paint *p, const char *text, size_t indent) {
        size_t room = p->width > indent + PAINT_NARROWEST ? p->width - indent : PAINT_NARROWEST;
        size_t used = 0;
        int r = 0;

        while (r == 0 && *text) {
                size_t len = strcspn(text, " "), columns = paint_columns(text, len);

                if (used > 0 && used + 1 + columns > room) {
                        r = str_addf(&p->out, "\n%*s", (int)indent, "");
                        used = 0;
                } else if (used > 0) {
                        r = str_addc(&p->out, ' ');
                        used++;
                }
                if (r == 0)
                        r = str_add(&p->out, text, len);
                used += columns;
                text += len + (text[len] == ' ');
        }
        return r;
}

int paint_row(Paint *p, const char *label, PaintTone tone, const char *text) {
        CLEANUP(str_done) Str escaped = STR_NULL;
        int r = str_add_escaped(&escaped, text, strlen(text), false);

        if (r == 0)
                r = str_addf(&p->out, "%*s%-*s", PAINT_INDENT, "", PAINT_LABEL, label);
        if (r == 0)
                r = paint_on(p, tone);
        if (r == 0 && escaped.len > 0)
                r = paint_words(p, escaped.data, PAINT_INDENT + PAINT_LABEL);
        if (r == 0)
                r = paint_off(p, tone);
        return r == 0 ? str_addc(&p->out, '\n') : r;
}

void paint_flush(Paint *p, bool clear) {
        int r = 0;

        if (clear && p->terminal)
                r = io_write_all(STDOUT_FILENO, "\033[H\033[2J", 7);
        if (r == 0 && p->out.len > 0)
                r = io_write_all(STDOUT_FILENO, p->out.data, p->out.len);
        (void)r; /* a closed pipe: there is nobody to tell */
        str_clear(&p->out);
}
