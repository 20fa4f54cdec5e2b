/* keeper_calls.c: from a call to its result.
 * Hostile input: frames from a child, by way of children.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/own.h"
#include "call/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FROM_CHILD (1u << FRAME_READY | 1u << FRAME_DONE | 1u << FRAME_FAILED)

bool
keeper_child_idle(const struct child *child)
{
	return !child->has_call && !child->twin &&
	       (child->state == CHILD_FORKING ||
		   child->state == CHILD_WARMING ||
		   child->state == CHILD_SPARE);
}

static struct child *
child_place(struct keeper *keeper)
{
	struct child *child;

	if (keeper->children_n == CHILDREN_MAX)
		return NULL;
	child = malloc(sizeof(*child));
	if (child) {
		child_init(child);
		keeper->children[keeper->children_n++] = child;
	}
	return child;
}

/* The child's memory group, if there are such groups: its cgroup.procs, or a
 * descriptor in place of it, is the third that goes to the zygote. */
static int
child_slot(const struct keeper *keeper, struct child *child, struct err *err)
{
	int fd = child->region_fd;

	if (house_has(&keeper->house, WALL_CGROUP_MEMORY)) {
		int slot = cgroup_take(keeper->house.cgroup);

		if (slot < 0)
			return fail(err, EAGAIN, "no memory group is free");
		child->slot = slot;
		fd = cgroup_procs_fd(keeper->house.cgroup, slot);
	}
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? fail_errno(err, "share a memory group") : fd;
}

/* Fills child with its near ends, and cargo with the far ones. */
static int
child_ends(const struct keeper *keeper, struct child *child,
    struct cargo *cargo, struct err *err)
{
	own_fd int region = output_create(keeper->conf.output_chars, err);
	own_fd int far_region = -1, group = -1;
	int ends[2];
	int r;

	if (region < 0)
		return region;
	far_region = fcntl(region, F_DUPFD_CLOEXEC, 0);
	if (far_region < 0)
		return fail_errno(err, "share an output region");
	child->region_fd = give_fd(&region);
	group = child_slot(keeper, child, err);
	if (group < 0)
		return group;
	r = fd_pair(ends);
	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	channel_init(
	    &child->channel, ends[0], FROM_CHILD, CHILD_FRAME_MAX, FRAME_MAX);
	cargo->fds[0] = ends[1];
	cargo->fds[1] = give_fd(&far_region);
	cargo->fds[2] = give_fd(&group);
	cargo->fds_n = 3;
	r = channel_name_peer(&child->channel);
	return r < 0 ? fail(err, -r, "SO_PASSCRED: %s", strerror(-r)) : 0;
}

static void
cargo_close(const struct cargo *cargo)
{
	for (unsigned i = 0; i < cargo->fds_n; i++)
		fd_close(cargo->fds[i]);
}

struct child *
keeper_child_new(
    struct keeper *keeper, struct nursery *nursery, bool twin, struct err *err)
{
	struct wire_fork record = { .child = ++keeper->next_number,
		.twin = twin };
	struct child *child = child_place(keeper);
	struct cargo cargo = { 0 };

	if (!child) {
		(void)fail(err, EAGAIN, "no place for another child");
		return NULL;
	}
	if (child_ends(keeper, child, &cargo, err) < 0) {
		cargo_close(&cargo);
		keeper_child_clear(keeper, child);
		return NULL;
	}
	child->state = CHILD_FORKING;
	child->since_us = clock_us();
	child->number = record.child;
	child->nursery = nursery;
	child->twin = twin;
	record.grouped = child->slot >= 0;
	nursery->forks++;
	if (channel_put(&nursery->channel, FRAME_FORK, &record, sizeof(record),
		&cargo) < 0) {
		(void)fail(err, EPIPE, "the zygote is gone");
		keeper_child_clear(keeper, child);
		return NULL;
	}
	return child;
}

void
keeper_child_clear(struct keeper *keeper, struct child *child)
{
	if (child->slot >= 0)
		cgroup_release(keeper->house.cgroup, child->slot);
	child_clear(child);
}

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
			  keeper, nursery_current(keeper), false, err);
}

/* Hands the job to the child, and starts its clock. */
static void
child_begin(struct child *child, struct span code, struct span input)
{
	struct wire_job job = { (uint32_t)code.n, (uint32_t)input.n };
	struct cargo cargo = { .tail = code, .tail2 = input };

	child->started_us = clock_us();
	child->deadline_us =
	    child->started_us + (uint64_t)child->wall_ms * 1000u;
	/* A child that cannot be written to is dead, or to die: its exit
	 * says the rest. */
	if (channel_put(&child->channel, FRAME_JOB, &job, sizeof(job), &cargo) <
	    0) {
		child->started_us = 0; /* it will never read the job */
		child_kill(child, END_FAILED);
	}
}

