/* operator/paint.h - text for a terminal of any width: escaped, wrapped, coloured where it may be
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

typedef enum PaintTone { PAINT_PLAIN, PAINT_GOOD, PAINT_WARN, PAINT_BAD, PAINT_STRONG } PaintTone;

typedef struct Paint {
        Str out;
        size_t width;
        bool colour, terminal;
} Paint;
#define PAINT_NULL ((Paint){.width = 80})

/* For stdout: the terminal's width (80 where there is none), colour unless NO_COLOR is set or it is
 * no terminal. */
void paint_init(Paint *p);
void paint_done(Paint *p);
/* "TEXT" on a line of its own, escaped. */
MUST_CHECK int paint_title(Paint *p, PaintTone tone, const char *text);
/* "  LABEL      TEXT", wrapped between words with the text's lines below each other. */
MUST_CHECK int paint_row(Paint *p, const char *label, PaintTone tone, const char *text);
/* A command to paste: alone on its line, never wrapped, no prefix. */
MUST_CHECK int paint_command(Paint *p, const char *text);
/* Writes it and empties it; with clear, a terminal is cleared first. */
void paint_flush(Paint *p, bool clear);
