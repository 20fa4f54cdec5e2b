/* one_call.c: a room for a single call. The loop stops at the result or at a
 * signal; the room is closed after that, never from within its own callback.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/one_call.h"

#include "room/room.h"
#include "server/walls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <uv.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

struct one {
	uv_loop_t loop;
	uv_signal_t watchers[SIGNAL_COUNT];
	const struct taker *taker;
	uv_timer_t patience;
	struct room *room;
	int signal; /* that ended it */
	bool done;
	bool given_up;
};

static void
on_signal(uv_signal_t *watcher, int number)
{
	struct one *one = watcher->data;

	one->signal = number;
	uv_stop(&one->loop);
}

/* The room starts again and again what does not start: one call need not
 * wait for ever. */
static void
on_patience_end(uv_timer_t *timer)
{
	struct one *one = timer->data;

	if (room_ready(one->room))
		return;
	one->given_up = true;
	uv_stop(&one->loop);
}

static void
on_done(struct call *call, struct result *result)
{
	struct one *one = call->owner;

	/* After the other ends this is only the room being closed. */
	if (one->signal == 0 && !one->given_up) {
		one->done = true;
		one->taker->use(result, one->taker->data);
	}
	call_free(call);
	uv_stop(&one->loop);
}

static void
on_output(struct call *call, bool err, struct span text)
{
	struct one *one = call->owner;

	if (one->signal == 0 && !one->given_up)
		one->taker->output(err, text, one->taker->data);
}

static int
watch_signals(struct one *one)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SIGNAL_COUNT; i++) {
		r = uv_signal_init(&one->loop, &one->watchers[i]);
		if (r < 0)
			break;
		one->watchers[i].data = one;
		r = uv_signal_start(&one->watchers[i], on_signal, signals[i]);
	}
	return r;
}

static void
close_own(uv_handle_t *handle, void *data)
{
	if (handle->data == data && !uv_is_closing(handle))
		uv_close(handle, NULL);
}

/* Waits until the room has closed all that it had on the loop. */
static void
end_loop(struct one *one)
{
	int r;

	uv_walk(&one->loop, close_own, one);
	do {
		/* on_done of a call that was cut short stops the loop. */
		(void)uv_run(&one->loop, UV_RUN_DEFAULT);
		r = uv_loop_close(&one->loop);
	} while (r == UV_EBUSY && uv_loop_alive(&one->loop));
	if (r < 0)
		BUG("a handle is left on the loop");
}

static int
run_loop(struct one *one, struct call *call, struct err *err)
{
	call->owner = one;
	call->done = on_done;
	if (one->taker->output)
		call->on_output = on_output;
	if (room_submit(one->room, call) < 0) {
		call_free(call);
		room_close(one->room);
		return fail(err, ENOMEM, "no memory for a call");
	}
	(void)uv_timer_init(&one->loop, &one->patience);
	one->patience.data = one;
	(void)uv_timer_start(&one->patience, on_patience_end, ROOM_START_MS, 0);
	while (!one->done && one->signal == 0 && !one->given_up)
		(void)uv_run(&one->loop, UV_RUN_DEFAULT);
	room_close(one->room);
	if (one->given_up)
		return fail(err, ETIMEDOUT,
		    "the room did not start within %u s; see breakroom doctor",
		    ROOM_START_MS / 1000u);
	return one->done ? 0 : one->signal;
}

static int
promise_and_run(struct one *one, const struct conf *conf, struct call *call,
    struct err *err)
{
	struct err why;
	int promised = server_raise_walls(conf, &why);

	if (promised == 0)
		return run_loop(one, call, err);
	room_close(one->room);
	call_free(call);
	*err = why;
	return promised;
}

int
one_call(const struct conf *conf, struct launcher *launcher,
    const struct artifacts *artifacts, struct call *call,
    const struct taker *taker, struct err *err)
{
	struct one one = { .taker = taker };
	struct conf single = *conf;
	int r = uv_loop_init(&one.loop);

	if (r < 0) {
		call_free(call);
		return fail(err, -r, "make a loop: %s", uv_strerror(r));
	}
	single.concurrency = 1;
	single.queue = 1;
	single.ready = 0; /* no other call comes that it could serve */
	/* Nor one for which importing what it does not use would pay. */
	if (single.preload.n == 0)
		single.preload = (struct conf_list){ 1, { "sys" } };
	r = watch_signals(&one);
	if (r < 0)
		(void)fail(err, -r, "watch signals: %s", uv_strerror(r));
	else
		r = room_open(
		    &one.loop, launcher, &single, artifacts, &one.room, err);
	if (r == 0)
		r = promise_and_run(&one, conf, call, err);
	else
		call_free(call);
	end_loop(&one);
	return r;
}
