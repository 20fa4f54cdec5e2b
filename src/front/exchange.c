/* exchange.c: the app's view of a request and of its answer.
 * Fuzzed by fuzz_http.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/exchange.h"

#include "base/own.h"
#include "conf/limits.h"
#include "front/conn.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* ---- the head of an answer ---- */

static const char *
phrase_of(unsigned status)
{
	static const struct {
		unsigned status;
		const char *phrase;
	} phrases[] = {
		{ 200, "OK" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 406, "Not Acceptable" },
		{ 408, "Request Timeout" },
		{ 409, "Conflict" },
		{ 413, "Content Too Large" },
		{ 414, "URI Too Long" },
		{ 415, "Unsupported Media Type" },
		{ 417, "Expectation Failed" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Other"; /* no reader may look at it */
}

static void
date_write(char *text, size_t size)
{
	time_t now = time(NULL);
	struct tm parts;

	if (!gmtime_r(&now, &parts) ||
	    strftime(text, size, "%a, %d %b %Y %H:%M:%S GMT", &parts) == 0)
		text[0] = 0;
}

int
answer_head(struct buf *ret_head, unsigned status, bool closes,
    const char *headers, const char *type, int64_t length)
{
	char date[40];
	int r;

	date_write(date, sizeof(date));
	r = buf_printf(ret_head,
	    "HTTP/1.1 %u %s\r\n"
	    "Date: %s\r\n"
	    "X-Content-Type-Options: nosniff\r\n",
	    status, phrase_of(status), date);
	/* A stream's headers say it themselves. */
	if (r == 0 && length >= 0)
		r = buf_add_text(ret_head, "Cache-Control: no-store\r\n");
	if (r == 0 && type)
		r = buf_printf(ret_head, "Content-Type: %s\r\n", type);
	if (r == 0 && length < 0)
		r = buf_add_text(ret_head, "Transfer-Encoding: chunked\r\n");
	else if (r == 0 && status != 204)
		r = buf_printf(
		    ret_head, "Content-Length: %" PRId64 "\r\n", length);
	if (r == 0 && closes)
		r = buf_add_text(ret_head, "Connection: close\r\n");
	if (r == 0 && headers)
		r = buf_add_text(ret_head, headers);
	return r == 0 ? buf_add_text(ret_head, "\r\n") : r;
}

/* ---- the request ---- */

const struct http_head *
exchange_head(const struct exchange *exchange)
{
	return http_parser_head(exchange->conn->parser);
}

struct buf *
exchange_body(struct exchange *exchange)
{
	return http_parser_body(exchange->conn->parser);
}

uv_loop_t *
exchange_loop(struct exchange *exchange)
{
	return exchange->conn->http->loop;
}

bool
exchange_is_admin(const struct exchange *exchange)
{
	return exchange->conn->door == DOOR_ADMIN;
}

const uint8_t *
exchange_address(const struct exchange *exchange)
{
	return exchange->conn->address;
}

bool
exchange_limit_body(struct exchange *exchange, size_t max)
{
	return http_parser_limit_body(exchange->conn->parser, max);
}

void
exchange_set_owner(struct exchange *exchange, void *owner)
{
	exchange->owner = owner;
}

void *
exchange_owner(const struct exchange *exchange)
{
	return exchange->owner;
}

/* ---- the answer ---- */

/* Whether the connection ends with this answer: as soon as it is not sure
 * where the next request begins. */
static bool
answer_closes(const struct conn *conn)
{
	const struct http_head *head = http_parser_head(conn->parser);

	return conn->closes || conn->http->ending ||
	       (conn->state == CONN_READING &&
		   (head->chunked || head->length > conn->left));
}

void
exchange_answer(struct exchange *exchange, unsigned status, const char *headers,
    const char *type, struct buf *body)
{
	struct conn *conn = exchange->conn;
	bool bodiless =
	    status == 204 || exchange_head(exchange)->method == HTTP_HEAD;
	own_buf struct buf head;

	buf_init(&head, MIB);
	conn->closes = answer_closes(conn);
	if (answer_head(&head, status, conn->closes, headers, type,
		body ? (int64_t)body->n : 0) < 0) {
		exchange_abort(exchange);
		return;
	}
	conn_write_answer(conn, buf_span(&head), bodiless ? NULL : body);
	if (body)
		buf_done(body);
	conn_answered(conn);
}

void
exchange_stream_begin(struct exchange *exchange, const char *headers)
{
	struct conn *conn = exchange->conn;
	own_buf struct buf head;

	buf_init(&head, MIB);
	conn->closes = answer_closes(conn);
	exchange->streams = true;
	if (answer_head(&head, 200, conn->closes, headers, "text/event-stream",
		-1) < 0) {
		conn->broken = true;
		conn_soon(conn);
		return;
	}
	http_parser_release(conn->parser);
	conn_count_body(conn);
	conn_queue(conn, buf_span(&head));
	conn_poll(conn);
	conn_time(conn);
}

bool
exchange_stream_write(struct exchange *exchange, struct span bytes)
{
	struct conn *conn = exchange->conn;
	char size[24];
	struct span parts[3] = { { (const uint8_t *)size, 0 }, bytes,
		span_of("\r\n") };

	if (bytes.n == 0) /* would be the end */
		return !conn->broken;
	if (conn_queued(conn) > HTTP_STREAM_QUEUED_MAX) {
		conn->broken = true;
		conn->http->app->on_refused(
		    conn->http->app->arg, 0, "slow_reader");
		conn_soon(conn);
	}
	if (conn->broken)
		return false;
	parts[0].n = (size_t)snprintf(size, sizeof(size), "%zx\r\n", bytes.n);
	conn_write(conn, parts, 3);
	return !conn->broken;
}

void
exchange_stream_end(struct exchange *exchange)
{
	struct conn *conn = exchange->conn;
	const struct span last = span_of("0\r\n\r\n");

	conn_write(conn, &last, 1);
	conn_answered(conn);
}

void
exchange_abort(struct exchange *exchange)
{
	struct conn *conn = exchange->conn;

	conn->exchange = NULL;
	free(exchange);
	conn_close(conn, true);
}
