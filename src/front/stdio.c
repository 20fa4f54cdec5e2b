/* stdio.c: lines in, lines out.
 * Hostile input: a client's bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/stdio.h"

#include "base/log.h"
#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define READ_CHUNK ((size_t)64 * KIB) /* what a pipe holds */

/* A buffer grown beyond this by a long line is not kept after it. */
#define KEEP_MAX MIB

enum stdio_state {
	STDIO_OPEN,
	STDIO_DRAINING, /* the input ended; calls may still end */
	STDIO_ENDING,   /* only what is queued is written */
	STDIO_ENDED,
};

struct stdio {
	struct peer *peer;
	void (*ended)(void *arg);
	void *arg;
	enum stdio_state state;
	int in_fd, in_flags;
	int out_fd, out_flags;
	unsigned handles; /* not closed yet */
	bool in_polled;   /* else a file: always readable */
	bool out_polled;  /* else writing never blocks for long */
	bool out_broken;
	bool paused;   /* the client does not read */
	bool skipping; /* inside a line that is too long */

	uv_poll_t in_poll;
	uv_idle_t in_idle;
	struct buf in;
	size_t searched; /* bytes of it known to hold no line end */

	uv_poll_t out_poll;
	struct buf out; /* what the client did not take yet */
	size_t out_at;  /* bytes of it that it did take */

	uv_timer_t timer; /* for the end */
};

static void stdio_finish(struct stdio *stdio);
static void read_start(struct stdio *stdio);

/* ---- the end ---- */

static void
on_flush_over(uv_timer_t *timer)
{
	stdio_finish(timer->data);
}

static void
read_stop(struct stdio *stdio)
{
	if (stdio->in_polled)
		(void)uv_poll_stop(&stdio->in_poll);
	(void)uv_idle_stop(&stdio->in_idle);
}

/* Ends everything but the writing of what is queued. */
static void
stdio_wind_up(struct stdio *stdio)
{
	if (stdio->state >= STDIO_ENDING)
		return;
	read_stop(stdio);
	peer_end_subscriptions(stdio->peer);
	stdio->state = STDIO_ENDING;
	peer_close(stdio->peer);
	stdio->peer = NULL;
	if (stdio->out.n > 0 && !stdio->out_broken)
		(void)uv_timer_start(
		    &stdio->timer, on_flush_over, END_FLUSH_MS, 0);
	else
		stdio_finish(stdio);
}

static void
on_grace_over(uv_timer_t *timer)
{
	stdio_wind_up(timer->data);
}

/* Winds up from the loop: the caller is in the midst of something. */
static void
wind_up_soon(struct stdio *stdio, uint64_t ms)
{
	if (stdio->state < STDIO_ENDING)
		(void)uv_timer_start(&stdio->timer, on_grace_over, ms, 0);
}

static void
on_handle_closed(uv_handle_t *handle)
{
	struct stdio *stdio = handle->data;

	if (--stdio->handles > 0)
		return;
	buf_done(&stdio->in);
	buf_done(&stdio->out);
	free(stdio);
}

static void
stdio_finish(struct stdio *stdio)
{
	if (stdio->state == STDIO_ENDED)
		return;
	stdio->state = STDIO_ENDED;
	if (stdio->in_polled)
		uv_close((uv_handle_t *)&stdio->in_poll, on_handle_closed);
	if (stdio->out_polled)
		uv_close((uv_handle_t *)&stdio->out_poll, on_handle_closed);
	uv_close((uv_handle_t *)&stdio->in_idle, on_handle_closed);
	uv_close((uv_handle_t *)&stdio->timer, on_handle_closed);
	/* The descriptions may be shared with a shell or a parent. */
	if (stdio->in_polled && stdio->in_flags >= 0)
		(void)fcntl(stdio->in_fd, F_SETFL, stdio->in_flags);
	if (stdio->out_polled && stdio->out_flags >= 0)
		(void)fcntl(stdio->out_fd, F_SETFL, stdio->out_flags);
	stdio->ended(stdio->arg);
}

void
stdio_end(struct stdio *stdio)
{
	if (stdio->state < STDIO_ENDING)
		stdio_wind_up(stdio);
	else
		stdio_finish(stdio);
}

/* ---- writing ---- */

static size_t
queued(const struct stdio *stdio)
{
	return stdio->out.n - stdio->out_at;
}

