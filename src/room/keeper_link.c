/* keeper_link.c: a room's channel to its keeper: calls out, results in.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/room_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "call/output.h"
#include "call/png.h"
#include "conf/limits.h"
#include "conf/room_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FROM_KEEPER                                                   \
	(1u << FRAME_WARM | 1u << FRAME_FAILED | 1u << FRAME_RESULT | \
	    1u << FRAME_GRADE | 1u << FRAME_BEGUN | 1u << FRAME_ENDED)

/* Calls of one moment; more wait until the socket has taken them. */
#define OUT_MAX (4u * FRAME_MAX)

/* ---- results ---- */

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
	stream_note(&result->err, note);
}

/* What calls leave is kept: their output beyond what is shown, their files. */
static bool
keeps(const struct room *room)
{
	return room->conf->command == COMMAND_SERVE &&
	       room->conf->keep_bytes > 0;
}

/* A single call's files are saved, or told of. */
static bool
takes_files(const struct room *room)
{
	const struct conf *conf = room->conf;

	return keeps(room) ||
	       (conf->command == COMMAND_RUN && (conf->out_dir || conf->json));
}

/* Of a stream, as its region holds it. */
uint32_t
room_region_chars(const struct room *room)
{
	uint32_t shown = room->conf->output_chars;

	return keeps(room) && shown < KEEP_CHARS ? KEEP_CHARS : shown;
}

/* What a call printed is not lost with its files. */
static void
take_files(const struct room *room, struct result *result, int region)
{
	struct err err = { 0 };

	if (takes_files(room) &&
	    output_read_files(
		region, room_region_chars(room), &result->files, &err) < 0)
		lost(result, "files are lost", &err);
}

/* Likewise with its images. */
static void
take_images(const struct room *room, struct result *result, int region)
{
	struct err err = { 0 };

	if (output_read_images(
		region, room_region_chars(room), &result->images, &err) < 0)
		lost(result, "images are lost", &err);
	png_sift(&result->images);
}

static int
take_streams(
    const struct room *room, struct result *result, int region, struct err *err)
{
	struct stream *const streams[OUTPUT_STREAMS] = {
		[OUTPUT_OUT] = &result->out,
		[OUTPUT_ERR] = &result->err,
		[OUTPUT_VALUE] = &result->value,
		[OUTPUT_HINT] = &result->hints,
	};
	int r = 0;

	for (unsigned i = 0; r == 0 && i < OUTPUT_STREAMS; i++) {
		streams[i]->ended = result->outcome > OUTCOME_RAISED;
		r = output_read(region, room_region_chars(room),
		    (enum output_stream)i, streams[i], err);
	}
	return r;
}

