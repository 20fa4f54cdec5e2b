/* log.h: one line per event in logfmt, to stderr or a file, never to stdout:
 * with the stdio front, stdout is the protocol. The level and the descriptor
 * are the program's only global state.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG
};

/* Borrows fd for the life of the program. */
void log_setup(int fd, enum log_level level);

/* Where it goes. */
int log_descriptor(void);

/* Writes "time=... level=... " and the formatted text as one line of at most
 * LOG_LINE_MAX bytes. Control characters in the text become '?', so that no
 * value can begin a line of its own. A reader that does not read loses lines:
 * no process waits for its log. */
void log_at(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif
