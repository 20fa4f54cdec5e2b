/* test_room_sessions.c: sessions over a room whose keeper is the test: what the
 * keeper is told and in which order, and what its words do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_launcher.h"

#include "base/fd.h"
#include "base/log.h"
#include "call/channel.h"
#include "room/sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TO_KEEPER                                                   \
	(1u << FRAME_CONF | 1u << FRAME_CALL | 1u << FRAME_CANCEL | \
	    1u << FRAME_DROP)
#define FRAMES_MAX 64

/* ---- what a test has ---- */

/* A frame that the keeper got. */
struct told {
	enum frame_type type;
	uint32_t id, use, session, origin;
};

struct seen {
	uint32_t id;
	enum outcome outcome;
	char session[RANDOM_ID_SIZE];
	char said[500];
};

struct setting {
	uv_loop_t loop;
	struct launcher launcher;
	struct conf conf;
	struct artifacts artifacts;
	struct room *room;
	struct room_sessions *sessions;
	struct channel keeper;
	struct told told[FRAMES_MAX]; /* since the last look */
	unsigned told_n;
	struct seen ended[FRAMES_MAX];
	unsigned ended_n;
};

static void
turn(struct setting *at)
{
	for (unsigned i = 0; i < 4; i++)
		(void)uv_run(&at->loop, UV_RUN_NOWAIT);
}

static void
on_done(struct call *call, struct result *result)
{
	struct setting *at = call->owner;
	struct seen *seen = &at->ended[at->ended_n++];
	const struct buf *text = &result->err.text;
	size_t n =
	    text->n < sizeof(seen->said) ? text->n : sizeof(seen->said) - 1;

	assert_true(at->ended_n < FRAMES_MAX);
	seen->id = call->id;
	seen->outcome = result->outcome;
	memcpy(seen->session, result->session, sizeof(seen->session));
	if (n > 0)
		memcpy(seen->said, text->p, n);
	call_free(call);
}

static uint32_t
submit(struct setting *at, enum session_use use, const char *id)
{
	struct call *call = call_new();

	assert_non_null(call);
	call->use = use;
	memcpy(call->session_id, id, strlen(id) + 1);
	call->done = on_done;
	call->owner = at;
	assert_int_equal(room_sessions_submit(at->sessions, call), 0);
	return call->id;
}

static void
take(struct told *told, const struct frame *frame)
{
	struct wire_call call;
	struct wire_session session;
	struct span rest;
	struct err err;

	told->type = frame->type;
	if (frame->type == FRAME_CALL) {
		assert_int_equal(
		    wire_take(frame, &call, sizeof(call), &rest, &err), 0);
		told->id = call.id;
		told->use = call.use;
		told->session = call.session;
		told->origin = call.origin;
	} else if (frame->type == FRAME_DROP) {
		assert_int_equal(
		    wire_take(frame, &session, sizeof(session), NULL, &err), 0);
		told->session = session.session;
	}
}

/* Reads what the keeper was told since the last time. */
static void
hear(struct setting *at)
{
	int fds[WIRE_FDS_MAX];
	struct frame frame;
	struct err err;

	turn(at);
	at->told_n = 0;
	memset(at->told, 0, sizeof(at->told));
	assert_int_equal(channel_read(&at->keeper, &err), 0);
	while (channel_next(&at->keeper, &frame, fds, &err) == 1) {
		assert_true(at->told_n < FRAMES_MAX);
		take(&at->told[at->told_n++], &frame);
		channel_pop(&at->keeper, &frame);
	}
}

static void
say(struct setting *at, enum frame_type type, const void *record, size_t n)
{
	assert_int_equal(channel_say(&at->keeper, type, record, n), 0);
	turn(at);
}

static void
say_result(struct setting *at, uint32_t id, enum outcome outcome, bool alive)
{
	const struct wire_result result = { .id = id,
		.outcome = (uint32_t)outcome,
		.session_alive = alive,
		.session_bytes = alive ? MIB : 0 };

	say(at, FRAME_RESULT, &result, sizeof(result));
}

static const struct seen *
seen(struct setting *at, uint32_t id)
{
	turn(at);
	for (unsigned i = 0; i < at->ended_n; i++)
		if (at->ended[i].id == id)
			return &at->ended[i];
	fail_msg("call %u has not ended", id);
	return NULL;
}

/* A session that is idle; its id. */
static const char *
begin(struct setting *at)
{
	uint32_t id = submit(at, SESSION_NEW, "");

	hear(at);
	say_result(at, id, OUTCOME_OK, true);
	assert_int_equal(strlen(seen(at, id)->session), RANDOM_ID_SIZE - 1);
	return seen(at, id)->session;
}

static void
warm(struct setting *at)
{
	channel_init(
	    &at->keeper, at->launcher.channel, TO_KEEPER, FRAME_MAX, FRAME_MAX);
	say(at, FRAME_WARM, NULL, 0);
	hear(at);
}

