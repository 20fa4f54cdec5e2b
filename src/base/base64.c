/* base64.c: both alphabets of base64.
 * Hostile input: tokens and headers of a client. Fuzzed by fuzz_auth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <errno.h>
#include <stdbool.h>

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char last_two[][3] = {
	[BASE64_PADDED] = "+/", [BASE64_URL] = "-_"
};

static char
digit_of(enum base64_kind kind, unsigned value)
{
	return (char)(value < 62 ? digits[value] : last_two[kind][value - 62]);
}

/* 0 to 63, or -1. */
static int
value_of(enum base64_kind kind, uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == (uint8_t)last_two[kind][0])
		return 62;
	return c == (uint8_t)last_two[kind][1] ? 63 : -1;
}

/* Takes the "=" from the end of text. False: not as many as there must be. */
static bool
take_padding(struct span *text)
{
	if (text->n % 4 != 0)
		return false;
	for (unsigned i = 0; i < 2 && text->n > 0; i++)
		if (text->p[text->n - 1] == '=')
			text->n--;
	return true;
}

int
base64_read(enum base64_kind kind, struct span text, struct buf *buf)
{
	uint32_t bits = 0;
	unsigned held = 0;

	if (kind == BASE64_PADDED && !take_padding(&text))
		return -EINVAL;
	if (text.n % 4 == 1)
		return -EINVAL;
	for (size_t i = 0; i < text.n; i++) {
		int value = value_of(kind, text.p[i]);
		uint8_t byte;
		int r;

		if (value < 0)
			return -EINVAL;
		bits = bits << 6 | (uint32_t)value;
		held += 6;
		if (held < 8)
			continue;
		held -= 8;
		byte = (uint8_t)(bits >> held);
		bits &= (1u << held) - 1;
		r = buf_add(buf, &byte, 1);
		if (r < 0)
			return r;
	}
	return bits == 0 ? 0 : -EINVAL; /* else a second spelling */
}

/* One group: up to three bytes as up to four digits. */
static int
write_group(enum base64_kind kind, const uint8_t *p, size_t n, struct buf *buf)
{
	uint32_t three = (uint32_t)p[0] << 16;
	char four[4];
	size_t used = n < 3 ? n + 1 : 4;

	three |= n > 1 ? (uint32_t)p[1] << 8 : 0;
	three |= n > 2 ? p[2] : 0;
	for (unsigned i = 0; i < 4; i++)
		four[i] =
		    (char)(i < used ? digit_of(kind, three >> (18 - 6 * i) & 63)
				    : '=');
	return buf_add(buf, four, kind == BASE64_PADDED ? 4 : used);
}

int
base64_write(enum base64_kind kind, struct span bytes, struct buf *buf)
{
	int r = 0;

	for (size_t i = 0; i < bytes.n && r == 0; i += 3)
		r = write_group(kind, bytes.p + i, bytes.n - i, buf);
	return r;
}
