/* sessions.c: calls on their way to a session.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/sessions_impl.h"

#include "base/clock.h"
#include "base/own.h"
#include "conf/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call that is in the room: who set what is set otherwise meanwhile. */
struct passing {
	struct room_sessions *sessions;
	void (*done)(struct call *call, struct result *result);
	void (*on_output)(struct call *call, bool err, struct span text);
	void *owner;
};

/* ---- calls that end here ---- */

static void
on_soon(uv_timer_t *timer)
{
	struct room_sessions *sessions = timer->data;
	struct ticket *ticket;

	while ((ticket = tickets_pop(&sessions->finished)))
		ticket_deliver(ticket);
}

void
room_sessions_finish(struct room_sessions *sessions, struct ticket *ticket,
    enum outcome outcome, enum busy busy, const char *reason)
{
	ticket_fail(ticket, outcome, reason);
	ticket->result.busy = busy;
	tickets_push(&sessions->finished, ticket);
	(void)uv_timer_start(&sessions->soon, on_soon, 0, 0);
}

static void
refuse(struct room_sessions *sessions, struct ticket *ticket, enum busy busy,
    const char *reason)
{
	room_sessions_finish(sessions, ticket, OUTCOME_REFUSED, busy, reason);
}

static void
refuse_memory(struct room_sessions *sessions, struct ticket *ticket)
{
	refuse(sessions, ticket, BUSY_SERVER,
	    "[the server has no memory for the call]");
}

/* ---- into the room, and back ---- */

static void
give_back(struct passing *passing, struct call *call)
{
	call->done = passing->done;
	call->on_output = passing->on_output;
	call->owner = passing->owner;
}

static void
on_passed(struct call *call, struct result *result)
{
	struct passing *passing = call->owner;
	struct room_sessions *sessions = passing->sessions;

	give_back(passing, call);
	free(passing);
	sessions->passing--;
	room_sessions_settle(sessions, call, result);
	room_sessions_release(sessions);
	call->done(call, result);
}

static void
on_passed_output(struct call *call, bool err, struct span text)
{
	struct passing *passing = call->owner;

	call->owner = passing->owner;
	passing->on_output(call, err, text);
	call->owner = passing;
}

/* Adds which call of its session this is to the options, an object. */
static int
options_add_number(struct buf *options, uint64_t number)
{
	own_buf struct buf text;
	struct buf before = *options;
	int r;

	buf_init(&text, options->max);
	r = buf_printf(&text, "{\"session\":%llu", (unsigned long long)number);
	if (r == 0 && options->n > 2)
		r = buf_add_text(&text, ",");
	if (r == 0)
		r = options->n > 1
			? buf_add(&text, options->p + 1, options->n - 1)
			: buf_add_text(&text, "}");
	if (r < 0)
		return r;
	*options = text;
	text = before;
	return 0;
}

/* Hands the ticket's call to the room, as that of this session. False: it was
 * refused instead. */
static bool
pass(struct room_sessions *sessions, struct room_session *session,
    struct ticket *ticket)
{
	struct call *call = ticket->call;
	struct passing *passing = calloc(1, sizeof(*passing));
	int r = passing ? options_add_number(&call->options, session->calls + 1)
			: -ENOMEM;

	if (r == 0) {
		*passing = (struct passing){ sessions, call->done,
			call->on_output, call->owner };
		call->session = session->number;
		call->done = on_passed;
		call->on_output = passing->on_output ? on_passed_output : NULL;
		call->owner = passing;
		r = room_submit(sessions->room, call);
		if (r < 0)
			give_back(passing, call);
	}
	if (r < 0) {
		free(passing);
		refuse_memory(sessions, ticket);
		return false;
	}
	session->call = call->id;
	session->cancelled = false;
	sessions->passing++;
	ticket_free(ticket);
	return true;
}

/* ---- what a call wants ---- */

static void
refuse_place(
    struct room_sessions *sessions, struct ticket *ticket, enum busy busy)
{
	refuse(sessions, ticket, busy,
	    busy == BUSY_CALLER
		? "[all the sessions that you may have are in use: call again "
		  "when a call of them has ended, or without a session]"
		: "[all sessions of this server are in use: call again later, "
		  "or without a session]");
}

/* A new session, empty or a copy of origin. */
static void
begin(struct room_sessions *sessions, struct room_session *origin,
    struct ticket *ticket)
{
	struct call *call = ticket->call;
	struct room_session *session;
	enum busy busy;

