/* conn.c: a connection reads requests, one after another. It goes on reading
 * while a request is answered, or the end of a client would go unseen; what
 * comes then is held, up to a bound.
 *
 * The end of the client's bytes during a call means that the client is gone:
 * the call is cancelled. A client that only closes its sending half cannot be
 * told from one that was killed, and killed clients are many. Once the answer
 * is complete, it is written to the end for either.
 * Hostile input: a client's bytes. Fuzzed by fuzz_http.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/conn.h"

#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static void conn_feed_held(struct conn *conn);
static void on_time(uv_timer_t *timer);
static void on_event(uv_poll_t *poll, int status, int events);

/* ---- waiting ---- */

static uint64_t
conn_patience(const struct conn *conn, enum conn_timed timed)
{
	const struct conf *conf = conn->http->conf;

	switch (timed) {
	case TIMED_IDLE:
		return conf->idle_ms;
	case TIMED_HEAD:
		return conf->head_ms;
	case TIMED_BODY:
		return conf->body_ms;
	case TIMED_WRITE:
		return conf->write_ms;
	case TIMED_LINGER:
		return LINGER_MS;
	case TIMED_NOTHING:
	case TIMED_SOON:
		break;
	}
	return 0;
}

static enum conn_timed
conn_waits_for(const struct conn *conn)
{
	if (conn->state == CONN_LINGERING)
		return TIMED_LINGER;
	if (conn_queued(conn) > 0)
		return TIMED_WRITE;
	if (conn->state != CONN_READING)
		return TIMED_NOTHING;
	if (conn->exchange)
		return TIMED_BODY;
	return http_parser_begun(conn->parser) ? TIMED_HEAD : TIMED_IDLE;
}

/* A time is a total: progress does not begin it anew. */
void
conn_time(struct conn *conn)
{
	enum conn_timed timed = conn_waits_for(conn);

	if (conn->timed == TIMED_SOON || conn->timed == timed ||
	    conn->state == CONN_CLOSED)
		return;
	conn->timed = timed;
	if (timed == TIMED_NOTHING)
		(void)uv_timer_stop(&conn->timer);
	else
		(void)uv_timer_start(
		    &conn->timer, on_time, conn_patience(conn, timed), 0);
}

void
conn_soon(struct conn *conn)
{
	if (conn->state == CONN_CLOSED)
		return;
	conn->timed = TIMED_SOON;
	(void)uv_timer_start(&conn->timer, on_time, 0, 0);
}

void
conn_poll(struct conn *conn)
{
	int events = conn->ended ? 0 : UV_READABLE;

	if (conn->state == CONN_CLOSED)
		return;
	if (conn_queued(conn) > 0)
		events |= UV_WRITABLE;
	if (events == conn->polled)
		return;
	conn->polled = events;
	if (events == 0)
		(void)uv_poll_stop(&conn->poll);
	else
		(void)uv_poll_start(&conn->poll, events, on_event);
}

/* ---- the end ---- */

static void
on_handle_closed(uv_handle_t *handle)
{
	struct conn *conn = handle->data;

	if (--conn->handles == 0)
		free(conn);
}

void
conn_count_body(struct conn *conn)
{
	size_t cap = conn->parser ? http_parser_body(conn->parser)->cap : 0;

	conn->http->bodies += cap - conn->body_cap;
	conn->body_cap = cap;
}

