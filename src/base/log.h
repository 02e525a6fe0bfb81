/* base/log.h - a main's words on stderr; library code returns errors instead
 *
 * Under systemd each line carries an sd-daemon(3) "<N>" level prefix (when $JOURNAL_STREAM is set);
 * bytes are escaped by str_add_escaped, so that no name can drive a terminal or forge a line. */
#pragma once
#include "base/err.h"

typedef enum LogLevel {
        LOG_LEVEL_ERR = 3,
        LOG_LEVEL_WARNING = 4,
        LOG_LEVEL_NOTICE = 5,
        LOG_LEVEL_INFO = 6
} LogLevel;

/* "PROGRAM: " stands before each line; static memory. */
void log_open(const char *program);
void log_print(LogLevel level, const char *format, ...) PRINTF_LIKE(2, 3);

/* A message of several lines: the first behind "PROGRAM: ", the others as they are, so that a
 * remedy stands alone on its line, ready to paste. Every line escaped. */
void log_message(LogLevel level, const char *text);
