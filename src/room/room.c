/* room.c: opening, using and closing a room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/room_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "conf/limits.h"
#include "conf/room_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void
on_soon(uv_timer_t *timer)
{
	struct room *room = timer->data;
	struct ticket *ticket;

	while ((ticket = tickets_pop(&room->finished)))
		ticket_deliver(ticket);
}

void
room_finish(struct room *room, struct ticket *ticket)
{
	tickets_push(&room->finished, ticket);
	(void)uv_timer_start(&room->soon, on_soon, 0, 0);
}

static void
on_restart(uv_timer_t *timer)
{
	room_spawn(timer->data);
}

static void
on_poll_closed(uv_handle_t *handle)
{
	free(handle);
}

/* The handle first: it must leave the loop while its descriptor is open. */
static void
channel_close(struct room *room)
{
	if (room->poll)
		uv_close((uv_handle_t *)room->poll, on_poll_closed);
	room->poll = NULL;
	channel_done(&room->channel);
	/* It ends at the end of its channel, unless it is stuck. */
	if (room->keeper >= 0 && room->state != ROOM_CLOSING)
		launcher_kill(launcher_of(room), room->keeper_pid);
	fd_close(room->keeper);
	room->keeper = -1;
}

void
room_refuse(struct room *room, struct ticket *ticket)
{
	char reason[sizeof(room->failure.text) + 64];

	(void)snprintf(reason, sizeof(reason), "[%s: see breakroom doctor]",
	    room->failure.text);
	ticket_fail(ticket, OUTCOME_REFUSED, reason);
	room_finish(room, ticket);
}

void
room_refuse_queued(struct room *room)
{
	struct ticket *ticket;

	while ((ticket = shares_pop(&room->shares)))
		room_refuse(room, ticket);
}

static struct ticket *
room_ran_first(struct room *room)
{
	struct ticket *ticket = tickets_pop(&room->running);

	if (ticket)
		shares_ran(&room->shares, ticket);
	return ticket;
}

/* Without a keeper: what runs is lost. */
static void
room_down(struct room *room)
{
	struct ticket *ticket;

	channel_close(room);
	room->state = ROOM_DOWN;
	if (room->watcher.lost)
		room->watcher.lost(room->watcher.arg);
	while ((ticket = room_ran_first(room))) {
		ticket->result.session_alive = false;
		ticket_fail(ticket, OUTCOME_ROOM_LOST,
		    "[the room was lost while the program ran: call again]");
		room_finish(room, ticket);
	}
}

void
room_ruined(struct room *room, const struct err *err)
{
	log_error("event=room_ruined room=%s error=\"%s\"",
	    room_id_name(room->conf->room), err->text);
	room_down(room);
	room->failure = *err;
	room_refuse_queued(room);
}

void
room_count_loss(struct room *room, const struct err *err)
{
	if (room->state == ROOM_WARM) {
		if (room->served || clock_us() - room->warm_us > STEADY_US)
			room->restart_ms = RESTART_MS_MIN;
		return;
	}
	if (++room->losses < ROOM_LOSSES_MAX)
		return;
	if (room->failure.code == 0 || room->failure.code == EAGAIN)
		(void)fail(&room->failure, EIO,
		    "the room does not start (%.160s)", err->text);
	room_refuse_queued(room);
}

void
room_lost(struct room *room, const struct err *err)
{
	log_warn("event=keeper_lost room=%s error=\"%s\" restart_ms=%u",
	    room_id_name(room->conf->room), err->text, room->restart_ms);
	room->restarts++;
	room_count_loss(room, err);
	room_down(room);
	(void)uv_timer_start(&room->restart, on_restart, room->restart_ms, 0);
	room->restart_ms = RESTART_MS_AFTER(room->restart_ms);
}

int
room_open(uv_loop_t *loop, struct launcher *launcher, const struct conf *conf,
    const struct artifacts *artifacts, struct room **ret_room, struct err *err)
{
	struct room *room = calloc(1, sizeof(*room));

	if (!room)
		return fail(err, ENOMEM, "open a room");
	*room = (struct room){ .loop = loop,
		.launcher = launcher,
		.conf = conf,
		.artifacts = artifacts,
		.restart_ms = RESTART_MS_MIN };
	room->channel.fd = room->keeper = -1;
	shares_init(&room->shares);
	tickets_init(&room->running);
	tickets_init(&room->finished);
	(void)uv_timer_init(loop, &room->restart);
	(void)uv_timer_init(loop, &room->soon);
	(void)uv_timer_init(loop, &room->watch);
	(void)uv_timer_init(loop, &room->again);
	(void)uv_timer_init(loop, &room->peek);
	room->restart.data = room->soon.data = room->watch.data = room;
	room->again.data = room->peek.data = room;
	room_spawn(room);
	*ret_room = room;
	return 0;
}

static void
refuse_busy(struct room *room, struct ticket *ticket, enum busy busy,
    const char *reason)
{
	ticket_fail(ticket, OUTCOME_REFUSED, reason);
	ticket->result.busy = busy;
	room_finish(room, ticket);
}

/* A place in the queue for one more of this share: a free one, or that of
 * whoever takes most of them. */
