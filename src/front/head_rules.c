/* head_rules.c: which heads are taken. llhttp has seen to their form; what it
 * leaves open, and two readers could understand in two ways, is refused here.
 * Hostile input: a client's bytes. Pure. Fuzzed by fuzz_http.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/head_impl.h"

#include <string.h>
#include <strings.h>

#define PARAM_PREFIX "mcp-param-"

static const char *const header_names[KNOWN_HEADERS] = {
	[HEADER_HOST] = "host",
	[HEADER_ORIGIN] = "origin",
	[HEADER_AUTHORIZATION] = "authorization",
	[HEADER_CONTENT_TYPE] = "content-type",
	[HEADER_ACCEPT] = "accept",
	[HEADER_EXPECT] = "expect",
	[HEADER_MCP_VERSION] = "mcp-protocol-version",
	[HEADER_MCP_METHOD] = "mcp-method",
	[HEADER_MCP_NAME] = "mcp-name",
	[HEADER_MCP_SESSION] = "mcp-session-id",
	[HEADER_LAST_EVENT_ID] = "last-event-id",
	[HEADER_TRANSFER_ENCODING] = "transfer-encoding",
	[HEADER_CONTENT_LENGTH] = "content-length",
};

int
header_of(struct span name)
{
	const size_t prefix = strlen(PARAM_PREFIX);

	for (int i = 0; i < KNOWN_HEADERS; i++)
		if (span_is_word(name, header_names[i]))
			return i;
	if (name.n > prefix &&
	    strncasecmp((const char *)name.p, PARAM_PREFIX, prefix) == 0)
		return HEADER_PARAM;
	return HEADER_OTHER;
}

static struct span
piece_span(const struct head_state *state, struct piece piece)
{
	return (struct span){ state->text.p + piece.at, piece.n };
}

/* Our own names and addresses need no other characters. */
static bool
is_host(struct span host)
{
	for (size_t i = 0; i < host.n; i++) {
		uint8_t c = host.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && (c == 0 || !strchr(".-_:[]", c)))
			return false;
	}
	return host.n > 0;
}

/* Path and query, as they came. A fragment never leaves a client, and what is
 * no ASCII was to be encoded. */
static int
judge_target(struct http_parser *parser)
{
	struct head_state *state = parser->state;
	struct http_head *head = &state->head;
	struct span target = piece_span(state, state->target);
	const uint8_t *mark;

	if (parser->llhttp.method == HTTP_CONNECT)
		return parser_refuse(parser, 405, "this is no proxy");
	if (target.n == 0 || target.p[0] != '/')
		return parser_refuse(
		    parser, 400, "the target does not begin with a slash");
	for (size_t i = 0; i < target.n; i++)
		if (target.p[i] <= ' ' || target.p[i] > '~' ||
		    target.p[i] == '#')
			return parser_refuse(parser, 400,
			    "the target holds a character that it may not");
	head->path = target;
	mark = memchr(target.p, '?', target.n);
	if (mark) {
		head->path.n = (size_t)(mark - target.p);
		head->query =
		    (struct span){ mark + 1, target.n - head->path.n - 1 };
	}
	return 0;
}

static void
fill_headers(struct head_state *state)
{
	struct http_head *head = &state->head;

	for (int i = 0; i < HEADERS; i++)
		if (state->seen[i])
			head->headers[i] = piece_span(state, state->values[i]);
	if (state->seen[HEADER_ACCEPT])
		head->headers[HEADER_ACCEPT] = buf_span(&state->accept);
	/* An empty value is not an absent one. */
	if (state->seen[HEADER_ACCEPT] && !state->accept.p)
		head->headers[HEADER_ACCEPT].p = state->text.p;
	for (unsigned i = 0; i < head->params_n; i++) {
		head->params[i].name = piece_span(state, state->param_names[i]);
		head->params[i].value =
		    piece_span(state, state->param_values[i]);
	}
}

/* A parameter that is there twice would be one of the two. */
static int
judge_params(struct http_parser *parser)
{
	const struct http_head *head = &parser->state->head;

	for (unsigned i = 0; i < head->params_n; i++)
		for (unsigned j = 0; j < i; j++)
			if (span_same(
				head->params[i].name, head->params[j].name))
				return parser_refuse(
				    parser, 400, "a header is there twice");
	return 0;
}

/* How the body ends must be said in one way only. */
static int
judge_framing(struct http_parser *parser)
{
	struct head_state *state = parser->state;
	struct http_head *head = &state->head;
	struct span coding =
	    piece_span(state, state->values[HEADER_TRANSFER_ENCODING]);

	head->chunked = state->seen[HEADER_TRANSFER_ENCODING];
	head->has_length = state->seen[HEADER_CONTENT_LENGTH];
	if (head->chunked && head->has_length)
		return parser_refuse(
		    parser, 400, "the length of the body is given in two ways");
	if (head->chunked && !span_is_word(coding, "chunked"))
		return parser_refuse(
		    parser, 501, "no transfer coding is known but \"chunked\"");
	if (head->has_length)
		head->length = parser->llhttp.content_length;
	return 0;
}

static enum http_method
method_of(const llhttp_t *llhttp)
{
	switch (llhttp->method) {
	case LLHTTP_GET:
		return HTTP_GET;
	case LLHTTP_HEAD:
		return HTTP_HEAD;
	case LLHTTP_POST:
		return HTTP_POST;
	case LLHTTP_DELETE:
		return HTTP_DELETE;
	case LLHTTP_OPTIONS:
		return HTTP_OPTIONS;
	default:
		return HTTP_OTHER;
	}
}

static int
judge_expectation(struct http_parser *parser)
{
	struct http_head *head = &parser->state->head;
	struct span expected = head->headers[HEADER_EXPECT];

	if (!expected.p)
		return 0;
	head->expects_continue = span_is_word(expected, "100-continue");
	return head->expects_continue ? 0
				      : parser_refuse(parser, 417,
					    "nothing but 100-continue is met");
}

int
head_judge(struct http_parser *parser)
{
	struct head_state *state = parser->state;
	struct http_head *head = &state->head;
	int r;

	if (state->protocol_n == 0)
		return parser_refuse(
		    parser, 505, "the request names no version");
	if (state->protocol_n != 4 || memcmp(state->protocol, "HTTP", 4) != 0)
		return parser_refuse(parser, 400, "this is not HTTP");
	if (parser->llhttp.http_major != 1 || parser->llhttp.http_minor != 1)
		return parser_refuse(
		    parser, 505, "no version is spoken but HTTP/1.1");
	head->method = method_of(&parser->llhttp);
	head->closes = (parser->llhttp.flags & F_CONNECTION_CLOSE) != 0;
	fill_headers(state);
	r = judge_target(parser);
	if (r == 0 && !is_host(head->headers[HEADER_HOST]))
		r = parser_refuse(
		    parser, 400, "a Host is missing, or is not a name");
	if (r == 0)
		r = judge_params(parser);
	if (r == 0)
		r = judge_framing(parser);
	return r == 0 ? judge_expectation(parser) : r;
}
