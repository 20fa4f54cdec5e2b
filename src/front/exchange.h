/* exchange.h: one request on a connection, and its answer. The connection
 * owns the exchange, parses the request and writes the answer; the app
 * (endpoint.c) says what it is. Neither blocks.
 *
 *   head ──▶ body ──▶ request ──▶ answer            (one HTTP message)
 *                             └─▶ begin, event*, end (a stream of events)
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_EXCHANGE_H
#define FRONT_EXCHANGE_H

#include "base/buf.h"
#include "front/head.h"

#include <stdbool.h>
#include <uv.h>

struct exchange;

/* What the connections serve. arg is app->arg. All from the loop, never from
 * within a function of this header. */
struct exchange_app {
	void *arg;
	/* The head is there. Answers with a refusal now (the body is then never
	 * read), or returns and may have limited the body. */
	void (*on_head)(void *arg, struct exchange *exchange);
	/* The whole request is there. */
	void (*on_request)(void *arg, struct exchange *exchange);
	/* The client is gone, or the connection was broken, before the answer
	 * was complete. The exchange is freed after this call; without an
	 * owner it is not called. */
	void (*on_gone)(void *owner);
	/* A request was refused before or beside the app, for the counters:
	 * status is what it was answered with, or 0 if it was not. reason is
	 * a literal: "host", "head_timeout", "parse", "too_large", ... */
	void (*on_refused)(void *arg, unsigned status, const char *reason);
	/* Bytes of a connection, for the counters. */
	void (*on_bytes)(void *arg, size_t in, size_t out);
};

/* ---- the request ---- */

const struct http_head *exchange_head(const struct exchange *exchange);
struct buf *exchange_body(struct exchange *exchange);
uv_loop_t *exchange_loop(struct exchange *exchange);

/* True if the connection is one of the admin listener. */
bool exchange_is_admin(const struct exchange *exchange);

/* The client's address for rate limits: 16 bytes (IPv4 mapped; a UNIX
 * socket's: zeros). */
const uint8_t *exchange_address(const struct exchange *exchange);

/* A smaller limit for the body, from on_head. False: the announced one is
 * larger. */
bool exchange_limit_body(struct exchange *exchange, size_t max);

/* Who is told that the client is gone; NULL: nobody any more. */
void exchange_set_owner(struct exchange *exchange, void *owner);
void *exchange_owner(const struct exchange *exchange);

/* ---- the answer: exactly one of these ---- */

/* A whole answer. headers are whole lines that end with CRLF, or NULL; type
 * may be NULL without a body. Takes the bytes out of body (may be NULL). The
 * exchange must not be used after it. From on_head: the connection closes
 * after it unless the whole body was already there. */
void exchange_answer(struct exchange *exchange, unsigned status,
    const char *headers, const char *type, struct buf *body);

/* A stream of text/event-stream begins; head and body are released. */
void exchange_stream_begin(struct exchange *exchange, const char *headers);

/* Adds bytes of the stream: whole events or comments. False: the client reads
 * too slowly, and is gone now; on_gone comes soon. */
bool exchange_stream_write(struct exchange *exchange, struct span bytes);

/* The last byte was written. The exchange must not be used after it. */
void exchange_stream_end(struct exchange *exchange);

/* Drops the connection at once, without another byte. on_gone is not called.
 */
void exchange_abort(struct exchange *exchange);

#endif
