/* route.c: from a message to whoever waits for what belongs to it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/route.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "front/sse.h"
#include "front/turns.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STREAM_HEADERS "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
#define HEADERS_MAX    256u

/* The first revision whose clients know what an event without data is. */
#define PRIMED_SINCE "2025-11-25"

#define NEVER UINT64_MAX

/* ---- the end of a route ---- */

static void
route_free(struct route *route)
{
	TAILQ_REMOVE(&route->routes->spent, route, link);
	peer_close(route->peer);
	principal_release(route->principal);
	free(route);
}

static void
on_reap(uv_check_t *reaper)
{
	struct routes *routes = reaper->data;
	struct route *route;

	while ((route = TAILQ_FIRST(&routes->spent)))
		route_free(route);
	(void)uv_check_stop(reaper);
}

static void
release_body(struct route *route)
{
	route->routes->bodies -= route->body;
	route->body = 0;
}

static void
leave(struct route *route)
{
	if (!route->session)
		return;
	LIST_REMOVE(route, of_session);
	route->session->routes_n--;
	session_touch(route->session, clock_us());
	route->session = NULL;
}

/* Takes the exchange from the route: it will not hear of its end. */
static struct exchange *
take_exchange(struct route *route)
{
	struct exchange *exchange = route->exchange;

	if (exchange) {
		exchange_set_owner(exchange, NULL);
		route->principal->connections--;
	}
	if (exchange && route->streaming)
		route->routes->streams--;
	route->exchange = NULL;
	return exchange;
}

/* The route is at its end. It may be in the midst of a function of its peer,
 * so that both live until the loop comes by. */
static void
spend(struct route *route)
{
	if (route->spent)
		return;
	route->spent = true;
	turns_leave(route);
	(void)take_exchange(route);
	release_body(route);
	leave(route);
	TAILQ_REMOVE(&route->routes->all, route, link);
	TAILQ_INSERT_TAIL(&route->routes->spent, route, link);
	(void)uv_check_start(&route->routes->reaper, on_reap);
}

void
routes_init(struct routes *routes, uv_loop_t *loop, struct refusals *refusals)
{
	*routes = (struct routes){ .refusals = refusals };
	TAILQ_INIT(&routes->all);
	TAILQ_INIT(&routes->spent);
	(void)uv_check_init(loop, &routes->reaper);
	routes->reaper.data = routes;
}

void
routes_done(struct routes *routes)
{
	struct route *route;

	while ((route = TAILQ_FIRST(&routes->all))) {
		if (route->exchange && route->streaming)
			routes->streams--;
		if (route->exchange)
			route->principal->connections--;
		route->exchange = NULL;
		spend(route);
	}
	while ((route = TAILQ_FIRST(&routes->spent)))
		route_free(route);
}

/* ---- the start ---- */

struct route *
route_new(struct routes *routes, struct exchange *exchange,
    struct principal *principal)
{
	struct route *route = calloc(1, sizeof(*route));

	if (!route)
		return NULL;
	route->routes = routes;
	route->kind = ROUTE_COMING;
	route->exchange = exchange;
	route->principal = principal;
	principal->connections++;
	route->due_us = NEVER;
	TAILQ_INSERT_TAIL(&routes->all, route, link);
	exchange_set_owner(exchange, route);
	return route;
}

void
route_join(struct route *route, struct session *session)
{
	route->session = session;
	LIST_INSERT_HEAD(&session->routes, route, of_session);
	session->routes_n++;
}

/* Bytes that the principal of route has on their way. */
static size_t
bodies_of(const struct route *route)
{
	const struct route *other;
	size_t n = 0;

	TAILQ_FOREACH(other, &route->routes->all, link)
	if (other->body > 0 && principal_is(other->principal, route->principal))
		n += other->body;
	return n;
}

