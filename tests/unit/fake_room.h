/* fake_room.h: a room that runs nothing: the test decides how each call ends.
 * Include it once in a program; it takes the place of room.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKE_ROOM_H
#define TESTS_UNIT_FAKE_ROOM_H

#include "room/room.h"

#include <stdlib.h>
#include <string.h>

#define FAKE_CALLS_MAX 1024

struct room {
	struct call *calls[FAKE_CALLS_MAX]; /* in the order they came */
	unsigned held;
	uint32_t last_id;
	unsigned submitted, cancelled; /* in all */
	struct room_watcher watcher;
	uint32_t dropped[FAKE_CALLS_MAX]; /* sessions */
	unsigned dropped_n;
	enum busy busy; /* what room_busy says */
};

int
room_open(uv_loop_t *loop, struct launcher *launcher, const struct conf *conf,
    const struct artifacts *artifacts, struct room **ret_room, struct err *err)
{
	(void)loop;
	(void)launcher;
	(void)conf;
	(void)artifacts;
	(void)err;
	*ret_room = calloc(1, sizeof(**ret_room));
	return *ret_room ? 0 : fail(err, 12, "no memory");
}

uint32_t
room_next_id(struct room *room)
{
	return ++room->last_id;
}

enum busy
room_busy(const struct room *room, const struct principal *principal,
    unsigned own, unsigned all)
{
	(void)principal;
	(void)own;
	(void)all;
	return room->busy;
}

void
room_watch_sessions(struct room *room, const struct room_watcher *watcher)
{
	room->watcher = watcher ? *watcher : (struct room_watcher){ NULL };
}

void
room_drop_session(struct room *room, uint32_t session)
{
	room->dropped[room->dropped_n++ % FAKE_CALLS_MAX] = session;
}

int
room_submit(struct room *room, struct call *call)
{
	if (room->held == FAKE_CALLS_MAX)
		abort();
	if (!call->id)
		call->id = room_next_id(room);
	room->calls[room->held++] = call;
	room->submitted++;
	return 0;
}

/* Ends the call at that place with this result. */
static void
fake_room_end(struct room *room, unsigned place, struct result *result)
{
	struct call *call = room->calls[place];

	room->held--;
	memmove(&room->calls[place], &room->calls[place + 1],
	    (room->held - place) * sizeof(room->calls[0]));
	call->done(call, result);
}

/* Ends the call at that place with this outcome, exit code and output. */
static void
fake_room_finish(struct room *room, unsigned place, enum outcome outcome,
    const char *out, const char *err)
{
	struct result result;

	result_init(&result);
	result.outcome = outcome;
	result.exit_code = outcome == OUTCOME_OK       ? 0
			   : outcome == OUTCOME_RAISED ? 1
						       : -1;
	result.timed_out = outcome == OUTCOME_TIMEOUT;
	(void)buf_add_text(&result.out.text, out);
	(void)buf_add_text(&result.err.text, err);
	result.out.total_chars = result.out.text.n;
	result.err.total_chars = result.err.text.n;
	result.usage = (struct usage){
		.queued_us = 1250, .wall_us = 2340, .memory_peak_bytes = 4096
	};
	fake_room_end(room, place, &result);
	result_done(&result);
}

/* As the real one: the cancelled call's done comes later, here when the test
 * lets it end. */
void
room_cancel(struct room *room, uint32_t id)
{
	for (unsigned i = 0; i < room->held; i++)
		if (room->calls[i]->id == id)
			room->cancelled++;
}

bool
room_ready(const struct room *room)
{
	(void)room;
	return true;
}

void
room_stats(const struct room *room, struct room_stats *ret_stats)
{
	*ret_stats = (struct room_stats){ .running = room->held,
		.principals = room->held > 0,
		.ready = true };
}

void
room_close(struct room *room)
{
	while (room->held > 0)
		fake_room_finish(room, 0, OUTCOME_KILLED, "", "");
	free(room);
}

#endif
