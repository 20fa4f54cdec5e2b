/* visit.c: one loop, one room on it at a time. What is ours on the loop does
 * not keep it alive: it runs until the room has closed all that it had there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/visit.h"

#include "base/clock.h"
#include "room/room.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

/* The visit that is under way. */
struct visit {
	struct room *room;
	const struct conf *conf;
	const struct visitor *visitor;
	struct visited *visited;
	const char *question;
	uint64_t opened_us, asked_us;
	struct err why; /* it came to nothing */
	bool over;
};

struct visits {
	uv_loop_t loop;
	uv_signal_t watchers[SIGNAL_COUNT];
	uv_check_t look;     /* whether the room is ready */
	uv_timer_t patience; /* for that */
	uv_timer_t pause;    /* before a question */
	struct launcher *launcher;
	struct visit visit;
	int signal; /* that ended it all */
};

static void
visit_end(struct visits *visits)
{
	visits->visit.over = true;
	uv_stop(&visits->loop);
}

static void
note_ready(struct visit *visit)
{
	if (visit->room && visit->visited->ready_us == 0 &&
	    room_ready(visit->room))
		visit->visited->ready_us = clock_us() - visit->opened_us;
}

static void
on_look(uv_check_t *look)
{
	struct visits *visits = look->data;

	note_ready(&visits->visit);
}

static void
on_signal(uv_signal_t *watcher, int number)
{
	struct visits *visits = watcher->data;

	visits->signal = number;
	uv_stop(&visits->loop);
}

static void
on_patience_end(uv_timer_t *timer)
{
	struct visits *visits = timer->data;

	if (visits->visit.visited->ready_us != 0)
		return;
	(void)fail(&visits->visit.why, ETIMEDOUT,
	    "the room did not start within %u s", ROOM_START_MS / 1000u);
	visit_end(visits);
}

/* ---- questions ---- */

static void on_pause_end(uv_timer_t *timer);

static void
ask_next(struct visits *visits)
{
	struct visit *visit = &visits->visit;
	uint32_t pause_ms = 0;

	visit->question = visit->visitor->ask(&pause_ms, visit->visitor->data);
	if (visit->question)
		(void)uv_timer_start(&visits->pause, on_pause_end, pause_ms, 0);
	else
		visit_end(visits);
}

static void
on_done(struct call *call, struct result *result)
{
	struct visits *visits = call->owner;
	struct visit *visit = &visits->visit;
	const uint64_t us = clock_us() - visit->asked_us;
	bool on = false;

	/* After the other ends this is only the room being closed. */
	if (!visit->over && visits->signal == 0) {
		note_ready(visit);
		on = visit->visitor->answer(result, us, visit->visitor->data);
	}
	call_free(call);
	if (on)
		ask_next(visits);
	else
		visit_end(visits);
}

static void
on_pause_end(uv_timer_t *timer)
{
	struct visits *visits = timer->data;
	struct visit *visit = &visits->visit;
	struct call *call = call_new();

	if (call && buf_add_text(&call->code, visit->question) == 0) {
		call->wall_ms = visit->conf->timeout_ms;
		call->owner = visits;
		call->done = on_done;
		visit->asked_us = clock_us();
		if (room_submit(visit->room, call) == 0)
			return;
	}
	call_free(call);
	(void)fail(&visit->why, ENOMEM, "no memory for a call");
	visit_end(visits);
}

/* ---- visits ---- */

static int
watch(struct visits *visits)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SIGNAL_COUNT; i++) {
		uv_signal_t *watcher = &visits->watchers[i];

		r = uv_signal_init(&visits->loop, watcher);
		if (r < 0)
			break;
		watcher->data = visits;
		r = uv_signal_start(watcher, on_signal, signals[i]);
		uv_unref((uv_handle_t *)watcher);
	}
	return r;
}

