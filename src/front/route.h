/* route.h: the way from one request to its answer. A POST is a route that the
 * protocol is given with its message: what belongs to it is written here, as
 * JSON or as a stream of events. With a session, a route outlives a client
 * that is gone, and takes its next connection when it comes back.
 *
 *   coming ──▶ asked ──▶ spent      its answer was written, or nobody waits
 *         └──▶ notes ──▶ spent      a GET: what belongs to no request
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_ROUTE_H
#define FRONT_ROUTE_H

#include "front/accept.h"
#include "front/exchange.h"
#include "front/refusal.h"
#include "front/session.h"
#include "mcp/mcp.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

enum route_kind {
	ROUTE_COMING, /* the body is on its way */
	ROUTE_ASKED,  /* the protocol has the message */
	ROUTE_NOTES,
};

struct turns;

TAILQ_HEAD(route_list, route);

/* All of a server. */
struct routes {
	struct route_list all;
	struct route_list spent; /* freed when the loop comes by */
	uv_check_t reaper;       /* runs while there are some */
	struct refusals *refusals;
	size_t bodies;    /* bytes that are reserved for bodies on their way */
	unsigned streams; /* that clients read */
};

struct route {
	TAILQ_ENTRY(route) link;
	LIST_ENTRY(route) of_session;
	TAILQ_ENTRY(route) of_turns;
	struct turns *turns; /* that it waits in; or NULL */
	struct routes *routes;
	enum route_kind kind;
	struct exchange *exchange;   /* NULL: nobody reads */
	struct principal *principal; /* held */
	struct peer *peer;           /* its own; NULL with a session */
	struct session *session;     /* or NULL */
	struct accept accept;
	bool session_lost; /* it had one, which was ended */
	bool session_new;  /* its answer carries the id */
	bool streaming;    /* a stream was begun, for whoever reads now */
	bool broken;       /* the reader was too slow: it is gone soon */
	bool spent;
	char session_id[SESSION_ID_SIZE]; /* "" but for a new one */
	uint32_t stream;                  /* its number in the session, or 0 */
	uint64_t due_us; /* when a stream is begun, or kept alive */
	size_t body;     /* bytes reserved */
};

/* Borrows loop and refusals. */
void routes_init(
    struct routes *routes, uv_loop_t *loop, struct refusals *refusals);

/* Forgets all routes; the exchanges are gone. The reaper's handle is closed
 * by the caller after it. */
void routes_done(struct routes *routes);

/* A route for the exchange, whose owner it becomes; takes the hold of
 * principal. NULL without memory: then the hold is the caller's. */
struct route *route_new(struct routes *routes, struct exchange *exchange,
    struct principal *principal);

void route_join(struct route *route, struct session *session);

/* Reserves n bytes for the body, so that no principal takes all that bodies
 * may take. False: it has too many on their way. */
bool route_reserve(struct route *route, size_t n);

/* Its message goes to the protocol now. */
void route_ask(struct route *route);

/* The functions that peers send with: arg is nothing for a route's own peer,
 * and the session for a session's. */
void route_send(
    void *arg, void *route, struct buf *message, const struct sent *sent);
void route_session_send(
    void *arg, void *route, struct buf *message, const struct sent *sent);

/* Ends the route with that answer. */
void route_refuse(struct route *route, const struct http_refusal *refusal);
void route_answer(struct route *route, unsigned status, const char *headers,
    const char *type, struct buf *body);

/* A GET of a session: a stream of notes, or, if last_id (may be absent) is of
 * one of the session's streams, the rest of that. */
void route_listen(struct route *route, struct span last_id);

/* Its client is gone. */
void route_gone(struct route *route);

/* Begins a stream, or keeps it alive, if it is time to. */
void route_tick(struct route *route, uint64_t now_us);

/* Ends the stream of notes: the server ends. */
void route_end_notes(struct route *route);

/* Ends what goes on in a session. */
void routes_end_session(struct session *session);

#endif
