/* test_sessions.c: sessions over a room that the test plays: who may use which,
 * what waits for what, what ends one, and what is said of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "room/sessions.h"

#include "base/clock.h"
#include "base/log.h"
#include "conf/limits.h"
#include "fake_room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define CALLS_MAX 2048

/* What came of a call. */
struct seen {
	uint32_t id;
	enum outcome outcome;
	enum busy busy;
	char session[RANDOM_ID_SIZE];
	char said[400];
};

struct setting {
	uv_loop_t loop;
	struct conf conf;
	struct room *room;
	struct room_sessions *sessions;
	struct principal *alice, *bob;
	struct seen ended[CALLS_MAX];
	unsigned ended_n;
	unsigned heard; /* pieces of output */
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
	seen->busy = result->busy;
	memcpy(seen->session, result->session, sizeof(seen->session));
	if (n > 0)
		memcpy(seen->said, text->p, n);
	call_free(call);
}

static void
on_output(struct call *call, bool err, struct span text)
{
	struct setting *at = call->owner;

	assert_true(err);
	assert_int_equal(text.n, 1);
	at->heard++;
}

/* Submits a call; its id. */
static uint32_t
submit(struct setting *at, struct principal *principal, enum session_use use,
    const char *id)
{
	struct call *call = call_new();
	const unsigned before = at->ended_n;

	assert_non_null(call);
	call->principal = principal_hold(principal);
	call->use = use;
	(void)snprintf(call->session_id, sizeof(call->session_id), "%s", id);
	call->done = on_done;
	call->on_output = on_output;
	call->owner = at;
	assert_int_equal(room_sessions_submit(at->sessions, call), 0);
	assert_int_equal(at->ended_n, before); /* never from within */
	return call->id;
}

static const struct seen *
seen(struct setting *at, uint32_t id)
{
	turn(at);
	for (unsigned i = 0; i < at->ended_n; i++)
		if (at->ended[i].id == id)
			return &at->ended[i];
	return NULL;
}

static unsigned
place_of(const struct setting *at, uint32_t id)
{
	for (unsigned i = 0; i < at->room->held; i++)
		if (at->room->calls[i]->id == id)
			return i;
	fail_msg("call %u is not in the room", id);
	return 0;
}

static bool
is_in_room(const struct setting *at, uint32_t id)
{
	for (unsigned i = 0; i < at->room->held; i++)
		if (at->room->calls[i]->id == id)
			return true;
	return false;
}

/* Ends a call in the room. bytes: its session goes on, and holds so much; 0: it
 * does not. */
static const struct seen *
end_as(struct setting *at, uint32_t id, enum outcome outcome, uint64_t bytes)
{
	struct result result;
	const struct seen *what;

	result_init(&result);
	result.outcome = outcome;
	result.session_alive = bytes > 0;
	result.session_bytes = bytes;
	fake_room_end(at->room, place_of(at, id), &result);
	result_done(&result);
	what = seen(at, id);
	assert_non_null(what);
	return what;
}

static void
end(struct setting *at, uint32_t id)
{
	const struct seen *what = end_as(at, id, OUTCOME_OK, MIB);

	assert_int_equal(strlen(what->session), RANDOM_ID_SIZE - 1);
	assert_string_equal(what->said, "");
}

/* A session that is idle; its id, which lasts as long as the test. */
static const char *
session_of(struct setting *at, struct principal *principal)
{
	uint32_t id = submit(at, principal, SESSION_NEW, "");

	end(at, id);
	return seen(at, id)->session;
}

/* The call was refused in these words. */
static void
expect_refused(
    struct setting *at, uint32_t id, enum busy busy, const char *words)
{
	const struct seen *what = seen(at, id);

	assert_non_null(what);
	assert_int_equal(what->outcome, OUTCOME_REFUSED);
	assert_int_equal(what->busy, busy);
	assert_string_equal(what->session, "");
	if (!strstr(what->said, words))
		fail_msg("\"%s\" is not in: %s", words, what->said);
}

/* Whoever goes on with it is told this. */
static void
expect_ended(struct setting *at, struct principal *principal, const char *id,
    const char *words)
{
	uint32_t call = submit(at, principal, SESSION_GO_ON, id);

	expect_refused(at, call, BUSY_NOT, words);
	expect_refused(at, call, BUSY_NOT, id);
	expect_refused(at, call, BUSY_NOT, "session: \"new\"");
}

static struct room_sessions_stats
stats(const struct setting *at)
{
	struct room_sessions_stats stats;

	room_sessions_stats(at->sessions, &stats);
	return stats;
}

