/* test_room_shares.c: a room with a keeper that the test plays: whose call is
 * next, who is refused, and that every count is right in the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_launcher.h"

#include "base/fd.h"
#include "base/log.h"
#include "call/channel.h"
#include "room/room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TO_KEEPER (1u << FRAME_CONF | 1u << FRAME_CALL | 1u << FRAME_CANCEL)
#define CALLS_MAX 64

/* ---- what a test has ---- */

struct seen {
	uint32_t id;
	enum outcome outcome;
	char said[160];
};

struct setting {
	uv_loop_t loop;
	struct launcher launcher;
	struct conf conf;
	struct artifacts artifacts;
	struct room *room;
	struct channel keeper;
	struct principal *hog, *other, *third;
	uint32_t begun[CALLS_MAX]; /* that the keeper got, in order */
	unsigned begun_n;
	struct seen ended[CALLS_MAX];
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

	assert_true(at->ended_n < CALLS_MAX);
	seen->id = call->id;
	seen->outcome = result->outcome;
	if (n > 0)
		memcpy(seen->said, text->p, n);
	call_free(call);
}

/* Submits a call; its id. */
static uint32_t
call_by(struct setting *at, struct principal *principal)
{
	struct call *call = call_new();

	assert_non_null(call);
	call->principal = principal_hold(principal);
	call->done = on_done;
	call->owner = at;
	assert_int_equal(buf_add_text(&call->code, "pass"), 0);
	assert_int_equal(room_submit(at->room, call), 0);
	return call->id;
}

/* Reads what the keeper was told; begun and begun_n are then of this time. */
static void
hear(struct setting *at)
{
	int fds[WIRE_FDS_MAX];
	struct frame frame;
	struct wire_call record;
	struct span rest;
	struct err err;

	turn(at);
	at->begun_n = 0;
	assert_int_equal(channel_read(&at->keeper, &err), 0);
	while (channel_next(&at->keeper, &frame, fds, &err) == 1) {
		if (frame.type == FRAME_CALL) {
			assert_int_equal(wire_take(&frame, &record,
					     sizeof(record), &rest, &err),
			    0);
			assert_true(at->begun_n < CALLS_MAX);
			at->begun[at->begun_n++] = record.id;
		}
		channel_pop(&at->keeper, &frame);
	}
}

static void
expect_begun(struct setting *at, unsigned n, const uint32_t *ids)
{
	hear(at);
	assert_int_equal(at->begun_n, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(at->begun[i], ids[i]);
}

#define BEGUN(at, ...)                                              \
	expect_begun(at,                                            \
	    sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), \
	    (uint32_t[]){ __VA_ARGS__ })

static void
say(struct setting *at, uint32_t id, enum outcome outcome, bool never_ran)
{
	struct wire_result result = {
		.id = id, .outcome = (uint32_t)outcome, .never_ran = never_ran
	};

	assert_int_equal(
	    channel_say(&at->keeper, FRAME_RESULT, &result, sizeof(result)), 0);
	turn(at);
}

static void
end(struct setting *at, uint32_t id)
{
	say(at, id, OUTCOME_OK, false);
}

static const struct seen *
seen(const struct setting *at, uint32_t id)
{
	for (unsigned i = 0; i < at->ended_n; i++)
		if (at->ended[i].id == id)
			return &at->ended[i];
	return NULL;
}

static void
expect_refused(const struct setting *at, uint32_t id, const char *words)
{
	const struct seen *result = seen(at, id);

	assert_non_null(result);
	assert_int_equal(result->outcome, OUTCOME_REFUSED);
	assert_non_null(strstr(result->said, words));
}

static void
expect_counts(
    const struct setting *at, unsigned queued, unsigned running, unsigned whose)
{
	struct room_stats stats;

	room_stats(at->room, &stats);
	assert_int_equal(stats.queued, queued);
	assert_int_equal(stats.running, running);
	assert_int_equal(stats.principals, whose);
}

static void
warm(struct setting *at)
{
	channel_init(
	    &at->keeper, at->launcher.channel, TO_KEEPER, FRAME_MAX, FRAME_MAX);
	assert_int_equal(channel_say(&at->keeper, FRAME_WARM, NULL, 0), 0);
	hear(at);
}

static struct principal *
somebody(const char *name, uint32_t calls, uint32_t queue)
{
	struct principal *principal = principal_new("test", name);

	assert_non_null(principal);
	principal->calls_max = calls;
	principal->queue_max = queue;
	return principal;
}

static int
setup(void **state)
{
	struct setting *at = calloc(1, sizeof(*at));
	struct err err = { 0 };

	assert_non_null(at);
	*state = at;
	at->conf.concurrency = 4;
	at->conf.queue = 8;
	at->conf.log_level = LOG_ERROR;
	log_setup(-1, LOG_ERROR);
	at->hog = somebody("hog", 4, 8);
	at->other = somebody("other", 4, 8);
	at->third = somebody("third", 4, 8);
	assert_int_equal(uv_loop_init(&at->loop), 0);
	assert_int_equal(room_open(&at->loop, &at->launcher, &at->conf,
			     &at->artifacts, &at->room, &err),
	    0);
	warm(at);
	return 0;
}

