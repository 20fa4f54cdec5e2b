/* keeper_link.c: a room's channel to its keeper: calls out, results in.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/room_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "call/output.h"
#include "conf/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FROM_KEEPER                                                   \
	(1u << FRAME_WARM | 1u << FRAME_FAILED | 1u << FRAME_RESULT | \
	    1u << FRAME_GRADE)

/* Calls of one moment; more wait until the socket has taken them. */
#define OUT_MAX (4u * FRAME_MAX)

/* ---- results ---- */

static void
note_add(struct stream *stream, const char *note)
{
	struct buf *text = &stream->text;
	size_t before = text->n;

	if (!*note)
		return;
	if (text->n > 0 && text->p[text->n - 1] != '\n')
		(void)buf_add_text(text, "\n");
	(void)buf_printf(text, "%s\n", note);
	stream->note_n += text->n - before;
}

static void
usage_fill(struct ticket *ticket, const struct wire_result *record)
{
	ticket->result.usage = (struct usage){
		.queued_us = ticket->queued_us + record->queued_us,
		.wall_us = record->wall_us,
		.cpu_us = record->cpu_us,
		.memory_peak_bytes = record->memory_peak_bytes,
	};
}

/* A program whose output or files are lost has not ended well, whatever it
 * did. */
static void
lost(struct result *result, const char *what, const struct err *err)
{
	char note[sizeof(err->text) + 64];

	log_error("event=lost what=\"%s\" error=\"%s\"", what, err->text);
	(void)snprintf(note, sizeof(note), "[the program ran, but its %s: %s]",
	    what, err->text);
	result->outcome = OUTCOME_ROOM_LOST;
	result->exit_code = -1;
	note_add(&result->err, note);
}

/* What calls leave is kept: their output beyond what is shown, their files. */
static bool
keeps(const struct room *room)
{
	return room->conf->command == COMMAND_SERVE &&
	       room->conf->keep_bytes > 0;
}

/* Of a stream, as its region holds it. */
static uint32_t
region_chars(const struct room *room)
{
	uint32_t shown = room->conf->output_chars;

	return keeps(room) && shown < KEEP_CHARS ? KEEP_CHARS : shown;
}

/* What a call printed is not lost with its files. */
static void
take_files(const struct room *room, struct result *result, int region)
{
	struct err err = { 0 };

	if (keeps(room) && output_read_files(region, region_chars(room),
			       &result->files, &err) < 0)
		lost(result, "files are lost", &err);
}

/* expected: the keeper sent a region. */
static void
result_fill(const struct room *room, struct ticket *ticket,
    const struct wire_result *record, int region, bool expected)
{
	const uint32_t chars = region_chars(room);
	struct result *result = &ticket->result;
	struct err err = { 0 };
	int r = 0;

	result->outcome = (enum outcome)record->outcome;
	result->exit_code = record->exit_code;
	result->timed_out = record->outcome == OUTCOME_TIMEOUT;
	result->walls_missing = room->grade.missing;
	result->walls_allowed = room->grade.allowed;
	usage_fill(ticket, record);
	if (region >= 0)
		r = output_read(region, chars, OUTPUT_OUT, &result->out, &err);
	if (region >= 0 && r == 0)
		r = output_read(region, chars, OUTPUT_ERR, &result->err, &err);
	if (region >= 0 && r == 0)
		take_files(room, result, region);
	if (region < 0 && expected)
		r = fail(&err, EMFILE, "no descriptor for it");
	if (r < 0)
		lost(result, "output is lost", &err);
	note_add(&result->err, record->note);
}

static void
on_again(uv_timer_t *timer)
{
	room_advance(timer->data);
}

/* What left a call without a child (places, descriptors, memory) may pass in
 * a moment, and not before. */
static void
room_pause(struct room *room, unsigned tries)
{
	(void)uv_timer_start(
	    &room->again, on_again, (uint64_t)CALL_AGAIN_MS << tries, 0);
}

static int
on_result(
    struct room *room, const struct frame *frame, int region, struct err *err)
{
	struct wire_result record;
	struct ticket *ticket;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	if (r < 0)
		return r;
	record.note[sizeof(record.note) - 1] = '\0';
	if (record.outcome > OUTCOME_REFUSED)
		return fail(err, EPROTO, "outcome %u", record.outcome);
	ticket = tickets_take(&room->running, record.id);
	if (!ticket)
		return fail(err, EPROTO, "a result for call %u", record.id);
	if (record.never_ran && !ticket->cancelled &&
	    ticket->tries < CALL_TRIES_MAX) {
		shares_put_back(&room->shares, ticket);
		room->put_back++;
		room_pause(room, ticket->tries);
		return 0;
	}
	shares_ran(&room->shares, ticket);
	room->served = room->served || record.outcome <= OUTCOME_RAISED;
	result_fill(room, ticket, &record, region, frame->fds > 0);
	/* At once, not in the next turn: a call is short, a turn is not. */
	ticket_deliver(ticket);
	return 0;
}

