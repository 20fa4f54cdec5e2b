/* children.c: what a child says, and what became of it.
 * Hostile input: frames from a child.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/children.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/sys.h"
#include "call/call.h"
#include "keeper/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

void
child_kill(struct child *child, enum child_end end)
{
	if (child->state == CHILD_FREE || child->state == CHILD_DYING)
		return;
	child->end = end;
	child->state = CHILD_DYING;
	child->release_us = clock_us() + DYING_WAIT_US;
	/* Without a pidfd it is not born yet: killed when it comes. */
	if (child->pidfd >= 0)
		(void)sys_pidfd_kill(child->pidfd, SIGKILL);
	if (child->worker_pidfd >= 0)
		(void)sys_pidfd_kill(child->worker_pidfd, SIGKILL);
}

void
child_yield(struct child *child, uint64_t now_us)
{
	if (child->state != CHILD_SPARE || !child->has_call ||
	    child->started_us == 0 ||
	    now_us - child->started_us < child->yield_us)
		return;
	child->yield_us = 2 * (now_us - child->started_us);
	(void)sys_pidfd_kill(child->pidfd, CHILD_YIELD_SIGNAL);
}

void
child_interrupt(struct child *child, uint64_t now_us)
{
	child->interrupted = true;
	child->interrupt_us = now_us + 1000u * INTERRUPT_EVERY_MS;
	(void)sys_pidfd_kill(child->pidfd, CHILD_INTERRUPT_SIGNAL);
}

void
child_init(struct child *child)
{
	memset(child, 0, sizeof(*child));
	child->pidfd = child->region_fd = child->channel.fd = -1;
	child->worker_pidfd = -1;
	child->slot = -1;
	child->yield_us = YIELD_AFTER_US;
	buf_init(&child->job, FRAME_MAX);
}

void
child_clear(struct child *child)
{
	channel_done(&child->channel);
	buf_done(&child->job);
	/* However its proxy ended. */
	if (child->worker_pidfd >= 0)
		(void)sys_pidfd_kill(child->worker_pidfd, SIGKILL);
	fd_close(child->worker_pidfd);
	fd_close(child->pidfd);
	fd_close(child->region_fd);
	child_init(child);
}

static int
on_frame(
    struct child *child, const struct frame *frame, int *fd, struct err *err)
{
	struct err said;

	switch (frame->type) {
	case FRAME_READY:
		if (child->ready_seen)
			return fail(err, EPROTO, "child is ready twice");
		child->ready_seen = true;
		return 0;
	case FRAME_DONE:
		if (child->started_us == 0 || child->done_seen)
			return fail(err, EPROTO, "child is done without a job");
		if (wire_take(frame, &child->done, sizeof(child->done), NULL,
			err) < 0)
			return -EPROTO;
		child->done_seen = true;
		return 0;
	case FRAME_WORKER:
		if (child->ready_seen || child->worker_pidfd >= 0 || *fd < 0)
			return fail(err, EPROTO, "a worker out of turn");
		child->worker_pidfd = *fd;
		*fd = -1;
		return 0;
	case FRAME_UNBORN:
		if (child->unborn == child->copies)
			return fail(err, EPROTO, "no copy was asked for");
		child->unborn++;
		return 0;
	case FRAME_FAILED:
		if (wire_take(frame, &said, sizeof(said), NULL, err) < 0)
			return -EPROTO;
		said.text[sizeof(said.text) - 1] = '\0';
		for (char *c = said.text; *c; c++)
			if (*c == '"' || *c == '\\')
				*c = '\''; /* it goes into the log, quoted */
		return fail(err, ECHILD, "child failed: %.200s", said.text);
	case FRAME_CONF:
	case FRAME_CALL:
	case FRAME_CANCEL:
	case FRAME_DROP:
	case FRAME_WARM:
	case FRAME_RESULT:
	case FRAME_GRADE:
	case FRAME_BEGUN:
	case FRAME_ENDED:
	case FRAME_FORK:
	case FRAME_CHILD:
	case FRAME_EXIT:
	case FRAME_HURRY:
	case FRAME_JOB:
	case FRAME_REGION:
	case FRAME_BRANCH:
	case FRAME_TYPES:
		break;
	}
	return fail(err, EPROTO, "frame of type %d from a child", frame->type);
}