static bool
room_make_place(struct room *room, const struct share *share)
{
	const unsigned busy = room->shares.queued + room->shares.running;
	struct ticket *ticket;

	if (busy < room->conf->concurrency + room->conf->queue)
		return true;
	ticket = shares_make_way(&room->shares, share);
	if (!ticket)
		return false;
	refuse_busy(room, ticket, BUSY_SERVER,
	    "[the server is busy, and your place in its queue went to "
	    "somebody who has fewer: call again later]");
	return true;
}

static void
room_queue(struct room *room, struct share *share, struct ticket *ticket)
{
	if (share_full(share)) {
		refuse_busy(room, ticket, BUSY_CALLER,
		    "[you have too many calls at once and your queue is full: "
		    "call again later]");
	} else if (!room_make_place(room, share)) {
		refuse_busy(room, ticket, BUSY_SERVER,
		    "[the server is busy and its queue is full: call again "
		    "later]");
	} else {
		shares_push(&room->shares, share, ticket);
		room_advance(room);
		return;
	}
	shares_drop(&room->shares, share);
}

uint32_t
room_next_id(struct room *room)
{
	return ++room->next_id;
}

/* Calls have ids from birth to death: 0 is none. */
static void
name_call(struct room *room, struct call *call)
{
	if (call->id)
		return;
	call->id = room_next_id(room);
	call->submitted_us = clock_us();
}

enum busy
room_busy(const struct room *room, const struct principal *principal,
    unsigned own, unsigned all)
{
	const struct share *share = shares_find(&room->shares, principal);
	const unsigned waits = room->shares.queued + room->shares.running + all;

	if (share)
		own += share->running + share->queued.n;
	if (principal && own >= principal->calls_max + principal->queue_max)
		return BUSY_CALLER;
	return waits >= room->conf->concurrency + room->conf->queue
		   ? BUSY_SERVER
		   : BUSY_NOT;
}

int
room_submit(struct room *room, struct call *call)
{
	struct ticket *ticket = ticket_new(call);
	struct share *share;

	if (room->state == ROOM_CLOSING)
		BUG("a call for a closed room");
	if (!ticket)
		return -ENOMEM;
	if (room->failure.code != 0 && room->failure.code != EAGAIN) {
		name_call(room, call);
		room_refuse(room, ticket);
		return 0;
	}
	share = shares_of(&room->shares, call->principal);
	if (!share) {
		ticket_free(ticket);
		return -ENOMEM;
	}
	name_call(room, call);
	room_queue(room, share, ticket);
	return 0;
}

void
room_cancel(struct room *room, uint32_t id)
{
	struct ticket *ticket = shares_take(&room->shares, id);
	struct wire_cancel record = { id };

	if (ticket) {
		ticket_fail(ticket, OUTCOME_KILLED, "[cancelled]");
		room_finish(room, ticket);
		return;
	}
	for (ticket = room->running.first; ticket; ticket = ticket->next)
		if (ticket->call->id == id)
			ticket->cancelled = true;
	if (room->state == ROOM_WARM) {
		(void)channel_say(
		    &room->channel, FRAME_CANCEL, &record, sizeof(record));
		room_listen(room);
	}
}

void
room_watch_sessions(struct room *room, const struct room_watcher *watcher)
{
	room->watcher = watcher ? *watcher : (struct room_watcher){ NULL };
}

void
room_drop_session(struct room *room, uint32_t session)
{
	struct wire_session record = { .session = session };

	if (room->state != ROOM_WARM && room->state != ROOM_STARTING)
		return; /* there is none any more */
	(void)channel_say(&room->channel, FRAME_DROP, &record, sizeof(record));
	room_listen(room);
}

bool
room_ready(const struct room *room)
{
	return room->state == ROOM_WARM;
}

void
room_stats(const struct room *room, struct room_stats *ret_stats)
{
	*ret_stats = (struct room_stats){ .queued = room->shares.queued,
		.running = room->shares.running,
		.principals = room->shares.n,
		.ready = room_ready(room),
		.restarts = room->restarts,
		.again = room->put_back };
}

const struct wire_grade *
room_grade(const struct room *room)
{
	return room->graded ? &room->grade : NULL;
}

/* ---- the end ---- */

static void
on_closed(uv_handle_t *handle)
{
	struct room *room = handle->data;

	if (--room->handles == 0)
		free(room);
}

static void
close_handle(struct room *room, uv_handle_t *handle)
{
	handle->data = room;
	room->handles++;
	uv_close(handle, on_closed);
}

void
room_close(struct room *room)
{
	struct ticket *ticket;

	if (!room || room->state == ROOM_CLOSING)
		return;
	room->state = ROOM_CLOSING;
	channel_close(room); /* the keeper ends, and all below it */
	while ((ticket = room_ran_first(room)) ||
	       (ticket = shares_pop(&room->shares))) {
		ticket_fail(ticket, OUTCOME_KILLED, "[the server is ending]");
		tickets_push(&room->finished, ticket);
	}
	while ((ticket = tickets_pop(&room->finished)))
		ticket_deliver(ticket);
	close_handle(room, (uv_handle_t *)&room->restart);
	close_handle(room, (uv_handle_t *)&room->soon);
	close_handle(room, (uv_handle_t *)&room->watch);
	close_handle(room, (uv_handle_t *)&room->again);
	close_handle(room, (uv_handle_t *)&room->peek);
}