static void
add_handles(struct visits *visits)
{
	(void)uv_check_init(&visits->loop, &visits->look);
	(void)uv_timer_init(&visits->loop, &visits->patience);
	(void)uv_timer_init(&visits->loop, &visits->pause);
	visits->look.data = visits;
	visits->patience.data = visits;
	visits->pause.data = visits;
	(void)uv_check_start(&visits->look, on_look);
	uv_unref((uv_handle_t *)&visits->look);
}

int
visits_open(
    struct launcher *launcher, struct visits **ret_visits, struct err *err)
{
	struct visits *visits = calloc(1, sizeof(*visits));
	int r = visits ? uv_loop_init(&visits->loop) : UV_ENOMEM;

	if (r < 0) {
		free(visits);
		return fail(err, -r, "make a loop: %s", uv_strerror(r));
	}
	visits->launcher = launcher;
	add_handles(visits);
	r = watch(visits);
	if (r < 0) {
		visits_close(visits);
		return fail(err, -r, "watch signals: %s", uv_strerror(r));
	}
	*ret_visits = visits;
	return 0;
}

/* Closes the room, and waits until it has left the loop. */
static void
leave(struct visits *visits)
{
	struct visit *visit = &visits->visit;
	const struct wire_grade *grade = room_grade(visit->room);
	struct room *room = visit->room;

	visit->over = true;
	visit->visited->graded = grade != NULL;
	if (grade)
		visit->visited->grade = *grade;
	(void)uv_timer_stop(&visits->patience);
	(void)uv_timer_stop(&visits->pause);
	visit->room = NULL;
	room_close(room);
	while (uv_loop_alive(&visits->loop))
		(void)uv_run(&visits->loop, UV_RUN_DEFAULT);
}

int
visit_room(struct visits *visits, const struct conf *conf,
    const struct artifacts *artifacts, const struct visitor *visitor,
    struct visited *ret_visited, struct err *err)
{
	struct visit *visit = &visits->visit;
	int r;

	*ret_visited = (struct visited){ .graded = false };
	*visit = (struct visit){ .conf = conf,
		.visitor = visitor,
		.visited = ret_visited,
		.opened_us = clock_us() };
	if (visits->signal != 0)
		return visits->signal;
	r = room_open(&visits->loop, visits->launcher, conf, artifacts,
	    &visit->room, err);
	if (r < 0)
		return r;
	(void)uv_timer_start(
	    &visits->patience, on_patience_end, ROOM_START_MS, 0);
	ask_next(visits);
	while (!visit->over && visits->signal == 0)
		(void)uv_run(&visits->loop, UV_RUN_DEFAULT);
	leave(visits);
	if (visits->signal != 0)
		return visits->signal;
	if (visit->why.code == 0)
		return 0;
	*err = visit->why;
	return -err->code;
}

void
visit_refusal(const struct result *result, char *ret_why, size_t n)
{
	static const char advice[] = ": see breakroom doctor";
	const struct buf *err = &result->err.text;
	const char *text = err->p ? (const char *)err->p : "";
	size_t length = err->n;
	char *found;

	/* The room's own lines are in brackets. */
	if (length > 0 && text[0] == '[') {
		text++;
		length--;
		while (length > 0 &&
		       (text[length - 1] == '\n' || text[length - 1] == ']'))
			length--;
	}
	(void)snprintf(
	    ret_why, n, "%.*s", (int)(length < n ? length : n), text);
	found = strstr(ret_why, advice);
	if (found)
		memmove(found, found + sizeof(advice) - 1,
		    strlen(found + sizeof(advice) - 1) + 1);
}

static void
close_handle(uv_handle_t *handle, void *data)
{
	(void)data;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void
visits_close(struct visits *visits)
{
	if (!visits)
		return;
	uv_walk(&visits->loop, close_handle, NULL);
	(void)uv_run(&visits->loop, UV_RUN_DEFAULT);
	if (uv_loop_close(&visits->loop) < 0)
		BUG("a handle is left on the loop");
	free(visits);
}
