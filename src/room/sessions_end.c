/* sessions_end.c: what ends a session, and who is told.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/sessions_impl.h"

#include "base/clock.h"
#include "base/log.h"
#include "conf/limits.h"

#include <stdio.h>
#include <string.h>

#define AGAIN "start another with session: \"new\""

const char *
room_session_end_name(enum room_session_end end)
{
	static const char *const names[] = {
		[SESSION_END_REST] = "rest",
		[SESSION_END_LIFE] = "life",
		[SESSION_END_EVICTED] = "evicted",
		[SESSION_END_BYTES] = "bytes",
		[SESSION_END_TIMEOUT] = "timeout",
		[SESSION_END_MEMORY] = "memory",
		[SESSION_END_EXITED] = "exited",
		[SESSION_END_CANCELLED] = "cancelled",
		[SESSION_END_KILLED] = "killed",
		[SESSION_END_LOST] = "room_lost",
	};

	return names[end];
}

/* ---- words ---- */

void
room_sessions_say_ended(const struct room_sessions *sessions, const char *id,
    const struct principal *principal, char ret_text[SESSION_SENTENCE_SIZE])
{
	const char *why = ended_sessions_why(&sessions->ended, id, principal);

	if (why)
		(void)snprintf(ret_text, SESSION_SENTENCE_SIZE,
		    "[session %s ended: %s: " AGAIN "]", id, why);
	else
		(void)snprintf(ret_text, SESSION_SENTENCE_SIZE,
		    "[there is no session %s: it ended long ago, or with an "
		    "earlier server: " AGAIN "]",
		    id);
}

/* "90 s", "10 min" */
static void
say_time(uint32_t ms, char ret_text[24])
{
	if (ms >= 60000 && ms % 60000 == 0)
		(void)snprintf(ret_text, 24, "%u min", ms / 60000);
	else
		(void)snprintf(ret_text, 24, "%g s", ms / 1000.0);
}

/* ---- one ends ---- */

/* True if the keeper does not know yet. */
static bool
is_our_wish(enum room_session_end end)
{
	return end <= SESSION_END_BYTES;
}

static void
refuse_line(struct room_sessions *sessions, struct room_session *session)
{
	char text[SESSION_SENTENCE_SIZE];
	struct ticket *ticket;

	room_sessions_say_ended(
	    sessions, session->id, session->principal, text);
	while ((ticket = tickets_pop(&session->line))) {
		sessions->waiting--;
		room_sessions_finish(
		    sessions, ticket, OUTCOME_REFUSED, BUSY_NOT, text);
	}
}

void
room_sessions_end(struct room_sessions *sessions, struct room_session *session,
    enum room_session_end end, const char *why)
{
	const struct principal *principal = session->principal;

	log_info("event=session_ended session=%.8s principal=%s reason=%s "
		 "calls=%llu bytes=%llu age_s=%llu",
	    session->id, principal ? principal->name : "-",
	    room_session_end_name(end), (unsigned long long)session->calls,
	    (unsigned long long)session->bytes,
	    (unsigned long long)(clock_us() - session->created_us) / 1000000u);
	sessions->ends[end]++;
	ended_sessions_add(&sessions->ended, session->id, principal, why);
	if (is_our_wish(end))
		room_drop_session(sessions->room, session->number);
	refuse_line(sessions, session);
	session_table_remove(&sessions->table, session);
}

/* ---- to make way ---- */

bool
room_sessions_make_place(struct room_sessions *sessions,
    const struct principal *principal, const struct room_session *keep,
    enum busy *ret_busy)
{
	const uint32_t max = sessions->conf->max_sessions;

	while (sessions->table.n >= max) {
		bool own;
		struct room_session *victim =
		    session_table_victim(&sessions->table, SESSION_PLACES, max,
			principal, keep, &own);

		if (!victim) {
			*ret_busy = own ? BUSY_CALLER : BUSY_SERVER;
			return false;
		}
		room_sessions_end(sessions, victim, SESSION_END_EVICTED,
		    "it made way for a newer one, as the one that was unused "
		    "the longest");
	}
	return true;
}

