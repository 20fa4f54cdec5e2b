/* buf.c: growing and shrinking bytes within a maximum.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUF_FIRST 256 /* the first allocation: most messages are small */

struct span
span_of(const char *text)
{
	return (struct span){ (const uint8_t *)text, strlen(text) };
}

struct span
buf_span(const struct buf *buf)
{
	return (struct span){ buf->p, buf->n };
}

bool
span_is(struct span text, const char *word)
{
	return text.p && text.n == strlen(word) &&
	       memcmp(text.p, word, text.n) == 0;
}

bool
span_is_word(struct span text, const char *word)
{
	return text.p && span_same(text, span_of(word));
}

bool
span_same(struct span a, struct span b)
{
	return a.n == b.n && (a.n == 0 || strncasecmp((const char *)a.p,
					      (const char *)b.p, a.n) == 0);
}

void
buf_init(struct buf *buf, size_t max)
{
	*buf = (struct buf){ .max = max };
}

void
buf_done(struct buf *buf)
{
	free(buf->p);
	buf_init(buf, buf->max);
}

int
buf_reserve(struct buf *buf, size_t n)
{
	size_t cap = buf->cap ? buf->cap : BUF_FIRST;
	uint8_t *p;

	if (n > buf->max - buf->n)
		return -ENOBUFS;
	if (buf->p && n <= buf->cap - buf->n)
		return 0;
	while (cap - buf->n < n)
		cap = cap > buf->max / 2 ? buf->max : cap * 2;
	p = realloc(buf->p, cap);
	if (!p)
		return -ENOMEM;
	buf->p = p;
	buf->cap = cap;
	return 0;
}

int
buf_add(struct buf *buf, const void *bytes, size_t n)
{
	int r;

	if (n == 0)
		return 0;
	r = buf_reserve(buf, n);
	if (r == 0) {
		memcpy(buf->p + buf->n, bytes, n);
		buf->n += n;
	}
	return r;
}

int
buf_add_text(struct buf *buf, const char *text)
{
	return buf_add(buf, text, strlen(text));
}

int
buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	int n, r;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		return -EINVAL;
	r = buf_reserve(buf, (size_t)n + 1);
	if (r < 0)
		return r;
	va_start(args, format);
	(void)vsnprintf((char *)buf->p + buf->n, (size_t)n + 1, format, args);
	va_end(args);
	buf->n += (size_t)n;
	return 0;
}

void
buf_drop(struct buf *buf, size_t n)
{
	if (n >= buf->n) {
		buf->n = 0;
		return;
	}
	memmove(buf->p, buf->p + n, buf->n - n);
	buf->n -= n;
}