/* ---- frames ---- */

/* Why the room is not warm. EAGAIN: it starts again by itself and calls wait
 * for it, unless it is known to fail. */
static int
on_failed(struct room *room, const struct frame *frame, struct err *err)
{
	struct err said;

	if (wire_take(frame, &said, sizeof(said), NULL, err) < 0)
		return -EPROTO;
	said.text[sizeof(said.text) - 1] = '\0';
	log_warn("event=room_failed error=\"%s\"", said.text);
	if (said.code == EAGAIN)
		room_count_loss(room, &said);
	room->state = ROOM_STARTING;
	if (said.code == EAGAIN && room->failure.code != 0)
		return 0;
	room->failure = said;
	if (said.code != EAGAIN)
		room_refuse_queued(room);
	return 0;
}

/* A single call of a shell's has its grade from --json and from doctor: its
 * stderr is the program's, unless the operator weakened the room. */
static enum log_level
grade_level(const struct room *room, const struct wire_grade *grade)
{
	return room->conf->command == COMMAND_SERVE || grade->allowed
		   ? LOG_WARN
		   : LOG_INFO;
}

/* Said once by every keeper, and by the log once a grade. */
static int
on_grade(struct room *room, const struct frame *frame, struct err *err)
{
	struct wire_grade grade;
	char missing[WALL_NAMES_MAX], allowed[WALL_NAMES_MAX];

	if (wire_take(frame, &grade, sizeof(grade), NULL, err) < 0)
		return -EPROTO;
	for (unsigned i = 0; i < WALLS; i++)
		grade.why[i][WALL_WHY_MAX - 1] = '\0';
	if (grade.missing &&
	    (!room->graded || room->grade.missing != grade.missing)) {
		wall_names(grade.missing, missing);
		wall_names(grade.allowed, allowed);
		log_at(grade_level(room, &grade),
		    "event=room_grade room=wasm missing=%s allowed=%s", missing,
		    *allowed ? allowed : "none");
	}
	room->grade = grade;
	room->graded = true;
	return 0;
}

static int
on_frame(struct room *room, const struct frame *frame, int fd, struct err *err)
{
	if (frame->type == FRAME_RESULT)
		return on_result(room, frame, fd, err);
	if (frame->type == FRAME_WARM) {
		room->state = ROOM_WARM;
		room->warm_us = clock_us();
		room->served = false;
		room->losses = 0;
		room->failure.code = 0;
		return 0;
	}
	return frame->type == FRAME_GRADE ? on_grade(room, frame, err)
					  : on_failed(room, frame, err);
}

static int
frames_take(struct room *room, struct err *err)
{
	struct frame frame;
	int fds[WIRE_FDS_MAX];
	int end = channel_read(&room->channel, err);
	int r;

	while ((r = channel_next(&room->channel, &frame, fds, err)) > 0) {
		r = on_frame(room, &frame, fds[0], err);
		channel_pop(&room->channel, &frame);
		for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
			fd_close(fds[i]);
		/* A call's done may have closed the room. */
		if (r < 0 || room->state == ROOM_CLOSING)
			return r;
	}
	return r < 0 ? r : end;
}

static void
on_poll(uv_poll_t *poll, int status, int events)
{
	struct room *room = poll->data;
	struct err err = { 0 };
	int r = 0;

	if (status != 0)
		room->events = 0; /* libuv has stopped the handle */
	if (status == 0 && (events & UV_WRITABLE))
		(void)channel_flush(&room->channel);
	/* Also after an error: what came before it counts. */
	if (status != 0 || (events & UV_READABLE))
		r = frames_take(room, &err);
	if (room->state == ROOM_CLOSING)
		return;
	if (r < 0)
		room_lost(room, &err);
	else
		room_advance(room);
}

void
room_listen(struct room *room)
{
	int events = UV_READABLE;

	if (channel_waiting(&room->channel))
		events |= UV_WRITABLE;
	/* Starting it anew costs system calls even where nothing changes. */
	if (events != room->events)
		(void)uv_poll_start(room->poll, events, on_poll);
	room->events = events;
}

/* ---- a keeper that does not answer ---- */

/* Late at two looks: if it was this process that stood still, the answer is
 * read between them. */