bool
route_reserve(struct route *route, size_t n)
{
	struct routes *routes = route->routes;

	/* Counting is needed only when much is on its way. */
	if (routes->bodies + n > HTTP_BODIES_OF_ONE &&
	    bodies_of(route) + n > HTTP_BODIES_OF_ONE)
		return false;
	routes->bodies += n;
	route->body = n;
	return true;
}

void
route_ask(struct route *route)
{
	uint64_t ms = route->session ? SESSION_SSE_AFTER_MS : SSE_AFTER_MS;

	release_body(route);
	route->kind = ROUTE_ASKED;
	if (route->accept.events)
		route->due_us = clock_us() + ms * 1000;
}

/* ---- streams ---- */

static void
put(struct route *route, struct span text)
{
	if (!route->exchange || route->broken)
		return;
	if (!exchange_stream_write(route->exchange, text))
		route->broken = true;
	route->due_us = clock_us() + SSE_COMMENT_MS * 1000ull;
}

/* An event before the first message, so that a client which loses its
 * connection knows where to go on. */
static void
prime(struct route *route)
{
	const char *revision = peer_revision(route->session->peer);
	char id[EVENT_ID_SIZE];
	own_buf struct buf text;

	buf_init(&text, EVENT_ID_SIZE + 64);
	if (!revision || strcmp(revision, PRIMED_SINCE) < 0)
		return;
	(void)events_next(&route->session->events, route->stream, id);
	if (sse_prime(&text, id, SESSION_RETRY_MS) == 0)
		put(route, buf_span(&text));
}

static void
add_session_id(const struct route *route, struct buf *headers)
{
	if (route->session_id[0])
		(void)buf_printf(
		    headers, "Mcp-Session-Id: %s\r\n", route->session_id);
}

static void
stream_begin(struct route *route)
{
	own_buf struct buf headers;

	buf_init(&headers, HEADERS_MAX);
	(void)buf_add_text(&headers, STREAM_HEADERS);
	add_session_id(route, &headers);
	(void)buf_add(&headers, "", 1);
	exchange_stream_begin(route->exchange, (const char *)headers.p);
	route->streaming = true;
	route->routes->streams++;
}

/* Begins the route's stream for the first time. */
static void
stream_open(struct route *route)
{
	stream_begin(route);
	if (!route->session)
		return;
	route->stream = events_stream(&route->session->events);
	prime(route);
}

static void
stream_close(struct route *route)
{
	struct exchange *exchange = take_exchange(route);

	/* The exchange of a reader that was too slow ends by itself. */
	if (exchange && !route->broken)
		exchange_stream_end(exchange);
}

/* Writes message as an event of a stream, and keeps it for a session; nobody
 * needs to read. */
static void
event_send(struct session *session, uint32_t stream, struct route *route,
    const struct buf *message)
{
	size_t max = message->n + EVENT_ID_SIZE + SSE_EVENT_COST;
	char id[EVENT_ID_SIZE] = "";
	own_buf struct buf text;
	uint64_t number = 0;

	buf_init(&text, max);
	if (session)
		number = events_next(&session->events, stream, id);
	if (buf_reserve(&text, max) < 0 ||
	    sse_message(&text, session ? id : NULL, buf_span(message)) < 0) {
		log_error("event=no_memory what=event");
		return;
	}
	if (route)
		put(route, buf_span(&text));
	if (session)
		(void)events_keep(&session->events, stream, number, &text);
}

/* ---- what the protocol sends ---- */

/* The answer as a whole; a request that came at a bad time is told when to
 * come again. */
static void
answer_json(struct route *route, struct buf *message, const struct sent *sent)
{
	bool busy = sent->status == 429 || sent->status == 503;
	own_buf struct buf headers;

	buf_init(&headers, HEADERS_MAX);
	if (busy) {
		refusals_add(route->routes->refusals, sent->status,
		    sent->status == 429 ? "calls_of_one" : "calls");
		(void)buf_printf(
		    &headers, "Retry-After: %u\r\n", sent->retry_s);
	}
	(void)buf_add(&headers, "", 1);
	route_answer(route, sent->status, (const char *)headers.p,
	    "application/json", message);
}

