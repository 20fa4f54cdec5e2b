/* answer.c: results as tool results, cut so that every client takes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"

#include "base/own.h"
#include "call/text.h"
#include "mcp/answer_files.h"
#include "mcp/answer_hints.h"
#include "mcp/answer_images.h"
#include "mcp/answer_streams.h"
#include "mcp/jsonrpc.h"

#include <math.h>

/* What a result costs beside its streams: two sets of small fields, names, and
 * two lists of walls. */
#define ANSWER_FIXED (2560u + 2u * (WALL_NAMES_MAX + 3u * WALLS))

/* Images take this much of a message at most: text comes first. */
#define IMAGES_SHARE(max) ((max) / 3 * 2)

/* Less than that is not spent on hints. */
#define HINTS_ROOM_MIN 4096u

/* Everything that an answer is made of. */
struct parts {
	const struct result *result;
	const struct answer_form *form;
	uint32_t wall_ms;
	bool structured;
	struct streams streams;
	struct answer_images images;
	struct answer_files files;
	struct hints hints;
};

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

/* A part under its name, if there is something in it. */
static void
write_part(struct buf *text, const char *name, struct span part)
{
	if (part.n == 0)
		return;
	begin_line(text);
	if (name)
		(void)buf_add_text(text, name);
	(void)buf_add(text, part.p, part.n);
}