static int
setup(void **state)
{
	struct setting *at = calloc(1, sizeof(*at));
	struct err err;

	assert_non_null(at);
	*state = at;
	log_setup(-1, LOG_ERROR);
	at->conf.max_sessions = 4;
	at->conf.session_memory_bytes = 1000ull * MIB;
	at->conf.session_rest_ms = 600000;
	at->conf.session_life_ms = 3600000;
	at->alice = principal_new("test", "alice");
	at->bob = principal_new("test", "bob");
	assert_int_equal(uv_loop_init(&at->loop), 0);
	assert_int_equal(
	    room_open(&at->loop, NULL, NULL, NULL, &at->room, &err), 0);
	at->sessions = room_sessions_new(&at->loop, at->room, &at->conf);
	assert_non_null(at->sessions);
	return 0;
}

/* Whatever a test did: all calls have ended, and nobody is held. */
static int
teardown(void **state)
{
	struct setting *at = *state;

	room_sessions_close(at->sessions);
	room_close(at->room);
	(void)uv_run(&at->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&at->loop), 0);
	assert_int_equal(at->alice->holds, 1);
	assert_int_equal(at->bob->holds, 1);
	principal_release(at->alice);
	principal_release(at->bob);
	free(at);
	return 0;
}

/* ---- going on ---- */

static void
expect_options(const struct setting *at, uint32_t id, const char *options)
{
	const struct buf *text = &at->room->calls[place_of(at, id)]->options;

	assert_int_equal(text->n, strlen(options));
	assert_memory_equal(text->p, options, text->n);
}

static void
test_goes_on(void **state)
{
	struct setting *at = *state;
	char first[RANDOM_ID_SIZE];
	uint32_t id = submit(at, at->alice, SESSION_NEW, "");

	expect_options(at, id, "{\"session\":1}");
	assert_int_equal(at->room->calls[0]->use, SESSION_NEW);
	assert_int_equal(at->room->calls[0]->session, 1);
	assert_int_equal(stats(at).held, 1);
	end(at, id);
	memcpy(first, seen(at, id)->session, sizeof(first));
	for (unsigned n = 2; n < 5; n++) {
		char options[32];

		id = submit(at, at->alice, SESSION_GO_ON, first);
		(void)snprintf(options, sizeof(options), "{\"session\":%u}", n);
		expect_options(at, id, options);
		assert_int_equal(at->room->calls[0]->session, 1);
		end(at, id);
		assert_string_equal(seen(at, id)->session, first);
	}
	assert_int_equal(stats(at).bytes, MIB);
}

/* The options of a caller's are kept. */
static void
test_options(void **state)
{
	static const char *const cases[][2] = {
		{ "", "{\"session\":1}" },
		{ "{}", "{\"session\":1}" },
		{ "{\"echo\":false}", "{\"session\":1,\"echo\":false}" },
	};
	struct setting *at = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct call *call = call_new();
		uint32_t id;

		call->use = SESSION_NEW;
		call->done = on_done;
		call->owner = at;
		(void)buf_add_text(&call->options, cases[i][0]);
		assert_int_equal(room_sessions_submit(at->sessions, call), 0);
		id = call->id;
		expect_options(at, id, cases[i][1]);
		end(at, id);
	}
}

/* A call without a session is the room's, and output reaches whoever wants
 * it. */
static void
test_passes(void **state)
{
	struct setting *at = *state;
	uint32_t id = submit(at, at->alice, SESSION_NONE, "");
	struct call *call = at->room->calls[place_of(at, id)];

	assert_ptr_equal(call->owner, at);
	assert_int_equal(call->options.n, 0);
	end_as(at, id, OUTCOME_OK, 0);
	id = submit(at, at->alice, SESSION_NEW, "");
	call = at->room->calls[place_of(at, id)];
	call->on_output(call, true, span_of("x"));
	assert_int_equal(at->heard, 1);
	end(at, id);
}

