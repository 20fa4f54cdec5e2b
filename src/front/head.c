/* head.c: requests as their bytes arrive. llhttp's callbacks, whose pieces can
 * be as short as a byte, are collected and bounded here.
 * Hostile input: a client's bytes. Pure. Fuzzed by fuzz_http.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/head.h"

#include "base/own.h"
#include "front/head_impl.h"

#include <string.h>

int
parser_refuse(struct http_parser *parser, unsigned status, const char *why)
{
	/* The first reason is the one: llhttp makes another of it. */
	if (parser->status == 0) {
		parser->status = (uint16_t)status;
		parser->why = why;
	}
	return -1;
}

static int
no_memory(struct http_parser *parser)
{
	return parser_refuse(parser, 503, "no memory");
}

/* ---- the head ---- */

static int
on_begin(llhttp_t *llhttp)
{
	struct http_parser *parser = llhttp->data;
	struct head_state *state = calloc(1, sizeof(*state));

	if (!state)
		return no_memory(parser);
	buf_init(&state->text, HTTP_TARGET_MAX + HTTP_HEAD_MAX);
	buf_init(
	    &state->accept, HTTP_HEAD_MAX + HTTP_HEADERS_MAX * strlen(", "));
	free(parser->state);
	parser->state = state;
	return 0;
}

static int
on_target(llhttp_t *llhttp, const char *p, size_t n)
{
	struct http_parser *parser = llhttp->data;
	struct head_state *state = parser->state;

	if (n > HTTP_TARGET_MAX - state->target.n)
		return parser_refuse(parser, 414, "the target is too long");
	state->target.n += n;
	return buf_add(&state->text, p, n) < 0 ? no_memory(parser) : 0;
}

static int
on_protocol(llhttp_t *llhttp, const char *p, size_t n)
{
	struct http_parser *parser = llhttp->data;
	struct head_state *state = parser->state;

	for (size_t i = 0; i < n && state->protocol_n < 5; i++)
		state->protocol[state->protocol_n++] = p[i];
	return 0;
}

/* Names and values count, whether they are kept or not. */
static int
count_bytes(struct http_parser *parser, size_t n)
{
	struct head_state *state = parser->state;

	if (n > HTTP_HEAD_MAX - state->counted)
		return parser_refuse(parser, 431, "the headers are too long");
	state->counted += n;
	return 0;
}

static int
on_name(llhttp_t *llhttp, const char *p, size_t n)
{
	struct http_parser *parser = llhttp->data;

	/* They could contradict the head, on which all is decided already. */
	if (parser->phase == PARSER_BODY)
		return parser_refuse(parser, 400, "trailers are not taken");
	if (count_bytes(parser, n) < 0)
		return -1;
	return buf_add(&parser->state->text, p, n) < 0 ? no_memory(parser) : 0;
}

/* A name of its own length was collected: what is longer than all that are
 * known is none of them. */
static int
on_name_end(llhttp_t *llhttp)
{
	struct http_parser *parser = llhttp->data;
	struct head_state *state = parser->state;
	struct http_head *head = &state->head;
	struct buf *text = &state->text;
	struct piece name = { state->name_at, text->n - state->name_at };

	if (++state->headers_n > HTTP_HEADERS_MAX)
		return parser_refuse(parser, 431, "there are too many headers");
	state->header = header_of((struct span){ text->p + name.at, name.n });
	if (state->header == HEADER_PARAM) {
		if (head->params_n == PARAM_HEADERS_MAX)
			return parser_refuse(parser, 431,
			    "there are too many parameters in headers");
		state->param_names[head->params_n] = name;
	} else {
		text->n = name.at;
	}
	if (state->header < KNOWN_HEADERS && state->header != HEADER_ACCEPT &&
	    state->seen[state->header])
		return parser_refuse(parser, 400, "a header is there twice");
	state->value_at =
	    state->header == HEADER_ACCEPT ? state->accept.n : text->n;
	return 0;
}

