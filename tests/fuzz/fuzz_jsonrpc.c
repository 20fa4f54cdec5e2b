/* fuzz_jsonrpc.c: a client's bytes, line by line, into the protocol core over
 * a fake room. A line that begins with '!' is not sent: it ends the oldest
 * call with the rest of the line as its output. Whatever comes in, only valid
 * messages go out, at most one answer for each line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../unit/fake_room.h"
#include "base/clock.h"
#include "call/text.h"
#include "fuzz_input.h"
#include "mcp/jsonrpc.h"
#include "mcp/mcp.h"
#include "mcp/run_catalog.h"

#include <string.h>

#define FLOOD_BYTES 160000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	unsigned lines, answers;
	bool flooded;
	bool http; /* lines begin with the values of three headers */
};

#define ROUTE ((void *)1)

/* A message of ours: strict JSON, and an answer or a notification. */
static void
on_message(void *arg, void *route, struct buf *text, const struct sent *sent)
{
	struct world *world = arg;
	struct message broken;
	json_t *value;

	check(route == (world->http ? ROUTE : NULL), "its own route");
	check(sent->kind != SENT_ANSWER || sent->status >= 200, "a status");
	if (sent->kind == SENT_OVER) {
		check(text->n == 0, "no bytes");
		return;
	}
	check(!memchr(text->p, '\n', text->n), "one line");
	check(text->n <= MESSAGE_OUT_MAX, "short enough");
	value = jsonrpc_load(buf_span(text), &broken);
	check(value != NULL, "valid JSON");
	if (!json_object_get(value, "method"))
		world->answers++;
	check(json_is_array(value) ||
		  json_is_text(json_object_get(value, "jsonrpc"), "2.0"),
	    "JSON-RPC");
	check(world->answers <= world->lines, "one answer a line");
	json_decref(value);
	buf_done(text);
}

/* A result that must be cut to fit a message: its characters take six bytes
 * each there. Once in an input: it takes a hundred times as long as others. */
static void
add_flood(struct buf *text, struct span output, bool *flooded)
{
	if (*flooded || output.n < 4 || memcmp(output.p, "\1\1\1\1", 4) != 0)
		return;
	*flooded = true;
	while (text->n + output.n < FLOOD_BYTES &&
	       text_add(text, output, output.n) == 0)
		;
}

static void
end_call(struct room *room, struct world *world, struct span output)
{
	struct result result;

	if (room->held == 0)
		return;
	result_init(&result);
	result.outcome = (enum outcome)(output.n % (OUTCOME_REFUSED + 1));
	result.timed_out = result.outcome == OUTCOME_TIMEOUT;
	result.exit_code = result.outcome == OUTCOME_OK ? 0 : (int)output.n - 2;
	/* As output_read: a room gives valid text. */
	(void)text_add(&result.out.text, output, output.n);
	(void)text_add(&result.err.text, output, output.n / 2);
	add_flood(output.n % 2 ? &result.out.text : &result.err.text, output,
	    &world->flooded);
	fake_room_end(room, 0, &result);
	result_done(&result);
}

/* Brackets open at once, outside strings: another way to count what the
 * first look counts. */
static unsigned
nesting(struct span text)
{
	unsigned depth = 0, deepest = 0;
	bool string = false;

	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];

		if (string && c == '\\')
			i++;
		else if (c == '"')
			string = !string;
		else if (!string && (c == '{' || c == '['))
			deepest = ++depth > deepest ? depth : deepest;
		else if (!string && (c == '}' || c == ']') && depth > 0)
			depth--;
	}
	return deepest;
}

static void
check_depth(struct span line)
{
	struct message broken = { 0 };
	json_t *value = jsonrpc_load(line, &broken);

	if (nesting(line) > JSON_DEPTH_MAX)
		check(!value && broken.why && strstr(broken.why, "too deep"),
		    "no deep message is parsed");
	json_decref(value);
	message_done(&broken);
}

/* Takes what comes before a '|' from the front of rest; NULL without one. */
static struct span
take_field(struct span *rest)
{
	const uint8_t *end = memchr(rest->p, '|', rest->n);
	struct span field = { NULL, 0 };

	if (!end)
		return field;
	field = (struct span){ rest->p, (size_t)(end - rest->p) };
	rest->p += field.n + 1;
	rest->n -= field.n + 1;
	return field;
}

static void
receive(struct peer *peer, const struct world *world, struct span line)
{
	struct peer_headers headers;

	if (!world->http) {
		(void)peer_receive(peer, NULL, line, NULL);
		return;
	}
	headers = (struct peer_headers){ .version = take_field(&line) };
	headers.method = take_field(&line);
	headers.name = take_field(&line);
	(void)peer_receive(peer, ROUTE, line, &headers);
}

static void
talk(
    struct peer *peer, struct room *room, struct world *world, struct span rest)
{
	while (rest.n > 0) {
		const uint8_t *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		world->lines++;
		if (n > 0 && rest.p[0] == '!') {
			end_call(
			    room, world, (struct span){ rest.p + 1, n - 1 });
		} else {
			check_depth((struct span){ rest.p, n });
			receive(peer, world, (struct span){ rest.p, n });
		}
		if (room->held > FAKE_CALLS_MAX / 2)
			return;
		n += end ? 1 : 0;
		rest.p += n;
		rest.n -= n;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uv_loop_t loop;
	static bool made;
	const struct conf conf = {
		.timeout_ms = 30000,
		.max_timeout_ms = 300000,
		.memory_bytes = MEMORY_BYTES_DEFAULT,
		.files_bytes = FILES_BYTES_DEFAULT,
		.output_chars = OUTPUT_CHARS_DEFAULT,
		.structured = (enum structured)(size % 3),
		.keep_bytes = 1u * MIB,
		.keep_ms = KEEP_MS_DEFAULT,
	};
	struct world world = { .http = size > 0 && data[size - 1] == '@' };
	const struct peer_conf side = {
		.kind = world.http ? PEER_STATELESS : PEER_STREAM,
		.send = on_message,
		.arg = &world,
	};
	struct run_catalog *catalog = run_catalog_new(&conf, "text");
	struct room *room = NULL;
	struct peer *peer;
	struct mcp *mcp;

	check(catalog != NULL, "a catalog");
	if (!made)
		made = uv_loop_init(&loop) == 0;
	check(room_open(&loop, NULL, &conf, NULL, &room, NULL) == 0, "room");
	mcp = mcp_new(&loop, room, &conf, run_catalog_face(catalog));
	peer = peer_new(mcp, &side);
	talk(peer, room, &world, (struct span){ data, size });
	/* Subscriptions are answered now: each had a line of its own. */
	peer_end_subscriptions(peer);
	mcp_progress(mcp, clock_us() + 3000000);
	peer_close(peer);
	mcp_close(mcp);
	room_close(room);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	run_catalog_free(catalog);
	return 0;
}
