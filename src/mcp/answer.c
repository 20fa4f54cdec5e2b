/* answer.c: results as tool results, cut so that every client takes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"

#include "base/own.h"
#include "call/text.h"
#include "mcp/jsonrpc.h"

#include <inttypes.h>
#include <math.h>

/* What a result costs beside its streams: two sets of small fields, names, and
 * two lists of walls. */
#define ANSWER_FIXED (1536u + 2u * (WALL_NAMES_MAX + 3u * WALLS))

#define ROOM_NAME "wasm"

/* ---- streams, cut to what a message may hold ---- */

struct streams {
	struct span out, err; /* as shown */
	struct buf out_cut, err_cut;
	bool cut; /* by the room or here */
};

/* The longest front of text, in whole characters, that costs at most max. */
static size_t
front_within(struct span text, size_t max)
{
	size_t n = 0, cost = 0, step;
	bool valid;

	while ((step = text_char(text, &valid)) > 0) {
		cost += jsonrpc_text_cost((struct span){ text.p, step });
		if (cost > max)
			break;
		n += step;
		text.p += step;
		text.n -= step;
	}
	return n;
}

/* The same for its back. */
static size_t
back_within(struct span text, size_t max)
{
	size_t n = 0, whole = 0, cost = 0;

	while (n < text.n) {
		const uint8_t *p = text.p + text.n - n - 1;

		cost += jsonrpc_text_cost((struct span){ p, 1 });
		if (cost > max)
			break;
		n++;
		if ((*p & 0xc0) != 0x80)
			whole = n;
	}
	return whole;
}

/* A copy of the stream without its middle, costing at most max. */
static void
cut_middle(const struct stream *stream, size_t max, struct buf *into)
{
	struct span text = buf_span(&stream->text);
	uint64_t total = stream->total_chars;
	size_t half = max > 128 ? (max - 128) / 2 : 0;
	size_t front = front_within(text, half);
	size_t back = back_within(text, half);

	if (!stream->cut)
		total = text_count(text);
	(void)buf_add(into, text.p, front);
	(void)buf_printf(
	    into, "\n[truncated, %" PRIu64 " chars total]\n", total);
	(void)buf_add(into, text.p + text.n - back, back);
}

static void
fit(const struct result *result, size_t max, struct streams *streams)
{
	size_t out = jsonrpc_text_cost(buf_span(&result->out.text));
	size_t err = jsonrpc_text_cost(buf_span(&result->err.text));
	size_t out_max = max / 2, err_max = out_max;

	*streams = (struct streams){
		.out = buf_span(&result->out.text),
		.err = buf_span(&result->err.text),
		.cut = result->out.cut || result->err.cut,
	};
	buf_init(&streams->out_cut, max + 128);
	buf_init(&streams->err_cut, max + 128);
	if (out + err <= max)
		return;
	streams->cut = true;
	/* What one stream does not need, the other may have. */
	if (err < err_max)
		out_max = max - err;
	else if (out < out_max)
		err_max = max - out;
	if (out > out_max) {
		cut_middle(&result->out, out_max, &streams->out_cut);
		streams->out = buf_span(&streams->out_cut);
	}
	if (err > err_max) {
		cut_middle(&result->err, err_max, &streams->err_cut);
		streams->err = buf_span(&streams->err_cut);
	}
}

static void
streams_done(struct streams *streams)
{
	buf_done(&streams->out_cut);
	buf_done(&streams->err_cut);
}

/* ---- the text block ---- */

/* What the streams do not say themselves. The room writes a line to stderr
 * when it ends a program: that is not said twice. */
static void
last_line(const struct result *result, uint32_t wall_ms, struct buf *line)
{
	if (result->exit_code > 0)
		(void)buf_printf(line, "[exit code %d]", result->exit_code);
	else if (result->err.text.n > 0 || result->outcome == OUTCOME_OK)
		return;
	else if (result->timed_out)
		(void)buf_printf(
		    line, "[timed out after %g s]", wall_ms / 1000.0);
	else
		(void)buf_printf(
		    line, "[ended: %s]", outcome_name(result->outcome));
}

static void
begin_line(struct buf *text)
{
	if (text->n > 0 && text->p[text->n - 1] != '\n')
		(void)buf_add_text(text, "\n");
}

static void
write_text(struct buf *text, const struct streams *streams,
    const struct result *result, uint32_t wall_ms)
{
	own_buf struct buf line;

	buf_init(&line, 128);
	(void)buf_add(text, streams->out.p, streams->out.n);
	if (streams->err.n > 0) {
		begin_line(text);
		/* A refusal is not output of a program. */
		if (result->outcome != OUTCOME_REFUSED)
			(void)buf_add_text(text, "[stderr]\n");
		(void)buf_add(text, streams->err.p, streams->err.n);
	}
	if (text->n == 0)
		(void)buf_add_text(text, "(no output)");
	last_line(result, wall_ms, &line);
	if (line.n > 0) {
		begin_line(text);
		(void)buf_add(text, line.p, line.n);
	}
}

