/* http_heads.c: what the parser of requests says to each case on standard
 * input, a line each on standard output, so that a reference can be compared
 * with it. A case is two numbers of 4 bytes, the lowest first, then bytes: how
 * many, and in pieces of how many (0: whole).
 *
 * The answer is a list of words: for every request "method path length
 * checksum" of the target and the body, then "end", "more" or a status.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/own.h"
#include "conf/limits.h"
#include "front/head.h"

#include <stdio.h>
#include <string.h>

#define CASE_MAX (4u * MIB)
#define BODY_MAX ((size_t)1000)

static unsigned
checksum(struct span bytes)
{
	unsigned sum = 5381;

	for (size_t i = 0; i < bytes.n; i++)
		sum = (sum * 33 + bytes.p[i]) & 0xffffff;
	return sum;
}

static void
report(struct http_parser *parser)
{
	const struct http_head *head = http_parser_head(parser);
	struct span body = buf_span(http_parser_body(parser));

	(void)printf("%d %u %zu %u ", (int)head->method, checksum(head->path),
	    body.n, checksum(body));
}

/* Feeds one piece. False: the requests are over. */
static bool
feed(struct http_parser *parser, struct span piece)
{
	size_t used;

	for (;;) {
		switch (http_parser_feed(parser, piece, &used)) {
		case HTTP_MORE:
			return true;
		case HTTP_HEAD_IN:
			break;
		case HTTP_BODY_IN:
			report(parser);
			http_parser_next(parser);
			if (piece.n == used)
				return true;
			break;
		case HTTP_BROKEN:
			(void)printf("%u\n", http_parser_status(parser));
			return false;
		}
		piece.p += used;
		piece.n -= used;
	}
}

static void
judge(struct span bytes, size_t step)
{
	struct http_parser *parser = http_parser_new(BODY_MAX);
	bool open = true;

	if (!parser)
		return;
	if (step == 0)
		step = bytes.n > 0 ? bytes.n : 1;
	while (open && bytes.n > 0) {
		size_t n = step < bytes.n ? step : bytes.n;

		open = feed(parser, (struct span){ bytes.p, n });
		bytes.p += n;
		bytes.n -= n;
	}
	if (open)
		(void)puts(http_parser_begun(parser) ? "more" : "end");
	http_parser_free(parser);
}

int
main(void)
{
	uint8_t *bytes = malloc(CASE_MAX);
	uint32_t sizes[2];

	if (!bytes)
		return 1;
	while (fread(sizes, sizeof(sizes), 1, stdin) == 1) {
		if (sizes[0] > CASE_MAX ||
		    fread(bytes, 1, sizes[0], stdin) != sizes[0])
			return 1;
		judge((struct span){ bytes, sizes[0] }, sizes[1]);
	}
	free(bytes);
	return 0;
}