	if (!room_sessions_make_place(
		sessions, call->principal, origin, &busy)) {
		refuse_place(sessions, ticket, busy);
		return;
	}
	session =
	    session_table_add(&sessions->table, call->principal, clock_us());
	if (!session) {
		refuse_memory(sessions, ticket);
		return;
	}
	if (origin) {
		call->origin = origin->number;
		session->calls = origin->calls;
		origin->branches++;
	}
	if (pass(sessions, session, ticket))
		return;
	if (origin)
		origin->branches--;
	session_table_remove(&sessions->table, session);
}

static void
go_on(struct room_sessions *sessions, struct room_session *session,
    struct ticket *ticket)
{
	session->state = ROOM_SESSION_RUNNING;
	if (!pass(sessions, session, ticket))
		session->state = ROOM_SESSION_IDLE;
}

void
room_sessions_advance(
    struct room_sessions *sessions, struct room_session *session)
{
	struct ticket *ticket;

	while (session->state == ROOM_SESSION_IDLE &&
	       (ticket = tickets_pop(&session->line))) {
		sessions->waiting--;
		if (ticket->call->use == SESSION_BRANCH)
			begin(sessions, session, ticket);
		else
			go_on(sessions, session, ticket);
	}
}

/* ---- from the protocol ---- */

/* Calls in the lines of this principal's sessions. */
static unsigned
waiting_of(
    const struct room_sessions *sessions, const struct principal *principal)
{
	const struct room_session *session;
	unsigned n = 0;

	LIST_FOREACH(session, &sessions->table.list, link)
	if (principal_is(session->principal, principal))
		n += session->line.n;
	return n;
}

/* Whether there is a place for one more call to wait: those that wait here
 * count, too. */
static enum busy
busy_for(
    const struct room_sessions *sessions, const struct principal *principal)
{
	return room_busy(sessions->room, principal,
	    waiting_of(sessions, principal), sessions->waiting);
}

static void
enter_line(struct room_sessions *sessions, struct room_session *session,
    struct ticket *ticket)
{
	enum busy busy = busy_for(sessions, ticket->call->principal);

	if (session->line.n >= ROOM_SESSION_LINE_MAX)
		refuse(sessions, ticket, BUSY_CALLER,
		    "[too many calls wait for this session: call again "
		    "later]");
	else if (busy != BUSY_NOT)
		refuse(sessions, ticket, busy,
		    "[too many calls wait already: call again later]");
	else {
		tickets_push(&session->line, ticket);
		sessions->waiting++;
	}
}

/* A call that names a session. */
static void
use_session(struct room_sessions *sessions, struct ticket *ticket)
{
	struct call *call = ticket->call;
	struct room_session *session = session_table_find(
	    &sessions->table, call->session_id, call->principal);
	char why[SESSION_SENTENCE_SIZE];

	if (!session) {
		room_sessions_say_ended(
		    sessions, call->session_id, call->principal, why);
		refuse(sessions, ticket, BUSY_NOT, why);
	} else if (session->state == ROOM_SESSION_IDLE) {
		tickets_push(&session->line, ticket);
		sessions->waiting++;
		room_sessions_advance(sessions, session);
	} else {
		enter_line(sessions, session, ticket);
	}
}

bool
room_sessions_know(const struct room_sessions *sessions, const char *id,
    const struct principal *principal)
{
	return strlen(id) == RANDOM_ID_SIZE - 1 &&
	       (session_table_find(&sessions->table, id, principal) ||
		   ended_sessions_why(&sessions->ended, id, principal));
}

/* True if the caller has all that it may have, and some of it is here: the
 * room does not know of that. */
static bool
is_over(const struct room_sessions *sessions, const struct call *call)
{
	return sessions->waiting > 0 &&
	       busy_for(sessions, call->principal) == BUSY_CALLER;
}