/* Another's id, a wrong one and one that never was are the same. */
static void
test_belongs(void **state)
{
	static const char never[] = "0123456789abcdef0123456789abcdef";
	struct setting *at = *state;
	const char *id = session_of(at, at->alice);
	char changed[RANDOM_ID_SIZE], said[400], *where;
	uint32_t call;

	memcpy(changed, id, sizeof(changed));
	changed[31] = changed[31] == '0' ? '1' : '0';
	expect_ended(at, at->alice, changed, "there is no session");
	expect_ended(at, at->alice, "", "there is no session");
	expect_ended(at, NULL, id, "there is no session");
	call = submit(at, at->bob, SESSION_GO_ON, never);
	(void)snprintf(said, sizeof(said), "%s", seen(at, call)->said);
	where = strstr(said, never);
	assert_non_null(where);
	memcpy(where, id, RANDOM_ID_SIZE - 1);
	call = submit(at, at->bob, SESSION_GO_ON, id);
	assert_string_equal(seen(at, call)->said, said);
	call = submit(at, at->bob, SESSION_BRANCH, id);
	assert_string_equal(seen(at, call)->said, said);
	/* Nor is the reason of its end another's business. */
	end_as(at, submit(at, at->alice, SESSION_GO_ON, id), OUTCOME_MEMORY, 0);
	call = submit(at, at->bob, SESSION_GO_ON, id);
	assert_string_equal(seen(at, call)->said, said);
	expect_ended(at, at->alice, id, "memory");
}

/* ---- one at a time ---- */

static void
test_order(void **state)
{
	struct setting *at = *state;
	const char *id = session_of(at, at->alice);
	uint32_t calls[5];

	for (unsigned i = 0; i < 5; i++)
		calls[i] = submit(at, at->alice, SESSION_GO_ON, id);
	assert_int_equal(stats(at).waiting, 4);
	room_sessions_cancel(at->sessions, calls[2]);
	assert_int_equal(seen(at, calls[2])->outcome, OUTCOME_KILLED);
	assert_int_equal(at->room->cancelled, 0);
	for (unsigned i = 0; i < 5; i++) {
		if (i == 2)
			continue;
		assert_int_equal(at->room->held, 1);
		assert_true(is_in_room(at, calls[i]));
		/* What a program raises ends no session, nor a time-out that it
		 * survives. */
		(void)end_as(at, calls[i],
		    i % 2 ? OUTCOME_RAISED : OUTCOME_TIMEOUT, MIB);
		assert_string_equal(seen(at, calls[i])->session, id);
	}
	assert_int_equal(stats(at).waiting, 0);
	/* Two sessions do not wait for each other. */
	(void)submit(at, at->alice, SESSION_GO_ON, id);
	(void)submit(at, at->alice, SESSION_GO_ON, session_of(at, at->alice));
	assert_int_equal(at->room->held, 2);
}

static void
test_line_is_bounded(void **state)
{
	struct setting *at = *state;
	const char *id = session_of(at, at->alice);
	const char *other = session_of(at, at->alice);

	for (unsigned i = 0; i < 1 + ROOM_SESSION_LINE_MAX; i++)
		(void)submit(at, at->alice, SESSION_GO_ON, id);
	expect_refused(at, submit(at, at->alice, SESSION_GO_ON, id),
	    BUSY_CALLER, "too many calls");
	/* What waits here counts where the room counts. */
	at->room->busy = BUSY_SERVER;
	(void)submit(at, at->alice, SESSION_GO_ON, other);
	expect_refused(at, submit(at, at->alice, SESSION_GO_ON, other),
	    BUSY_SERVER, "too many calls");
	at->room->busy = BUSY_CALLER;
	expect_refused(at, submit(at, at->alice, SESSION_NONE, ""), BUSY_CALLER,
	    "too many calls");
}

/* ---- branches ---- */

static void
test_branch(void **state)
{
	struct setting *at = *state;
	const char *id = session_of(at, at->alice);
	uint32_t first = submit(at, at->alice, SESSION_GO_ON, id);
	uint32_t branch = submit(at, at->alice, SESSION_BRANCH, id);
	uint32_t other = submit(at, at->alice, SESSION_BRANCH, id);
	uint32_t last = submit(at, at->alice, SESSION_GO_ON, id);
	const struct call *call;

	assert_int_equal(at->room->held, 1);
	end(at, first);
	/* Both, and what is behind them, go in their order. */
	assert_int_equal(at->room->held, 3);
	assert_int_equal(at->room->calls[0]->id, branch);
	assert_int_equal(at->room->calls[1]->id, other);
	assert_int_equal(at->room->calls[2]->id, last);
	call = at->room->calls[0];
	assert_int_equal(call->use, SESSION_BRANCH);
	assert_int_equal(call->origin, 1);
	assert_int_equal(call->session, 2);
	expect_options(at, branch, "{\"session\":3}");
	end(at, last);
	end(at, branch);
	end(at, other);
	assert_string_not_equal(seen(at, branch)->session, id);
	assert_string_not_equal(
	    seen(at, branch)->session, seen(at, other)->session);
	assert_string_equal(seen(at, last)->session, id);
	assert_int_equal(stats(at).held, 3);
}

