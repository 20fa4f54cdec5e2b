/* fuzz_headers.c: the values of headers that are judged: Host, Origin, Accept,
 * Content-Type, Last-Event-ID, Mcp-Session-Id and Mcp-Param-NAME. The first
 * byte says which; of a session's id, the input is what is changed in a valid
 * one, of a parameter it is the header's value, a line end, and the argument.
 * Case means nothing where it must not; nothing but what we gave out is taken
 * for ours.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/own.h"
#include "front/accept.h"
#include "front/events.h"
#include "front/guard.h"
#include "front/session_id.h"
#include "fuzz_input.h"
#include "mcp/param_headers.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define TEXT_MAX 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same text with the case of all letters turned. */
static struct span
turned(struct span text, uint8_t turned_text[TEXT_MAX])
{
	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		turned_text[i] = letter ? c ^ 0x20 : c;
	}
	return (struct span){ turned_text, text.n };
}

static void
on_guard(struct span text)
{
	static const struct conf_list hosts = { 2,
		{ "mcp.example", "other.example:8443" } };
	static const struct conf_list origins = { 1,
		{ "https://app.example" } };
	static const char *const names[] = { "127.0.0.1:8080", "[::]:80",
		"unix:/run/x", "192.0.2.1:443" };
	uint8_t other[TEXT_MAX];
	struct span same = turned(text, other);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct guard guard;
		bool host;

		guard_init(&guard, names[i], &hosts, &origins);
		host = guard_host(&guard, text);
		check(host == guard_host(&guard, same), "hosts have no case");
		check(guard_origin(&guard, text) == guard_origin(&guard, same),
		    "origins have no case");
		check(!host || text.n < 32, "names of ours are short");
		check(!host || (!memchr(text.p, '@', text.n) &&
				   !memchr(text.p, '/', text.n) &&
				   !memchr(text.p, '\0', text.n)),
		    "a host is a name and a port");
	}
}

static void
on_accept(struct span text)
{
	uint8_t other[TEXT_MAX];
	struct span same = turned(text, other);
	struct accept a = accept_parse(text), b = accept_parse(same);

	check(a.json == b.json && a.events == b.events, "types have no case");
	check(content_type_is_json(text) == content_type_is_json(same),
	    "types have no case");
	check(!content_type_is_json(text) || text.n >= 16, "it is named");
}

static void
on_event_id(struct span text)
{
	struct events_pool pool;
	struct events events;
	char id[EVENT_ID_SIZE];
	uint64_t number;
	uint32_t stream;

	events_pool_init(&pool);
	if (events_init(&events, &pool) < 0)
		return;
	events.epoch = 0x12345678;
	for (unsigned i = 0; i < 7; i++)
		(void)events_next(&events, events_stream(&events), id);
	if (events_parse(&events, text, &stream, &number)) {
		check(stream >= 1 && stream <= 7, "a stream that there is");
		check(number >= 1 && number <= 7, "an event that there was");
		(void)snprintf(id, sizeof(id), "12345678-%" PRIu32 "-%" PRIu64,
		    stream, number);
		check(text.n == strlen(id) && memcmp(text.p, id, text.n) == 0,
		    "one spelling for each");
	}
	events_done(&events);
}

static void
on_session_id(struct span text)
{
	static const uint8_t key[HMAC_KEY_SIZE] = "a key";
	const struct session_id id = { .revision = "2025-11-25",
		.issued_s = 1800000000 };
	struct principal *who = principal_new("token", "ann");
	char valid[SESSION_ID_SIZE];
	struct session_id found;
	bool changed = false;

	if (!who || session_id_sign(&id, who, key, valid) < 0) {
		principal_release(who);
		return;
	}
	check(
	    !session_id_verify(text, who, key, &found) ||
		(text.n == strlen(valid) && memcmp(text.p, valid, text.n) == 0),
	    "only what was signed");
	for (size_t i = 0; i < text.n && valid[i]; i++) {
		valid[i] = (char)(valid[i] ^ text.p[i]);
		changed = changed || text.p[i] != 0;
	}
	check(session_id_verify(
		  (struct span){ (const uint8_t *)valid, SESSION_ID_SIZE - 2 },
		  who, key, &found) == !changed,
	    "every bit counts");
	principal_release(who);
}

/* Whether the header says the value, by writing the value in its way. */
static bool
says(struct span header, struct span value)
{
	static const char begin[] = "=?base64?", end[] = "?=";
	const size_t before = sizeof(begin) - 1, behind = sizeof(end) - 1;
	own_buf struct buf text;

	buf_init(&text, 2 * TEXT_MAX);
	if (header.n < before + behind ||
	    strncasecmp((const char *)header.p, begin, before) != 0 ||
	    memcmp(header.p + header.n - behind, end, behind) != 0)
		return header.n == value.n &&
		       (value.n == 0 ||
			   memcmp(header.p, value.p, value.n) == 0);
	header.p += before;
	header.n -= before + behind;
	check(base64_write(BASE64_PADDED, value, &text) == 0, "there is room");
	return header.n == text.n &&
	       (text.n == 0 || memcmp(header.p, text.p, text.n) == 0);
}

static void
on_parameter(struct span text)
{
	const uint8_t *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
	const size_t n = end ? (size_t)(end - text.p) : text.n;
	const size_t line = end ? n + 1 : n;
	const struct span value = { text.p + line, text.n - line };
	const struct param_span param = { span_of("mcp-param-A"),
		{ text.p, n } };
	const struct peer_headers headers = { .params = &param, .params_n = 1 };
	json_t *schema =
	    json_pack("{s:{s:{s:s}}}", "properties", "a", "x-mcp-header", "a");
	json_t *string = json_stringn((const char *)value.p, value.n);
	json_t *arguments = string ? json_pack("{s:o}", "a", string) : NULL;
	struct param_header_fault fault;

	/* Bytes that are no text are no argument, and need no header. */
	check(param_headers_agree(&headers, schema, arguments, &fault) ==
		  (arguments && says(param.value, value)),
	    "a header says what the argument says");
	json_decref(arguments);
	json_decref(schema);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const judges[])(struct span text) = { on_guard, on_accept,
		on_event_id, on_session_id, on_parameter };
	struct input input = { data, size < TEXT_MAX ? size : TEXT_MAX };
	unsigned which = take(&input) % (sizeof(judges) / sizeof(judges[0]));

	judges[which]((struct span){ input.p, input.n });
	return 0;
}