static void
conn_close_handles(struct conn *conn, bool reset)
{
	const struct linger none = { .l_onoff = 1 };

	uv_close((uv_handle_t *)&conn->poll, on_handle_closed);
	uv_close((uv_handle_t *)&conn->timer, on_handle_closed);
	if (reset)
		(void)setsockopt(
		    conn->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	fd_close(conn->fd);
}

void
conn_close(struct conn *conn, bool reset)
{
	struct http *http = conn->http;

	if (conn->state == CONN_CLOSED)
		return;
	conn->state = CONN_CLOSED;
	conn_close_handles(conn, reset);
	http_parser_free(give_ptr(&conn->parser));
	conn_count_body(conn);
	buf_done(&conn->held);
	buf_done(&conn->out);
	conn_count_out(conn);
	*conn->at = conn->next;
	if (conn->next)
		conn->next->at = conn->at;
	http->open[conn->door]--;
	http_conn_closed(http);
}

static void
tell_owner(struct conn *conn, struct exchange *exchange)
{
	if (exchange && exchange->owner)
		conn->http->app->on_gone(exchange->owner);
	free(exchange);
}

void
conn_gone(struct conn *conn, bool reset)
{
	struct exchange *exchange = give_ptr(&conn->exchange);

	conn_close(conn, reset);
	tell_owner(conn, exchange);
}

/* The last byte is written: nothing more is sent, and what still comes is
 * thrown away for a while. A close with bytes unread would be a reset, which
 * can destroy the answer on its way. */
static void
conn_linger(struct conn *conn)
{
	conn->state = CONN_LINGERING;
	http_parser_release(conn->parser);
	conn_count_body(conn);
	buf_done(&conn->held);
	if (conn->ended || conn->broken || conn->http->ending ||
	    shutdown(conn->fd, SHUT_WR) < 0)
		conn_close(conn, false);
	else
		conn_time(conn);
}

/* Answers with a refusal of our own and closes lingering; an owner is told
 * that its exchange is gone. why is the body's sentence, reason the
 * counter's. */
static void
conn_refuse(
    struct conn *conn, unsigned status, const char *why, const char *reason)
{
	const struct exchange_app *app = conn->http->app;
	own_buf struct buf head, body;
	bool begun = conn->exchange && conn->exchange->streams;

	buf_init(&head, HTTP_HEAD_MAX);
	buf_init(&body, HTTP_HEAD_MAX);
	conn->state = CONN_CLOSING;
	app->on_refused(app->arg, status, reason);
	tell_owner(conn, give_ptr(&conn->exchange));
	if (begun || buf_printf(&body, "%s\n", why) < 0 ||
	    answer_head(&head, status, true,
		status == 503 ? "Retry-After: 1\r\n" : NULL, "text/plain",
		(int64_t)body.n) < 0) {
		conn_close(conn, false);
		return;
	}
	conn_write_answer(conn, buf_span(&head), &body);
	if (conn_queued(conn) == 0)
		conn_linger(conn);
}

static void
on_time(uv_timer_t *timer)
{
	struct conn *conn = timer->data;
	enum conn_timed timed = conn->timed;

	conn->timed = TIMED_NOTHING;
	switch (timed) {
	case TIMED_SOON:
		if (conn->broken)
			conn_gone(conn, false);
		else
			conn_feed_held(conn);
		break;
	case TIMED_HEAD:
		conn_refuse(conn, 408, "the request took too long to come",
		    "head_timeout");
		break;
	case TIMED_BODY:
		conn_refuse(conn, 408, "the body took too long to come",
		    "body_timeout");
		break;
	case TIMED_WRITE:
		/* A plain close would let the kernel go on for minutes. */
		conn->http->app->on_refused(
		    conn->http->app->arg, 0, "write_timeout");
		conn_gone(conn, true);
		break;
	case TIMED_IDLE:
	case TIMED_LINGER:
	case TIMED_NOTHING:
		conn_close(conn, false);
		break;
	}
}

/* ---- requests ---- */

/* The connection is the next request's. */
static void
conn_next(struct conn *conn)
{
	http_parser_next(conn->parser);
	conn_count_body(conn);
	conn->state = CONN_READING;
	conn->answered = conn->continued = false;
	conn->timed = TIMED_NOTHING; /* its times begin anew */
	if (!conn->feeding && conn->held.n > conn->held_at)
		conn_soon(conn);
	else
		conn_time(conn);
}

void
conn_flushed(struct conn *conn)
{
	if (conn->state == CONN_CLOSING)
		conn_linger(conn);
	else if (conn->state == CONN_FLUSHING && conn->ended)
		conn_close(conn, false);
	else if (conn->state == CONN_FLUSHING)
		conn_next(conn);
}

void
conn_answered(struct conn *conn)
{
	free(give_ptr(&conn->exchange));
	conn->answered = true;
	if (conn->closes)
		conn->state = CONN_CLOSING;
	else if (conn->state == CONN_CALLED)
		conn->state = CONN_FLUSHING;
	if (conn_queued(conn) == 0 && !conn->broken)
		conn_flushed(conn);
	conn_time(conn);
}

static void
on_head_in(struct conn *conn, size_t left)
{
	const struct exchange_app *app = conn->http->app;
	const struct http_head *head = http_parser_head(conn->parser);

	conn->exchange = calloc(1, sizeof(*conn->exchange));
	if (!conn->exchange) {
		conn_refuse(conn, 503, "no memory", "memory");
		return;
	}
	conn->exchange->conn = conn;
	conn->closes = head->closes || conn->http->ending;
	conn->left = left;
	app->on_head(app->arg, conn->exchange);
}

static void
on_whole(struct conn *conn)
{
	const struct exchange_app *app = conn->http->app;

	if (conn->answered) {
		conn->state = CONN_FLUSHING;
		if (conn_queued(conn) == 0)
			conn_flushed(conn);
		return;
	}
	conn->state = CONN_CALLED;
	app->on_request(app->arg, conn->exchange);
}

static const char *
reason_of(unsigned status)
{
	switch (status) {
	case 413:
		return "too_large";
	case 414:
	case 431:
		return "head_too_large";
	case 503:
		return "memory";
	default:
		return "parse";
	}
}

/* The bodies of all are bounded together, however many connections send. */
static void
check_bodies(struct conn *conn)
{
	conn_count_body(conn);
	if (conn->state == CONN_READING && !conn->answered &&
	    conn->body_cap > 0 && conn->http->bodies > HTTP_BODIES_MAX)
		conn_refuse(conn, 503, "too many large requests", "bodies");
}

static void
maybe_continue(struct conn *conn)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const struct span part = span_of(text);

	if (conn->state != CONN_READING || !conn->exchange || conn->continued)
		return;
	conn->continued = true;
	if (http_parser_head(conn->parser)->expects_continue &&
	    http_parser_body(conn->parser)->n == 0)
		conn_write(conn, &part, 1);
}