static void
write_text(struct buf *text, const struct parts *parts)
{
	const struct result *result = parts->result;
	own_buf struct buf line;

	buf_init(&line, 128);
	write_part(text, NULL, parts->streams.out.text);
	write_part(text, "[value]\n", parts->streams.value.text);
	/* A refusal is not output of a program. */
	write_part(text,
	    result->outcome == OUTCOME_REFUSED ? NULL : "[stderr]\n",
	    parts->streams.err.text);
	if (text->n == 0 && parts->images.text.n == 0)
		(void)buf_add_text(text, "(no output)");
	last_line(result, parts->wall_ms, &line);
	write_part(text, NULL, buf_span(&line));
	write_part(text, NULL, buf_span(&parts->images.text));
	if (result->session[0]) {
		begin_line(text);
		(void)buf_printf(text, "[session %s]", result->session);
	}
	write_part(text, NULL, buf_span(&parts->files.text));
	for (unsigned i = 0; i < parts->hints.n; i++)
		write_part(text, "[hint] ", span_of(parts->hints.lines[i]));
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
small_fields(const struct parts *parts)
{
	const struct result *result = parts->result;
	const struct streams *streams = &parts->streams;

	json_t *fields = json_pack("{s:i, s:b, s:b, s:o, s:o, s:I, s:s}",
	    "exit_code", result->exit_code, "timed_out", result->timed_out,
	    "truncated", streams_missing(streams), "duration_ms",
	    ms_of(result->usage.wall_us), "queued_ms",
	    ms_of(result->usage.queued_us), "memory_peak_bytes",
	    (json_int_t)result->usage.memory_peak_bytes, "room",
	    room_id_name(parts->form->room));

	if (result->session[0])
		(void)json_object_set_new(
		    fields, "session", json_string(result->session));
	return fields;
}

/* What is there for some calls alone. */
static void
add_rare(json_t *object, const struct parts *parts)
{
	if (json_array_size(parts->images.list) > 0)
		(void)json_object_set(object, "images", parts->images.list);
	answer_hints_put(object, &parts->hints);
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
structured_of(const struct parts *parts)
{
	const struct streams *streams = &parts->streams;
	json_t *object = json_object();

	(void)json_object_set_new(
	    object, "stdout", string_of(streams->out.text));
	(void)json_object_set_new(
	    object, "stderr", string_of(streams->err.text));
	if (streams->value.text.n > 0)
		(void)json_object_set_new(
		    object, "value", string_of(streams->value.text));
	(void)json_object_update_new(object, small_fields(parts));
	add_rare(object, parts);
	if (parts->files.list && json_array_size(parts->files.list) > 0)
		(void)json_object_set(object, "files", parts->files.list);
	if (streams->out.missing)
		add_uri(object, "stdout_uri", parts->form, RESOURCE_STDOUT);
	if (streams->err.missing)
		add_uri(object, "stderr_uri", parts->form, RESOURCE_STDERR);
	return object;
}

static json_t *
content_of(const struct parts *parts)
{
	struct buf text;
	json_t *content;

	buf_init(&text, 2u * MESSAGE_OUT_MAX);
	write_text(&text, parts);
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
meta_of(const struct parts *parts)
{
	const struct result *result = parts->result;
	json_t *fields = small_fields(parts);

	(void)json_object_set_new(
	    fields, "outcome", json_string(outcome_name(result->outcome)));
	add_rare(fields, parts);
	if (result->out.text.n > 0)
		add_uri(fields, "stdout_uri", parts->form, RESOURCE_STDOUT);
	if (result->err.text.n > 0)
		add_uri(fields, "stderr_uri", parts->form, RESOURCE_STDERR);
	if (result->walls_missing)
		(void)json_object_set_new(fields, "walls",
		    answer_walls(result->walls_missing, result->walls_allowed));
	return json_pack("{s:o}", "breakroom/result", fields);
}

/* Links to what the text lacks. */
static void
add_links(json_t *content, const struct parts *parts)
{
	const struct answer_form *form = parts->form;

	if (!form->call_id || !form->revision->structured)
		return;
	if (parts->streams.out.missing)
		(void)json_array_append_new(
		    content, answer_stream_link(
				 form, RESOURCE_STDOUT, &parts->result->out));
	if (parts->streams.err.missing)
		(void)json_array_append_new(
		    content, answer_stream_link(
				 form, RESOURCE_STDERR, &parts->result->err));
}

/* ---- the whole ---- */

static size_t
less(size_t max, size_t cost)
{
	return max > cost ? max - cost : 0;
}

/* They are in the text, in _meta and in structuredContent. */
static size_t
hints_cost(const struct hints *hints)
{
	size_t cost = 0;

	for (unsigned i = 0; i < hints->n; i++)
		cost += 3 * (jsonrpc_text_cost(span_of(hints->lines[i])) + 24);
	return cost;
}

/* Where all of a stream is, in text; NULL: nowhere. */
static const char *
uri_of(
    const struct answer_form *form, enum resource_part part, struct buf *text)
{
	if (!form->call_id ||
	    resource_uri_add(text, form->call_id, part, NULL) < 0 ||
	    buf_add(text, "", 1) < 0)
		return NULL;
	return (const char *)text->p;
}

/* What is cut away has to be known before that is hinted at. */
static void
fit_streams(struct parts *parts, size_t max)
{
	const struct answer_form *form = parts->form;
	own_buf struct buf out_uri, err_uri;
	struct hint_facts facts = { .wall_ms = parts->wall_ms,
		.max_wall_ms = form->max_wall_ms,
		.memory_bytes = form->memory_bytes,
		.conf = form->conf };
	const unsigned copies = parts->structured ? 2 : 1;

	buf_init(&out_uri, RESOURCE_URI_MAX);
	buf_init(&err_uri, RESOURCE_URI_MAX);
	streams_fit(
	    parts->result, form->output_chars, max / copies, &parts->streams);
	if (max < HINTS_ROOM_MIN)
		return;
	facts.out_cut = parts->streams.out.missing;
	facts.err_cut = parts->streams.err.missing;
	facts.value_cut = parts->streams.value.missing;
	if (facts.out_cut)
		facts.out_uri = uri_of(form, RESOURCE_STDOUT, &out_uri);
	if (facts.err_cut)
		facts.err_uri = uri_of(form, RESOURCE_STDERR, &err_uri);
	answer_hints(parts->result, &facts, &parts->hints);
	if (parts->hints.n == 0)
		return;
	streams_done(&parts->streams);
	streams_fit(parts->result, form->output_chars,
	    less(max, hints_cost(&parts->hints)) / copies, &parts->streams);
}

static void
parts_fill(struct parts *parts)
{
	const struct result *result = parts->result;
	const struct answer_form *form = parts->form;
	bool with_more = result->files.n > 0 || result->files.more ||
			 result->images.n > 0 || result->images.more;
	size_t max = less(form->bytes_max, ANSWER_FIXED);

	parts->structured = form->structured != STRUCTURED_NEVER &&
			    form->revision->structured &&
			    !(with_more && form->structured == STRUCTURED_AUTO);
	answer_images_make(
	    &result->images, form, IMAGES_SHARE(max), &parts->images);
	max = less(max, parts->images.cost);
	answer_files_make(
	    &result->files, form, parts->structured, max / 2, &parts->files);
	max = less(max, parts->files.cost);
	fit_streams(parts, max);
}

static void
parts_done(struct parts *parts)
{
	answer_images_done(&parts->images);
	answer_files_done(&parts->files);
	streams_done(&parts->streams);
}

json_t *
answer_result(const struct result *result, uint32_t wall_ms,
    const struct answer_form *form)
{
	struct parts parts = {
		.result = result, .form = form, .wall_ms = wall_ms
	};
	json_t *answer, *content;

	parts_fill(&parts);
	if (streams_failed(&parts.streams)) {
		parts_done(&parts);
		return NULL;
	}
	content = content_of(&parts);
	if (parts.images.blocks)
		(void)json_array_extend(content, parts.images.blocks);
	add_links(content, &parts);
	(void)json_array_extend(content, parts.files.links);
	answer = json_pack("{s:o, s:b, s:o}", "content", content, "isError",
	    result->outcome != OUTCOME_OK, "_meta", meta_of(&parts));
	if (parts.structured)
		(void)json_object_set_new(
		    answer, "structuredContent", structured_of(&parts));
	parts_done(&parts);
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