/* Whatever a test did: every call has ended, nobody is held any more. */
static int
teardown(void **state)
{
	struct setting *at = *state;

	room_close(at->room);
	(void)uv_run(&at->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&at->loop), 0);
	channel_done(&at->keeper);
	assert_int_equal(at->hog->holds, 1);
	assert_int_equal(at->other->holds, 1);
	assert_int_equal(at->third->holds, 1);
	principal_release(at->hog);
	principal_release(at->other);
	principal_release(at->third);
	free(at);
	return 0;
}

/* ---- tests ---- */

/* Who runs fewest is next, though somebody else has waited longer. */
static void
test_fewest_first(void **state)
{
	struct setting *at = *state;

	for (uint32_t i = 1; i <= 8; i++)
		assert_int_equal(call_by(at, at->hog), i);
	BEGUN(at, 1, 2, 3, 4);
	assert_int_equal(call_by(at, at->other), 9);
	assert_int_equal(call_by(at, at->other), 10);
	expect_counts(at, 6, 4, 2);
	end(at, 1);
	BEGUN(at, 9);
	end(at, 2);
	BEGUN(at, 10);
	end(at, 9); /* 2 against 1: whoever has fewer, and none waits there */
	BEGUN(at, 5);
	expect_counts(at, 3, 4, 2);
}

/* Equals take turns. */
static void
test_turns(void **state)
{
	struct setting *at = *state;

	for (unsigned i = 1; i <= 4; i++)
		(void)call_by(at, at->hog);
	BEGUN(at, 1, 2, 3, 4);
	for (unsigned i = 0; i < 2; i++) {
		(void)call_by(at, at->other);
		(void)call_by(at, at->third);
		(void)call_by(at, NULL);
	}
	end(at, 1);
	end(at, 2);
	end(at, 3);
	BEGUN(at, 5, 6, 7);
	end(at, 5);
	end(at, 6);
	end(at, 7);
	BEGUN(at, 8, 9, 10);
	end(at, 8);
	end(at, 9);
	end(at, 10);
	expect_counts(at, 0, 1, 1);
}

/* A flood cannot starve: with a hog that always has calls waiting, each call
 * of another's is the next to begin. */
static void
test_no_starvation(void **state)
{
	struct setting *at = *state;
	uint32_t last = 0;

	for (unsigned i = 0; i < 12; i++)
		last = call_by(at, at->hog);
	BEGUN(at, 1, 2, 3, 4);
	for (uint32_t ended = 1; ended <= 4; ended++) {
		uint32_t id = call_by(at, at->other);

		end(at, ended);
		BEGUN(at, id);
		end(at, id);
		BEGUN(at, ended + 4);
	}
	assert_int_equal(last, 12);
}

/* At most calls_max of one run, though there are places. */
static void
test_calls_max(void **state)
{
	struct setting *at = *state;

	at->hog->calls_max = 2;
	for (unsigned i = 0; i < 4; i++)
		(void)call_by(at, at->hog);
	BEGUN(at, 1, 2);
	(void)call_by(at, at->other);
	BEGUN(at, 5);
	end(at, 1);
	BEGUN(at, 3);
	expect_counts(at, 1, 3, 2);
}

/* The limits of the newest of two structures of one id hold, and both count
 * together. */
static void
test_one_id(void **state)
{
	struct setting *at = *state;
	struct principal *again = somebody("hog", 3, 1);

	(void)call_by(at, at->hog);
	(void)call_by(at, again);
	(void)call_by(at, again);
	(void)call_by(at, again);
	BEGUN(at, 1, 2, 3);
	expect_counts(at, 1, 3, 1);
	(void)call_by(at, again);
	turn(at);
	expect_refused(at, 5, "your queue is full");
	for (uint32_t id = 1; id <= 4; id++)
		end(at, id);
	expect_counts(at, 0, 0, 0);
	assert_int_equal(again->holds, 1);
	principal_release(again);
}

/* One's own queue, and that of all. */
static void
test_full(void **state)
{
	struct setting *at = *state;

	at->hog->queue_max = 2;
	for (unsigned i = 0; i < 7; i++)
		(void)call_by(at, at->hog);
	turn(at);
	expect_refused(at, 7, "your queue is full");
	assert_int_equal(at->ended_n, 1);
	for (unsigned i = 0; i < 6; i++)
		(void)call_by(at, NULL);
	expect_counts(at, 8, 4, 2);
	assert_int_equal(call_by(at, NULL), 14);
	turn(at);
	expect_refused(at, 14, "the server is busy and its queue is full");
	assert_int_equal(at->ended_n, 2);
}