/* One step of a request. False: no more bytes are to be parsed now. */
static bool
conn_step(struct conn *conn, struct span *bytes)
{
	size_t used;
	enum http_event event = http_parser_feed(conn->parser, *bytes, &used);

	bytes->p += used;
	bytes->n -= used;
	switch (event) {
	case HTTP_MORE:
		return false;
	case HTTP_HEAD_IN:
		on_head_in(conn, bytes->n);
		return true;
	case HTTP_BODY_IN:
		on_whole(conn);
		return bytes->n > 0;
	case HTTP_BROKEN:
		break;
	}
	if (conn->answered) { /* never twice */
		conn_close(conn, false);
		return false;
	}
	conn_refuse(conn, http_parser_status(conn->parser),
	    http_parser_why(conn->parser),
	    reason_of(http_parser_status(conn->parser)));
	return false;
}

/* Parses until a request must be waited for; how many bytes were used. */
static size_t
conn_feed(struct conn *conn, struct span bytes)
{
	size_t n = bytes.n;

	conn->feeding = true;
	while (conn->state == CONN_READING && !conn->broken &&
	       conn_step(conn, &bytes))
		;
	conn->feeding = false;
	if (conn->state == CONN_CLOSED)
		return n;
	check_bodies(conn);
	maybe_continue(conn);
	return n - bytes.n;
}

/* Keeps bytes for later; too many of them end the connection. */
static void
conn_hold(struct conn *conn, struct span bytes)
{
	if (bytes.n == 0 || conn->state == CONN_CLOSED)
		return;
	if (conn->held_at > 0)
		buf_drop(&conn->held, conn->held_at);
	conn->held_at = 0;
	if (conn->held.n + bytes.n > HTTP_PIPELINED_MAX ||
	    buf_add(&conn->held, bytes.p, bytes.n) < 0) {
		conn->http->app->on_refused(
		    conn->http->app->arg, 0, "pipelined");
		conn_gone(conn, false);
	}
}