static void
out_broken(struct stdio *stdio, const char *why)
{
	if (stdio->out_broken)
		return;
	stdio->out_broken = true;
	log_info("event=client_gone why=\"%s\"", why);
	buf_done(&stdio->out);
	stdio->out_at = 0;
	if (stdio->out_polled)
		(void)uv_poll_stop(&stdio->out_poll);
	wind_up_soon(stdio, 0);
}

/* Writes what it can of bytes. How much; -1 when the client is gone. */
static ssize_t
write_some(struct stdio *stdio, const uint8_t *p, size_t n)
{
	ssize_t put;

	do
		put = write(stdio->out_fd, p, n);
	while (put < 0 && errno == EINTR);
	if (put >= 0)
		return put;
	if (errno == EAGAIN)
		return 0;
	out_broken(stdio, strerror(errno));
	return -1;
}

static void lines_take(struct stdio *stdio);

static void
on_writable(uv_poll_t *poll, int status, int events)
{
	struct stdio *stdio = poll->data;
	ssize_t put;

	(void)events;
	if (status < 0) {
		out_broken(stdio, uv_strerror(status));
	} else {
		put = write_some(
		    stdio, stdio->out.p + stdio->out_at, queued(stdio));
		if (put > 0)
			stdio->out_at += (size_t)put;
	}
	if (queued(stdio) == 0) {
		buf_done(&stdio->out);
		stdio->out_at = 0;
		(void)uv_poll_stop(poll);
		if (stdio->state == STDIO_ENDING)
			stdio_finish(stdio);
	}
	if (stdio->paused && queued(stdio) <= OUT_QUEUED_MAX / 2) {
		stdio->paused = false;
		lines_take(stdio);
		read_start(stdio);
	}
}

/* Queues what write did not take; takes the bytes of message. */
static int
enqueue(struct stdio *stdio, struct buf *message, size_t at)
{
	if (stdio->out.n > 0) {
		if (stdio->out_at > stdio->out.n / 2) {
			buf_drop(&stdio->out, stdio->out_at);
			stdio->out_at = 0;
		}
		return buf_add(&stdio->out, message->p, message->n);
	}
	buf_done(&stdio->out);
	stdio->out = *message;
	stdio->out.max = OUT_LOST_MAX;
	stdio->out_at = at;
	buf_init(message, message->max);
	return uv_poll_start(&stdio->out_poll, UV_WRITABLE, on_writable);
}

static void
on_send(void *arg, void *route, struct buf *message, const struct sent *sent)
{
	struct stdio *stdio = arg;
	ssize_t put = 0;

	(void)route; /* there is one way to the client */
	(void)sent;
	if (stdio->out_broken)
		return;
	if (buf_add_text(message, "\n") < 0) {
		out_broken(stdio, "no memory");
		return;
	}
	if (queued(stdio) == 0)
		put = write_some(stdio, message->p, message->n);
	/* A file takes part of a message only when its disk is full; then the
	 * next write says so. */
	while (!stdio->out_polled && put > 0 && (size_t)put < message->n) {
		buf_drop(message, (size_t)put);
		put = write_some(stdio, message->p, message->n);
	}
	if (put < 0)
		return;
	if ((size_t)put < message->n &&
	    enqueue(stdio, message, (size_t)put) < 0)
		out_broken(stdio, "too much is unread");
	if (stdio->state == STDIO_DRAINING && peer_busy(stdio->peer) == 0)
		wind_up_soon(stdio, 0);
}

/* ---- reading ---- */

static void
line_too_long(struct stdio *stdio)
{
	if (!stdio->skipping)
		peer_receive_too_long(stdio->peer);
	stdio->skipping = true;
}

static void
line_take(struct stdio *stdio, struct span line)
{
	if (stdio->skipping)
		stdio->skipping = false;
	else if (line.n > LINE_MAX_BYTES)
		peer_receive_too_long(stdio->peer);
	else
		(void)peer_receive(stdio->peer, NULL, line, NULL);
}

