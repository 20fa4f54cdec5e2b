/* session.h: the sessions of clients that make a handshake over HTTP. What is
 * held of one can be dropped when there are too many: its id is enough to
 * begin again, until the session was ended or its life is over.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_SESSION_H
#define FRONT_SESSION_H

#include "front/events.h"
#include "front/session_id.h"
#include "mcp/mcp.h"

#include <sys/queue.h>

struct route;
struct sessions;

struct session {
	TAILQ_ENTRY(session) of_all; /* the longest unused first */
	LIST_ENTRY(session) of_nonce;
	TAILQ_ENTRY(session) of_owner;
	struct sessions *sessions;
	struct session_owner *owner;
	struct session_id id; /* listed once it is given */
	bool listed;
	struct peer *peer;
	struct events events;
	LIST_HEAD(session_routes, route)
	routes; /* the newest first; kept by route.c */
	unsigned routes_n;
	uint32_t notes_stream; /* of the last stream that a GET opened, or 0 */
	uint64_t used_us;
};

struct sessions_conf {
	struct mcp *mcp;
	uint32_t idle_ms;
	uint8_t key[HMAC_KEY_SIZE];
	peer_send_fn *send; /* arg is the session */
};

/* NULL without memory. */
struct sessions *sessions_new(const struct sessions_conf *conf);
void sessions_free(struct sessions *sessions); /* NULL is fine */

/* A session for a handshake that came, of a new peer; the one of principal's,
 * or of all, that has been unused the longest makes room for it. 0; -EBUSY:
 * all are in use; -ENOMEM. */
int sessions_begin(struct sessions *sessions, struct principal *principal,
    uint64_t now_us, struct session **ret_session);

/* After the handshake: the session is found by this id from now on. False: the
 * handshake failed, and the session has to be ended. */
bool session_name(
    struct session *session, int64_t wall_s, char ret_id[SESSION_ID_SIZE]);

/* The session with the id in text, made again from the id if need be. NULL: there is
 * none, or not for this principal; *ret_code says why: -ENOENT; -EBUSY and
 * -ENOMEM as above. */
struct session *sessions_find(struct sessions *sessions, struct span text,
    struct principal *principal, int64_t wall_s, uint64_t now_us,
    int *ret_code);

/* The session was used. */
void session_touch(struct session *session, uint64_t now_us);

/* Ends the session, which has no routes, for good. */
void session_end(struct session *session, int64_t wall_s);

/* Ends those that were unused for too long. */
void sessions_expire(
    struct sessions *sessions, int64_t wall_s, uint64_t now_us);

/* The one unused the longest, or NULL; and the one after it. */
struct session *sessions_first(struct sessions *sessions);
struct session *session_next(struct session *session);

unsigned sessions_count(const struct sessions *sessions);
size_t sessions_events_bytes(const struct sessions *sessions);

#endif
