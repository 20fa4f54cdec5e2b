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
	buf_init(&call->options, CALL_OPTIONS_MAX);
	buf_init(&call->files, FILES_IN_PACKED_MAX);
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
	buf_done(&call->options);
	buf_done(&call->files);
	principal_release(call->principal);
	free(call);
}

void
stream_note(struct stream *stream, const char *note)
{
	struct buf *text = &stream->text;
	size_t before = text->n;

	if (!*note)
		return;
	if (text->n > 0 && text->p[text->n - 1] != '\n')
		(void)buf_add_text(text, "\n");
	(void)buf_printf(text, "%s\n", note);
	stream->note_n += text->n - before;
}

void
result_init(struct result *result)
{
	*result = (struct result){ .outcome = OUTCOME_REFUSED };
	buf_init(&result->out.text, STREAM_TEXT_MAX);
	buf_init(&result->err.text, STREAM_TEXT_MAX);
	buf_init(&result->value.text, STREAM_TEXT_MAX);
	buf_init(&result->hints.text, STREAM_TEXT_MAX);
	file_list_init(&result->files);
	file_list_init(&result->images);
}

void
result_done(struct result *result)
{
	buf_done(&result->out.text);
	buf_done(&result->err.text);
	buf_done(&result->value.text);
	buf_done(&result->hints.text);
	file_list_done(&result->files);
	file_list_done(&result->images);
}
