/* test_children.c: what a child may say to its keeper, and the result that is
 * made of its end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/sys.h"
#include "call/call.h"
#include "keeper/child.h"
#include "keeper/children.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FROM_CHILD (1u << FRAME_READY | 1u << FRAME_DONE | 1u << FRAME_FAILED)

struct pair {
	struct child child;
	int far; /* the child's end */
};

static int
pair_open(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int fds[2];

	if (!pair || fd_pair(fds) < 0)
		return -1;
	child_init(&pair->child);
	channel_init(
	    &pair->child.channel, fds[0], FROM_CHILD, CHILD_FRAME_MAX, 4096);
	pair->child.state = CHILD_WARMING;
	pair->far = fds[1];
	*state = pair;
	return 0;
}

static int
pair_close(void **state)
{
	struct pair *pair = *state;

	child_clear(&pair->child);
	fd_close(pair->far);
	free(pair);
	return 0;
}

static void
send_frame(
    const struct pair *pair, enum frame_type type, const void *record, size_t n)
{
	struct wire_header header = { (uint32_t)n, (uint8_t)type, 0, 0 };

	assert_int_equal(fd_send_all(pair->far, &header, sizeof(header)), 0);
	assert_int_equal(fd_send_all(pair->far, record, n), 0);
}

static void
ready_comes_once(void **state)
{
	struct pair *pair = *state;
	struct err err;

	send_frame(pair, FRAME_READY, NULL, 0);
	assert_int_equal(child_read(&pair->child, &err), 0);
	assert_true(pair->child.ready_seen);
	/* Its keeper has not looked at it yet. */
	assert_int_equal(pair->child.state, CHILD_WARMING);
	send_frame(pair, FRAME_READY, NULL, 0);
	assert_int_equal(child_read(&pair->child, &err), -EPROTO);
}

static void
ready_may_come_before_the_birth(void **state)
{
	struct pair *pair = *state;
	struct err err;

	pair->child.state = CHILD_FORKING;
	send_frame(pair, FRAME_READY, NULL, 0);
	assert_int_equal(child_read(&pair->child, &err), 0);
	assert_int_equal(pair->child.state, CHILD_FORKING);
	assert_true(pair->child.ready_seen);
}

static void
done_needs_a_job(void **state)
{
	struct pair *pair = *state;
	struct wire_done done = { 0 };
	struct err err;

	send_frame(pair, FRAME_DONE, &done, sizeof(done));
	assert_int_equal(child_read(&pair->child, &err), -EPROTO);
}

/* A call that waits for the child is no job that it has. */
static void
done_needs_the_job_handed_over(void **state)
{
	struct pair *pair = *state;
	struct wire_done done = { 0 };
	struct err err;

	pair->child.has_call = true;
	send_frame(pair, FRAME_DONE, &done, sizeof(done));
	assert_int_equal(child_read(&pair->child, &err), -EPROTO);
}

/* Only the first DONE counts; a second one is a breach. */
static void
done_comes_once(void **state)
{
	struct pair *pair = *state;
	struct wire_done first = { .status = 3 }, second = { .status = 4 };
	struct err err;

	pair->child.has_call = true;
	pair->child.started_us = 1;
	send_frame(pair, FRAME_DONE, &first, sizeof(first));
	send_frame(pair, FRAME_DONE, &second, sizeof(second));
	assert_int_equal(child_read(&pair->child, &err), -EPROTO);
	assert_int_equal(pair->child.done.status, 3);
}

static void
other_frames_are_a_breach(void **state)
{
	struct pair *pair = *state;
	struct wire_cancel record = { 1 };
	struct err err;

	send_frame(pair, FRAME_CANCEL, &record, sizeof(record));
	assert_int_equal(child_read(&pair->child, &err), -EPROTO);
}

static void
noise_is_a_breach(void **state)
{
	struct pair *pair = *state;
	uint8_t noise[400];
	struct err err;

	memset(noise, 0xa5, sizeof(noise));
	assert_int_equal(fd_send_all(pair->far, noise, sizeof(noise)), 0);
	assert_int_equal(child_read(&pair->child, &err), -EPROTO);
}

static struct wire_result
result_of(struct child *child, int status)
{
	struct wire_result result;

	child->has_call = true;
	child->call = 9;
	child->wall_ms = 1500;
	child->arrived_us = clock_us();
	child_result(child, status, 5, &result);
	assert_int_equal(result.id, 9);
	return result;
}

