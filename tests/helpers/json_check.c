/* json_check.c: what the protocol's parser makes of many texts, so that a test
 * can compare it with another parser. From stdin: a length of 4 bytes, least
 * first, and that many bytes, until the end. To stdout, for each: 'A' and the
 * value, or 'R' and the error's code and sentence; in either case with a
 * length between the letter and the text.
 * Hostile input: all of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "mcp/jsonrpc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX (1u << 20)

static uint32_t
number(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static void
put(char letter, const char *text, size_t n)
{
	const uint8_t head[5] = { (uint8_t)letter, (uint8_t)n,
		(uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24) };

	if (fwrite(head, 1, sizeof(head), stdout) != sizeof(head) ||
	    fwrite(text, 1, n, stdout) != n)
		exit(EXIT_FAILURE);
}

static void
put_value(const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);
	size_t n = text ? json_dumpb(value, NULL, 0, JSON_COMPACT) : 0;

	if (!text)
		exit(EXIT_FAILURE);
	put('A', text, n);
	free(text);
}

static void
check(struct span text)
{
	struct message broken = { 0 };
	json_t *value = jsonrpc_load(text, &broken);
	char why[256];
	int n;

	if (value) {
		put_value(value);
	} else {
		n = snprintf(why, sizeof(why), "%d %s", (int)broken.code,
		    broken.why ? broken.why : "");
		put('R', why, (size_t)n);
	}
	json_decref(value);
	message_done(&broken);
}

int
main(void)
{
	uint8_t head[4];
	uint8_t *text = NULL;

	while (fread(head, 1, sizeof(head), stdin) == sizeof(head)) {
		uint32_t n = number(head);

		/* Of its exact size, so that a byte too far is seen by a
		 * sanitizer. */
		text = n <= TEXT_MAX ? malloc(n > 0 ? n : 1) : NULL;
		if (!text || fread(text, 1, n, stdin) != n)
			return EXIT_FAILURE;
		check((struct span){ text, n });
		free(text);
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
