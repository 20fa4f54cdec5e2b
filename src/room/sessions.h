/* sessions.h: the sessions of a room, as the server sees them: interpreters
 * that go on from call to call, by the ids that clients know.
 *
 * Theory of operation. A session is a child of the room that is kept: it lives
 * with the keeper, under a number that is chosen here and never used again.
 * Here stands who it belongs to, what it holds, and whether a call is in it.
 *
 *                 result: it lives              a call's turn
 *   STARTING ──────────────────────▶ IDLE ──────────────────▶ RUNNING
 *       │                            │  ▲                        │
 *       │ it was never made          │  └── result: it lives ────┤
 *       ▼                            ▼                           ▼
 *     (gone)                       ENDED: its id and the reason stay known
 *
 * A session takes one call at a time. Others for it wait in its own line, in
 * the order in which they came, and only the first of them is ever in the
 * room's queue; so neither the fairness of the room nor its limits know of
 * sessions. A branch waits in the line of its origin likewise, and then goes to
 * the room as a call of its own: frames reach the keeper in order, so that what
 * is behind it in the line may follow at once. While a branch is on its way,
 * its origin is not ended.
 *
 * All that a session keeps is bounded: how many there are, what they hold
 * together (as the keeper says after each call), how long one may rest and
 * live. Where one has to make way, it is the one that has rested the longest:
 * of the same principal if it has its share already, else of those who have
 * more than theirs. A share is all there is, divided by those who have any.
 *
 * A session is found by an id of 128 random bits and its principal together:
 * another's id is answered as one that never was. Ids of the last sessions that
 * ended are remembered with the reason, so that whoever goes on with one is
 * told what happened and what to do.
 *
 * When the keeper is lost, all sessions are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_SESSIONS_H
#define ROOM_SESSIONS_H

#include "call/call.h"
#include "conf/conf.h"
#include "room/room.h"

#include <stdint.h>
#include <uv.h>

struct room_sessions;

/* The sessions of this room, none yet. Borrows all three. NULL without
 * memory. */
struct room_sessions *room_sessions_new(
    uv_loop_t *loop, struct room *room, const struct conf *conf);

/* room_submit for calls that may have to do with a session, as call->use and
 * call->session_id say: the same contract. A call for a session that is not
 * there is refused in its result. In the result, session is the id under which
 * it goes on, if it does; where it has ended with this call, stderr says so. */
int room_sessions_submit(struct room_sessions *sessions, struct call *call);

/* room_cancel for them: also of those that wait for their session. */
void room_sessions_cancel(struct room_sessions *sessions, uint32_t id);

/* True if the session of that id is principal's and here, or was and it is still
 * known why it ended. id may be any text. */
bool room_sessions_know(const struct room_sessions *sessions, const char *id,
    const struct principal *principal);

/* Why a session ended: a label of the metrics. */
enum room_session_end {
	SESSION_END_REST,      /* nobody used it */
	SESSION_END_LIFE,      /* it was old enough */
	SESSION_END_EVICTED,   /* others were begun */
	SESSION_END_BYTES,     /* they hold too much together */
	SESSION_END_TIMEOUT,   /* killed at a call's limit */
	SESSION_END_MEMORY,    /* a call's memory ran out */
	SESSION_END_EXITED,    /* os._exit */
	SESSION_END_CANCELLED, /* with its call */
	SESSION_END_KILLED,    /* a crash, or from outside */
	SESSION_END_LOST,      /* with the room */
};

#define SESSION_ENDS (SESSION_END_LOST + 1)

const char *room_session_end_name(enum room_session_end end);

struct room_sessions_stats {
	unsigned held;    /* that live, or are being made */
	unsigned waiting; /* calls in the lines of sessions */
	uint64_t bytes;   /* that they hold */
	uint64_t ended[SESSION_ENDS];
};

void room_sessions_stats(
    const struct room_sessions *sessions, struct room_sessions_stats *ret);

/* Before room_close: ends the calls that wait here (done is called for each)
 * and forgets the sessions. Memory goes when the calls that are in the room
 * have ended too and the loop has run. NULL is fine. */
void room_sessions_close(struct room_sessions *sessions);

#endif