static int
on_value(llhttp_t *llhttp, const char *p, size_t n)
{
	struct http_parser *parser = llhttp->data;
	struct head_state *state = parser->state;
	struct buf *into = &state->text;

	if (count_bytes(parser, n) < 0)
		return -1;
	if (state->header == HEADER_OTHER || n == 0)
		return 0;
	if (state->header == HEADER_ACCEPT) {
		into = &state->accept;
		if (state->seen[HEADER_ACCEPT] && state->value_at == into->n &&
		    buf_add_text(into, ", ") < 0)
			return no_memory(parser);
	}
	return buf_add(into, p, n) < 0 ? no_memory(parser) : 0;
}

/* Blanks behind a value are not part of it. */
static void
trim(struct buf *text, size_t from)
{
	while (text->n > from &&
	       (text->p[text->n - 1] == ' ' || text->p[text->n - 1] == '\t'))
		text->n--;
}

static int
on_value_end(llhttp_t *llhttp)
{
	struct http_parser *parser = llhttp->data;
	struct head_state *state = parser->state;
	struct http_head *head = &state->head;
	struct piece value;

	if (state->header == HEADER_ACCEPT) {
		trim(&state->accept, state->value_at);
		state->seen[HEADER_ACCEPT] = true;
	} else if (state->header != HEADER_OTHER) {
		trim(&state->text, state->value_at);
		value = (struct piece){ state->value_at,
			state->text.n - state->value_at };
		if (state->header == HEADER_PARAM) {
			state->param_values[head->params_n++] = value;
		} else {
			state->values[state->header] = value;
			state->seen[state->header] = true;
		}
	}
	state->name_at = state->text.n;
	return 0;
}

static int
on_head_end(llhttp_t *llhttp)
{
	struct http_parser *parser = llhttp->data;

	/* Or llhttp would take what follows for another protocol. */
	llhttp->upgrade = 0;
	if (head_judge(parser) < 0)
		return -1;
	parser->phase = PARSER_BODY;
	return HPE_PAUSED;
}

static int
on_target_end(llhttp_t *llhttp)
{
	struct http_parser *parser = llhttp->data;

	parser->state->name_at = parser->state->text.n;
	return 0;
}

/* ---- the body ---- */

static int
too_large(struct http_parser *parser)
{
	return parser_refuse(parser, 413, "the body is too large");
}

static int
on_chunk(llhttp_t *llhttp)
{
	struct http_parser *parser = llhttp->data;

	return llhttp->content_length > parser->body.max - parser->body.n
		   ? too_large(parser)
		   : 0;
}

/* Nobody needs them, and two readers may see their end in two places. */
static int
on_extension(llhttp_t *llhttp)
{
	return parser_refuse(
	    llhttp->data, 400, "chunk extensions are not taken");
}

static int
on_extension_bytes(llhttp_t *llhttp, const char *p, size_t n)
{
	(void)p;
	(void)n;
	return on_extension(llhttp);
}

static int
on_body(llhttp_t *llhttp, const char *p, size_t n)
{
	struct http_parser *parser = llhttp->data;

	if (n > parser->body.max - parser->body.n)
		return too_large(parser);
	return buf_add(&parser->body, p, n) < 0 ? no_memory(parser) : 0;
}

static int
on_whole(llhttp_t *llhttp)
{
	struct http_parser *parser = llhttp->data;

	parser->phase = PARSER_WHOLE;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_message_begin = on_begin,
	.on_url = on_target,
	.on_url_complete = on_target_end,
	.on_protocol = on_protocol,
	.on_header_field = on_name,
	.on_header_field_complete = on_name_end,
	.on_header_value = on_value,
	.on_header_value_complete = on_value_end,
	.on_headers_complete = on_head_end,
	.on_chunk_header = on_chunk,
	.on_chunk_extension_name = on_extension_bytes,
	.on_chunk_extension_name_complete = on_extension,
	.on_chunk_extension_value = on_extension_bytes,
	.on_chunk_extension_value_complete = on_extension,
	.on_body = on_body,
	.on_message_complete = on_whole,
};

/* ---- the parser ---- */