/* Takes the whole lines of what was read, unless the client stops reading. */
static void
lines_take(struct stdio *stdio)
{
	struct buf *in = &stdio->in;
	size_t at = 0;

	while (queued(stdio) <= OUT_QUEUED_MAX && stdio->searched < in->n) {
		const uint8_t *end = memchr(
		    in->p + stdio->searched, '\n', in->n - stdio->searched);

		if (!end) {
			stdio->searched = in->n;
			break;
		}
		line_take(stdio,
		    (struct span){ in->p + at, (size_t)(end - in->p) - at });
		at = (size_t)(end - in->p) + 1;
		stdio->searched = at;
	}
	if (at > 0) /* a move of nothing would still copy a long line */
		buf_drop(in, at);
	stdio->searched -= at;
	if (stdio->searched == in->n && in->n > LINE_MAX_BYTES)
		line_too_long(stdio);
	if (stdio->skipping && stdio->searched == in->n)
		in->n = stdio->searched = 0;
	if (in->n == 0 && in->cap > KEEP_MAX)
		buf_done(in);
	stdio->paused = queued(stdio) > OUT_QUEUED_MAX;
	if (stdio->paused)
		read_stop(stdio);
}

static void
input_ended(struct stdio *stdio)
{
	struct buf *in = &stdio->in;

	if (stdio->state != STDIO_OPEN)
		return;
	read_stop(stdio);
	/* The last line may lack its end. */
	if (in->n > 0 && !stdio->skipping)
		line_take(stdio, buf_span(in));
	in->n = 0;
	peer_end_subscriptions(stdio->peer);
	stdio->state = STDIO_DRAINING;
	wind_up_soon(stdio, peer_busy(stdio->peer) > 0 ? END_GRACE_MS : 0);
}

static void
read_some(struct stdio *stdio)
{
	struct buf *in = &stdio->in;
	ssize_t got;

	if (buf_reserve(in, READ_CHUNK) < 0) {
		log_error("event=no_memory what=message");
		wind_up_soon(stdio, 0);
		return;
	}
	got = read(stdio->in_fd, in->p + in->n, READ_CHUNK);
	if (got > 0) {
		in->n += (size_t)got;
		lines_take(stdio);
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		input_ended(stdio);
	}
}

static void
on_readable(uv_poll_t *poll, int status, int events)
{
	(void)events;
	if (status < 0)
		input_ended(poll->data);
	else
		read_some(poll->data);
}

static void
on_idle(uv_idle_t *idle)
{
	read_some(idle->data);
}

static void
read_start(struct stdio *stdio)
{
	if (stdio->paused || stdio->state != STDIO_OPEN)
		return;
	if (stdio->in_polled)
		(void)uv_poll_start(&stdio->in_poll, UV_READABLE, on_readable);
	else
		(void)uv_idle_start(&stdio->in_idle, on_idle);
}

/* ---- the start ---- */

/* True if the loop can wait for fd; files and /dev/null it cannot. */
static bool
poll_init(uv_loop_t *loop, uv_poll_t *poll, int fd, struct stdio *stdio)
{
	poll->data = stdio;
	if (uv_poll_init(loop, poll, fd) < 0)
		return false;
	stdio->handles++;
	return true;
}

struct stdio *
stdio_open(uv_loop_t *loop, struct mcp *mcp, int in, int out,
    void (*ended)(void *arg), void *arg)
{
	struct stdio *stdio = calloc(1, sizeof(*stdio));
	const struct peer_conf peer = {
		.kind = PEER_STREAM, .send = on_send, .arg = stdio
	};

	if (!stdio)
		return NULL;
	stdio->peer = peer_new(mcp, &peer);
	if (!stdio->peer) {
		free(stdio);
		return NULL;
	}
	stdio->ended = ended;
	stdio->arg = arg;
	stdio->in_fd = in;
	stdio->out_fd = out;
	stdio->in_flags = fcntl(in, F_GETFL);
	stdio->out_flags = fcntl(out, F_GETFL);
	buf_init(&stdio->in, LINE_MAX_BYTES + 2 * READ_CHUNK);
	buf_init(&stdio->out, OUT_LOST_MAX);
	stdio->in_polled = poll_init(loop, &stdio->in_poll, in, stdio);
	stdio->out_polled = poll_init(loop, &stdio->out_poll, out, stdio);
	(void)uv_idle_init(loop, &stdio->in_idle);
	(void)uv_timer_init(loop, &stdio->timer);
	stdio->in_idle.data = stdio->timer.data = stdio;
	stdio->handles += 2;
	read_start(stdio);
	return stdio;
}