static void
on_watch(uv_timer_t *timer)
{
	struct room *room = timer->data;
	struct err err;
	uint64_t now = clock_us();

	for (struct ticket *t = room->running.first; t; t = t->next) {
		bool late = t->late_us < now;

		if (late && t->late) {
			(void)fail(&err, ETIMEDOUT, "the keeper is stuck");
			room_lost(room, &err);
			return;
		}
		t->late = late;
	}
	if (room->running.n == 0)
		(void)uv_timer_stop(timer);
}

static void
room_watch(struct room *room)
{
	if (!uv_is_active((uv_handle_t *)&room->watch))
		(void)uv_timer_start(&room->watch, on_watch, 1000, 1000);
}

/* ---- calls ---- */

static int
call_send(struct room *room, const struct ticket *ticket)
{
	const struct call *call = ticket->call;
	struct wire_call record = { .id = call->id,
		.wall_ms = call->wall_ms,
		.code_n = (uint32_t)call->code.n,
		.stdin_n = (uint32_t)call->stdin_bytes.n };
	struct cargo cargo = { .tail = buf_span(&call->code),
		.tail2 = buf_span(&call->stdin_bytes) };

	return channel_put(
	    &room->channel, FRAME_CALL, &record, sizeof(record), &cargo);
}

void
room_advance(struct room *room)
{
	if (room->state != ROOM_WARM && room->state != ROOM_STARTING)
		return;
	while (room->state == ROOM_WARM &&
	       !uv_is_active((uv_handle_t *)&room->again) &&
	       room->running.n < room->conf->concurrency &&
	       room->channel.out.n + FRAME_MAX < OUT_MAX) {
		struct ticket *ticket = shares_next(&room->shares);
		uint64_t now = clock_us();

		if (!ticket)
			break;
		ticket->tries++;
		ticket->late = false;
		ticket->queued_us = now - ticket->call->submitted_us;
		ticket->late_us = now + 1000ull * KEEPER_LATE_MS +
				  1000ull * ticket->call->wall_ms;
		/* A keeper that is gone is seen by reading from it. */
		if (call_send(room, ticket) == -ENOMEM) {
			shares_ran(&room->shares, ticket);
			ticket_fail(ticket, OUTCOME_REFUSED,
			    "[the server has no memory for the call]");
			room_finish(room, ticket);
			continue;
		}
		tickets_push(&room->running, ticket);
		room_watch(room);
	}
	room_listen(room);
}

/* ---- the start ---- */

static int
conf_send(struct room *room, struct err *err)
{
	struct wire_conf record = {
		.memory_bytes = room->conf->memory_bytes,
		.files_bytes = room->conf->files_bytes,
		.files_count = FILES_COUNT_DEFAULT,
		.output_chars = region_chars(room),
		.take_files = keeps(room),
		.concurrency = room->conf->concurrency,
		.log_level = (uint32_t)room->conf->log_level,
		.allowed = room->conf->allow_missing,
	};
	int r;

	(void)snprintf(record.artifacts_dir, sizeof(record.artifacts_dir), "%s",
	    room->artifacts->dir);
	r = channel_say(&room->channel, FRAME_CONF, &record, sizeof(record));
	return r < 0 ? fail(err, -r, "configure the keeper: %s", strerror(-r))
		     : 0;
}

static int
channel_open(struct room *room, int fd, struct err *err)
{
	int r;

	channel_init(&room->channel, fd, FROM_KEEPER, 64u * KIB, OUT_MAX);
	room->poll = calloc(1, sizeof(*room->poll));
	r = room->poll ? uv_poll_init(room->loop, room->poll, fd) : -ENOMEM;
	if (r < 0) {
		free(room->poll);
		room->poll = NULL;
		return fail(
		    err, -r, "listen to the keeper: %s", uv_strerror(r));
	}
	room->poll->data = room;
	room->events = 0;
	room->state = ROOM_STARTING;
	return 0;
}

void
room_spawn(struct room *room)
{
	struct launched keeper = { .channel = -1, .pidfd = -1 };
	struct err err = { 0 };
	int r = launcher_spawn(room->launcher, &keeper, &err);

	if (r == -EPIPE) { /* nobody is left who could start one */
		room_ruined(room, &err);
		return;
	}
	if (r == 0) {
		room->keeper = keeper.pidfd;
		room->keeper_pid = keeper.pid;
		r = channel_open(room, keeper.channel, &err);
	}
	if (r == 0)
		r = conf_send(room, &err);
	if (r < 0)
		room_lost(room, &err);
	else
		room_listen(room);
}
