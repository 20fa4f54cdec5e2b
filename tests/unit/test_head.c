/* test_head.c: the parser of requests, however its bytes come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/head_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BODY_MAX ((size_t)1000)

static const char request[] = "POST /mcp?a=b HTTP/1.1\r\n"
			      "Host: localhost:80\r\n"
			      "X-Other: nothing\r\n"
			      "Accept: application/json\r\n"
			      "content-TYPE: \t application/json \t\r\n"
			      "Accept: text/event-stream\r\n"
			      "Mcp-Param-City: S\xc3\xa3o\r\n"
			      "MCP-Session-ID:\r\n"
			      "Transfer-Encoding: chunked\r\n"
			      "\r\n"
			      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";

static bool
is(struct span span, const char *text)
{
	return span.p && span.n == strlen(text) &&
	       memcmp(span.p, text, span.n) == 0;
}

static void
check_head(const struct http_head *head)
{
	assert_int_equal(head->method, HTTP_POST);
	assert_true(is(head->path, "/mcp"));
	assert_true(is(head->query, "a=b"));
	assert_true(is(head->headers[HEADER_HOST], "localhost:80"));
	assert_true(is(head->headers[HEADER_ACCEPT],
	    "application/json, text/event-stream"));
	assert_true(is(head->headers[HEADER_CONTENT_TYPE], "application/json"));
	assert_true(is(head->headers[HEADER_MCP_SESSION], ""));
	assert_null(head->headers[HEADER_AUTHORIZATION].p);
	assert_int_equal(head->params_n, 1);
	assert_true(is(head->params[0].name, "Mcp-Param-City"));
	assert_true(is(head->params[0].value, "S\xc3\xa3o"));
	assert_true(head->chunked);
	assert_false(head->has_length);
}

/* Feeds text in two pieces and then what they left; the events. */
static enum http_event
feed(struct http_parser *parser, struct span bytes)
{
	enum http_event event;
	size_t used;

	do {
		event = http_parser_feed(parser, bytes, &used);
		bytes.p += used;
		bytes.n -= used;
		if (event == HTTP_HEAD_IN)
			check_head(http_parser_head(parser));
	} while (event == HTTP_HEAD_IN);
	assert_int_equal(bytes.n, 0);
	return event;
}

static void
is_the_same_at_every_split(void **state)
{
	const uint8_t *p = (const uint8_t *)request;
	const size_t n = strlen(request);

	(void)state;
	for (size_t at = 1; at < n; at++) {
		struct http_parser *parser = http_parser_new(BODY_MAX);

		assert_int_equal(
		    feed(parser, (struct span){ p, at }), HTTP_MORE);
		assert_true(http_parser_begun(parser));
		assert_int_equal(feed(parser, (struct span){ p + at, n - at }),
		    HTTP_BODY_IN);
		assert_true(
		    is(buf_span(http_parser_body(parser)), "hello world"));
		http_parser_next(parser);
		assert_false(http_parser_begun(parser));
		http_parser_free(parser);
	}
}

static void
is_the_same_byte_by_byte_again_and_again(void **state)
{
	struct http_parser *parser = http_parser_new(BODY_MAX);
	const uint8_t *p = (const uint8_t *)request;
	const size_t n = strlen(request);

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < n; i++)
			assert_int_equal(
			    feed(parser, (struct span){ p + i, 1 }),
			    i + 1 < n ? HTTP_MORE : HTTP_BODY_IN);
		check_head(http_parser_head(parser));
		http_parser_next(parser);
	}
	http_parser_free(parser);
}

/* Nothing of a request is held beside it. */
static void
holds_nothing_when_released(void **state)
{
	struct http_parser *parser = http_parser_new(BODY_MAX);

	(void)state;
	assert_int_equal(feed(parser, span_of(request)), HTTP_BODY_IN);
	http_parser_release(parser);
	assert_null(parser->state);
	assert_null(http_parser_body(parser)->p);
	assert_null(http_parser_head(parser)->path.p);
	assert_true(sizeof(*parser) < 512);
	http_parser_free(parser);
}

static void
is_never_lenient(void **state)
{
	struct http_parser *parser = http_parser_new(BODY_MAX);

	(void)state;
	assert_int_equal(parser->llhttp.lenient_flags, 0);
	assert_int_equal(feed(parser, span_of(request)), HTTP_BODY_IN);
	http_parser_next(parser);
	assert_int_equal(parser->llhttp.lenient_flags, 0);
	http_parser_free(parser);
}

static unsigned
status_of(const char *text)
{
	struct http_parser *parser = http_parser_new(BODY_MAX);
	struct span bytes = span_of(text);
	unsigned status = 0;
	size_t used;
	enum http_event event;

	do {
		event = http_parser_feed(parser, bytes, &used);
		bytes.p += used;
		bytes.n -= used;
	} while (event == HTTP_HEAD_IN);
	if (event == HTTP_BROKEN) {
		status = http_parser_status(parser);
		assert_non_null(http_parser_why(parser));
		/* Once broken, it stays so and uses nothing. */
		assert_int_equal(
		    http_parser_feed(parser, span_of(request), &used),
		    HTTP_BROKEN);
		assert_int_equal(used, 0);
	}
	http_parser_free(parser);
	return status;
}

static void
refuses_with_the_right_status(void **state)
{
	static const struct {
		unsigned status;
		const char *text;
	} cases[] = {
		{ 0, "GET / HTTP/1.1\r\nHost: x\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\nHost: x\r\n\r\n" },
		{ 400, "GET * HTTP/1.1\r\nHost: x\r\n\r\n" },
		{ 405, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n" },
		{ 413, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: "
		       "1001\r\n\r\n" },
		{ 417, "GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n" },
		{ 501, "GET / HTTP/1.1\r\nHost: x\r\n"
		       "Transfer-Encoding: gzip, chunked\r\n\r\n" },
		{ 505, "GET / HTTP/1.0\r\nHost: x\r\n\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(status_of(cases[i].text), cases[i].status);
}

/* A name that is longer than one that is known, or shorter, is another. */
static void
knows_whole_names_only(void **state)
{
	(void)state;
	assert_int_equal(header_of(span_of("HOST")), HEADER_HOST);
	assert_int_equal(header_of(span_of("hos")), HEADER_OTHER);
	assert_int_equal(header_of(span_of("hosts")), HEADER_OTHER);
	assert_int_equal(header_of(span_of("")), HEADER_OTHER);
	assert_int_equal(header_of(span_of("mcp-param-")), HEADER_OTHER);
	assert_int_equal(header_of(span_of("MCP-Param-x")), HEADER_PARAM);
}

static void
takes_a_smaller_limit(void **state)
{
	static const char text[] =
	    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n";
	struct http_parser *parser = http_parser_new(BODY_MAX);
	size_t used;

	(void)state;
	assert_int_equal(
	    http_parser_feed(parser, span_of(text), &used), HTTP_HEAD_IN);
	assert_int_equal(http_parser_head(parser)->length, 11);
	assert_true(http_parser_limit_body(parser, 11));
	assert_false(http_parser_limit_body(parser, 10));
	assert_false(http_parser_limit_body(parser, 5000));
	http_parser_free(parser);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_same_at_every_split),
		cmocka_unit_test(is_the_same_byte_by_byte_again_and_again),
		cmocka_unit_test(holds_nothing_when_released),
		cmocka_unit_test(is_never_lenient),
		cmocka_unit_test(refuses_with_the_right_status),
		cmocka_unit_test(knows_whole_names_only),
		cmocka_unit_test(takes_a_smaller_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
