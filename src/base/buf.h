/* buf.h: bytes. A span is borrowed; a buf owns its bytes and has a maximum
 * given at its birth, past which adding fails: no peer can make it larger.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	const uint8_t *p;
	size_t n;
};

struct buf {
	uint8_t *p;
	size_t n;   /* bytes held */
	size_t cap; /* bytes allocated */
	size_t max; /* bytes it may ever hold */
};

struct span span_of(const char *text);
struct span buf_span(const struct buf *buf);

/* True if text is just that word; if it is but for the case of ASCII letters;
 * if two spans are equal so. A span without a pointer equals no word. */
bool span_is(struct span text, const char *word);
bool span_is_word(struct span text, const char *word);
bool span_same(struct span a, struct span b);

/* An empty buf; allocates nothing. */
void buf_init(struct buf *buf, size_t max);

/* Frees the bytes; the buf is empty and may be used again. */
void buf_done(struct buf *buf);

/* Adds n bytes. 0; -ENOBUFS past the maximum, -ENOMEM: then none is added. */
int buf_add(struct buf *buf, const void *bytes, size_t n);
int buf_add_text(struct buf *buf, const char *text);
int buf_printf(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for n more bytes behind the held ones; the caller writes up to n
 * of them at buf->p + buf->n and adds what it wrote to buf->n. */
int buf_reserve(struct buf *buf, size_t n);

/* Removes n bytes (at most all) from the front. */
void buf_drop(struct buf *buf, size_t n);

#endif