/* After a session of principal has grown. */
static void
shed_bytes(struct room_sessions *sessions, const struct principal *principal)
{
	const uint64_t max = sessions->conf->session_memory_bytes;
	char why[SESSION_WHY_SIZE];

	while (session_table_sum(&sessions->table, SESSION_BYTES) > max) {
		bool own;
		struct room_session *victim =
		    session_table_victim(&sessions->table, SESSION_BYTES, max,
			principal, NULL, &own);

		if (!victim)
			break; /* it is looked at when a call has ended */
		(void)snprintf(why, sizeof(why),
		    "it held %llu MiB, and sessions may hold %llu MiB together",
		    (unsigned long long)(victim->bytes / MIB),
		    (unsigned long long)(max / MIB));
		room_sessions_end(sessions, victim, SESSION_END_BYTES, why);
	}
}

/* ---- a call came back ---- */

/* Whether, and why, a session ended under its call. */
static enum room_session_end
end_of(const struct room_session *session, const struct result *result,
    const char **ret_why)
{
	static const struct {
		enum room_session_end end;
		const char *why;
	} ends[OUTCOMES] = {
		[OUTCOME_OK] = { SESSION_END_EXITED,
		    "its program ended the interpreter, as os._exit does" },
		[OUTCOME_RAISED] = { SESSION_END_EXITED,
		    "its program ended the interpreter, as os._exit does" },
		[OUTCOME_TIMEOUT] = { SESSION_END_TIMEOUT,
		    "its program was killed at the time limit" },
		[OUTCOME_MEMORY] = { SESSION_END_MEMORY,
		    "it ran out of memory" },
		[OUTCOME_KILLED] = { SESSION_END_KILLED,
		    "its program crashed or was killed" },
		[OUTCOME_ROOM_LOST] = { SESSION_END_LOST,
		    "the room was restarted" },
		[OUTCOME_REFUSED] = { SESSION_END_KILLED,
		    "it is not in the room any more" },
	};

	if (session->why[0]) {
		*ret_why = session->why;
		return SESSION_END_KILLED;
	}
	if (session->cancelled && result->outcome == OUTCOME_KILLED) {
		*ret_why = "its call was cancelled";
		return SESSION_END_CANCELLED;
	}
	*ret_why = ends[result->outcome].why;
	return ends[result->outcome].end;
}

/* So that whoever reads the result knows at once. */
static void
note_ended(const struct room_sessions *sessions, const char *id,
    const struct principal *principal, struct result *result)
{
	char text[SESSION_SENTENCE_SIZE];

	room_sessions_say_ended(sessions, id, principal, text);
	stream_note(&result->err, text);
}

static bool
is_over(const struct room_sessions *sessions,
    const struct room_session *session, uint64_t now_us)
{
	return now_us - session->created_us >=
	       1000ull * sessions->conf->session_life_ms;
}

static void
end_life(struct room_sessions *sessions, struct room_session *session)
{
	char why[SESSION_WHY_SIZE], time[24];

	say_time(sessions->conf->session_life_ms, time);
	(void)snprintf(why, sizeof(why), "its life of %s is over", time);
	room_sessions_end(sessions, session, SESSION_END_LIFE, why);
}

static void
lives(struct room_sessions *sessions, struct room_session *session,
    const struct call *call, struct result *result)
{
	char id[RANDOM_ID_SIZE];

	(void)snprintf(id, sizeof(id), "%s", session->id);
	session->state = ROOM_SESSION_IDLE;
	session->used_us = clock_us();
	if (result->outcome != OUTCOME_REFUSED)
		session->calls++;
	if (result->session_bytes > 0)
		session->bytes = result->session_bytes;
	if (is_over(sessions, session, session->used_us))
		end_life(sessions, session);
	shed_bytes(sessions, call->principal);
	session = session_table_number(&sessions->table, call->session);
	if (!session) {
		note_ended(sessions, id, call->principal, result);
		return;
	}
	(void)snprintf(result->session, sizeof(result->session), "%s", id);
	room_sessions_advance(sessions, session);
}