/* expected: the keeper sent a region. */
static void
result_fill(const struct room *room, struct ticket *ticket,
    const struct wire_result *record, int region, bool expected)
{
	struct result *result = &ticket->result;
	struct err err = { 0 };
	int r = 0;

	result->outcome = (enum outcome)record->outcome;
	result->exit_code = record->exit_code;
	result->timed_out = record->outcome == OUTCOME_TIMEOUT;
	result->session_alive = record->session_alive;
	/* By its child's word: never more than it may have. */
	result->session_bytes = record->session_bytes;
	if (result->session_bytes >
	    room->conf->memory_bytes + room->conf->files_bytes)
		result->session_bytes =
		    room->conf->memory_bytes + room->conf->files_bytes;
	result->walls_missing = room->grade.missing;
	result->walls_allowed = room->grade.allowed;
	usage_fill(ticket, record);
	if (region >= 0)
		r = take_streams(room, result, region, &err);
	if (region >= 0 && r == 0)
		take_files(room, result, region);
	if (region >= 0 && r == 0)
		take_images(room, result, region);
	if (region < 0 && expected)
		r = fail(&err, EMFILE, "no descriptor for it");
	if (r < 0)
		lost(result, "output is lost", &err);
	stream_note(&result->err, record->note);
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

/* A branch may not: its origin may have gone on meanwhile. */
static bool
may_go_again(const struct ticket *ticket)
{
	return !ticket->cancelled && ticket->tries < CALL_TRIES_MAX &&
	       ticket->call->use <= SESSION_NEW;
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
	if (record.never_ran && may_go_again(ticket)) {
		ticket_unwatch(ticket);
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
	log_warn("event=room_failed room=%s error=\"%s\"",
	    room_id_name(room->conf->room), said.text);
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
on_ended(struct room *room, const struct frame *frame, struct err *err)
{
	struct wire_session record;

	if (wire_take(frame, &record, sizeof(record), NULL, err) < 0)
		return -EPROTO;
	record.why[sizeof(record.why) - 1] = '\0';
	if (room->watcher.ended)
		room->watcher.ended(
		    room->watcher.arg, record.session, record.why);
	return 0;
}

static int
on_frame(struct room *room, const struct frame *frame, int *fd, struct err *err)
{
	if (frame->type == FRAME_RESULT)
		return on_result(room, frame, *fd, err);
	if (frame->type == FRAME_BEGUN)
		return room_begun(room, frame, fd, err);
	if (frame->type == FRAME_ENDED)
		return on_ended(room, frame, err);
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
		r = on_frame(room, &frame, fds, err);
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
		.use = call->use,
		.session = call->session,
		.origin = call->origin,
		.watched = call->on_output != NULL,
		.parts = {
		    .code_n = (uint32_t)call->code.n,
		    .stdin_n = (uint32_t)call->stdin_bytes.n,
		    .options_n = (uint32_t)call->options.n,
		    .files_n = (uint32_t)call->files.n,
		} };
	struct cargo cargo = { .tails = {
				   buf_span(&call->code),
				   buf_span(&call->stdin_bytes),
				   buf_span(&call->options),
				   buf_span(&call->files),
			       } };

	return channel_put(
	    &room->channel, FRAME_CALL, &record, sizeof(record), &cargo);
}

/* From when on an answer is late: a call's clock begins when its interpreter is
 * there, and a worker may have to wait for its turn to be started. */
static uint64_t
late_after_us(const struct room *room, const struct call *call)
{
	uint64_t ms = call->wall_ms + KEEPER_LATE_MS;

	if (room_id_has(room->conf->room, TRAIT_WORKER))
		ms += WORKER_TURN_MS + WORKER_START_MS;
	return 1000u * ms;
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
		ticket->late_us = now + late_after_us(room, ticket->call);
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
mounts_text(const struct conf_list *mounts, struct buf *text)
{
	int r = 0;

	buf_init(text, MOUNTS_TEXT_MAX);
	for (unsigned i = 0; r == 0 && i < mounts->n; i++)
		r = buf_add(
		    text, mounts->items[i], strlen(mounts->items[i]) + 1);
	return r;
}

/* What a kind is made of, where the operator has said so. */
static int
conf_strings(const struct conf *conf, struct wire_conf *record, struct err *err)
{
	const struct {
		const char *text;
		char *into;
		size_t size;
	} strings[] = {
		{ conf->python, record->python, sizeof(record->python) },
		{ conf->root, record->root, sizeof(record->root) },
		{ conf->engine, record->engine, sizeof(record->engine) },
		{ conf->runtime, record->runtime, sizeof(record->runtime) },
		{ conf->image, record->image, sizeof(record->image) },
		{ conf->deno, record->deno, sizeof(record->deno) },
		{ conf->pyodide, record->pyodide, sizeof(record->pyodide) },
		{ conf->pyodide_packages, record->pyodide_packages,
		    sizeof(record->pyodide_packages) },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		const char *text = strings[i].text ? strings[i].text : "";

		size_t size = strlen(text) + 1;

		if (size > strings[i].size)
			return fail(
			    err, ENAMETOOLONG, "%.80s...: too long", text);
		memcpy(strings[i].into, text, size);
	}
	for (unsigned i = 0; i < conf->preload.n; i++) {
		n += (size_t)snprintf(record->preload + n,
		    sizeof(record->preload) - n, "%s%s", i ? "," : "",
		    conf->preload.items[i]);
		if (n >= sizeof(record->preload))
			return fail(err, E2BIG, "--preload: too many modules");
	}
	return 0;
}

static int
conf_send(struct room *room, struct err *err)
{
	own_buf struct buf mounts;
	struct cargo cargo = { 0 };
	struct wire_conf record = {
		.memory_bytes = room->conf->memory_bytes,
		.files_bytes = room->conf->files_bytes,
		.files_count = FILES_COUNT_DEFAULT,
		.output_chars = room_region_chars(room),
		.take_files = takes_files(room),
		.concurrency = room->conf->concurrency,
		.sessions = room->conf->max_sessions,
		.deterministic = room->conf->deterministic,
		.log_level = (uint32_t)room->conf->log_level,
		.allowed = room->conf->allow_missing,
		.room = room->conf->room,
		.ready = room->conf->ready,
		.processes = room->conf->processes,
		.cpus_milli = room->conf->cpus_milli,
		.allow_processes = room->conf->allow_processes,
	};
	int r;

	(void)snprintf(record.artifacts_dir, sizeof(record.artifacts_dir), "%s",
	    room->artifacts->dir);
	r = conf_strings(room->conf, &record, err);
	if (r < 0)
		return r;
	r = mounts_text(&room->conf->mounts, &mounts);
	cargo.tails[0] = buf_span(&mounts);
	if (r == 0)
		r = channel_put(&room->channel, FRAME_CONF, &record,
		    sizeof(record), &cargo);
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
	int r = launcher_spawn(launcher_of(room), &keeper, &err);

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
