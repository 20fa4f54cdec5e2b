/* head.h: one HTTP/1.1 request as its bytes arrive: llhttp, and the caps and
 * rules that it lacks. Knows no socket, no loop and no clock.
 * Hostile input: a client's bytes. Pure; fuzzed by fuzz_http.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_HEAD_H
#define FRONT_HEAD_H

#include "base/buf.h"
#include "conf/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_DELETE,
	HTTP_OPTIONS,
	HTTP_OTHER,
};

/* The headers that somebody acts on: each at most once in a request, or the
 * request is refused. All others are bounded and dropped. */
enum header {
	HEADER_HOST,
	HEADER_ORIGIN,
	HEADER_AUTHORIZATION,
	HEADER_CONTENT_TYPE,
	HEADER_ACCEPT, /* several lines of it are joined by commas */
	HEADER_EXPECT,
	HEADER_MCP_VERSION, /* MCP-Protocol-Version */
	HEADER_MCP_METHOD,
	HEADER_MCP_NAME,
	HEADER_MCP_SESSION, /* Mcp-Session-Id */
	HEADER_LAST_EVENT_ID,
	HEADERS /* the number of values, not a header */
};

/* A header "Mcp-Param-NAME". */
struct param_header {
	struct span name; /* as it came: compare without case */
	struct span value;
};

/* Borrowed from the parser until its next request. Spans are not ended by a
 * NUL and hold no CR, LF or NUL; absent headers have p == NULL. */
struct http_head {
	enum http_method method;
	struct span path;  /* undecoded, up to the "?" */
	struct span query; /* after it; p == NULL without */
	struct span headers[HEADERS];
	struct param_header params[PARAM_HEADERS_MAX];
	unsigned params_n;
	bool expects_continue;
	bool closes; /* the client asks for the end of the connection */
	bool chunked;
	bool has_length;
	uint64_t length; /* of the body, if it was announced */
};

struct http_parser; /* opaque: one connection's */

enum http_event {
	HTTP_MORE,    /* all bytes are used up: feed the next */
	HTTP_HEAD_IN, /* a head is complete: judge it, then feed what is left,
	               * be it nothing */
	HTTP_BODY_IN, /* the message is whole: answer it, then http_parser_next */
	HTTP_BROKEN, /* refuse with http_parser_status and close */
};

/* Bodies of more than body_max bytes are refused with 413. NULL without
 * memory. */
struct http_parser *http_parser_new(size_t body_max);
void http_parser_free(struct http_parser *parser);

/* Feeds bytes of the connection; *ret_used says how many were used. */
enum http_event http_parser_feed(
    struct http_parser *parser, struct span bytes, size_t *ret_used);

/* The head, from HTTP_HEAD_IN until http_parser_next. */
const struct http_head *http_parser_head(const struct http_parser *parser);

/* A smaller maximum for this body, after HTTP_HEAD_IN. False: what is
 * announced is larger; refuse with 413. */
bool http_parser_limit_body(struct http_parser *parser, size_t body_max);

/* The body; the caller may take the bytes out of it after HTTP_BODY_IN. */
struct buf *http_parser_body(struct http_parser *parser);

/* Frees what the head and the body hold before the answer is there: a stream
 * may live long. The head's spans end with it. */
void http_parser_release(struct http_parser *parser);

/* Ready for the next request of the connection. */
void http_parser_next(struct http_parser *parser);

/* After HTTP_BROKEN: 400, 405, 413, 414, 417, 431, 501 or 505, and one
 * sentence, a literal. */
unsigned http_parser_status(const struct http_parser *parser);
const char *http_parser_why(const struct http_parser *parser);

/* True once the first byte of a request has come: its deadline runs. */
bool http_parser_begun(const struct http_parser *parser);

#endif