/* A newcomer gets a place of whoever waits with most, the newest of them. */
static void
test_making_way(void **state)
{
	struct setting *at = *state;

	at->hog->queue_max = 100;
	for (unsigned i = 0; i < 12; i++)
		(void)call_by(at, at->hog);
	expect_counts(at, 8, 4, 1);
	(void)call_by(at, at->hog);
	turn(at);
	expect_refused(at, 13, "the server is busy and its queue is full");
	for (uint32_t i = 0; i < 4; i++) {
		(void)call_by(at, at->other);
		turn(at);
		expect_refused(at, 12 - i, "went to somebody who has fewer");
	}
	expect_counts(at, 8, 4, 2);
	(void)call_by(at, at->other);
	turn(at);
	expect_refused(at, 18, "the server is busy and its queue is full");
	/* A third one's place is the hog's or the other's: both have 4. */
	(void)call_by(at, at->third);
	turn(at);
	expect_refused(at, 8, "went to somebody who has fewer");
	expect_counts(at, 8, 4, 3);
}

/* Cancelled while it waits: its place is free at once. */
static void
test_cancel(void **state)
{
	struct setting *at = *state;

	at->hog->queue_max = 1;
	for (unsigned i = 0; i < 5; i++)
		(void)call_by(at, at->hog);
	room_cancel(at->room, 5);
	expect_counts(at, 0, 4, 1);
	(void)call_by(at, at->hog);
	expect_counts(at, 1, 4, 1);
	turn(at);
	assert_int_equal(at->ended_n, 1);
	assert_int_equal(seen(at, 5)->outcome, OUTCOME_KILLED);
	room_cancel(at->room, 1); /* runs: counted until its result comes */
	expect_counts(at, 1, 4, 1);
	say(at, 1, OUTCOME_KILLED, false);
	expect_counts(at, 0, 4, 1);
	room_cancel(at->room, 99);
	expect_counts(at, 0, 4, 1);
}

/* A call that found no child waits again, before those that came after it,
 * and counts as waiting. */
static void
test_put_back(void **state)
{
	struct setting *at = *state;
	struct room_stats stats;

	at->hog->calls_max = 1;
	(void)call_by(at, at->hog);
	(void)call_by(at, at->hog);
	BEGUN(at, 1);
	say(at, 1, OUTCOME_REFUSED, true);
	expect_counts(at, 2, 0, 1);
	room_stats(at->room, &stats);
	assert_int_equal(stats.again, 1);
	do { /* until the pause is over */
		(void)uv_run(&at->loop, UV_RUN_ONCE);
		hear(at);
	} while (at->begun_n == 0);
	assert_int_equal(at->begun_n, 1);
	assert_int_equal(at->begun[0], 1);
	end(at, 1);
	BEGUN(at, 2);
	end(at, 2);
	expect_counts(at, 0, 0, 0);
	assert_int_equal(seen(at, 1)->outcome, OUTCOME_OK);
}

/* Cancelled, and then back without a child: it goes no further. */
static void
test_put_back_cancelled(void **state)
{
	struct setting *at = *state;

	(void)call_by(at, at->hog);
	room_cancel(at->room, 1);
	say(at, 1, OUTCOME_KILLED, true);
	expect_counts(at, 0, 0, 0);
	assert_int_equal(at->ended_n, 1);
}

/* The keeper dies: what ran is lost, what waits goes to the next one. */
static void
test_lost_keeper(void **state)
{
	struct setting *at = *state;
	struct room_stats stats;

	for (unsigned i = 0; i < 6; i++)
		(void)call_by(at, at->hog);
	(void)call_by(at, at->other);
	channel_done(&at->keeper);
	at->launcher.channel = -1;
	turn(at);
	expect_counts(at, 3, 0, 2);
	assert_int_equal(at->ended_n, 4);
	for (uint32_t id = 1; id <= 4; id++)
		assert_int_equal(seen(at, id)->outcome, OUTCOME_ROOM_LOST);
	while (at->launcher.channel < 0)
		(void)uv_run(&at->loop, UV_RUN_ONCE);
	room_stats(at->room, &stats);
	assert_int_equal(stats.restarts, 1);
	assert_false(stats.ready);
	warm(at);
	assert_int_equal(at->begun_n, 3);
	for (unsigned i = 0; i < 3; i++)
		end(at, at->begun[i]);
	expect_counts(at, 0, 0, 0);
}

/* A room that is closed ends all of them; teardown counts the holds. */
static void
test_close(void **state)
{
	struct setting *at = *state;

	for (unsigned i = 0; i < 6; i++) {
		(void)call_by(at, at->hog);
		(void)call_by(at, at->other);
	}
	turn(at);
	assert_int_equal(at->ended_n, 0);
}

/* Without principals it is as it always was: in order, up to the limits. */
static void
test_nobody(void **state)
{
	struct setting *at = *state;

	for (unsigned i = 0; i < 13; i++)
		(void)call_by(at, NULL);
	BEGUN(at, 1, 2, 3, 4);
	expect_refused(at, 13, "the server is busy and its queue is full");
	expect_counts(at, 8, 4, 1);
	for (uint32_t id = 1; id <= 8; id++) {
		end(at, id);
		BEGUN(at, id + 4);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fewest_first),
		TEST(test_turns),
		TEST(test_no_starvation),
		TEST(test_calls_max),
		TEST(test_one_id),
		TEST(test_full),
		TEST(test_making_way),
		TEST(test_cancel),
		TEST(test_put_back),
		TEST(test_put_back_cancelled),
		TEST(test_lost_keeper),
		TEST(test_close),
		TEST(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
