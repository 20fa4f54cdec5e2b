/* mcp.h: the protocol, whoever carries it. struct mcp is the server's one
 * set of methods over its rooms; struct peer is one client's side of it: the
 * revision it agreed on and its requests in flight. A front feeds messages in
 * and is given messages to send; it knows nothing of their content.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "base/buf.h"
#include "call/principal.h"
#include "conf/conf.h"
#include "room/room.h"
#include "room/sessions.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct mcp;
struct peer;
struct catalog;

/* A server of what catalog has. Borrows everything. NULL without memory. */
struct mcp *mcp_new(uv_loop_t *loop, struct room *room, const struct conf *conf,
    const struct catalog *catalog);

/* The same over several rooms, n of them, each with its own configuration
 * (conf/room_conf.h); conf is that of the whole. */
struct mcp *mcp_new_of(uv_loop_t *loop, struct room *const rooms[],
    const struct conf confs[], unsigned n, const struct conf *conf,
    const struct catalog *catalog);

/* After every peer is closed, and before the room is: results may still come
 * for calls that nobody waits for. Memory goes when the last has come and the
 * loop has run. */
void mcp_close(struct mcp *mcp);

/* ---- messages out ---- */

enum sent_kind {
	SENT_ANSWER, /* to the message, or batch, that came on the route */
	SENT_NOTE,   /* something that goes along with it, before the answer */
	SENT_FREE,   /* belongs to no message: route is NULL */
	SENT_OVER, /* no bytes: there will be no answer, by the client's wish */
	SENT_DROP, /* no bytes: the route's stream should break here, and its
		      * client come back for the rest */
};

struct sent {
	enum sent_kind kind;
	unsigned status;  /* of HTTP, for an answer */
	unsigned retry_s; /* with 429 and 503: when to come again */
	/* The message that came is served without a handshake: closing its
	 * stream is what ends it, and no event has an id. */
	bool modern;
};

/* Takes the bytes of message, without a line end, for the client. route is
 * what peer_receive was given with the message that this one belongs to. It
 * must not call back into the peer. */
typedef void peer_send_fn(
    void *arg, void *route, struct buf *message, const struct sent *sent);

/* ---- peers ---- */

enum peer_kind {
	PEER_STREAM,    /* one client for as long as it lasts: stdio */
	PEER_SESSION,   /* the same over HTTP */
	PEER_STATELESS, /* one HTTP request: no handshake is expected */
};

struct peer_conf {
	enum peer_kind kind;
	struct principal *principal; /* held by the peer; NULL: stdio's */
	peer_send_fn *send;
	void *arg;
};

/* A new client. NULL without memory. */
struct peer *peer_new(struct mcp *mcp, const struct peer_conf *conf);

/* What HTTP says about a message beside its bytes; absent: p is NULL. */
struct peer_headers {
	struct span version; /* MCP-Protocol-Version */
	struct span method;  /* Mcp-Method */
	struct span name;    /* Mcp-Name */
	const struct param_span {
		struct span name, value; /* Mcp-Param-NAME */
	} * params;
	unsigned params_n;
};

enum received {
	RECEIVED_NOTHING, /* nothing will be answered: a notification */
	RECEIVED_REQUEST, /* it was answered, or will be, through send */
	RECEIVED_REFUSED, /* a notification or response that is not accepted;
			   * an error was sent as SENT_ANSWER */
};

/* One message, or batch, as it came; whatever is in it, it is dealt with.
 * route is handed back with what belongs to it; headers is NULL where there
 * are none (stdio). */
enum received peer_receive(struct peer *peer, void *route, struct span text,
    const struct peer_headers *headers);

/* A message came that was longer than LINE_MAX_BYTES. */
void peer_receive_too_long(struct peer *peer);

/* Nobody is left to read what belongs to that route: what runs for it is
 * cancelled, and send is not called with it again. */
void peer_route_gone(struct peer *peer, void *route);

/* The revision that the handshake agreed on, or NULL. */
const char *peer_revision(const struct peer *peer);

/* Puts a session back into the state that it had, after a restart. False: no
 * such revision. */
bool peer_restore(struct peer *peer, const char *revision);

/* True if a header that says version names a revision without a handshake, one
 * that we know or a later one. version.p may be NULL. */
bool mcp_is_modern(struct span version);

/* True if text is one valid message that asks for a handshake. */
bool mcp_is_initialize(struct span text);

/* Requests whose answers are outstanding; open subscriptions do not count. */
unsigned peer_busy(const struct peer *peer);

/* Ends the subscriptions, each with its answer. */
void peer_end_subscriptions(struct peer *peer);

/* Cancels what is in flight and frees the peer; send is not called again. */
void peer_close(struct peer *peer);

/* Sends the progress notifications that are due, and has itself called again
 * when the next ones are. The core's own timer calls it. */
void mcp_progress(struct mcp *mcp, uint64_t now_us);

/* ---- what happens, for counters ---- */

struct mcp_stats {
	uint64_t calls[ROOMS][OUTCOMES]; /* that ended */
	uint64_t unanswered;             /* of those: nobody waited any more */
	uint64_t errors;                 /* of the protocol, answered */
	uint64_t strays; /* responses nobody asked for, unknown notes */
	/* Wall time from the request to the answer; bucket i counts those
	 * between CALL_BUCKET_US(i - 1) and CALL_BUCKET_US(i), the last one
	 * all that took longer. */
	uint64_t buckets[CALL_BUCKETS];
	uint64_t sum_us;
};

#define CALL_BUCKET_US(i) (500ull << (i)) /* 0.5 ms, 1 ms, 2 ms, ... */

const struct mcp_stats *mcp_stats(const struct mcp *mcp);

/* The room at place i and its sessions. False: there are no more. *ret_room is
 * NULL for a server without rooms. */
bool mcp_room_at(const struct mcp *mcp, unsigned i, enum room_id *ret_id,
    const struct room **ret_room, const struct room_sessions **ret_sessions);

/* Asked before each call of a principal begins; false refuses it, and
 * *ret_retry_s says when to come again. NULL: nobody asks. */
void mcp_set_admission(struct mcp *mcp,
    bool (*admit)(
	void *arg, struct principal *principal, unsigned *ret_retry_s),
    void *arg);

#endif
