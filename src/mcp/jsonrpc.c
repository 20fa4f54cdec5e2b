/* jsonrpc.c: strict parsing, classification and envelopes.
 * Hostile input: a client's bytes. Pure; fuzzed by fuzz_jsonrpc.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/jsonrpc.h"

#include "call/text.h"
#include "conf/limits.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- a first look at the text, before anything is allocated ---- */

/* What a single pass over the brackets and strings of a text finds, whether
 * the text is JSON or not. In broken text the id is that of the first object,
 * if exactly one key of its top level says "id". */
struct scan {
	unsigned depth, deepest;
	size_t values;
	struct span string; /* the last string seen, with its quotes */
	struct span id;     /* the text of the id's value; n is 0 without one */
	const uint8_t *id_from; /* while inside the id's value */
	unsigned ids;           /* keys that are, or may be, "id" */
	bool object, closed;    /* the text began with '{'; that one ended */
};

static bool
is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The end of the string whose opening quote is at p: behind its closing
 * quote, or the end of the text. */
static const uint8_t *
string_end(const uint8_t *p, const uint8_t *end)
{
	for (p++; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\')
			p++;
	}
	return end;
}

static void
scan_key(struct scan *scan, const uint8_t *colon)
{
	struct span key = scan->string;

	if (!scan->object || scan->closed || scan->depth != 1 || key.n == 0)
		return;
	/* A key with an escape may spell "id" as well: that is a doubt. */
	if (memchr(key.p, '\\', key.n))
		scan->ids += 2;
	if (!span_is(key, "\"id\""))
		return;
	scan->ids++;
	scan->id_from = colon + 1;
}

/* A value of the top level ends before p. */
static void
scan_value_end(struct scan *scan, const uint8_t *p)
{
	if (scan->depth != 1 || !scan->id_from)
		return;
	scan->id = (struct span){ scan->id_from, (size_t)(p - scan->id_from) };
	scan->id_from = NULL;
}

static void
scan_byte(struct scan *scan, const uint8_t *p)
{
	switch (*p) {
	case '{':
	case '[':
		if (scan->depth == 0 && scan->values == 0)
			scan->object = *p == '{';
		scan->values++;
		if (++scan->depth > scan->deepest)
			scan->deepest = scan->depth;
		break;
	case '}':
	case ']':
		scan_value_end(scan, p);
		if (scan->depth > 0 && --scan->depth == 0)
			scan->closed = true;
		break;
	case ',':
		scan->values++;
		scan_value_end(scan, p);
		break;
	case ':':
		scan_key(scan, p);
		break;
	default:
		break;
	}
}

static struct scan
scan_text(struct span text)
{
	const uint8_t *p = text.p, *end = text.p + text.n;
	struct scan scan = { 0 };

	while (p < end && scan.deepest <= JSON_DEPTH_MAX) {
		if (*p == '"') {
			const uint8_t *from = p;

			p = string_end(p, end);
			scan.string = (struct span){ from, (size_t)(p - from) };
			continue;
		}
		scan_byte(&scan, p);
		if (*p != ':' && !is_space(*p))
			scan.string.n = 0;
		p++;
	}
	return scan;
}