static void
ends_become_outcomes(void **state)
{
	struct pair *pair = *state;
	struct child *child = &pair->child;
	struct wire_result result = result_of(child, SIGSEGV);

	/* Before the job is handed over nothing ran: it may go to another. */
	assert_int_equal(result.outcome, OUTCOME_REFUSED);
	assert_true(result.never_ran);
	assert_int_equal(result.wall_us, 0);
	child->started_us = child->arrived_us;
	result = result_of(child, SIGSEGV);
	assert_false(result.never_ran);
	assert_int_equal(result.outcome, OUTCOME_KILLED);
	assert_int_equal(result.exit_code, -1);
	assert_non_null(strstr(result.note, "signal 11"));
	child->end = END_DEADLINE;
	result = result_of(child, SIGKILL);
	assert_int_equal(result.outcome, OUTCOME_TIMEOUT);
	assert_string_equal(result.note, "[killed at the time limit of 1.5 s]");
	child->end = END_LOST;
	assert_int_equal(result_of(child, SIGKILL).outcome, OUTCOME_ROOM_LOST);
	child->end = END_CANCEL;
	assert_int_equal(result_of(child, SIGKILL).outcome, OUTCOME_KILLED);
	child->end = END_UNPROVED;
	memcpy(child->why, "proof: Seccomp is 0", 20);
	child->started_us = 0;
	result = result_of(child, SIGKILL);
	assert_int_equal(result.outcome, OUTCOME_REFUSED);
	assert_false(result.never_ran);
	assert_string_equal(
	    result.note, "[the program was not run: proof: Seccomp is 0]");
	child->started_us = child->arrived_us;
	child->end = END_NONE;
	child->out_of_memory = true;
	result = result_of(child, SIGKILL);
	assert_int_equal(result.outcome, OUTCOME_MEMORY);
	assert_int_equal(result.exit_code, 137);
	/* What it said before it was killed counts more. */
	child->done_seen = true;
	child->done.status = 7;
	result = result_of(child, SIGKILL);
	assert_int_equal(result.outcome, OUTCOME_RAISED);
	assert_int_equal(result.exit_code, 7);
	child->done.status = 0;
	assert_int_equal(result_of(child, -1).outcome, OUTCOME_OK);
}

static void
traps_become_outcomes(void **state)
{
	struct pair *pair = *state;
	struct child *child = &pair->child;
	struct wire_result result;

	child->done_seen = true;
	child->done.end = TURN_TRAPPED;
	/* A reason without its end: a child need not send a string. */
	memset(child->done.trap, 'x', sizeof(child->done.trap));
	result = result_of(child, -1);
	assert_int_equal(result.outcome, OUTCOME_KILLED);
	assert_int_equal(result.exit_code, 134);
	assert_true(strlen(result.note) < sizeof(result.note));
	child->done.out_of_memory = 1;
	result = result_of(child, -1);
	assert_int_equal(result.outcome, OUTCOME_MEMORY);
	assert_int_equal(result.exit_code, 137);
}

/* A call that is long is told so when another comes, at ever longer distances;
 * none that waits, is short or has ended. */
static void
long_calls_yield(void **state)
{
	struct pair *pair = *state;
	struct child *child = &pair->child;
	sigset_t block;
	siginfo_t got;
	const struct timespec none = { 0 };

	(void)sigemptyset(&block);
	(void)sigaddset(&block, CHILD_YIELD_SIGNAL);
	assert_int_equal(sigprocmask(SIG_BLOCK, &block, NULL), 0);
	child->pidfd = sys_pidfd_open(getpid());
	assert_true(child->pidfd >= 0);
	child->state = CHILD_SPARE;
	child_yield(child, YIELD_AFTER_US * 2); /* no call */
	child->has_call = true;
	child_yield(child, YIELD_AFTER_US * 2); /* not handed over */
	child->started_us = YIELD_AFTER_US;
	child_yield(child, 2 * YIELD_AFTER_US - 1);
	assert_int_equal(sigtimedwait(&block, &got, &none), -1);
	child_yield(child, 2 * YIELD_AFTER_US);
	assert_int_equal(sigtimedwait(&block, &got, &none), CHILD_YIELD_SIGNAL);
	child_yield(child, 3 * YIELD_AFTER_US - 1);
	assert_int_equal(sigtimedwait(&block, &got, &none), -1);
	child_yield(child, 3 * YIELD_AFTER_US);
	assert_int_equal(sigtimedwait(&block, &got, &none), CHILD_YIELD_SIGNAL);
	child->state = CHILD_SPENT;
	child_yield(child, 9 * YIELD_AFTER_US); /* over */
	assert_int_equal(sigtimedwait(&block, &got, &none), -1);
	child->state = CHILD_WARMING;
	child->has_call = false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pair_open, pair_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ready_comes_once),
		TEST(ready_may_come_before_the_birth),
		TEST(done_needs_a_job),
		TEST(done_needs_the_job_handed_over),
		TEST(done_comes_once),
		TEST(other_frames_are_a_breach),
		TEST(noise_is_a_breach),
		TEST(ends_become_outcomes),
		TEST(traps_become_outcomes),
		TEST(long_calls_yield),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
