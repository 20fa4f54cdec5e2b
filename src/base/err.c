/* err.c: filling error values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
fail(struct err *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		err->code = code;
		va_start(args, format);
		(void)vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return -code;
}

int
fail_errno(struct err *err, const char *format, ...)
{
	int code = errno;
	va_list args;
	size_t used;

	if (err) {
		err->code = code;
		va_start(args, format);
		(void)vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
		used = strlen(err->text);
		(void)snprintf(err->text + used, sizeof(err->text) - used,
		    ": %s", strerror(code));
	}
	return -code;
}

void
bug_at(const char *file, int line, const char *text)
{
	(void)fprintf(stderr, "BUG %s:%d: %s\n", file, line, text);
	abort();
}