/* An origin is not ended while it is being copied. */
static void
test_branch_holds_origin(void **state)
{
	struct setting *at = *state;
	const char *id = session_of(at, at->alice);
	uint32_t branch;

	at->conf.max_sessions = 2;
	branch = submit(at, at->alice, SESSION_BRANCH, id);
	expect_refused(
	    at, submit(at, at->alice, SESSION_NEW, ""), BUSY_CALLER, "in use");
	end(at, branch);
	assert_int_equal(at->room->dropped_n, 0);
	/* A copy does not make way for itself, nor its origin for it. */
	at->conf.max_sessions = 1;
	expect_refused(at, submit(at, at->alice, SESSION_BRANCH, id),
	    BUSY_CALLER, "in use");
}

/* ---- making way ---- */

static void
test_eviction(void **state)
{
	struct setting *at = *state;
	const char *ids[5];

	for (unsigned i = 0; i < 4; i++)
		ids[i] = session_of(at, at->alice);
	end(at, submit(at, at->alice, SESSION_GO_ON, ids[0]));
	ids[4] = session_of(at, at->alice);
	assert_int_equal(stats(at).held, 4);
	assert_int_equal(at->room->dropped_n, 1);
	assert_int_equal(at->room->dropped[0], 2);
	expect_ended(at, at->alice, ids[1], "made way");
	assert_int_equal(stats(at).ended[SESSION_END_EVICTED], 1);
	/* One that runs never does. */
	for (unsigned i = 0; i < 5; i++)
		if (i != 1)
			(void)submit(at, at->alice, SESSION_GO_ON, ids[i]);
	expect_refused(
	    at, submit(at, at->alice, SESSION_NEW, ""), BUSY_CALLER, "in use");
}

/* Nobody takes more than their share from others. */
static void
test_shares(void **state)
{
	struct setting *at = *state;
	const char *alices[4], *bobs[4];

	for (unsigned i = 0; i < 4; i++)
		alices[i] = session_of(at, at->alice);
	bobs[0] = session_of(at, at->bob);
	bobs[1] = session_of(at, at->bob);
	expect_ended(at, at->alice, alices[0], "made way");
	expect_ended(at, at->alice, alices[1], "made way");
	bobs[2] = session_of(at, at->bob);
	expect_ended(at, at->bob, bobs[0], "made way");
	(void)session_of(at, at->alice);
	expect_ended(at, at->alice, alices[2], "made way");
	end(at, submit(at, at->bob, SESSION_GO_ON, bobs[1]));
	end(at, submit(at, at->bob, SESSION_GO_ON, bobs[2]));
	end(at, submit(at, at->alice, SESSION_GO_ON, alices[3]));
}

/* With fewer places than principals they take turns. */
static void
test_more_than_places(void **state)
{
	struct setting *at = *state;
	const char *id;

	at->conf.max_sessions = 1;
	id = session_of(at, at->alice);
	(void)session_of(at, at->bob);
	expect_ended(at, at->alice, id, "made way");
	(void)submit(at, at->alice, SESSION_NEW, "");
	expect_refused(
	    at, submit(at, at->bob, SESSION_NEW, ""), BUSY_SERVER, "in use");
}

static void
test_bytes(void **state)
{
	struct setting *at = *state;
	const char *first = session_of(at, at->alice);
	const char *second = session_of(at, at->alice);
	const char *bobs = session_of(at, at->bob);
	uint32_t id = submit(at, at->alice, SESSION_GO_ON, second);

	/* Two of three share it by halves: alice's oldest goes. */
	(void)end_as(at, id, OUTCOME_OK, 999ull * MIB);
	expect_ended(at, at->alice, first, "MiB");
	assert_string_equal(seen(at, id)->session, second);
	end(at, submit(at, at->bob, SESSION_GO_ON, bobs));
	/* One that is too large alone ends with its call. */
	id = submit(at, at->alice, SESSION_GO_ON, second);
	(void)end_as(at, id, OUTCOME_OK, 2000ull * MIB);
	assert_string_equal(seen(at, id)->session, "");
	assert_non_null(strstr(seen(at, id)->said, "held 2000 MiB"));
	assert_int_equal(stats(at).held, 1);
	assert_int_equal(stats(at).ended[SESSION_END_BYTES], 2);
	assert_int_equal(at->room->dropped_n, 2);
	end(at, submit(at, at->bob, SESSION_GO_ON, bobs));
}