static void
dies(struct room_sessions *sessions, struct room_session *session,
    const struct call *call, struct result *result)
{
	enum room_session_end end;
	char id[RANDOM_ID_SIZE];
	const char *why;

	if (session->state == ROOM_SESSION_STARTING &&
	    result->outcome == OUTCOME_REFUSED) {
		/* It never was: nobody knows its id. */
		session_table_remove(&sessions->table, session);
		return;
	}
	(void)snprintf(id, sizeof(id), "%s", session->id);
	end = end_of(session, result, &why);
	room_sessions_end(sessions, session, end, why);
	note_ended(sessions, id, call->principal, result);
}

/* It was copied, or there was nothing left to copy. */
static void
release_origin(struct room_sessions *sessions, const struct call *call,
    struct result *result)
{
	struct room_session *origin =
	    session_table_number(&sessions->table, call->origin);

	if (origin) {
		origin->branches--;
		origin->used_us = clock_us();
	} else if (result->outcome == OUTCOME_REFUSED) {
		note_ended(sessions, call->session_id, call->principal, result);
	}
}

void
room_sessions_settle(struct room_sessions *sessions, const struct call *call,
    struct result *result)
{
	struct room_session *session =
	    session_table_number(&sessions->table, call->session);

	if (sessions->closed)
		return;
	if (call->origin)
		release_origin(sessions, call, result);
	if (session && result->session_alive && !session->why[0])
		lives(sessions, session, call, result);
	else if (session)
		dies(sessions, session, call, result);
	else if (call->use == SESSION_GO_ON)
		note_ended(sessions, call->session_id, call->principal, result);
	room_sessions_expire(sessions, clock_us());
}

/* ---- time ---- */

static void
end_rest(struct room_sessions *sessions, struct room_session *session)
{
	char why[SESSION_WHY_SIZE], time[24];

	say_time(sessions->conf->session_rest_ms, time);
	(void)snprintf(why, sizeof(why), "it was idle for %s", time);
	room_sessions_end(sessions, session, SESSION_END_REST, why);
}

/* Ends the session if its time has come; else when it will. */
static uint64_t
expire(struct room_sessions *sessions, struct room_session *session,
    uint64_t now_us)
{
	const uint64_t rest =
	    session->used_us + 1000ull * sessions->conf->session_rest_ms;
	const uint64_t life =
	    session->created_us + 1000ull * sessions->conf->session_life_ms;

	if (!session_is_free(session))
		return UINT64_MAX; /* it is looked at when its call has ended */
	if (now_us < rest && now_us < life)
		return rest < life ? rest : life;
	if (now_us >= rest)
		end_rest(sessions, session);
	else
		end_life(sessions, session);
	return UINT64_MAX;
}

void
room_sessions_expire(struct room_sessions *sessions, uint64_t now_us)
{
	struct room_session *session = LIST_FIRST(&sessions->table.list);
	uint64_t first_us = UINT64_MAX;

	while (session) {
		struct room_session *next = LIST_NEXT(session, link);
		uint64_t due_us = expire(sessions, session, now_us);

		if (due_us < first_us)
			first_us = due_us;
		session = next;
	}
	room_sessions_start_timer(sessions, now_us, first_us);
}

/* ---- what the room says ---- */

void
room_sessions_on_ended(void *arg, uint32_t number, const char *why)
{
	struct room_sessions *sessions = arg;
	struct room_session *session =
	    session_table_number(&sessions->table, number);

	if (!session)
		return; /* it was ended here at the same time */
	(void)snprintf(session->why, sizeof(session->why), "%s",
	    why[0] ? why : "it died while nobody used it");
	/* Else its call comes back, and says so. */
	if (session->state == ROOM_SESSION_IDLE)
		room_sessions_end(
		    sessions, session, SESSION_END_KILLED, session->why);
}

void
room_sessions_on_lost(void *arg)
{
	struct room_sessions *sessions = arg;
	struct room_session *session = LIST_FIRST(&sessions->table.list);

	while (session) {
		struct room_session *next = LIST_NEXT(session, link);

		/* The call of one that is starting comes back, or begins in
		 * the next keeper. */
		if (session->state != ROOM_SESSION_STARTING)
			room_sessions_end(sessions, session, SESSION_END_LOST,
			    "the room was restarted");
		session = next;
	}
}
