/* head_impl.h: what a parser of requests is made of. head.c and head_rules.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_HEAD_IMPL_H
#define FRONT_HEAD_IMPL_H

#include "front/head.h"

#include "front/llhttp_strict.h"

/* Headers that the parser itself acts on, numbered behind those of head.h. */
enum {
	HEADER_TRANSFER_ENCODING = HEADERS,
	HEADER_CONTENT_LENGTH,
	HEADER_PARAM, /* Mcp-Param-NAME */
	HEADER_OTHER, /* bounded, dropped */
	KNOWN_HEADERS = HEADER_PARAM
};

/* A piece of the text; offsets, because the text moves while it grows. */
struct piece {
	size_t at, n;
};

/* One request's head. Freed when the request is answered: an idle connection
 * holds none. */
struct head_state {
	struct http_head head;
	struct buf text;   /* the target, then values and names that are kept */
	struct buf accept; /* several lines of it, joined */
	struct piece target;
	struct piece values[KNOWN_HEADERS];
	struct piece param_names[PARAM_HEADERS_MAX];
	struct piece param_values[PARAM_HEADERS_MAX];
	bool seen[KNOWN_HEADERS];
	int header;      /* the one that arrives now */
	size_t name_at;  /* in the text */
	size_t value_at; /* in the text, or in accept */
	size_t counted;  /* bytes of names and values */
	unsigned headers_n;
	char protocol[5]; /* "HTTP", as it came */
	unsigned protocol_n;
};

enum parser_state {
	PARSER_HEAD,
	PARSER_BODY,
	PARSER_WHOLE, /* waits for http_parser_next */
	PARSER_BROKEN,
};

struct http_parser {
	llhttp_t llhttp;
	struct head_state *state; /* NULL before a request, and released */
	struct buf body;
	size_t body_max; /* of every request */
	size_t raw;      /* bytes of the head, or of the body, so far */
	enum parser_state phase;
	uint16_t status;
	const char *why;
};

/* Refuses the request: for "return parser_refuse(...)" in a callback. */
int parser_refuse(struct http_parser *parser, unsigned status, const char *why);

/* Which header a name is, without regard to case. */
int header_of(struct span name);

/* The rules for a whole head; fills state->head. 0, or as parser_refuse. */
int head_judge(struct http_parser *parser);

#endif
