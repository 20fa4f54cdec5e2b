/* keeper_calls.c: from a call to its result.
 * Hostile input: frames from a child, by way of children.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "base/process.h"
#include "call/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends a result, with the output region if the call has one. */
static int
result_send(struct keeper *keeper, struct child *child,
    const struct wire_result *result)
{
	struct cargo cargo = { 0 };

	/* What is in the region of a child without a job is its rehearsal. */
	if (child->region_fd >= 0 && child->started_us != 0)
		cargo.fds[cargo.fds_n++] = give_fd(&child->region_fd);
	child->has_call = false;
	keeper->busy_us = clock_us();
	return channel_put(
	    &keeper->server, FRAME_RESULT, result, sizeof(*result), &cargo);
}

/* The answer to a call that found no child. */
static int
refusal_send(struct keeper *keeper, uint32_t call, const struct err *err)
{
	struct wire_result result = { .id = call,
		.outcome = OUTCOME_REFUSED,
		.exit_code = -1,
		.never_ran = true };

	(void)snprintf(result.note, sizeof(result.note), "[%.*s]",
	    (int)sizeof(result.note) - 3, err->text);
	return channel_say(
	    &keeper->server, FRAME_RESULT, &result, sizeof(result));
}

/* The best child for a call that came now: one that is ready, else one that
 * will be, else a new one. */
static struct child *
child_for_call(struct keeper *keeper, struct err *err)
{
	struct child *best = NULL;

	for (unsigned i = 0; i < keeper->children_n; i++) {
		struct child *child = keeper->children[i];

		if (keeper_child_idle(child) &&
		    (!best || child->state > best->state))
			best = child;
	}
	return best ? best
		    : keeper_child_new(
			  keeper, nursery_current(keeper), ROLE_CALL, err);
}

/* The same for a call of a session. */
static struct child *
child_for_session(
    struct keeper *keeper, const struct wire_call *record, struct err *err)
{
	uint32_t number =
	    record->use == SESSION_BRANCH ? record->origin : record->session;
	struct child *held, *child;

	if (record->use == SESSION_NEW) {
		child = keeper_child_new(
		    keeper, nursery_current(keeper), ROLE_SESSION, err);
	} else {
		held = keeper_session(keeper, number);
		if (!held) {
			(void)fail(err, ESRCH, "the session has ended");
			return NULL;
		}
		child = record->use == SESSION_BRANCH
			    ? keeper_child_branch(keeper, held, err)
			    : held;
		if (child == held && keeper_child_region(keeper, held, err) < 0)
			child = NULL;
	}
	if (child)
		child->session = record->session;
	return child;
}

/* The server reads what it prints, from now on. A result may overtake nothing:
 * they go the same way. */
static void
child_watch(struct keeper *keeper, struct child *child)
{
	struct wire_begun begun = { .id = child->call };
	struct cargo cargo = { .fds_n = 1 };

	cargo.fds[0] = fcntl(child->region_fd, F_DUPFD_CLOEXEC, 0);
	if (cargo.fds[0] >= 0)
		(void)channel_put(&keeper->server, FRAME_BEGUN, &begun,
		    sizeof(begun), &cargo);
}

/* Hands the job to the child, and starts its clock. */
static void
child_begin(struct keeper *keeper, struct child *child, struct span job)
{
	struct wire_job record = { .parts = child->parts,
		.stay = child->session != 0 };
	struct cargo cargo = { .tails = { job } };
	uint64_t wall_us = 1000ull * child->wall_ms, before_us;

	before_us = 1000ull * INTERRUPT_BEFORE_MS;
	if (before_us > wall_us / 2)
		before_us = wall_us / 2;
	child->state = CHILD_SPARE;
	child->started_us = clock_us();
	child->deadline_us = child->started_us + wall_us;
	child->interrupt_us = child->deadline_us - before_us;
	/* A child that cannot be written to is dead, or to die: its exit
	 * says the rest. */
	if (channel_put(&child->channel, FRAME_JOB, &record, sizeof(record),
		&cargo) < 0) {
		child->started_us = 0; /* it will never read the job */
		child_kill(child, END_FAILED);
	} else if (child->watched) {
		child_watch(keeper, child);
	}
}

/* The child is not ready: the job waits here, and it is told so. */
static int
child_book(struct child *child, struct span job, struct err *err)
{
	if (buf_add(&child->job, job.p, job.n) < 0) {
		buf_done(&child->job); /* another call may book it */
		return fail(err, EAGAIN, "no memory for a job");
	}
	if (channel_say(&child->channel, FRAME_HURRY, NULL, 0) < 0)
		child_kill(child, END_FAILED);
	return 0;
}

