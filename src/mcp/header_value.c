/* header_value.c: comparing a header with a value of the body.
 * Hostile input: a client's headers. Fuzzed by fuzz_headers and fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/header_value.h"

#include "base/base64.h"
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

static bool
decode(struct span header, struct buf *text)
{
	const size_t begin = sizeof(ENCODED_BEGIN) - 1;
	const size_t end = sizeof(ENCODED_END) - 1;

	return base64_read(BASE64_PADDED,
		   (struct span){ header.p + begin, header.n - begin - end },
		   text) == 0;
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