/* ---- ends ---- */

/* What ends one under its call is told with the call, and to the next. */
static void
test_ends_under_a_call(void **state)
{
	static const struct {
		enum outcome outcome;
		enum room_session_end end;
		const char *words;
	} cases[] = {
		{ OUTCOME_OK, SESSION_END_EXITED, "os._exit" },
		{ OUTCOME_RAISED, SESSION_END_EXITED, "os._exit" },
		{ OUTCOME_TIMEOUT, SESSION_END_TIMEOUT, "time limit" },
		{ OUTCOME_MEMORY, SESSION_END_MEMORY, "out of memory" },
		{ OUTCOME_KILLED, SESSION_END_KILLED, "crashed or was killed" },
		{ OUTCOME_ROOM_LOST, SESSION_END_LOST, "restarted" },
		{ OUTCOME_REFUSED, SESSION_END_KILLED, "not in the room" },
	};
	struct setting *at = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *id = session_of(at, at->alice);
		uint64_t before = stats(at).ended[cases[i].end];
		uint32_t call = submit(at, at->alice, SESSION_GO_ON, id);
		uint32_t next = submit(at, at->alice, SESSION_GO_ON, id);
		const struct seen *what = end_as(at, call, cases[i].outcome, 0);

		assert_string_equal(what->session, "");
		assert_non_null(strstr(what->said, cases[i].words));
		assert_non_null(strstr(what->said, id));
		assert_int_equal(stats(at).ended[cases[i].end], before + 1);
		expect_refused(at, next, BUSY_NOT, cases[i].words);
		expect_ended(at, at->alice, id, cases[i].words);
	}
	assert_int_equal(stats(at).held, 0);
	assert_int_equal(at->room->dropped_n, 0); /* the keeper knows */
}

static void
test_cancel(void **state)
{
	struct setting *at = *state;
	const char *id = session_of(at, at->alice);
	uint32_t call = submit(at, at->alice, SESSION_GO_ON, id);

	/* It had not begun: the session is as it was. */
	room_sessions_cancel(at->sessions, call);
	assert_int_equal(at->room->cancelled, 1);
	(void)end_as(at, call, OUTCOME_KILLED, MIB);
	/* It had. */
	call = submit(at, at->alice, SESSION_GO_ON, id);
	room_sessions_cancel(at->sessions, call);
	(void)end_as(at, call, OUTCOME_KILLED, 0);
	expect_ended(at, at->alice, id, "its call was cancelled");
	assert_int_equal(stats(at).ended[SESSION_END_CANCELLED], 1);
	room_sessions_cancel(at->sessions, 12345); /* nobody's */
}

/* One that never began leaves nothing. */
static void
test_never_was(void **state)
{
	struct setting *at = *state;
	uint32_t call = submit(at, at->alice, SESSION_NEW, "");
	const struct seen *what = end_as(at, call, OUTCOME_REFUSED, 0);

	assert_string_equal(what->said, "");
	assert_int_equal(stats(at).held, 0);
	/* One whose first call ended it is told of. */
	call = submit(at, at->alice, SESSION_NEW, "");
	assert_non_null(
	    strstr(end_as(at, call, OUTCOME_OK, 0)->said, "os._exit"));
	assert_int_equal(stats(at).held, 0);
}

static void
wait_for(struct setting *at, unsigned held)
{
	uint64_t until_us = clock_us() + 5000000u;

	while (stats(at).held > held && clock_us() < until_us)
		(void)uv_run(&at->loop, UV_RUN_ONCE);
	assert_int_equal(stats(at).held, held);
}

static void
test_rest(void **state)
{
	struct setting *at = *state;
	const char *id, *other;
	uint32_t call;

	at->conf.session_rest_ms = 30;
	id = session_of(at, at->alice);
	other = session_of(at, at->alice);
	call = submit(at, at->alice, SESSION_GO_ON, other);
	wait_for(at, 1);
	expect_ended(at, at->alice, id, "idle for 0.03 s");
	assert_int_equal(at->room->dropped[0], 1);
	/* One that runs does not rest. */
	end(at, call);
	wait_for(at, 0);
	expect_ended(at, at->alice, other, "idle");
	assert_int_equal(stats(at).ended[SESSION_END_REST], 2);
}