void
keeper_child_settle(struct keeper *keeper, struct child *child)
{
	if (child->state != CHILD_WARMING || !child->proved)
		return;
	child->state = CHILD_SPARE;
	/* A twin that cannot be told proves nothing, and ends its zygote. */
	if (child->twin &&
	    channel_say(&child->channel, FRAME_HURRY, NULL, 0) < 0)
		child_kill(child, END_FAILED);
	if (!child->has_call)
		return;
	child_begin(keeper, child, buf_span(&child->job));
	buf_done(&child->job);
}

/* True if the child can take a job at once. */
static bool
is_waiting(const struct child *child)
{
	return child->state == CHILD_SPARE || child->state == CHILD_HELD;
}

/* Gives the call to the child, now or when it is ready. */
static int
child_take(struct keeper *keeper, struct child *child,
    const struct wire_call *record, struct span job, struct err *err)
{
	bool waiting = is_waiting(child);

	child->parts = record->parts;
	if (!waiting && child_book(child, job, err) < 0)
		return -EAGAIN;
	keeper->busy_us = child->arrived_us = clock_us();
	child->has_call = true;
	child->call = record->id;
	child->wall_ms = record->wall_ms;
	child->watched = record->watched;
	child->interrupted = child->done_seen = false;
	child->yield_us = YIELD_AFTER_US;
	if (waiting)
		child_begin(keeper, child, job);
	return 0;
}

static int
on_call(struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_call record;
	struct span job;
	struct err why = { EAGAIN, "the room is starting again" };
	struct child *child = NULL;
	uint64_t now = clock_us();
	int r = wire_take(frame, &record, sizeof(record), &job, err);

	if (r < 0)
		return r;
	if (!wire_parts_fit(&record.parts, job.n))
		return fail(err, EPROTO, "call whose lengths do not add up");
	for (unsigned i = 0; i < keeper->children_n; i++)
		child_yield(keeper->children[i], now);
	if (record.use >= SESSION_GO_ON ||
	    (record.use == SESSION_NEW && nursery_current(keeper)))
		child = child_for_session(keeper, &record, &why);
	else if (nursery_current(keeper))
		child = child_for_call(keeper, &why);
	if (!child)
		return refusal_send(keeper, record.id, &why);
	if (child_take(keeper, child, &record, job, &why) == 0)
		return 0;
	r = refusal_send(keeper, record.id, &why);
	if (r == 0 && child->session)
		r = keeper_child_lost(keeper, child, END_CANCEL);
	return r;
}

static int
on_cancel(struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_cancel record;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	for (unsigned i = 0; i < keeper->children_n && r == 0; i++) {
		struct child *child = keeper->children[i];

		if (child->has_call && child->call == record.id)
			r = keeper_child_lost(keeper, child, END_CANCEL);
	}
	return r;
}

int
keeper_on_server(struct keeper *keeper, struct err *err)
{
	struct frame frame;
	int fds[WIRE_FDS_MAX];
	int r = channel_read(&keeper->server, err);

	while (r == 0) {
		r = channel_next(&keeper->server, &frame, fds, err);
		if (r <= 0)
			return r;
		if (frame.type == FRAME_CALL)
			r = on_call(keeper, &frame, err);
		else if (frame.type == FRAME_CANCEL)
			r = on_cancel(keeper, &frame, err);
		else
			r = keeper_on_drop(keeper, &frame, err);
		channel_pop(&keeper->server, &frame);
	}
	return r;
}

/* ---- what children say ---- */

/* Its call is over: the result goes out, the child stays for a moment; a
 * session's for longer. */
static int
child_finish(struct keeper *keeper, struct child *child)
{
	int r;

	/* In a worker it is the program that the kernel kills. */
	if (child->worker_pidfd >= 0 && child->slot >= 0 &&
	    (child->done.signal == SIGKILL ||
		child->done.end == TURN_TRAPPED) &&
	    cgroup_oom_kills(keeper->house.cgroup, child->slot) > 0)
		child->done.out_of_memory = 1;
	child->nursery->served = true;
	child->state =
	    child->session && child->done.stays ? CHILD_HELD : CHILD_SPENT;
	child->release_us = clock_us() + SPENT_HOLD_US;
	r = keeper_child_answer(keeper, child, -1, 0);
	/* From here on it is another job's, or nobody's. */
	child->started_us = 0;
	if (child->state == CHILD_SPENT)
		child->session = 0; /* its result has said so */
	return r;
}

static int
child_look(const struct keeper *keeper, const struct child *child, int slot,
    struct err *err)
{
	const struct house *house = &keeper->house;
	bool proxy = child->worker_pidfd >= 0;
	int r;

