/* answer_streams.c: streams of a result, cut to what a message may hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer_streams.h"

#include "call/output.h"
#include "call/text.h"
#include "mcp/jsonrpc.h"

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
	(void)output_add_mark(&into, stream, total_of(stream, shown));
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

/* ---- all of them together ---- */

#define PARTS 3u

struct part {
	const struct stream *stream;
	struct shown *shown;
	size_t cost;
	bool done;
};

/* The one that costs least of those that have not got their share. */
static struct part *
least_of(struct part *parts)
{
	struct part *least = NULL;

	for (unsigned i = 0; i < PARTS; i++)
		if (!parts[i].done && (!least || parts[i].cost < least->cost))
			least = &parts[i];
	return least;
}

void
streams_fit(const struct result *result, uint32_t output_chars, size_t max,
    struct streams *ret_streams)
{
	struct part parts[PARTS] = {
		{ &result->out, &ret_streams->out, 0, false },
		{ &result->value, &ret_streams->value, 0, false },
		{ &result->err, &ret_streams->err, 0, false },
	};

	for (unsigned i = 0; i < PARTS; i++) {
		show(parts[i].stream, output_chars, parts[i].shown);
		parts[i].cost = jsonrpc_text_cost(parts[i].shown->text);
	}
	for (unsigned left = PARTS; left > 0; left--) {
		struct part *part = least_of(parts);
		size_t share = max / left;

		if (part->cost > share)
			cut_middle(part->stream, share, part->shown);
		max -= part->cost < share ? part->cost : share;
		part->done = true;
	}
}

void
streams_done(struct streams *streams)
{
	buf_done(&streams->out.bytes);
	buf_done(&streams->value.bytes);
	buf_done(&streams->err.bytes);
}

bool
streams_missing(const struct streams *streams)
{
	return streams->out.missing || streams->value.missing ||
	       streams->err.missing;
}

bool
streams_failed(const struct streams *streams)
{
	return streams->out.failed || streams->value.failed ||
	       streams->err.failed;
}