static void
test_life(void **state)
{
	struct setting *at = *state;
	const char *id, *other;
	uint32_t call, next;

	at->conf.session_life_ms = 30;
	id = session_of(at, at->alice);
	other = session_of(at, at->alice);
	call = submit(at, at->alice, SESSION_GO_ON, other);
	next = submit(at, at->alice, SESSION_GO_ON, other);
	wait_for(at, 1);
	expect_ended(at, at->alice, id, "its life of 0.03 s is over");
	/* One that runs ends when it has run. */
	assert_string_equal(end_as(at, call, OUTCOME_OK, MIB)->session, "");
	assert_non_null(strstr(seen(at, call)->said, "its life"));
	expect_refused(at, next, BUSY_NOT, "its life");
	assert_int_equal(stats(at).held, 0);
	assert_int_equal(stats(at).ended[SESSION_END_LIFE], 2);
	at->conf.session_life_ms = 120000;
	(void)session_of(at, at->alice);
}

/* The keeper says that one is no more. */
static void
test_died(void **state)
{
	struct setting *at = *state;
	const struct room_watcher *watcher = &at->room->watcher;
	const char *id = session_of(at, at->alice);
	const char *other = session_of(at, at->alice);
	uint32_t call = submit(at, at->alice, SESSION_GO_ON, other);

	watcher->ended(watcher->arg, 1, "killed from outside");
	expect_ended(at, at->alice, id, "killed from outside");
	watcher->ended(watcher->arg, 1, "again");
	watcher->ended(watcher->arg, 999, "");
	/* Just before its call reached it. */
	watcher->ended(watcher->arg, 2, "");
	(void)end_as(at, call, OUTCOME_REFUSED, 0);
	assert_non_null(strstr(seen(at, call)->said, "nobody used it"));
	expect_ended(at, at->alice, other, "nobody used it");
	assert_int_equal(at->room->dropped_n, 0);
}

/* The last reasons are remembered, not all there ever were. */
static void
test_remembers(void **state)
{
	struct setting *at = *state;
	char first[RANDOM_ID_SIZE], second[RANDOM_ID_SIZE];

	for (unsigned i = 0; i < ROOM_SESSIONS_ENDED_MAX + 1; i++) {
		const char *id;

		at->ended_n = 0;
		id = session_of(at, at->bob);
		if (i < 2)
			memcpy(i == 0 ? first : second, id, RANDOM_ID_SIZE);
		(void)end_as(at, submit(at, at->bob, SESSION_GO_ON, id),
		    OUTCOME_TIMEOUT, 0);
	}
	expect_ended(at, at->bob, first, "there is no session");
	expect_ended(at, at->bob, second, "time limit");
}

static void
test_refused_all(void **state)
{
	struct setting *at = *state;

	at->conf.max_sessions = 0;
	expect_refused(at, submit(at, at->alice, SESSION_NEW, ""), BUSY_NOT,
	    "keeps no sessions");
	assert_true(is_in_room(at, submit(at, at->alice, SESSION_NONE, "")));
}

/* What waits, what runs and what was refused all end with the server; teardown
 * closes. */
static void
test_closes(void **state)
{
	struct setting *at = *state;
	const char *id = session_of(at, at->alice);

	(void)submit(at, at->alice, SESSION_GO_ON, id);
	(void)submit(at, at->alice, SESSION_GO_ON, id);
	(void)submit(at, at->bob, SESSION_GO_ON, id);
	(void)submit(at, at->bob, SESSION_NEW, "");
	room_sessions_close(at->sessions);
	assert_int_equal(at->ended_n, 3);
	assert_int_equal(at->ended[1].outcome, OUTCOME_REFUSED);
	assert_int_equal(at->ended[2].outcome, OUTCOME_KILLED);
	at->sessions = NULL;
	assert_null(at->room->watcher.lost);
	while (at->room->held > 0)
		fake_room_finish(at->room, 0, OUTCOME_KILLED, "", "");
	assert_int_equal(at->ended_n, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_goes_on),
		TEST(test_options),
		TEST(test_passes),
		TEST(test_belongs),
		TEST(test_order),
		TEST(test_line_is_bounded),
		TEST(test_branch),
		TEST(test_branch_holds_origin),
		TEST(test_eviction),
		TEST(test_shares),
		TEST(test_more_than_places),
		TEST(test_bytes),
		TEST(test_ends_under_a_call),
		TEST(test_cancel),
		TEST(test_never_was),
		TEST(test_rest),
		TEST(test_life),
		TEST(test_died),
		TEST(test_remembers),
		TEST(test_refused_all),
		TEST(test_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
