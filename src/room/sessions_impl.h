/* sessions_impl.h: what the files of the sessions share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOM_SESSIONS_IMPL_H
#define ROOM_SESSIONS_IMPL_H

#include "room/sessions.h"

#include "room/ended_sessions.h"
#include "room/session_table.h"

/* A sentence with an id and a reason in it. */
#define SESSION_SENTENCE_SIZE (SESSION_WHY_SIZE + RANDOM_ID_SIZE + 128u)

struct room_sessions {
	struct room *room;
	const struct conf *conf;
	struct session_table table;
	struct ended_sessions ended;
	struct tickets finished; /* that ended here, not in the room */
	unsigned waiting;        /* in the lines of all sessions */
	unsigned passing;        /* calls of sessions that are in the room */
	uint64_t ends[SESSION_ENDS];
	uv_timer_t soon;   /* delivers what is finished */
	uv_timer_t expiry; /* of the session that is due first */
	unsigned handles;  /* still open while closing */
	bool closed;
};

/* ---- sessions.c ---- */

/* Refuses a call, or ends it otherwise, in the loop's next turn. */
void room_sessions_finish(struct room_sessions *sessions, struct ticket *ticket,
    enum outcome outcome, enum busy busy, const char *reason);

/* Begins what waits for the session, as far as it can. */
void room_sessions_advance(
    struct room_sessions *sessions, struct room_session *session);

/* Has room_sessions_expire called at due_us; UINT64_MAX: not at all. */
void room_sessions_start_timer(
    struct room_sessions *sessions, uint64_t now_us, uint64_t due_us);

/* Frees what is closed, and has nothing in the room or on the loop. */
void room_sessions_release(struct room_sessions *sessions);

/* ---- sessions_end.c ---- */

/* Ends a session, and refuses the calls in its line. why is a part of a
 * sentence: "idle for 10 min". */
void room_sessions_end(struct room_sessions *sessions,
    struct room_session *session, enum room_session_end end, const char *why);

/* The sentence for one that goes on with an ended session, or with one that
 * never was. */
void room_sessions_say_ended(const struct room_sessions *sessions,
    const char *id, const struct principal *principal,
    char ret_text[SESSION_SENTENCE_SIZE]);

/* Makes a place for one more session of principal; keep is spared. False: there
 * is none, *ret_busy says for whose sake. */
bool room_sessions_make_place(struct room_sessions *sessions,
    const struct principal *principal, const struct room_session *keep,
    enum busy *ret_busy);

/* A call came back from the room: what that means for its session, for
 * that which it copied, and for the result. */
void room_sessions_settle(struct room_sessions *sessions,
    const struct call *call, struct result *result);

/* Ends those whose time has come, and sets the timer for the next. */
void room_sessions_expire(struct room_sessions *sessions, uint64_t now_us);

/* struct room_watcher's. */
void room_sessions_on_ended(void *arg, uint32_t number, const char *why);
void room_sessions_on_lost(void *arg);

#endif