static int
setup(void **state)
{
	struct setting *at = calloc(1, sizeof(*at));
	struct err err = { 0 };

	assert_non_null(at);
	*state = at;
	log_setup(-1, LOG_ERROR);
	at->conf.concurrency = 4;
	at->conf.queue = 8;
	at->conf.max_sessions = 4;
	at->conf.session_memory_bytes = 100ull * MIB;
	at->conf.session_rest_ms = at->conf.session_life_ms = 600000;
	assert_int_equal(uv_loop_init(&at->loop), 0);
	assert_int_equal(room_open(&at->loop, &at->launcher, &at->conf,
			     &at->artifacts, &at->room, &err),
	    0);
	at->sessions = room_sessions_new(&at->loop, at->room, &at->conf);
	assert_non_null(at->sessions);
	warm(at);
	return 0;
}

/* In the order of a server; with whatever a test left running. */
static int
teardown(void **state)
{
	struct setting *at = *state;

	room_sessions_close(at->sessions);
	room_close(at->room);
	(void)uv_run(&at->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&at->loop), 0);
	channel_done(&at->keeper);
	free(at);
	return 0;
}

/* ---- tests ---- */

static void
expect_call(const struct told *told, uint32_t id, enum session_use use,
    uint32_t session, uint32_t origin)
{
	assert_int_equal(told->type, FRAME_CALL);
	assert_int_equal(told->id, id);
	assert_int_equal(told->use, use);
	assert_int_equal(told->session, session);
	assert_int_equal(told->origin, origin);
}

/* What stands in a line reaches the keeper in its order, and copies before what
 * changes their origin. */
static void
test_frames(void **state)
{
	struct setting *at = *state;
	const char *id = begin(at);
	uint32_t calls[4];

	calls[0] = submit(at, SESSION_GO_ON, id);
	calls[1] = submit(at, SESSION_BRANCH, id);
	calls[2] = submit(at, SESSION_BRANCH, id);
	calls[3] = submit(at, SESSION_GO_ON, id);
	hear(at);
	assert_int_equal(at->told_n, 1);
	expect_call(&at->told[0], calls[0], SESSION_GO_ON, 1, 0);
	say_result(at, calls[0], OUTCOME_RAISED, true);
	hear(at);
	assert_int_equal(at->told_n, 3);
	expect_call(&at->told[0], calls[1], SESSION_BRANCH, 2, 1);
	expect_call(&at->told[1], calls[2], SESSION_BRANCH, 3, 1);
	expect_call(&at->told[2], calls[3], SESSION_GO_ON, 1, 0);
}

/* The keeper is told what has to end, and tells what did. */
static void
test_ends(void **state)
{
	static const struct wire_session died = { 2, "its child was killed" };
	struct setting *at = *state;
	const char *first, *second;
	uint32_t call;

	at->conf.max_sessions = 1;
	first = begin(at);
	call = submit(at, SESSION_NEW, "");
	hear(at);
	assert_int_equal(at->told_n, 2);
	assert_int_equal(at->told[0].type, FRAME_DROP);
	assert_int_equal(at->told[0].session, 1);
	expect_call(&at->told[1], call, SESSION_NEW, 2, 0);
	say_result(at, call, OUTCOME_OK, true);
	second = seen(at, call)->session;
	call = submit(at, SESSION_GO_ON, first);
	assert_non_null(strstr(seen(at, call)->said, "made way"));
	say(at, FRAME_ENDED, &died, sizeof(died));
	call = submit(at, SESSION_GO_ON, second);
	assert_non_null(strstr(seen(at, call)->said, died.why));
	hear(at);
	assert_int_equal(at->told_n, 0);
}

/* A new one that found no child is begun again; a branch may not be: what it
 * copies may have gone on. */
static void
test_never_ran(void **state)
{
	struct setting *at = *state;
	const char *id = begin(at);
	uint32_t branch = submit(at, SESSION_BRANCH, id);
	uint32_t fresh = submit(at, SESSION_NEW, "");
	struct wire_result result = {
		.outcome = OUTCOME_REFUSED, .never_ran = 1, .note = "[no child]"
	};

	hear(at);
	result.id = branch;
	say(at, FRAME_RESULT, &result, sizeof(result));
	assert_string_equal(seen(at, branch)->said, "[no child]\n");
	result.id = fresh;
	say(at, FRAME_RESULT, &result, sizeof(result));
	do { /* until the pause is over */
		(void)uv_run(&at->loop, UV_RUN_ONCE);
		hear(at);
	} while (at->told_n == 0);
	expect_call(&at->told[0], fresh, SESSION_NEW, 3, 0);
	say_result(at, fresh, OUTCOME_OK, true);
	assert_string_not_equal(seen(at, fresh)->session, "");
}

/* Cancelled, or refused, before it came to the keeper: the session is as it
 * was. */
