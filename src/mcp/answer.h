/* answer.h: a call's result as the result object of a tool. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ANSWER_H
#define MCP_ANSWER_H

#include "call/call.h"
#include "conf/conf.h"
#include "mcp/revision.h"

#include <jansson.h>

/* How an answer is to look. */
struct answer_form {
	const struct revision *revision;
	enum structured structured;
	size_t bytes_max;      /* of the result, dumped */
	uint32_t output_chars; /* shown of each stream; 0: all that is there */
	const char *call_id;   /* what is kept of it; NULL: nothing is */
	bool inline_files;     /* small text files in the answer itself */
	uint32_t max_wall_ms;  /* what hints may name; 0: not known */
	uint64_t memory_bytes;
	enum room_id room;       /* that it ran in, or would have */
	const struct conf *conf; /* the room's, for hints; NULL: not known */
};

/* A new result object: a text block for reading, images, links to what is kept
 * and is not in it, structuredContent where the form has it, and the small
 * fields in _meta. With files or images there is no structuredContent unless it
 * is always asked for: clients show it instead of them. wall_ms are the call's.
 * Streams longer than the form allows lose their middle. NULL without
 * memory. */
json_t *answer_result(const struct result *result, uint32_t wall_ms,
    const struct answer_form *form);

/* The same for a call that never ran; text says why. */
json_t *answer_refused(const char *text, const struct answer_form *form);

/* A new object with the names of the walls in two sets: those that the room
 * lacks, and those of them that the operator allowed it to lack. */
json_t *answer_walls(wall_set missing, wall_set allowed);

/* A new JSON schema of structuredContent. */
json_t *answer_schema(void);

#endif
