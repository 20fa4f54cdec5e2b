/* answer.c: results as tool results, cut so that every client takes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"

#include "base/own.h"
#include "call/output.h"
#include "call/text.h"
#include "mcp/answer_files.h"
#include "mcp/jsonrpc.h"

#include <inttypes.h>
#include <math.h>

/* What a result costs beside its streams: two sets of small fields, names, and
 * two lists of walls. */
#define ANSWER_FIXED (2560u + 2u * (WALL_NAMES_MAX + 3u * WALLS))

#define ROOM_NAME "wasm"

/* ---- streams, cut to what a message may hold ---- */

struct shown {
	struct span text;
	struct buf bytes; /* of text, if it is not the result's own */
	bool missing;     /* some of it, cut by the room or here */
	bool failed;      /* all of it, without memory */
};

struct streams {
	struct shown out, err;
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

/* Characters that the program wrote. */
static uint64_t
total_of(const struct stream *stream, const struct shown *shown)
{
	struct span text = buf_span(&stream->text);

	if (stream->cut)
		return stream->total_chars;
	if (shown->missing)
		text.n -= stream->note_n;
	return text_count_valid(text);
}

/* Takes the middle out of what is shown, so that it costs at most max. */
static void
cut_middle(const struct stream *stream, size_t max, struct shown *shown)
{
	struct span text = shown->text;
	size_t half = max > 128 ? (max - 128) / 2 : 0;
	size_t front = front_within(text, half);
	size_t back = back_within(text, half);
	struct buf into;

	buf_init(&into, max + 128);
	(void)buf_add(&into, text.p, front);
	(void)buf_printf(&into, "\n[truncated, %" PRIu64 " chars total]\n",
	    total_of(stream, shown));
	(void)buf_add(&into, text.p + text.n - back, back);
	buf_done(&shown->bytes);
	shown->bytes = into;
	shown->text = buf_span(&into);
	shown->missing = true;
}

/* Most streams are short, and shown as they are. */
static void
show(const struct stream *stream, uint32_t output_chars, struct shown *shown)
{
	int r;

	*shown = (struct shown){ .text = buf_span(&stream->text),
		.missing = stream->cut };
	buf_init(&shown->bytes, STREAM_TEXT_MAX);
	if (output_chars == 0 || stream->text.n <= output_chars)
		return;
	r = output_show(stream, output_chars, &shown->bytes);
	shown->missing = r != 0;
	shown->failed = r < 0;
	shown->text = buf_span(&shown->bytes);
}

static void
fit(const struct result *result, uint32_t output_chars, size_t max,
    struct streams *streams)
{
	size_t out, err, out_max = max / 2, err_max = out_max;