static void
test_not_begun(void **state)
{
	struct setting *at = *state;
	const char *id = begin(at);
	uint32_t busy[4], call;

	for (unsigned i = 0; i < 4; i++)
		busy[i] = submit(at, SESSION_NONE, "");
	call = submit(at, SESSION_GO_ON, id);
	room_sessions_cancel(at->sessions, call);
	assert_int_equal(seen(at, call)->outcome, OUTCOME_KILLED);
	assert_string_equal(seen(at, call)->session, id);
	call = submit(at, SESSION_GO_ON, id);
	hear(at);
	say_result(at, busy[0], OUTCOME_OK, false);
	hear(at);
	assert_int_equal(at->told_n, 1);
	expect_call(&at->told[0], call, SESSION_GO_ON, 1, 0);
	say_result(at, call, OUTCOME_OK, true);
}

/* The keeper dies: sessions with it, but for one that it had not begun. */
static void
test_lost_keeper(void **state)
{
	struct setting *at = *state;
	const char *idle = begin(at), *id = begin(at);
	uint32_t running = submit(at, SESSION_GO_ON, id);
	uint32_t waiting = submit(at, SESSION_GO_ON, id);
	uint32_t branch, fresh;

	for (unsigned i = 0; i < 3; i++)
		(void)submit(at, SESSION_NONE, "");
	branch = submit(at, SESSION_BRANCH, id);
	fresh = submit(at, SESSION_NEW, "");
	hear(at);
	assert_int_equal(at->told_n, 4);
	channel_done(&at->keeper);
	at->launcher.channel = -1;
	turn(at);
	assert_int_equal(seen(at, running)->outcome, OUTCOME_ROOM_LOST);
	assert_non_null(strstr(seen(at, running)->said, id));
	for (unsigned i = 0; i < 2; i++) {
		uint32_t call = i ? branch : waiting;

		assert_int_equal(seen(at, call)->outcome, OUTCOME_REFUSED);
		assert_non_null(strstr(seen(at, call)->said, "restarted"));
	}
	while (at->launcher.channel < 0)
		(void)uv_run(&at->loop, UV_RUN_ONCE);
	warm(at);
	assert_int_equal(at->told_n, 2); /* its configuration first */
	expect_call(&at->told[1], fresh, SESSION_NEW, 3, 0);
	say_result(at, fresh, OUTCOME_OK, true);
	(void)submit(at, SESSION_GO_ON, seen(at, fresh)->session);
	hear(at);
	assert_int_equal(at->told[0].session, 3);
	waiting = submit(at, SESSION_GO_ON, idle);
	assert_non_null(strstr(seen(at, waiting)->said, "restarted"));
}

/* A branch that waits in the room while its origin is lost is told of that. */
static void
test_branch_of_nothing(void **state)
{
	const struct wire_result refused = {
		.outcome = OUTCOME_REFUSED, .never_ran = 1, .id = 6
	};
	struct setting *at = *state;
	const char *id = begin(at);
	uint32_t branch;

	for (unsigned i = 0; i < 4; i++)
		(void)submit(at, SESSION_NONE, "");
	branch = submit(at, SESSION_BRANCH, id);
	assert_int_equal(branch, refused.id);
	channel_done(&at->keeper);
	at->launcher.channel = -1;
	while (at->launcher.channel < 0)
		(void)uv_run(&at->loop, UV_RUN_ONCE);
	warm(at);
	expect_call(&at->told[1], branch, SESSION_BRANCH, 2, 1);
	say(at, FRAME_RESULT, &refused, sizeof(refused));
	assert_non_null(strstr(seen(at, branch)->said, id));
	assert_non_null(strstr(seen(at, branch)->said, "restarted"));
}

/* What waits for a session counts as what waits in the room. */
static void
test_limits(void **state)
{
	struct setting *at = *state;
	struct principal *principal = principal_new("test", "somebody");
	const struct conf *conf = &at->conf;

	principal->calls_max = 2;
	principal->queue_max = 2;
	assert_int_equal(room_busy(at->room, principal, 3, 3), BUSY_NOT);
	assert_int_equal(room_busy(at->room, principal, 4, 4), BUSY_CALLER);
	assert_int_equal(room_busy(at->room, NULL, 4, 4), BUSY_NOT);
	assert_int_equal(
	    room_busy(at->room, principal, 0, conf->concurrency + conf->queue),
	    BUSY_SERVER);
	(void)submit(at, SESSION_NONE, "");
	assert_int_equal(
	    room_busy(at->room, NULL, 0, conf->concurrency + conf->queue - 1),
	    BUSY_SERVER);
	principal_release(principal);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frames),
		TEST(test_ends),
		TEST(test_never_ran),
		TEST(test_not_begun),
		TEST(test_lost_keeper),
		TEST(test_branch_of_nothing),
		TEST(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