static void
send_answer(struct route *route, struct buf *message, const struct sent *sent)
{
	struct session *session = sent->modern ? NULL : route->session;

	if (session && route->session_new && sent->status == 200 &&
	    !session_name(session, (int64_t)time(NULL), route->session_id))
		route->session_id[0] = '\0';
	if (route->streaming ||
	    (route->exchange && !route->accept.json && sent->status == 200)) {
		if (!route->streaming)
			stream_open(route);
		event_send(session, route->stream, route, message);
		stream_close(route);
		spend(route);
	} else if (route->exchange) {
		answer_json(route, message, sent);
	} else {
		spend(route); /* gone, and without an id to come back with */
	}
}

/* The newest stream of notes that is read, or NULL. */
static struct route *
find_notes(struct session *session)
{
	struct route *route;

	LIST_FOREACH(route, &session->routes, of_session)
	if (route->kind == ROUTE_NOTES && !route->broken)
		return route;
	return NULL;
}

/* To the newest stream of notes, or else for the next. */
static void
send_free(struct session *session, const struct buf *message)
{
	struct route *route = find_notes(session);

	if (route)
		event_send(session, route->stream, route, message);
	else if (session->notes_stream > 0)
		event_send(session, session->notes_stream, NULL, message);
}

static void
send_note(
    struct route *route, const struct buf *message, const struct sent *sent)
{
	if (!route->streaming) {
		if (!route->exchange || !route->accept.events) {
			if (route->session)
				send_free(route->session, message);
			return;
		}
		stream_open(route);
	}
	event_send(sent->modern ? NULL : route->session, route->stream, route,
	    message);
}

/* The client has withdrawn what it asked: nothing follows. */
static void
end_unanswered(struct route *route)
{
	if (!route->streaming) {
		route_answer(route, 202, NULL, NULL, NULL);
		return;
	}
	stream_close(route);
	spend(route);
}

/* Lets the client come back for the rest. */
static void
drop_stream(struct route *route)
{
	if (!route->session || !route->exchange || !route->accept.events)
		return;
	if (!route->streaming)
		stream_open(route);
	stream_close(route);
	route->broken = false;
}

void
route_send(
    void *arg, void *route_arg, struct buf *message, const struct sent *sent)
{
	struct route *route = route_arg;

	(void)arg;
	if (!route || route->spent)
		return;
	switch (sent->kind) {
	case SENT_ANSWER:
		send_answer(route, message, sent);
		break;
	case SENT_NOTE:
		send_note(route, message, sent);
		break;
	case SENT_OVER:
		end_unanswered(route);
		break;
	case SENT_DROP:
		drop_stream(route);
		break;
	case SENT_FREE:
		break;
	}
}

void
route_session_send(
    void *arg, void *route, struct buf *message, const struct sent *sent)
{
	if (sent->kind == SENT_FREE)
		send_free(arg, message);
	else
		route_send(NULL, route, message, sent);
}

/* ---- other answers ---- */

void
route_answer(struct route *route, unsigned status, const char *headers,
    const char *type, struct buf *body)
{
	struct exchange *exchange = take_exchange(route);
	own_buf struct buf lines;

	buf_init(&lines, HEADERS_MAX);
	(void)buf_add_text(&lines, headers ? headers : "");
	add_session_id(route, &lines);
	(void)buf_add(&lines, "", 1);
	if (exchange)
		exchange_answer(exchange, status,
		    lines.n > 1 ? (const char *)lines.p : NULL, type, body);
	spend(route);
}

void
route_refuse(struct route *route, const struct http_refusal *refusal)
{
	struct exchange *exchange = take_exchange(route);

	if (exchange)
		refusal_answer(route->routes->refusals, exchange, refusal);
	spend(route);
}

