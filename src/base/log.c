/* log.c: lines to the log.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "conf/limits.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int log_fd = STDERR_FILENO;
static enum log_level log_limit = LOG_WARN;

void
log_setup(int fd, enum log_level level)
{
	log_fd = fd;
	log_limit = level;
}

int
log_descriptor(void)
{
	return log_fd;
}

/* True if a line can be written now: a pipe that is ready takes PIPE_BUF
 * bytes, and a line is shorter. */
static bool
log_takes_line(void)
{
	struct pollfd ready = { .fd = log_fd, .events = POLLOUT };

	return poll(&ready, 1, 0) == 1 && ready.revents & POLLOUT;
}

/* How much of a size-byte array snprintf really filled. */
static int
fitted(int printed, size_t size)
{
	if (printed < 0)
		return 0;
	return (size_t)printed < size ? printed : (int)size - 1;
}

/* True if a reader of the log may take the bytes at p for something else than
 * text: the second control characters (U+0080 to U+009F, of which a terminal
 * makes commands), ends of lines and paragraphs, and marks that turn what
 * follows around (U+2028 to U+202E, U+2066 to U+2069). p ends with a NUL. */
static bool
is_odd(const uint8_t *p)
{
	if (p[0] == 0xc2)
		return p[1] >= 0x80 && p[1] < 0xa0;
	if (p[0] != 0xe2)
		return false;
	if (p[1] == 0x80)
		return p[2] >= 0xa8 && p[2] <= 0xae;
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

/* Nothing in a line begins another, or is more than text. */
static void
make_plain(char *line, int n)
{
	uint8_t *p = (uint8_t *)line;

	for (int i = 0; i < n; i++)
		if (p[i] < ' ' || p[i] == 0x7f)
			p[i] = '?';
		else if (is_odd(p + i))
			p[i] = p[i + 1] = '?';
	/* What is left of a longer one is no character of its own. */
	for (int i = 2; i < n; i++)
		if (p[i] >= 0x80 && p[i] < 0xc0 && p[i - 1] == '?')
			p[i] = '?';
}

void
log_at(enum log_level level, const char *format, ...)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	char line[LOG_LINE_MAX];
	struct timespec now;
	struct tm utc;
	va_list args;
	int n;

	if (level > log_limit)
		return;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &utc);
	n = (int)strftime(line, sizeof(line), "time=%Y-%m-%dT%H:%M:%S", &utc);
	n += fitted(
	    snprintf(line + n, sizeof(line) - (size_t)n, ".%03ldZ level=%s ",
		now.tv_nsec / 1000000, names[level]),
	    sizeof(line) - (size_t)n);
	va_start(args, format);
	n += fitted(vsnprintf(line + n, sizeof(line) - (size_t)n, format, args),
	    sizeof(line) - (size_t)n);
	va_end(args);
	make_plain(line, n);
	line[n] = '\n';
	/* A log that cannot be written must not stop the work. */
	if (!log_takes_line() || write(log_fd, line, (size_t)n + 1) < 0)
		return;
}
