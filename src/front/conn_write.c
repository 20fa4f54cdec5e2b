/* conn_write.c: what a connection sends: at once as far as the kernel takes
 * it, the rest from a queue. Fuzzed by fuzz_http.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/conn.h"

#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PARTS_MAX 4

size_t
conn_queued(const struct conn *conn)
{
	return conn->out.n - conn->out_at;
}

void
conn_count_out(struct conn *conn)
{
	if (conn->out_cap == 0 && conn->out.cap > 0)
		conn->out_since_ms = uv_now(conn->http->loop);
	conn->http->queued += conn->out.cap - conn->out_cap;
	conn->out_cap = conn->out.cap;
}

static void
conn_break(struct conn *conn)
{
	conn->broken = true;
	buf_done(&conn->out);
	conn->out_at = 0;
	conn_count_out(conn);
	conn_soon(conn);
}

/* What waits for all clients is bounded together, however many do not read:
 * whoever has let us wait the longest makes room. */
static void
bound_queued(struct http *http)
{
	struct conn *conn, *slowest;

	while (http->queued > HTTP_QUEUED_MAX) {
		slowest = NULL;
		for (conn = http->conns; conn; conn = conn->next)
			if (conn->out_cap > 0 &&
			    (!slowest ||
				conn->out_since_ms <= slowest->out_since_ms))
				slowest = conn;
		if (!slowest)
			return;
		http->app->on_refused(http->app->arg, 0, "unread");
		conn_break(slowest);
	}
}

/* How many bytes the kernel took. */
static size_t
send_now(struct conn *conn, const struct span *parts, unsigned n)
{
	const struct exchange_app *app = conn->http->app;
	struct iovec iov[PARTS_MAX];
	struct msghdr message = { .msg_iov = iov, .msg_iovlen = n };
	ssize_t put;

	for (unsigned i = 0; i < n; i++)
		iov[i] = (struct iovec){ .iov_base = (void *)parts[i].p,
			.iov_len = parts[i].n };
	do
		put = sendmsg(conn->fd, &message, MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put < 0) {
		if (errno != EAGAIN)
			conn_break(conn);
		return 0;
	}
	app->on_bytes(app->arg, 0, (size_t)put);
	return (size_t)put;
}

void
conn_queue(struct conn *conn, struct span bytes)
{
	if (conn->broken || conn->state == CONN_CLOSED)
		return;
	if (conn->out_at > conn->out.n / 2) {
		buf_drop(&conn->out, conn->out_at);
		conn->out_at = 0;
	}
	if (bytes.n > 0 && buf_add(&conn->out, bytes.p, bytes.n) < 0)
		conn_break(conn);
}

/* Queues what of parts was not put. */
static void
queue_rest(struct conn *conn, const struct span *parts, unsigned n, size_t put)
{
	for (unsigned i = 0; i < n; i++) {
		size_t skip = put < parts[i].n ? put : parts[i].n;

		if (parts[i].n == 0)
			continue;
		put -= skip;
		conn_queue(conn,
		    (struct span){ parts[i].p + skip, parts[i].n - skip });
	}
}

void
conn_write(struct conn *conn, const struct span *parts, unsigned n)
{
	size_t put = 0;

	if (conn->broken || conn->state == CONN_CLOSED)
		return;
	if (conn_queued(conn) == 0) {
		put = send_now(conn, parts, n);
		queue_rest(conn, parts, n, put);
	} else {
		queue_rest(conn, parts, n, 0);
		conn_flush(conn);
	}
	conn_count_out(conn);
	bound_queued(conn->http);
	conn_poll(conn);
	conn_time(conn);
}

void
conn_write_answer(struct conn *conn, struct span head, struct buf *body)
{
	struct span parts[2] = { head, { NULL, 0 } };
	size_t put = 0;

	if (conn->broken || conn->state == CONN_CLOSED)
		return;
	if (body)
		parts[1] = buf_span(body);
	if (conn_queued(conn) == 0)
		put = send_now(conn, parts, parts[1].n > 0 ? 2 : 1);
	if (!conn->broken && body && conn_queued(conn) == 0 && put >= head.n &&
	    put < head.n + body->n) {
		buf_done(&conn->out);
		conn->out = *body;
		conn->out.max = OUT_LOST_MAX;
		conn->out_at = put - head.n;
		buf_init(body, body->max);
	} else {
		queue_rest(conn, parts, 2, put);
	}
	conn_count_out(conn);
	bound_queued(conn->http);
	conn_poll(conn);
	conn_time(conn);
}

void
conn_flush(struct conn *conn)
{
	struct span rest;

	if (conn_queued(conn) == 0 || conn->broken ||
	    conn->state == CONN_CLOSED)
		return;
	rest = (struct span){ conn->out.p + conn->out_at, conn_queued(conn) };
	conn->out_at += send_now(conn, &rest, 1);
	if (conn->broken || conn_queued(conn) > 0)
		return;
	buf_done(&conn->out);
	conn->out_at = 0;
	conn_count_out(conn);
	conn_flushed(conn);
}
