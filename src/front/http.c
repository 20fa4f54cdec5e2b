/* http.c: clients are let in, up to a number that the descriptors are enough
 * for; those beyond it are told so. And the end of all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/http.h"

#include "base/log.h"
#include "base/own.h"
#include "conf/limits.h"
#include "front/conn.h"
#include "front/listeners.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

static void http_maybe_ended(struct http *http);
static void on_knock(uv_poll_t *poll, int status, int events);

/* ---- letting in ---- */

static void
doors_start(struct http *http)
{
	for (unsigned i = 0; i < http->doors_n; i++)
		(void)uv_poll_start(
		    &http->doors[i].poll, UV_READABLE, on_knock);
}

static void
on_pause_over(uv_timer_t *timer)
{
	doors_start(timer->data);
}

/* Nothing can be accepted now, and the socket stays readable: to look again
 * at once would spin. */
static void
doors_pause(struct http *http, int code)
{
	log_warn("event=accept_paused why=\"%s\"", strerror(code));
	for (unsigned i = 0; i < http->doors_n; i++)
		(void)uv_poll_stop(&http->doors[i].poll);
	(void)uv_timer_start(
	    &http->timer, on_pause_over, HTTP_ACCEPT_PAUSE_MS, 0);
}

static void
address_of(const struct sockaddr_storage *peer, uint8_t ret_address[16])
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)peer;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)peer;

	memset(ret_address, 0, 16);
	if (peer->ss_family == AF_INET6) {
		memcpy(ret_address, &in6->sin6_addr, 16);
	} else if (peer->ss_family == AF_INET) {
		ret_address[10] = ret_address[11] = 0xff;
		memcpy(ret_address + 12, &in->sin_addr, 4);
	}
}

static void
let_in(struct door *door, int fd, const struct sockaddr_storage *peer)
{
	struct http *http = door->http;
	enum door_kind kind = door->kind;
	uint8_t address[16];

	if (http->open[kind] >= http->max[kind])
		kind = DOOR_OVER;
	if (http->open[kind] >= http->max[kind]) {
		http->app->on_refused(http->app->arg, 0, "connections");
		fd_close(fd);
		return;
	}
	address_of(peer, address);
	conn_open(http, fd, kind, address);
}

/* False: no more for now. */
static bool
accept_one(struct door *door)
{
	struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
	socklen_t n = sizeof(peer);
	int fd = accept4(door->fd, (struct sockaddr *)&peer, &n,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		let_in(door, fd, &peer);
		return true;
	}
	switch (errno) {
	case EAGAIN:
		return false;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		doors_pause(door->http, errno);
		return false;
	default:
		/* This client's trouble (accept(2) lists a dozen). */
		return true;
	}
}

static void
on_knock(uv_poll_t *poll, int status, int events)
{
	struct door *door = poll->data;

	(void)events;
	if (status < 0) {
		doors_pause(door->http, -status);
		return;
	}
	/* Not for ever: those that are in have their turn too. */
	for (unsigned i = 0; i < HTTP_ACCEPTS_MAX; i++)
		if (!accept_one(door))
			return;
}

/* ---- the end ---- */

static void
on_handle_closed(uv_handle_t *handle)
{
	struct http *http = handle->data;

	if (handle != (uv_handle_t *)&http->timer)
		http = ((struct door *)handle->data)->http;
	if (--http->handles > 0)
		return;
	listeners_close(http->listeners);
	http->ended(http->arg);
	free(http);
}

static void
http_maybe_ended(struct http *http)
{
	if (!http->ending || http_connections(http) > 0 ||
	    http->open[DOOR_OVER] > 0 ||
	    uv_is_closing((uv_handle_t *)&http->timer))
		return;
	uv_close((uv_handle_t *)&http->timer, on_handle_closed);
}

void
http_conn_closed(struct http *http)
{
	http_maybe_ended(http);
}

static void
http_close_all(struct http *http)
{
	while (http->conns)
		conn_gone(http->conns, false);
}

static void
on_grace_over(uv_timer_t *timer)
{
	http_close_all(timer->data);
}

/* Nothing is being said there. */
static bool
is_idle(const struct conn *conn)
{
	return conn->state == CONN_LINGERING ||
	       (conn->state == CONN_READING && !conn->exchange &&
		   conn->held.n == 0 && !http_parser_begun(conn->parser));
}

void
http_end(struct http *http)
{
	struct conn *conn, *next;

	if (http->ending) {
		http_close_all(http);
		return;
	}
	http->ending = true;
	for (unsigned i = 0; i < http->doors_n; i++)
		uv_close((uv_handle_t *)&http->doors[i].poll, on_handle_closed);
	(void)uv_timer_start(&http->timer, on_grace_over, END_GRACE_MS, 0);
	for (conn = http->conns; conn; conn = next) {
		next = conn->next;
		if (is_idle(conn))
			conn_close(conn, false);
	}
	http_maybe_ended(http);
}

unsigned
http_connections(const struct http *http)
{
	return http->open[DOOR_MAIN] + http->open[DOOR_ADMIN];
}

/* ---- the beginning ---- */

/* As many as asked for, or as there are descriptors for. */
static unsigned
connections_max(const struct conf *conf)
{
	const unsigned others = HTTP_FDS_NEEDED(0u);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_cur >= HTTP_FDS_NEEDED(conf->connections))
		return conf->connections;
	log_warn("event=connections_lowered asked=%u to=%llu "
		 "why=\"the hard limit of open files\"",
	    conf->connections, (unsigned long long)limit.rlim_cur - others);
	return (unsigned)limit.rlim_cur - others;
}

static bool
door_open(struct http *http, enum door_kind kind, int fd)
{
	struct door *door = &http->doors[http->doors_n];

	if (fd < 0)
		return true;
	door->http = http;
	door->fd = fd;
	door->kind = kind;
	door->poll.data = door;
	if (uv_poll_init(http->loop, &door->poll, fd) < 0)
		return false;
	http->doors_n++;
	http->handles++;
	return true;
}

struct http *
http_open(uv_loop_t *loop, const struct conf *conf, struct listeners *listeners,
    const struct exchange_app *app, void (*ended)(void *arg), void *arg)
{
	struct http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->loop = loop;
	http->conf = conf;
	http->app = app;
	http->ended = ended;
	http->arg = arg;
	http->max[DOOR_MAIN] = connections_max(conf);
	http->max[DOOR_ADMIN] = HTTP_ADMIN_MAX;
	http->max[DOOR_OVER] = HTTP_OVER_MAX;
	/* The loop has it from now on; with memory for nothing more, the
	 * program ends. */
	if (!door_open(http, DOOR_MAIN, listeners->items[0].fd) ||
	    !door_open(http, DOOR_ADMIN, listeners->items[1].fd))
		BUG("a socket that listens cannot be waited for");
	http->listeners = listeners;
	(void)uv_timer_init(loop, &http->timer);
	http->timer.data = http;
	http->handles++;
	doors_start(http);
	return http;
}
