/* call.c: birth and death of calls and results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/call.h"

#include <stdlib.h>

const char *
outcome_name(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_OK:
		return "ok";
	case OUTCOME_RAISED:
		return "raised";
	case OUTCOME_TIMEOUT:
		return "timeout";
	case OUTCOME_MEMORY:
		return "memory";
	case OUTCOME_KILLED:
		return "killed";
	case OUTCOME_ROOM_LOST:
		return "room_lost";
	case OUTCOME_REFUSED:
		return "refused";
	}
	return "unknown";
}

struct call *
call_new(void)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	buf_init(&call->code, CODE_MAX);
	buf_init(&call->stdin_bytes, STDIN_MAX);
	call->wall_ms = WALL_MS_DEFAULT;
	return call;
}

void
call_free(struct call *call)
{
	if (!call)
		return;
	buf_done(&call->code);
	buf_done(&call->stdin_bytes);
	principal_release(call->principal);
	free(call);
}

void
result_init(struct result *result)
{
	*result = (struct result){ .outcome = OUTCOME_REFUSED };
	buf_init(&result->out.text, STREAM_TEXT_MAX);
	buf_init(&result->err.text, STREAM_TEXT_MAX);
	file_list_init(&result->files);
}

void
result_done(struct result *result)
{
	buf_done(&result->out.text);
	buf_done(&result->err.text);
	file_list_done(&result->files);
}