/* The id that the scan saw, or NULL if there is any doubt about it. */
static json_t *
scan_id(const struct scan *scan)
{
	json_t *id;

	if (scan->ids != 1 || scan->id.n == 0 || scan->id.n > ID_BYTES_MAX * 6)
		return NULL;
	id = json_loadb((const char *)scan->id.p, scan->id.n,
	    JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (!json_is_id(id)) {
		json_decref(id);
		return NULL;
	}
	return id;
}

/* jansson reads the integer -0 as 0: an id that would not come back as it
 * was sent. */
static bool
scan_id_is_minus_zero(const struct scan *scan)
{
	struct span id = scan->id;

	while (id.n > 0 && is_space(id.p[0])) {
		id.p++;
		id.n--;
	}
	return id.n >= 2 && memcmp(id.p, "-0", 2) == 0;
}

/* ---- parsing ---- */

static void
broken(struct message *ret_broken, const struct scan *scan,
    enum message_code code, const char *why)
{
	*ret_broken = (struct message){
		.kind = MESSAGE_INVALID,
		.id = scan_id(scan),
		.code = code,
		.why = why,
	};
}

static void
broken_by(struct message *ret_broken, const struct scan *scan,
    const json_error_t *error)
{
	enum message_code code = CODE_PARSE_ERROR;
	const char *why = "the message is not valid JSON";
	int cause = (int)json_error_code(error);

	if (cause == json_error_invalid_utf8)
		why = "the message is not valid UTF-8";
	else if (cause == json_error_numeric_overflow)
		why = "a number in the message is out of range";
	else if (cause == json_error_premature_end_of_input)
		why = "the message ends too early";
	else if (cause == json_error_end_of_input_expected)
		why = "something follows the JSON value";
	else if (cause == json_error_duplicate_key) {
		code = CODE_INVALID_REQUEST;
		why = "an object has the same key twice";
	} else if (cause == json_error_null_byte_in_key) {
		/* JSON allows it, and jansson's objects do not. */
		code = CODE_INVALID_REQUEST;
		why = "an object has a key with a NUL in it";
	}
	broken(ret_broken, scan, code, why);
}

json_t *
jsonrpc_load(struct span text, struct message *ret_broken)
{
	struct scan scan = scan_text(text);
	json_error_t error;
	json_t *value;

	if (scan.deepest > JSON_DEPTH_MAX) {
		/* The scan stopped early: what it saw of an id is a guess. */
		scan.ids = 0;
		broken(ret_broken, &scan, CODE_INVALID_REQUEST,
		    "the message is nested too deep");
		return NULL;
	}
	if (scan.values > JSON_VALUES_MAX) {
		broken(ret_broken, &scan, CODE_INVALID_REQUEST,
		    "the message has too many values");
		return NULL;
	}
	/* jansson overlooks the byte behind a number or a word. */
	if (text.n > 0 && memchr(text.p, '\0', text.n)) {
		broken(ret_broken, &scan, CODE_PARSE_ERROR,
		    "the message has a NUL in it");
		return NULL;
	}
	value = json_loadb((const char *)text.p, text.n,
	    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!value) {
		broken_by(ret_broken, &scan, &error);
	} else if (scan.ids == 1 && scan_id_is_minus_zero(&scan)) {
		json_decref(value);
		*ret_broken = (struct message){
			.code = CODE_INVALID_REQUEST,
			.why = "the id is -0",
		};
		return NULL;
	}
	return value;
}

/* ---- classification ---- */

static void
invalid(struct message *message, const char *why)
{
	message->kind = MESSAGE_INVALID;
	message->code = CODE_INVALID_REQUEST;
	message->why = why;
}

static bool
is_response(const json_t *value)
{
	return !json_object_get(value, "method") &&
	       (json_object_get(value, "result") ||
		   json_object_get(value, "error"));
}

static void
classify_request(const json_t *value, struct message *message)
{
	json_t *id = json_object_get(value, "id");
	json_t *params = json_object_get(value, "params");

	message->method = json_object_get(value, "method");
	message->kind = id ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION;
	if (json_is_object(params))
		message->params = params;
	if (id && !message->id)
		invalid(message, "the id is not a string or an integer, or "
				 "it is too long");
	else if (!json_is_text(json_object_get(value, "jsonrpc"), "2.0"))
		invalid(message, "jsonrpc is not \"2.0\"");
	else if (!json_is_string(message->method))
		invalid(message, "method is not a string");
	else if (id && params && !json_is_null(params) && !message->params)
		invalid(message, "params is not an object");
}

void
jsonrpc_classify(const json_t *value, struct message *ret_message)
{
	json_t *id = json_object_get(value, "id");

	*ret_message = (struct message){ .kind = MESSAGE_RESPONSE };
	if (json_is_id(id))
		ret_message->id = json_incref(id);
	if (!json_is_object(value))
		invalid(ret_message, "the message is not an object");
	else if (!is_response(value))
		classify_request(value, ret_message);
}

void
message_done(struct message *message)
{
	json_decref(message->id);
	message->id = NULL;
}

/* ---- envelopes ---- */

json_t *
jsonrpc_result(json_t *id, json_t *result)
{
	return json_pack(
	    "{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *
jsonrpc_error(json_t *id, bool null_id, enum message_code code,
    const char *text, json_t *data)
{
	json_t *error, *message;

	error = json_pack("{s:i, s:s, s:o*}", "code", (int)code, "message",
	    text, "data", data);
	message = json_pack("{s:s, s:o}", "jsonrpc", "2.0", "error", error);
	if (id)
		(void)json_object_set(message, "id", id);
	else if (null_id)
		(void)json_object_set_new(message, "id", json_null());
	return message;
}

json_t *
jsonrpc_notification(const char *method, json_t *params)
{
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method,
	    "params", params);
}

static int
dump_part(const char *bytes, size_t n, void *buf)
{
	return buf_add(buf, bytes, n) < 0 ? -1 : 0;
}

int
jsonrpc_dump(const json_t *value, struct buf *buf)
{
	size_t before = buf->n;

	/* 12 digits: enough for milliseconds, and 0.1 stays 0.1. */
	if (json_dump_callback(value, dump_part, buf,
		JSON_COMPACT | JSON_REAL_PRECISION(12)) == 0)
		return 0;
	buf->n = before;
	return -1;
}

size_t
jsonrpc_text_cost(struct span text)
{
	size_t cost = text.n;

	for (size_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];

		if (c == '"' || c == '\\')
			cost += 1;
		else if (c < ' ')
			cost += c >= '\b' && c <= '\r' && c != '\v' ? 1 : 5;
	}
	return cost;
}

/* ---- values ---- */

bool
json_is_id(const json_t *value)
{
	return json_is_integer(value) ||
	       (json_is_string(value) &&
		   json_string_length(value) <= ID_BYTES_MAX);
}

bool
json_is_text(const json_t *value, const char *text)
{
	struct span string = { (const uint8_t *)json_string_value(value),
		json_string_length(value) };

	return json_is_string(value) && span_is(string, text);
}

const char *
json_shown(const json_t *value, char *name)
{
	const uint8_t *p = (const uint8_t *)json_string_value(value);
	struct span rest = { p, json_string_length(value) };
	size_t n = 0, step;
	bool valid;

	while ((step = text_char(rest, &valid)) > 0 &&
	       n + step <= NAME_SHOWN_MAX) {
		n += step;
		rest.p += step;
		rest.n -= step;
	}
	if (n > 0)
		memcpy(name, p, n);
	for (size_t i = 0; i < n; i++)
		if (name[i] == '\0')
			name[i] = '?';
	(void)snprintf(
	    name + n, NAME_SHOWN_SIZE - n, "%s", rest.n > 0 ? "..." : "");
	return name;
}