/* The child is not ready: the job waits here, and it is told so. */
static int
child_book(
    struct child *child, struct span code, struct span input, struct err *err)
{
	if (buf_add(&child->job, code.p, code.n) < 0 ||
	    buf_add(&child->job, input.p, input.n) < 0) {
		buf_done(&child->job); /* another call may book it */
		return fail(err, EAGAIN, "no memory for a job");
	}
	child->job_code_n = (uint32_t)code.n;
	if (channel_say(&child->channel, FRAME_HURRY, NULL, 0) < 0)
		child_kill(child, END_FAILED);
	return 0;
}

void
keeper_child_settle(struct child *child)
{
	size_t n = child->job_code_n;

	if (child->state != CHILD_WARMING || !child->proved)
		return;
	child->state = CHILD_SPARE;
	/* A twin that cannot be told proves nothing, and ends its zygote. */
	if (child->twin &&
	    channel_say(&child->channel, FRAME_HURRY, NULL, 0) < 0)
		child_kill(child, END_FAILED);
	if (!child->has_call)
		return;
	child_begin(child, (struct span){ child->job.p, n },
	    (struct span){ child->job.p + n, child->job.n - n });
	buf_done(&child->job);
}

static int
on_call(struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_call record;
	struct span rest, code, input;
	struct err why = { EAGAIN, "the room is starting again" };
	struct child *child;
	uint64_t now = clock_us();
	int r = wire_take(frame, &record, sizeof(record), &rest, err);

	if (r < 0)
		return r;
	if ((uint64_t)record.code_n + record.stdin_n != rest.n)
		return fail(err, EPROTO, "call whose lengths do not add up");
	code = (struct span){ rest.p, record.code_n };
	input = (struct span){ rest.p + record.code_n, record.stdin_n };
	for (unsigned i = 0; i < keeper->children_n; i++)
		child_yield(keeper->children[i], now);
	child = nursery_current(keeper) ? child_for_call(keeper, &why) : NULL;
	if (!child || (child->state != CHILD_SPARE &&
			  child_book(child, code, input, &why) < 0))
		return refusal_send(keeper, record.id, &why);
	keeper->busy_us = child->arrived_us = now;
	child->has_call = true;
	child->call = record.id;
	child->wall_ms = record.wall_ms;
	if (child->state == CHILD_SPARE)
		child_begin(child, code, input);
	return 0;
}

static int
on_cancel(struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_cancel record;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	for (unsigned i = 0; i < keeper->children_n && r == 0; i++) {
		struct child *child = keeper->children[i];

		if (child->has_call && child->call == record.id)
			child_kill(child, END_CANCEL);
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
		r = frame.type == FRAME_CALL ? on_call(keeper, &frame, err)
					     : on_cancel(keeper, &frame, err);
		channel_pop(&keeper->server, &frame);
	}
	return r;
}

/* ---- what children say ---- */

/* Its call is over: the result goes out, the child stays for a moment. */
static int
child_finish(struct keeper *keeper, struct child *child)
{
	child->state = CHILD_SPENT;
	child->nursery->served = true;
	child->release_us = clock_us() + SPENT_HOLD_US;
	return keeper_child_answer(keeper, child, -1, 0);
}

/* It says that it is ready: is it? */
static void
child_prove(struct keeper *keeper, struct child *child)
{
	struct err err = { 0 };
	uint64_t began_us = clock_us();

	if (house_has(&keeper->house, WALL_PROOF) &&
	    house_proof(
		&keeper->house, child->channel.peer, child->slot, &err) < 0) {
		log_error("event=child_unproved error=\"%s\"", err.text);
		(void)snprintf(
		    child->why, sizeof(child->why), "%.95s", err.text);
		child_kill(child, END_UNPROVED);
		return;
	}
	log_debug(
	    "event=child_proved us=%u", (unsigned)(clock_us() - began_us));
	child->proved = true;
	keeper->spare_wait_ms = RESTART_MS_MIN;
	keeper->spare_retry_us = 0;
	keeper_child_settle(child);
}

int
keeper_on_child(struct keeper *keeper, struct child *child)
{
	struct err err = { 0 };
	int r = child_read(child, &err);

	if (child->ready_seen && !child->proved &&
	    (child->state == CHILD_FORKING || child->state == CHILD_WARMING))
		child_prove(keeper, child);
	if (child->done_seen && child->has_call)
		return child_finish(keeper, child);
	if (r == 0)
		return 0;
	if (r != -EPIPE)
		log_error("event=child error=\"%s\"", err.text);
	/* Dead, failed or in breach: its exit ends the call. */
	fd_close(child->channel.fd);
	child->channel.fd = -1;
	child_kill(child, r == -EPIPE    ? END_NONE
			  : r == -ECHILD ? END_FAILED
					 : END_BREACH);
	return 0;
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
 * most likely share it. */
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
	if (!child->proved && child->end != END_CANCEL &&
	    child->end != END_LOST)
		spares_wait(keeper);
	child->out_of_memory =
	    child->end == END_NONE && child->slot >= 0 && status >= 0 &&
	    WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
	    cgroup_oom_kills(keeper->house.cgroup, child->slot) > 0;
	if (child->has_call)
		r = keeper_child_answer(keeper, child, status, cpu_us);
	keeper_child_clear(keeper, child);
	return r;
}
