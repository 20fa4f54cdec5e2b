/* base64url.c: base64 of RFC 4648 section 5, without padding.
 * Hostile input: a client's token.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/base64url.h"

#include <errno.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* 0 to 63, or -1. */
static int
value_of(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '-')
		return 62;
	return c == '_' ? 63 : -1;
}

int
base64url_read(struct span text, struct buf *buf)
{
	uint32_t bits = 0;
	unsigned held = 0;

	if (text.n % 4 == 1)
		return -EINVAL;
	for (size_t i = 0; i < text.n; i++) {
		int value = value_of(text.p[i]);

		if (value < 0)
			return -EINVAL;
		bits = bits << 6 | (uint32_t)value;
		held += 6;
		if (held >= 8) {
			uint8_t byte = (uint8_t)(bits >> (held - 8));
			int r = buf_add(buf, &byte, 1);

			if (r < 0)
				return r;
			held -= 8;
			bits &= (1u << held) - 1;
		}
	}
	return bits == 0 ? 0 : -EINVAL; /* else a second spelling */
}

int
base64url_write(struct span bytes, struct buf *buf)
{
	uint32_t bits = 0;
	unsigned held = 0;
	int r = 0;

	for (size_t i = 0; i < bytes.n && r == 0; i++) {
		bits = bits << 8 | bytes.p[i];
		for (held += 8; held >= 6 && r == 0; held -= 6)
			r = buf_add(buf, &alphabet[bits >> (held - 6) & 63], 1);
		bits &= (1u << held) - 1;
	}
	if (held > 0 && r == 0)
		r = buf_add(buf, &alphabet[bits << (6 - held) & 63], 1);
	return r;
}
