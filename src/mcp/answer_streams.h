/* answer_streams.h: what a program printed and the value of its last
 * expression, cut to what an answer may hold. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ANSWER_STREAMS_H
#define MCP_ANSWER_STREAMS_H

#include "base/buf.h"
#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shown {
	struct span text;
	struct buf bytes; /* of text, if it is not the result's own */
	bool missing;     /* some of it, cut by the room or here */
	bool failed;      /* all of it, without memory */
};

struct streams {
	struct shown out, value, err;
};

/* Fills *ret_streams: of each at most output_chars characters (0: all), and of
 * all together what costs at most max in a message; the middle is left out.
 * What one does not need, the others may have. streams_done releases it. */
void streams_fit(const struct result *result, uint32_t output_chars, size_t max,
    struct streams *ret_streams);
void streams_done(struct streams *streams);

/* Something is left out of one of them; one of them is lost for want of
 * memory. */
bool streams_missing(const struct streams *streams);
bool streams_failed(const struct streams *streams);

#endif