int
room_sessions_submit(struct room_sessions *sessions, struct call *call)
{
	bool over = is_over(sessions, call);
	struct ticket *ticket;

	if (sessions->closed)
		BUG("a call for closed sessions");
	if (call->use == SESSION_NONE && !over)
		return room_submit(sessions->room, call);
	ticket = ticket_new(call);
	if (!ticket)
		return -ENOMEM;
	if (!call->id) {
		call->id = room_next_id(sessions->room);
		call->submitted_us = clock_us();
	}
	if (over)
		refuse(sessions, ticket, BUSY_CALLER,
		    "[you have too many calls at once and your queue is full: "
		    "call again later]");
	else if (sessions->conf->max_sessions == 0)
		refuse(sessions, ticket, BUSY_NOT,
		    "[this server keeps no sessions]");
	else if (call->use == SESSION_NEW)
		begin(sessions, NULL, ticket);
	else
		use_session(sessions, ticket);
	return 0;
}

void
room_sessions_cancel(struct room_sessions *sessions, uint32_t id)
{
	struct room_session *session;
	struct ticket *ticket = NULL;

	LIST_FOREACH(session, &sessions->table.list, link)
	{
		ticket = tickets_take(&session->line, id);
		if (ticket)
			break;
		if (session->state != ROOM_SESSION_IDLE && session->call == id)
			session->cancelled = true;
	}
	if (!ticket) {
		room_cancel(sessions->room, id);
		return;
	}
	sessions->waiting--;
	room_sessions_finish(
	    sessions, ticket, OUTCOME_KILLED, BUSY_NOT, "[cancelled]");
}

/* ---- the beginning and the end ---- */

static void
on_expiry(uv_timer_t *timer)
{
	room_sessions_expire(timer->data, clock_us());
}

void
room_sessions_start_timer(
    struct room_sessions *sessions, uint64_t now_us, uint64_t due_us)
{
	if (due_us == UINT64_MAX)
		(void)uv_timer_stop(&sessions->expiry);
	else
		(void)uv_timer_start(&sessions->expiry, on_expiry,
		    due_us > now_us ? (due_us - now_us) / 1000 + 1 : 0, 0);
}

struct room_sessions *
room_sessions_new(uv_loop_t *loop, struct room *room, const struct conf *conf)
{
	struct room_sessions *sessions = calloc(1, sizeof(*sessions));
	const struct room_watcher watcher = { room_sessions_on_ended,
		room_sessions_on_lost, sessions };

	if (!sessions || !ended_sessions_init(&sessions->ended)) {
		free(sessions);
		return NULL;
	}
	sessions->room = room;
	sessions->conf = conf;
	session_table_init(&sessions->table);
	tickets_init(&sessions->finished);
	(void)uv_timer_init(loop, &sessions->soon);
	(void)uv_timer_init(loop, &sessions->expiry);
	sessions->soon.data = sessions->expiry.data = sessions;
	if (room)
		room_watch_sessions(room, &watcher);
	return sessions;
}

void
room_sessions_stats(
    const struct room_sessions *sessions, struct room_sessions_stats *ret)
{
	*ret = (struct room_sessions_stats){ .held = sessions->table.n,
		.waiting = sessions->waiting,
		.bytes = session_table_sum(&sessions->table, SESSION_BYTES) };
	for (unsigned i = 0; i < SESSION_ENDS; i++)
		ret->ended[i] = sessions->ends[i];
}

void
room_sessions_release(struct room_sessions *sessions)
{
	if (!sessions->closed || sessions->handles > 0 || sessions->passing > 0)
		return;
	ended_sessions_done(&sessions->ended);
	free(sessions);
}

static void
on_closed(uv_handle_t *handle)
{
	struct room_sessions *sessions = handle->data;

	sessions->handles--;
	room_sessions_release(sessions);
}

static void
close_handle(struct room_sessions *sessions, uv_handle_t *handle)
{
	sessions->handles++;
	uv_close(handle, on_closed);
}

void
room_sessions_close(struct room_sessions *sessions)
{
	struct room_session *session;
	struct ticket *ticket;

	if (!sessions)
		return;
	sessions->closed = true;
	close_handle(sessions, (uv_handle_t *)&sessions->soon);
	close_handle(sessions, (uv_handle_t *)&sessions->expiry);
	if (sessions->room)
		room_watch_sessions(sessions->room, NULL);
	while ((session = LIST_FIRST(&sessions->table.list))) {
		while ((ticket = tickets_pop(&session->line))) {
			ticket_fail(
			    ticket, OUTCOME_KILLED, "[the server is ending]");
			tickets_push(&sessions->finished, ticket);
		}
		session_table_remove(&sessions->table, session);
	}
	while ((ticket = tickets_pop(&sessions->finished)))
		ticket_deliver(ticket);
}