int
child_read(struct child *child, struct err *err)
{
	struct frame frame;
	int fds[WIRE_FDS_MAX];
	int end = channel_read(&child->channel, err);
	int r;

	/* What came before the end counts. */
	while ((r = channel_next(&child->channel, &frame, fds, err)) > 0) {
		r = on_frame(child, &frame, &fds[0], err);
		for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
			fd_close(fds[i]);
		channel_pop(&child->channel, &frame);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : end;
}

/* Also where the program caught the exception, or the interpreter passed over it
 * (in an exit handler, say): its time was up. */
static bool
ended_by_interrupt(const struct child *child)
{
	return child->interrupted && child->done.interrupted &&
	       child->done.end != TURN_TRAPPED;
}

static void
result_of_interrupt(const struct child *child, struct wire_result *result)
{
	result->outcome = OUTCOME_TIMEOUT;
	result->exit_code = -1;
	(void)snprintf(result->note, sizeof(result->note),
	    "[interrupted at the time limit of %.3g s]",
	    (double)child->wall_ms / 1e3);
}

/* Of the program's own process, in a worker. As shells count. */
static void
result_of_signal(uint32_t number, struct wire_result *result)
{
	const char *name = sigabbrev_np((int)(number % 128));

	result->outcome = OUTCOME_KILLED;
	result->exit_code = 128 + (int)(number % 128);
	(void)snprintf(result->note, sizeof(result->note),
	    "[the program was killed by signal %u (SIG%s)]", number % 128,
	    name ? name : "?");
}

static void
result_of_done(const struct child *child, struct wire_result *result)
{
	const struct wire_done *done = &child->done;

	result->cpu_us = done->cpu_us;
	result->memory_peak_bytes = done->memory_peak_bytes;
	result->exit_code = done->status;
	if (child->session && done->stays) {
		result->session_alive = true;
		result->session_bytes = done->memory_bytes;
	}
	if (ended_by_interrupt(child)) {
		result_of_interrupt(child, result);
		return;
	}
	if (done->signal != 0 && !done->out_of_memory) {
		result_of_signal(done->signal, result);
		return;
	}
	if (done->end != TURN_TRAPPED && !done->out_of_memory) {
		result->outcome =
		    done->status == 0 ? OUTCOME_OK : OUTCOME_RAISED;
		return;
	}
	if (done->out_of_memory) {
		result->outcome = OUTCOME_MEMORY;
		result->exit_code = 137;
		(void)snprintf(result->note, sizeof(result->note),
		    "[the room's memory limit is reached and the program could "
		    "not go on]");
		return;
	}
	result->outcome = OUTCOME_KILLED;
	result->exit_code = 134;
	(void)snprintf(result->note, sizeof(result->note),
	    "[the interpreter crashed: %.*s]", (int)sizeof(done->trap) - 1,
	    done->trap);
}

static const char *
death_note(const struct child *child)
{
	switch (child->end) {
	case END_BREACH:
		return "[the program broke the rules of its room and was "
		       "killed]";
	case END_CANCEL:
		return "[cancelled]";
	case END_LOST:
		return "[the room was lost while the program ran: call again]";
	case END_FAILED:
		return "[the room could not be made ready: see breakroom "
		       "doctor]";
	case END_NONE:
	case END_DEADLINE:
	case END_UNPROVED:
		break;
	}
	return "[the room's process ended before the program did]";
}

static void
result_of_death(
    const struct child *child, int status, struct wire_result *result)
{
	/* Without the job nothing ran. */
	result->never_ran = child->started_us == 0 &&
			    child->end != END_CANCEL &&
			    child->end != END_UNPROVED;
	result->exit_code = -1;
	if (result->never_ran)
		result->outcome = OUTCOME_REFUSED;
	else if (child->end == END_LOST)
		result->outcome = OUTCOME_ROOM_LOST;
	else
		result->outcome = OUTCOME_KILLED;
	if (child->end == END_NONE && status >= 0 && WIFSIGNALED(status))
		(void)snprintf(result->note, sizeof(result->note),
		    "[the room's process was killed by signal %d]",
		    WTERMSIG(status));
	else
		(void)snprintf(result->note, sizeof(result->note), "%s",
		    death_note(child));
}

static void
result_unproved(const struct child *child, struct wire_result *result)
{
	result->outcome = OUTCOME_REFUSED;
	result->exit_code = -1;
	(void)snprintf(result->note, sizeof(result->note),
	    "[the program was not run: %s]", child->why);
}

static void
result_of_deadline(const struct child *child, struct wire_result *result)
{
	result->outcome = OUTCOME_TIMEOUT;
	result->exit_code = -1;
	(void)snprintf(result->note, sizeof(result->note),
	    "[killed at the time limit of %.3g s]",
	    (double)child->wall_ms / 1e3);
}

static void
result_out_of_memory(struct wire_result *result)
{
	result->outcome = OUTCOME_MEMORY;
	result->exit_code = 137;
	(void)snprintf(result->note, sizeof(result->note),
	    "[killed at the memory limit of its room]");
}

void
child_result(const struct child *child, int status, uint64_t cpu_us,
    struct wire_result *ret_result)
{
	uint64_t now = clock_us();

	memset(ret_result, 0, sizeof(*ret_result));
	ret_result->id = child->call;
	/* A job that was never handed over has waited until now. */
	ret_result->queued_us =
	    (child->started_us ? child->started_us : now) - child->arrived_us;
	ret_result->wall_us = child->started_us ? now - child->started_us : 0;
	ret_result->cpu_us = cpu_us;
	if (child->done_seen)
		result_of_done(child, ret_result);
	else if (child->end == END_DEADLINE)
		result_of_deadline(child, ret_result);
	else if (child->end == END_UNPROVED)
		result_unproved(child, ret_result);
	else if (child->out_of_memory)
		result_out_of_memory(ret_result);
	else
		result_of_death(child, status, ret_result);
}