struct http_parser *
http_parser_new(size_t body_max)
{
	struct http_parser *parser = calloc(1, sizeof(*parser));

	if (!parser)
		return NULL;
	llhttp_init(&parser->llhttp, HTTP_REQUEST, &settings);
	parser->llhttp.data = parser;
	parser->body_max = body_max;
	buf_init(&parser->body, body_max);
	return parser;
}

void
http_parser_free(struct http_parser *parser)
{
	if (!parser)
		return;
	http_parser_release(parser);
	free(parser);
}

/* Raw bytes that may still come in this phase: what is neither name nor value
 * nor data costs no memory, but must end. */
static size_t
raw_left(const struct http_parser *parser)
{
	size_t max = HTTP_HEAD_RAW_MAX;

	if (parser->phase == PARSER_BODY)
		max = HTTP_RAW_FACTOR * parser->body.max + HTTP_LINES_SLACK;
	return max - parser->raw;
}

static enum http_event
broken(struct http_parser *parser)
{
	(void)parser_refuse(parser, 400, "the request is malformed");
	parser->phase = PARSER_BROKEN;
	return HTTP_BROKEN;
}

static enum http_event
too_much(struct http_parser *parser)
{
	if (parser->phase == PARSER_BODY)
		(void)too_large(parser);
	else
		(void)parser_refuse(parser, 431, "the head is too long");
	return broken(parser);
}

enum http_event
http_parser_feed(
    struct http_parser *parser, struct span bytes, size_t *ret_used)
{
	const char *p = bytes.n > 0 ? (const char *)bytes.p : "";
	size_t left = raw_left(parser);
	size_t n = bytes.n < left ? bytes.n : left;
	enum parser_state phase = parser->phase;
	llhttp_errno_t code;

	*ret_used = 0;
	if (phase == PARSER_WHOLE)
		return HTTP_BODY_IN;
	if (phase == PARSER_BROKEN)
		return HTTP_BROKEN;
	/* Not before the app had its say: who asks, and for what, comes
	 * first. */
	if (phase == PARSER_BODY &&
	    http_parser_head(parser)->length > parser->body.max) {
		(void)too_large(parser);
		return broken(parser);
	}
	code = llhttp_execute(&parser->llhttp, p, n);
	if (code == HPE_PAUSED) {
		*ret_used = (size_t)(llhttp_get_error_pos(&parser->llhttp) - p);
		llhttp_resume(&parser->llhttp);
		parser->raw = 0;
		return phase == PARSER_HEAD ? HTTP_HEAD_IN : HTTP_BODY_IN;
	}
	*ret_used = n;
	parser->raw += n;
	if (code != HPE_OK)
		return broken(parser);
	return n < bytes.n ? too_much(parser) : HTTP_MORE;
}

const struct http_head *
http_parser_head(const struct http_parser *parser)
{
	static const struct http_head none;

	return parser->state ? &parser->state->head : &none;
}

bool
http_parser_limit_body(struct http_parser *parser, size_t body_max)
{
	if (body_max < parser->body.max)
		parser->body.max = body_max;
	return http_parser_head(parser)->length <= parser->body.max;
}

struct buf *
http_parser_body(struct http_parser *parser)
{
	return &parser->body;
}

void
http_parser_release(struct http_parser *parser)
{
	struct head_state *state = give_ptr(&parser->state);

	buf_done(&parser->body);
	if (!state)
		return;
	buf_done(&state->text);
	buf_done(&state->accept);
	free(state);
}

void
http_parser_next(struct http_parser *parser)
{
	http_parser_release(parser);
	buf_init(&parser->body, parser->body_max);
	llhttp_reset(&parser->llhttp);
	parser->raw = 0;
	parser->phase = PARSER_HEAD;
}

unsigned
http_parser_status(const struct http_parser *parser)
{
	return parser->status;
}

const char *
http_parser_why(const struct http_parser *parser)
{
	return parser->why;
}

bool
http_parser_begun(const struct http_parser *parser)
{
	return parser->raw > 0 || parser->phase != PARSER_HEAD;
}