static void
conn_feed_held(struct conn *conn)
{
	if (conn->state == CONN_READING && conn->held.n > conn->held_at)
		conn->held_at +=
		    conn_feed(conn, (struct span){ conn->held.p + conn->held_at,
					conn->held.n - conn->held_at });
	if (conn->held_at >= conn->held.n) {
		buf_done(&conn->held);
		conn->held_at = 0;
	}
	conn_poll(conn);
	conn_time(conn);
}

/* ---- bytes ---- */

static void
conn_take(struct conn *conn, struct span bytes)
{
	size_t used;

	switch (conn->state) {
	case CONN_READING:
		if (conn->held.n > conn->held_at) {
			conn_hold(conn, bytes); /* conn_soon is under way */
			return;
		}
		used = conn_feed(conn, bytes);
		if (conn->state == CONN_CALLED || conn->state == CONN_FLUSHING)
			conn_hold(conn,
			    (struct span){ bytes.p + used, bytes.n - used });
		return;
	case CONN_CALLED:
	case CONN_FLUSHING:
		conn_hold(conn, bytes);
		return;
	case CONN_CLOSING:
	case CONN_LINGERING:
		conn->lingered += bytes.n;
		if (conn->lingered > LINGER_BYTES_MAX)
			conn_gone(conn, true);
		return;
	case CONN_CLOSED:
		return;
	}
}

/* The client sends nothing more. */
static void
conn_ended(struct conn *conn)
{
	conn->ended = true;
	if (conn->state == CONN_FLUSHING || conn->state == CONN_CLOSING)
		conn_poll(conn);
	else
		conn_gone(conn, false);
}

static void
conn_read(struct conn *conn)
{
	struct http *http = conn->http;
	ssize_t got = read(conn->fd, http->scratch, sizeof(http->scratch));

	if (got > 0) {
		http->app->on_bytes(http->app->arg, (size_t)got, 0);
		conn_take(conn, (struct span){ http->scratch, (size_t)got });
	} else if (got == 0) {
		conn_ended(conn);
	} else if (errno != EAGAIN && errno != EINTR) {
		conn_gone(conn, false);
	}
}

static void
on_event(uv_poll_t *poll, int status, int events)
{
	struct conn *conn = poll->data;

	if (status < 0) {
		conn_gone(conn, false);
		return;
	}
	if (events & UV_WRITABLE)
		conn_flush(conn);
	if ((events & UV_READABLE) && conn->state != CONN_CLOSED &&
	    !conn->broken)
		conn_read(conn);
	conn_poll(conn);
	conn_time(conn);
}

/* ---- the beginning ---- */

static void
conn_link(struct conn *conn)
{
	struct http *http = conn->http;

	conn->next = http->conns;
	conn->at = &http->conns;
	if (conn->next)
		conn->next->at = &conn->next;
	http->conns = conn;
	http->open[conn->door]++;
}

void
conn_open(
    struct http *http, int fd, enum door_kind door, const uint8_t address[16])
{
	struct conn *conn = calloc(1, sizeof(*conn));
	struct http_parser *parser = http_parser_new(http->conf->body_bytes);

	if (!conn || !parser || uv_poll_init(http->loop, &conn->poll, fd) < 0) {
		http_parser_free(parser);
		free(conn);
		fd_close(fd);
		return;
	}
	(void)uv_timer_init(http->loop, &conn->timer);
	conn->poll.data = conn->timer.data = conn;
	conn->handles = 2;
	conn->http = http;
	conn->parser = parser;
	conn->fd = fd;
	conn->door = door;
	for (unsigned i = 0; i < 16; i++)
		conn->address[i] = address[i];
	buf_init(&conn->held, HTTP_PIPELINED_MAX);
	buf_init(&conn->out, OUT_LOST_MAX);
	conn_link(conn);
	if (door == DOOR_OVER)
		conn_refuse(
		    conn, 503, "all connections are taken", "connections");
	conn_poll(conn);
	conn_time(conn);
}
