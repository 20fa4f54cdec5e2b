/* header_value.c: comparing a header with a value of the body.
 * Hostile input: a client's headers. Fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/header_value.h"

#include "base/own.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ENCODED_BEGIN "=?base64?"
#define ENCODED_END   "?="

bool
header_equals(struct span header, const json_t *value)
{
	return json_is_string(value) && json_string_length(value) == header.n &&
	       memcmp(json_string_value(value), header.p, header.n) == 0;
}

static bool
is_encoded(struct span header)
{
	const size_t begin = sizeof(ENCODED_BEGIN) - 1;
	const size_t end = sizeof(ENCODED_END) - 1;

	return header.n >= begin + end &&
	       strncasecmp((const char *)header.p, ENCODED_BEGIN, begin) == 0 &&
	       memcmp(header.p + header.n - end, ENCODED_END, end) == 0;
}

/* The value of a digit of Base64; -1: it is none. */
static int
digit(uint8_t c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Adds what a group of four says. False: it is no such group. */
static bool
add_group(const uint8_t *p, bool last, struct buf *text)
{
	int d[4];
	unsigned n = 4;
	uint32_t bits;
	uint8_t bytes[3];

	if (last && p[3] == '=')
		n = p[2] == '=' ? 2 : 3;
	for (unsigned i = 0; i < 4; i++) {
		d[i] = i < n ? digit(p[i]) : 0;
		if (d[i] < 0)
			return false;
	}
	bits = (uint32_t)d[0] << 18 | (uint32_t)d[1] << 12 |
	       (uint32_t)d[2] << 6 | (uint32_t)d[3];
	/* Bits behind the end must be nothing: one text, one form. */
	if (n < 4 && bits & (n == 3 ? 0xffu : 0xffffu))
		return false;
	bytes[0] = (uint8_t)(bits >> 16);
	bytes[1] = (uint8_t)(bits >> 8);
	bytes[2] = (uint8_t)bits;
	return buf_add(text, bytes, n - 1) == 0;
}

static bool
decode(struct span header, struct buf *text)
{
	const uint8_t *p = header.p + sizeof(ENCODED_BEGIN) - 1;
	size_t n =
	    header.n - (sizeof(ENCODED_BEGIN) - 1) - (sizeof(ENCODED_END) - 1);

	if (n % 4 != 0)
		return false;
	for (size_t i = 0; i < n; i += 4)
		if (!add_group(p + i, i + 4 == n, text))
			return false;
	return true;
}

/* What a value looks like in a header. */
static bool
write_value(const json_t *value, struct buf *text)
{
	if (json_is_string(value))
		return buf_add(text, json_string_value(value),
			   json_string_length(value)) == 0;
	if (json_is_boolean(value))
		return buf_add_text(
			   text, json_is_true(value) ? "true" : "false") == 0;
	if (json_is_integer(value))
		return buf_printf(text, "%" JSON_INTEGER_FORMAT,
			   json_integer_value(value)) == 0;
	return false;
}

bool
header_encodes(struct span header, const json_t *value)
{
	own_buf struct buf said, meant;
	struct span text = header;

	buf_init(&said, header.n + 4);
	buf_init(&meant, json_string_length(value) + 32);
	if (!write_value(value, &meant))
		return false;
	if (is_encoded(header)) {
		if (!decode(header, &said))
			return false;
		text = buf_span(&said);
	}
	return text.n == meant.n &&
	       (text.n == 0 || memcmp(text.p, meant.p, text.n) == 0);
}