/* ---- streams of notes, and streams that go on ---- */

static struct route *
find_stream(struct session *session, uint32_t stream)
{
	struct route *route;

	LIST_FOREACH(route, &session->routes, of_session)
	if (route->stream == stream)
		return route;
	return NULL;
}

static void
replay(struct route *route, struct session *session, uint32_t stream,
    uint64_t number)
{
	const struct event *event;

	while ((event = events_after(&session->events, stream, number))) {
		put(route, buf_span(&event->text));
		number = event->number;
	}
}

/* Gives the reader of route to other, whose stream goes on with it. */
static void
hand_over(struct route *route, struct route *other, uint64_t number)
{
	stream_close(other);
	other->exchange = route->exchange;
	other->principal->connections++;
	route->principal->connections--;
	other->broken = false;
	exchange_set_owner(other->exchange, other);
	route->exchange = NULL;
	stream_begin(other);
	replay(other, other->session, other->stream, number);
	spend(route);
}

/* The oldest streams end where there are too many. */
static void
bound_notes(struct session *session)
{
	struct route *route, *oldest;
	unsigned n;

	do {
		n = 0;
		oldest = NULL;
		LIST_FOREACH(route, &session->routes, of_session)
		{
			if (route->kind != ROUTE_NOTES)
				continue;
			oldest = route;
			n++;
		}
		if (n > SESSION_STREAMS_MAX)
			route_end_notes(oldest);
	} while (n > SESSION_STREAMS_MAX);
}

/* Goes on with a stream that is known. False: nothing is left of it. */
static bool
resume(struct route *route, uint32_t stream, uint64_t number)
{
	struct session *session = route->session;
	struct route *other = find_stream(session, stream);

	if (other) {
		hand_over(route, other, number);
		return true;
	}
	if (stream == session->notes_stream) {
		route->kind = ROUTE_NOTES;
		route->stream = stream;
		stream_begin(route);
		replay(route, session, stream, number);
		return true;
	}
	if (!events_after(&session->events, stream, number))
		return false;
	stream_begin(route);
	replay(route, session, stream, number);
	stream_close(route);
	spend(route);
	return true;
}

void
route_listen(struct route *route, struct span last_id)
{
	struct session *session = route->session;
	uint64_t number;
	uint32_t stream;

	release_body(route);
	route->accept.events = true;
	if (events_parse(&session->events, last_id, &stream, &number) &&
	    resume(route, stream, number))
		return;
	route->kind = ROUTE_NOTES;
	stream_open(route);
	session->notes_stream = route->stream;
	put(route, span_of(SSE_COMMENT)); /* so that the head is seen to end */
	bound_notes(session);
}

void
route_end_notes(struct route *route)
{
	stream_close(route);
	spend(route);
}

/* ---- time, and ends from outside ---- */

void
route_gone(struct route *route)
{
	(void)take_exchange(route);
	route->broken = false;
	if (route->session && route->kind == ROUTE_ASKED)
		return; /* the call goes on, and what it says is kept */
	if (route->peer)
		peer_close(give_ptr(&route->peer));
	spend(route);
}

void
route_tick(struct route *route, uint64_t now_us)
{
	if (!route->exchange || now_us < route->due_us)
		return;
	if (!route->streaming)
		stream_open(route);
	put(route, span_of(SSE_COMMENT));
}

void
routes_end_session(struct session *session)
{
	static const struct http_refusal ended = { 404, "session",
		"the session was ended", NULL };
	struct route *route, *next;

	for (route = LIST_FIRST(&session->routes); route; route = next) {
		next = LIST_NEXT(route, of_session);
		if (route->kind == ROUTE_COMING) {
			leave(route);
			route->session_lost = true;
		} else if (route->streaming) {
			stream_close(route);
			spend(route);
		} else {
			route_refuse(route, &ended);
		}
	}
}