	if (!house_has(house, WALL_PROOF))
		return 0;
	/* A proxy is in no group; its worker is. */
	r = house_proof(
	    house, child->channel.peer, keeper->house.worker ? -1 : slot, err);
	return r == 0 && proxy
		   ? house_proof_worker(house, child->worker_pidfd, slot, err)
		   : r;
}

static bool
is_dead(int pidfd)
{
	return pidfd >= 0 && fd_wait(pidfd, 0) == 0;
}

/* What was looked at was being killed: that is no word about its walls. */
static bool
was_killed(const struct child *child)
{
	return is_dead(child->pidfd) || is_dead(child->worker_pidfd);
}

/* It says that it is ready: is it? 0 or -errno: the server is gone. */
static int
child_prove(struct keeper *keeper, struct child *child)
{
	struct err err = { 0 };
	uint64_t began_us = clock_us();
	int r = 0;

	/* A copy that is one of ours, so far, gets its group. */
	if (child->branch && child->slot >= 0) {
		r = child_look(keeper, child, -1, &err);
		if (r == 0)
			r = cgroup_move(keeper->house.cgroup, child->slot,
			    child->channel.peer, &err);
	}
	if (r == 0)
		r = child_look(keeper, child, child->slot, &err);
	if (r < 0 && was_killed(child))
		return keeper_child_lost(keeper, child, END_FAILED);
	if (r < 0) {
		log_error("event=child_unproved room=%s error=\"%s\"",
		    keeper_room(keeper), err.text);
		(void)snprintf(
		    child->why, sizeof(child->why), "%.95s", err.text);
		return keeper_child_lost(keeper, child, END_UNPROVED);
	}
	log_debug(
	    "event=child_proved us=%u", (unsigned)(clock_us() - began_us));
	child->proved = true;
	keeper->spare_wait_ms = RESTART_MS_MIN;
	keeper->spare_retry_us = 0;
	keeper_child_settle(keeper, child);
	return 0;
}

int
keeper_on_child(struct keeper *keeper, struct child *child)
{
	struct err err = { 0 };
	int r = child_read(child, &err);

	if (child->unborn > 0 && keeper_unborn(keeper, child) < 0)
		return -EPIPE;
	if (child->branch && child->ready_seen && child->pidfd < 0)
		keeper_branch_born(child);
	if (child->ready_seen && !child->proved &&
	    (child->state == CHILD_FORKING || child->state == CHILD_WARMING) &&
	    child_prove(keeper, child) < 0)
		return -EPIPE;
	if (child->done_seen && child->has_call)
		return child_finish(keeper, child);
	if (r == 0)
		return 0;
	if (r != -EPIPE)
		log_error("event=child room=%s error=\"%s\"",
		    keeper_room(keeper), err.text);
	/* Dead, failed or in breach: its exit ends the call. */
	fd_close(child->channel.fd);
	child->channel.fd = -1;
	return keeper_child_lost(keeper, child,
	    r == -EPIPE    ? END_NONE
	    : r == -ECHILD ? END_FAILED
			   : END_BREACH);
}

int
keeper_child_answer(
    struct keeper *keeper, struct child *child, int status, uint64_t cpu_us)
{
	struct wire_result result;

	child_result(child, status, cpu_us, &result);
	return result_send(keeper, child, &result);
}

/* A child that never got ready: whatever the cause is, the next one would
 * most likely share it. Not a copy: its session has made it. */
static void
spares_wait(struct keeper *keeper)
{
	keeper->spare_retry_us = clock_us() + 1000u * keeper->spare_wait_ms;
	keeper->spare_wait_ms = RESTART_MS_AFTER(keeper->spare_wait_ms);
}

int
keeper_child_gone(
    struct keeper *keeper, struct child *child, int status, uint64_t cpu_us)
{
	struct err err = { 0 };
	int r = 0;

	/* Its last words may be waiting still. */
	if (child->has_call && !child->done_seen && child->channel.fd >= 0)
		(void)child_read(child, &err);
	if (!child->proved && !child->branch && child->end != END_CANCEL &&
	    child->end != END_LOST)
		spares_wait(keeper);
	/* How a copy ended is not known. */
	child->out_of_memory =
	    child->end == END_NONE && child->slot >= 0 &&
	    (status < 0 ? child->branch : process_ended_by(status, SIGKILL)) &&
	    cgroup_oom_kills(keeper->house.cgroup, child->slot) > 0;
	if (child->has_call)
		r = keeper_child_answer(keeper, child, status, cpu_us);
	else if (child->session)
		r = keeper_session_ended(keeper, child);
	keeper_child_clear(keeper, child);
	return r;
}
