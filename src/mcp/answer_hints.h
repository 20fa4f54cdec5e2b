/* answer_hints.h: what to do instead, for whoever reads a result: at most
 * HINTS_MAX lines, those of the room's Python first.
 * Hostile input: the hints of a result. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ANSWER_HINTS_H
#define MCP_ANSWER_HINTS_H

#include "call/call.h"
#include "conf/conf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct hints {
	unsigned n;
	char lines[HINTS_MAX][HINT_SHOWN_MAX + 1]; /* UTF-8, no controls */
};

/* What a hint can name. */
struct hint_facts {
	bool shell;            /* options of "breakroom run", not arguments */
	uint32_t wall_ms;      /* of the call */
	uint32_t max_wall_ms;  /* that it may ask for; 0: not known */
	uint64_t memory_bytes; /* likewise */
	/* Of the room that it ran in, with the others that there are; NULL:
	 * not known. */
	const struct conf *conf;
	/* Streams that are shown without their middle, and where all of each
	 * is; NULL: nowhere. */
	bool out_cut, err_cut, value_cut;
	const char *out_uri, *err_uri;
};

void answer_hints(const struct result *result, const struct hint_facts *facts,
    struct hints *ret_hints);

/* Puts them into an object as the list "hints"; nothing if there are none. */
void answer_hints_put(json_t *object, const struct hints *hints);

#endif