/* ---- objects ---- */

/* A string of bytes that should be valid UTF-8; what is not, is mended. */
static json_t *
string_of(struct span bytes)
{
	json_t *string;

	if (bytes.n == 0)
		return json_string("");
	string = json_stringn((const char *)bytes.p, bytes.n);
	if (!string) {
		struct buf mended;

		buf_init(&mended, bytes.n * 3);
		(void)text_add(&mended, bytes, bytes.n);
		string = json_stringn((const char *)mended.p, mended.n);
		buf_done(&mended);
	}
	return string;
}

/* Milliseconds with one decimal. */
static json_t *
ms_of(uint64_t us)
{
	return json_real(round((double)us / 100.0) / 10.0);
}

static json_t *
small_fields(const struct result *result, bool cut)
{
	return json_pack("{s:i, s:b, s:b, s:o, s:o, s:I, s:s}", "exit_code",
	    result->exit_code, "timed_out", result->timed_out, "truncated", cut,
	    "duration_ms", ms_of(result->usage.wall_us), "queued_ms",
	    ms_of(result->usage.queued_us), "memory_peak_bytes",
	    (json_int_t)result->usage.memory_peak_bytes, "room", ROOM_NAME);
}

static json_t *
structured_of(const struct result *result, const struct streams *streams)
{
	json_t *object = json_object();

	(void)json_object_set_new(object, "stdout", string_of(streams->out));
	(void)json_object_set_new(object, "stderr", string_of(streams->err));
	(void)json_object_update_new(
	    object, small_fields(result, streams->cut));
	return object;
}

static json_t *
content_of(const struct result *result, const struct streams *streams,
    uint32_t wall_ms)
{
	struct buf text;
	json_t *content;

	buf_init(&text, streams->out.n + streams->err.n + 128);
	write_text(&text, streams, result, wall_ms);
	content = json_pack(
	    "[{s:s, s:o}]", "type", "text", "text", string_of(buf_span(&text)));
	buf_done(&text);
	return content;
}

static json_t *
names_of(wall_set set)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < WALLS; i++)
		if (set & WALL_BIT(i))
			(void)json_array_append_new(
			    names, json_string(wall_name((enum wall)i)));
	return names;
}

json_t *
answer_walls(wall_set missing, wall_set allowed)
{
	return json_pack("{s:o, s:o}", "missing", names_of(missing), "allowed",
	    names_of(allowed));
}

static json_t *
meta_of(const struct result *result, bool cut)
{
	json_t *fields = small_fields(result, cut);

	(void)json_object_set_new(
	    fields, "outcome", json_string(outcome_name(result->outcome)));
	if (result->walls_missing)
		(void)json_object_set_new(fields, "walls",
		    answer_walls(result->walls_missing, result->walls_allowed));
	return json_pack("{s:o}", "breakroom/result", fields);
}

json_t *
answer_result(const struct result *result, uint32_t wall_ms,
    const struct answer_form *form)
{
	bool structured =
	    form->structured != STRUCTURED_NEVER && form->revision->structured;
	size_t max =
	    form->bytes_max > ANSWER_FIXED ? form->bytes_max - ANSWER_FIXED : 0;
	struct streams streams;
	json_t *answer;

	fit(result, structured ? max / 2 : max, &streams);
	answer = json_pack("{s:o, s:b, s:o}", "content",
	    content_of(result, &streams, wall_ms), "isError",
	    result->outcome != OUTCOME_OK, "_meta",
	    meta_of(result, streams.cut));
	if (structured)
		(void)json_object_set_new(answer, "structuredContent",
		    structured_of(result, &streams));
	streams_done(&streams);
	return answer;
}

json_t *
answer_refused(const char *text, const struct answer_form *form)
{
	struct result result;
	json_t *answer;

	result_init(&result);
	result.exit_code = -1;
	(void)buf_add_text(&result.err.text, text);
	answer = answer_result(&result, 0, form);
	result_done(&result);
	return answer;
}

json_t *
answer_schema(void)
{
	static const char *const fields[][3] = {
		{ "stdout", "string", "What the program printed." },
		{ "stderr", "string", "Tracebacks, warnings and messages." },
		{ "exit_code", "integer",
		    "0: success; -1: ended from "
		    "outside." },
		{ "timed_out", "boolean", "Ended at its time limit." },
		{ "truncated", "boolean", "Output lacks its middle." },
		{ "duration_ms", "number", "Wall time of the program." },
		{ "queued_ms", "number", "Time spent waiting before it." },
		{ "memory_peak_bytes", "integer", "Most memory it held." },
		{ "room", "string", "The kind of room it ran in." },
	};
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		(void)json_object_set_new(properties, fields[i][0],
		    json_pack("{s:s, s:s}", "type", fields[i][1], "description",
			fields[i][2]));
		(void)json_array_append_new(
		    required, json_string(fields[i][0]));
	}
	return json_pack("{s:s, s:o, s:o}", "type", "object", "properties",
	    properties, "required", required);
}