	show(&result->out, output_chars, &streams->out);
	show(&result->err, output_chars, &streams->err);
	out = jsonrpc_text_cost(streams->out.text);
	err = jsonrpc_text_cost(streams->err.text);
	if (out + err <= max)
		return;
	/* What one stream does not need, the other may have. */
	if (err < err_max)
		out_max = max - err;
	else if (out < out_max)
		err_max = max - out;
	if (out > out_max)
		cut_middle(&result->out, out_max, &streams->out);
	if (err > err_max)
		cut_middle(&result->err, err_max, &streams->err);
}

static void
streams_done(struct streams *streams)
{
	buf_done(&streams->out.bytes);
	buf_done(&streams->err.bytes);
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
    const struct result *result, uint32_t wall_ms, struct span files)
{
	own_buf struct buf line;

	buf_init(&line, 128);
	(void)buf_add(text, streams->out.text.p, streams->out.text.n);
	if (streams->err.text.n > 0) {
		begin_line(text);
		/* A refusal is not output of a program. */
		if (result->outcome != OUTCOME_REFUSED)
			(void)buf_add_text(text, "[stderr]\n");
		(void)buf_add(text, streams->err.text.p, streams->err.text.n);
	}
	if (text->n == 0)
		(void)buf_add_text(text, "(no output)");
	last_line(result, wall_ms, &line);
	if (line.n > 0) {
		begin_line(text);
		(void)buf_add(text, line.p, line.n);
	}
	if (files.n > 0) {
		begin_line(text);
		(void)buf_add(text, files.p, files.n);
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
small_fields(const struct result *result, const struct streams *streams)
{
	return json_pack("{s:i, s:b, s:b, s:o, s:o, s:I, s:s}", "exit_code",
	    result->exit_code, "timed_out", result->timed_out, "truncated",
	    streams->out.missing || streams->err.missing, "duration_ms",
	    ms_of(result->usage.wall_us), "queued_ms",
	    ms_of(result->usage.queued_us), "memory_peak_bytes",
	    (json_int_t)result->usage.memory_peak_bytes, "room", ROOM_NAME);
}

static void
add_uri(json_t *object, const char *name, const struct answer_form *form,
    enum resource_part part)
{
	if (form->call_id)
		(void)json_object_set_new(
		    object, name, answer_uri(form, part, NULL));
}

static json_t *
structured_of(const struct result *result, const struct streams *streams,
    const struct answer_form *form)
{
	json_t *object = json_object();

	(void)json_object_set_new(
	    object, "stdout", string_of(streams->out.text));
	(void)json_object_set_new(
	    object, "stderr", string_of(streams->err.text));
	(void)json_object_update_new(object, small_fields(result, streams));
	if (streams->out.missing)
		add_uri(object, "stdout_uri", form, RESOURCE_STDOUT);
	if (streams->err.missing)
		add_uri(object, "stderr_uri", form, RESOURCE_STDERR);
	return object;
}

static json_t *
content_of(const struct result *result, const struct streams *streams,
    uint32_t wall_ms, struct span files)
{
	struct buf text;
	json_t *content;

	buf_init(
	    &text, streams->out.text.n + streams->err.text.n + files.n + 128);
	write_text(&text, streams, result, wall_ms, files);
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
meta_of(const struct result *result, const struct streams *streams,
    const struct answer_form *form)
{
	json_t *fields = small_fields(result, streams);

	(void)json_object_set_new(
	    fields, "outcome", json_string(outcome_name(result->outcome)));
	if (result->out.text.n > 0)
		add_uri(fields, "stdout_uri", form, RESOURCE_STDOUT);
	if (result->err.text.n > 0)
		add_uri(fields, "stderr_uri", form, RESOURCE_STDERR);
	if (result->walls_missing)
		(void)json_object_set_new(fields, "walls",
		    answer_walls(result->walls_missing, result->walls_allowed));
	return json_pack("{s:o}", "breakroom/result", fields);
}

/* Links to what the text lacks. */
static void
add_links(json_t *content, const struct result *result,
    const struct streams *streams, const struct answer_form *form)
{
	if (!form->call_id || !form->revision->structured)
		return;
	if (streams->out.missing)
		(void)json_array_append_new(content,
		    answer_stream_link(form, RESOURCE_STDOUT, &result->out));
	if (streams->err.missing)
		(void)json_array_append_new(content,
		    answer_stream_link(form, RESOURCE_STDERR, &result->err));
}

json_t *
answer_result(const struct result *result, uint32_t wall_ms,
    const struct answer_form *form)
{
	bool with_files = result->files.n > 0 || result->files.more;
	bool structured = form->structured != STRUCTURED_NEVER &&
			  form->revision->structured &&
			  !(with_files && form->structured == STRUCTURED_AUTO);
	size_t max =
	    form->bytes_max > ANSWER_FIXED ? form->bytes_max - ANSWER_FIXED : 0;
	struct answer_files files;
	struct streams streams;
	json_t *answer, *content;

	answer_files_make(&result->files, form, structured, max / 2, &files);
	max -= files.cost;
	fit(result, form->output_chars, structured ? max / 2 : max, &streams);
	if (streams.out.failed || streams.err.failed) {
		answer_files_done(&files);
		streams_done(&streams);
		return NULL;
	}
	content = content_of(result, &streams, wall_ms, buf_span(&files.text));
	add_links(content, result, &streams, form);
	(void)json_array_extend(content, files.links);
	answer = json_pack("{s:o, s:b, s:o}", "content", content, "isError",
	    result->outcome != OUTCOME_OK, "_meta",
	    meta_of(result, &streams, form));
	if (structured)
		(void)json_object_set_new(answer, "structuredContent",
		    structured_of(result, &streams, form));
	if (structured && with_files)
		(void)json_object_set(
		    json_object_get(answer, "structuredContent"), "files",
		    files.list);
	answer_files_done(&files);
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

static void
add_optional(json_t *properties)
{
	(void)json_object_set_new(properties, "stdout_uri",
	    json_pack("{s:s, s:s}", "type", "string", "description",
		"Resource with all of stdout, where it is truncated."));
	(void)json_object_set_new(properties, "stderr_uri",
	    json_pack("{s:s, s:s}", "type", "string", "description",
		"Resource with all of stderr, where it is truncated."));
	(void)json_object_set_new(properties, "files",
	    json_pack("{s:s, s:s, s:{s:s, s:{s:{s:s}, s:{s:s}, s:{s:s}}, "
		      "s:[s, s]}}",
		"type", "array", "description",
		"Files left in /workspace; those with a uri can be read.",
		"items", "type", "object", "properties", "name", "type",
		"string", "size", "type", "integer", "uri", "type", "string",
		"required", "name", "size"));
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
	add_optional(properties);
	return json_pack("{s:s, s:o, s:o}", "type", "object", "properties",
	    properties, "required", required);
}
