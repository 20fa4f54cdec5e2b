/* keeper.c: the keeper's loop. keeper.h has the theory of operation.
 * Hostile input: frames from a child, by way of children.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/sys.h"
#include "call/call.h"
#include "call/channel.h"
#include "call/output.h"
#include "conf/limits.h"
#include "keeper/children.h"
#include "walls/walls.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FROM_SERVER (1u << FRAME_CALL | 1u << FRAME_CANCEL)
#define FROM_ZYGOTE                                                  \
	(1u << FRAME_WARM | 1u << FRAME_FAILED | 1u << FRAME_CHILD | \
	    1u << FRAME_EXIT)
#define FROM_CHILD (1u << FRAME_READY | 1u << FRAME_DONE | 1u << FRAME_FAILED)

/* Enough for the calls that the server may have under way at once. */
#define SERVER_IN_MAX  (2u * FRAME_MAX)
#define SERVER_OUT_MAX (4u * MIB)

struct keeper {
	struct wire_conf conf;
	struct channel server;
	struct channel zygote;
	pid_t zygote_pid;
	bool warm;
	uint64_t zygote_restart_us; /* 0: it lives */
	uint32_t restart_ms;        /* the next back-off */
	uint32_t next_number;
	uint64_t idle_since_us; /* when the last call ended */
	struct child children[CHILDREN_MAX];
};

/* ---- calls ---- */

static bool
child_takes_calls(const struct child *child)
{
	return !child->has_call && (child->state == CHILD_FORKING ||
				       child->state == CHILD_WARMING ||
				       child->state == CHILD_SPARE);
}

static unsigned
children_in(const struct keeper *keeper, enum child_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CHILDREN_MAX; i++)
		n += keeper->children[i].state == state;
	return n;
}

static unsigned
children_running(const struct keeper *keeper)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CHILDREN_MAX; i++)
		n += keeper->children[i].has_call;
	return n;
}

static unsigned
children_idle(const struct keeper *keeper)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CHILDREN_MAX; i++)
		n += child_takes_calls(&keeper->children[i]);
	return n;
}

/* Asks the zygote for a child; NULL with err when that cannot be. */
static struct child *
child_fork(struct keeper *keeper, bool hurry, struct err *err)
{
	struct wire_fork record = { .child = ++keeper->next_number,
		.hurry = hurry };
	struct span none = { 0 };
	struct child *child = NULL;
	int ends[2];
	int region;
	int fds[2];

	for (unsigned i = 0; i < CHILDREN_MAX && !child; i++)
		if (keeper->children[i].state == CHILD_FREE)
			child = &keeper->children[i];
	if (!child) {
		(void)fail(err, EAGAIN, "no place for another child");
		return NULL;
	}
	region = output_create(keeper->conf.output_chars, err);
	if (region < 0)
		return NULL;
	fds[0] = fds[1] = -1;
	if (fd_pair(ends) < 0 || (fds[1] = dup(region)) < 0) {
		(void)fail_errno(err, "descriptors for a child");
		fd_close(region);
		return NULL;
	}
	fds[0] = ends[1];
	channel_init(
	    &child->channel, ends[0], FROM_CHILD, CHILD_FRAME_MAX, FRAME_MAX);
	child->state = CHILD_FORKING;
	child->number = record.child;
	child->region_fd = region;
	if (channel_put(&keeper->zygote, FRAME_FORK, &record, sizeof(record),
		none, none, fds, 2) < 0) {
		(void)fail(err, EPIPE, "the zygote is gone");
		child_clear(child);
		return NULL;
	}
	return child;
}

/* Sends a result, with the output region if there is one. */
static int
result_send(struct keeper *keeper, struct child *child,
    const struct wire_result *result)
{
	struct span none = { 0 };
	int region = child->region_fd;

	child->region_fd = -1;
	child->has_call = false;
	keeper->idle_since_us = clock_us();
	return channel_put(&keeper->server, FRAME_RESULT, result,
	    sizeof(*result), none, none, &region, region >= 0 ? 1 : 0);
}

static int
refusal_send(struct keeper *keeper, uint32_t call, enum outcome outcome,
    const struct err *err)
{
	struct wire_result result = {
		.id = call, .outcome = outcome, .exit_code = -1
	};

	(void)snprintf(result.note, sizeof(result.note), "%.*s",
	    (int)sizeof(result.note) - 1, err->text);
	return channel_say(
	    &keeper->server, FRAME_RESULT, &result, sizeof(result));
}

/* The best child for a call that came now: one that is ready, else one that
 * will be, else a new one. */
static struct child *
child_for_call(struct keeper *keeper, struct err *err)
{
	struct child *best = NULL;

	for (unsigned i = 0; i < CHILDREN_MAX; i++) {
		struct child *child = &keeper->children[i];

		if (child_takes_calls(child) &&
		    (!best || child->state > best->state))
			best = child;
	}
	return best ? best : child_fork(keeper, true, err);
}

static int
on_call(struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_call record;
	struct wire_job job;
	struct span rest, code, input;
	struct err why = { 0 };
	struct child *child;
	uint64_t now = clock_us();
	int r = wire_take(frame, &record, sizeof(record), &rest, err);

	if (r < 0)
		return r;
	if ((uint64_t)record.code_n + record.stdin_n != rest.n)
		return fail(err, EPROTO, "call whose lengths do not add up");
	code = (struct span){ rest.p, record.code_n };
	input = (struct span){ rest.p + record.code_n, record.stdin_n };
	job = (struct wire_job){ record.code_n, record.stdin_n };
	if (!keeper->warm)
		(void)fail(&why, EAGAIN, "[the room is starting again]");
	child = keeper->warm ? child_for_call(keeper, &why) : NULL;
	if (!child)
		return refusal_send(keeper, record.id, OUTCOME_ROOM_LOST, &why);
	child->has_call = true;
	child->call = record.id;
	child->arrived_us = now;
	child->started_us = clock_us();
	child->deadline_us =
	    child->started_us + (uint64_t)record.wall_ms * 1000u;
	/* A child that cannot be written to is dead: its exit says more. */
	(void)channel_put(&child->channel, FRAME_JOB, &job, sizeof(job), code,
	    input, NULL, 0);
	return 0;
}

static int
on_cancel(struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_cancel record;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	for (unsigned i = 0; i < CHILDREN_MAX && r == 0; i++) {
		struct child *child = &keeper->children[i];

		if (child->has_call && child->call == record.id)
			child_kill(child, END_CANCEL);
	}
	return r;
}

static int
on_server(struct keeper *keeper, struct err *err)
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

/* ---- children ---- */

/* Its call is over: the result goes out, the child stays for a moment. */
static int
child_finish(struct keeper *keeper, struct child *child)
{
	struct wire_result result;

	child_result(child, -1, 0, &result);
	child->state = CHILD_SPENT;
	child->release_us = clock_us() + SPENT_HOLD_US;
	return result_send(keeper, child, &result);
}

static int
on_child(struct keeper *keeper, struct child *child)
{
	struct err err = { 0 };
	int r = child_read(child, &err);

	if (child->done_seen && child->has_call)
		return child_finish(keeper, child);
	if (r == 0)
		return 0;
	if (r != -EPIPE)
		log_error("event=child error=\"%s\"", err.text);
	/* Dead or in breach of the protocol: its exit ends the call. */
	fd_close(child->channel.fd);
	child->channel.fd = -1;
	child_kill(child, r == -EPIPE ? END_NONE : END_BREACH);
	return 0;
}

static struct child *
child_find(struct keeper *keeper, uint32_t number)
{
	for (unsigned i = 0; i < CHILDREN_MAX; i++)
		if (keeper->children[i].state != CHILD_FREE &&
		    keeper->children[i].number == number)
			return &keeper->children[i];
	return NULL;
}

static int
child_gone(
    struct keeper *keeper, struct child *child, int status, uint64_t cpu_us)
{
	struct wire_result result;
	struct err err = { 0 };
	int r = 0;

	/* Its last words may be waiting still. */
	if (child->has_call && !child->done_seen && child->channel.fd >= 0)
		(void)child_read(child, &err);
	if (child->has_call) {
		child_result(child, status, cpu_us, &result);
		r = result_send(keeper, child, &result);
	}
	child_clear(child);
	return r;
}

/* ---- the zygote ---- */

static int
on_child_born(
    struct keeper *keeper, const struct frame *frame, int *fd, struct err *err)
{
	struct wire_child record;
	struct child *child;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	if (r < 0)
		return r;
	child = child_find(keeper, record.child);
	if (!child || child->pidfd >= 0)
		return fail(err, EPROTO, "a child that nobody asked for");
	if (record.pid <= 0 || *fd < 0)
		return child_gone(keeper, child, -1, 0);
	child->pidfd = *fd;
	*fd = -1;
	if (child->state == CHILD_SPENT)
		return 0; /* even its result has come before */
	if (child->state == CHILD_FORKING)
		child->state = child->ready_seen ? CHILD_SPARE : CHILD_WARMING;
	else /* it was to die before it was born */
		(void)sys_pidfd_kill(child->pidfd, SIGKILL);
	return 0;
}

static int
on_child_exit(struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_exit record;
	struct child *child;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	if (r < 0)
		return r;
	child = child_find(keeper, record.child);
	return child ? child_gone(keeper, child, record.status, record.cpu_us)
		     : 0;
}

static int
on_zygote_frame(
    struct keeper *keeper, const struct frame *frame, int *fd, struct err *err)
{
	struct err said;

	if (frame->type == FRAME_CHILD)
		return on_child_born(keeper, frame, fd, err);
	if (frame->type == FRAME_EXIT)
		return on_child_exit(keeper, frame, err);
	if (frame->type == FRAME_WARM) {
		keeper->warm = true;
		keeper->restart_ms = RESTART_MS_MIN;
		return channel_say(&keeper->server, FRAME_WARM, NULL, 0);
	}
	if (wire_take(frame, &said, sizeof(said), NULL, err) < 0)
		return -EPROTO;
	said.text[sizeof(said.text) - 1] = '\0';
	log_error("event=zygote_failed error=\"%s\"", said.text);
	return channel_say(&keeper->server, FRAME_FAILED, &said, sizeof(said));
}

static int
zygote_read(struct keeper *keeper, struct err *err)
{
	struct frame frame;
	int fds[WIRE_FDS_MAX];
	int end = channel_read(&keeper->zygote, err);
	int r;

	while ((r = channel_next(&keeper->zygote, &frame, fds, err)) > 0) {
		r = on_zygote_frame(keeper, &frame, &fds[0], err);
		channel_pop(&keeper->zygote, &frame);
		for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
			fd_close(fds[i]);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : end;
}

static void
zygote_restart(struct keeper *keeper)
{
	struct err err = { 0 };
	int fd;
	int pid = zygote_start(&keeper->conf, &fd, &err);

	if (pid < 0) {
		log_error("event=zygote_start error=\"%s\"", err.text);
		keeper->zygote_restart_us = clock_us() + 1000u * RESTART_MS_MAX;
		return;
	}
	keeper->zygote_pid = pid;
	keeper->zygote_restart_us = 0;
	channel_init(&keeper->zygote, fd, FROM_ZYGOTE, FRAME_MAX, FRAME_MAX);
}

/* The zygote is gone, and its children die with it. Every call of theirs gets
 * its result; a new zygote is started after the back-off. */
static int
zygote_lost(struct keeper *keeper)
{
	static const struct err again = { EAGAIN, "the room starts again" };
	int status = 0;
	int r = 0;

	(void)kill(keeper->zygote_pid, SIGKILL);
	(void)waitpid(keeper->zygote_pid, &status, 0);
	log_warn("event=zygote_lost status=%d", status);
	channel_done(&keeper->zygote);
	keeper->warm = false;
	for (unsigned i = 0; i < CHILDREN_MAX; i++) {
		struct child *child = &keeper->children[i];

		if (child->state == CHILD_FREE)
			continue;
		child_kill(child, child->end);
		if (r == 0)
			r = child_gone(keeper, child, -1, 0);
		else
			child_clear(child);
	}
	if (r == 0) /* calls wait at the server until it is warm again */
		r = channel_say(
		    &keeper->server, FRAME_FAILED, &again, sizeof(again));
	keeper->zygote_restart_us = clock_us() + 1000u * keeper->restart_ms;
	keeper->restart_ms = keeper->restart_ms * 2 < RESTART_MS_MAX
				 ? keeper->restart_ms * 2
				 : RESTART_MS_MAX;
	return r;
}

static int
on_zygote(struct keeper *keeper)
{
	struct err err = { 0 };
	int r = zygote_read(keeper, &err);

	if (r == 0)
		return 0;
	if (r != -EPIPE)
		log_error("event=zygote error=\"%s\"", err.text);
	return zygote_lost(keeper);
}

/* ---- time ---- */

/* Kills what is due; returns when the next thing will be, or 0. */
static uint64_t
children_tick(struct keeper *keeper, uint64_t now)
{
	unsigned spent = children_in(keeper, CHILD_SPENT);
	uint64_t next = 0;

	for (unsigned i = 0; i < CHILDREN_MAX; i++) {
		struct child *child = &keeper->children[i];
		uint64_t due = 0;

		if (child->state == CHILD_SPENT)
			due = spent > SPENT_MAX / 2 ? now : child->release_us;
		else if (child->has_call && child->state != CHILD_DYING)
			due = child->deadline_us;
		if (due == 0)
			continue;
		if (due <= now) {
			child_kill(child, child->state == CHILD_SPENT
					      ? END_NONE
					      : END_DEADLINE);
			continue;
		}
		if (next == 0 || due < next)
			next = due;
	}
	return next;
}

/* Makes a spare if the room is idle; returns when it should be tried again. */
static uint64_t
spares_tick(struct keeper *keeper, uint64_t now)
{
	struct err err = { 0 };
	uint64_t due = keeper->idle_since_us + SPARE_DELAY_US;

	if (!keeper->warm || children_running(keeper) > 0 ||
	    children_idle(keeper) >= SPARES)
		return 0;
	if (now < due)
		return due;
	/* One after the other: the second waits until the first is ready. */
	if (children_in(keeper, CHILD_FORKING) ||
	    children_in(keeper, CHILD_WARMING))
		return 0;
	if (!child_fork(keeper, false, &err))
		log_error("event=spare error=\"%s\"", err.text);
	return 0;
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return a + b;
	return a < b ? a : b;
}

static struct timespec
keeper_tick(struct keeper *keeper, bool *ret_forever)
{
	uint64_t now = clock_us();
	uint64_t next = children_tick(keeper, now);

	next = earlier(next, spares_tick(keeper, now));
	if (keeper->zygote_restart_us && keeper->zygote_restart_us <= now)
		zygote_restart(keeper);
	next = earlier(next, keeper->zygote_restart_us);
	*ret_forever = next == 0;
	now = clock_us();
	next = next > now ? next - now : 0;
	return (struct timespec){ (time_t)(next / 1000000u),
		(long)(next % 1000000u) * 1000 };
}

/* ---- the loop ---- */

struct poll_set {
	struct pollfd fds[CHILDREN_MAX + 2];
	struct child *children[CHILDREN_MAX + 2];
	nfds_t n;
};

static void
poll_add(
    struct poll_set *set, const struct channel *channel, struct child *child)
{
	short events = POLLIN;

	if (channel->fd < 0)
		return;
	if (channel_waiting(channel))
		events |= POLLOUT;
	set->fds[set->n] =
	    (struct pollfd){ .fd = channel->fd, .events = events };
	set->children[set->n++] = child;
}

static void
poll_gather(struct keeper *keeper, struct poll_set *set)
{
	set->n = 0;
	poll_add(set, &keeper->server, NULL);
	poll_add(set, &keeper->zygote, NULL);
	for (unsigned i = 0; i < CHILDREN_MAX; i++) {
		struct child *child = &keeper->children[i];

		/* A spent child may say what it likes: nobody listens. */
		if (child->state != CHILD_FREE && child->state != CHILD_SPENT)
			poll_add(set, &child->channel, child);
	}
}

static int
poll_serve(struct keeper *keeper, const struct pollfd *ready,
    struct child *child, struct err *err)
{
	struct channel *channel = child ? &child->channel
				  : ready->fd == keeper->server.fd
				      ? &keeper->server
				      : &keeper->zygote;
	bool input = ready->revents & (POLLIN | POLLHUP | POLLERR);

	/* A frame served before may have closed what this one was about. */
	if (ready->revents == 0 || channel->fd != ready->fd)
		return 0;
	if (ready->revents & POLLOUT)
		(void)channel_flush(channel); /* an end is seen by reading */
	if (!input)
		return 0;
	if (child)
		return on_child(keeper, child);
	return channel == &keeper->server ? on_server(keeper, err)
					  : on_zygote(keeper);
}

static int
keeper_loop(struct keeper *keeper, struct err *err)
{
	static struct poll_set set; /* of 7 KiB, rebuilt each time */
	int r = 0;

	while (r == 0) {
		bool forever;
		struct timespec wait = keeper_tick(keeper, &forever);

		poll_gather(keeper, &set);
		if (ppoll(set.fds, set.n, forever ? NULL : &wait, NULL) < 0 &&
		    errno != EINTR)
			return fail_errno(err, "poll");
		for (nfds_t i = 0; i < set.n && r == 0; i++)
			r = poll_serve(
			    keeper, &set.fds[i], set.children[i], err);
	}
	return r;
}

/* The configuration is the channel's first frame. */
static int
conf_receive(int channel_fd, struct wire_conf *ret_conf, struct err *err)
{
	struct wire_header header;
	int r = fd_read_all(channel_fd, &header, sizeof(header));

	if (r == 0 &&
	    (header.type != FRAME_CONF || header.n != sizeof(*ret_conf)))
		return fail(err, EPROTO,
		    "the channel does not begin with a "
		    "configuration of this version");
	if (r == 0)
		r = fd_read_all(channel_fd, ret_conf, sizeof(*ret_conf));
	if (r < 0)
		return fail(
		    err, -r, "read the configuration: %s", strerror(-r));
	ret_conf->artifacts_dir[sizeof(ret_conf->artifacts_dir) - 1] = '\0';
	return 0;
}

int
keeper_main(int channel_fd)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	struct err err = { 0 };
	int r;

	if (!keeper)
		return 1;
	for (unsigned i = 0; i < CHILDREN_MAX; i++)
		child_clear(&keeper->children[i]);
	(void)prctl(PR_SET_NAME, "keeper");
	r = conf_receive(channel_fd, &keeper->conf, &err);
	if (r == 0)
		r = wall_privileges(&err);
	if (r == 0) {
		log_setup(
		    STDERR_FILENO, (enum log_level)keeper->conf.log_level);
		keeper->restart_ms = RESTART_MS_MIN;
		channel_init(&keeper->server, channel_fd, FROM_SERVER,
		    SERVER_IN_MAX, SERVER_OUT_MAX);
		zygote_restart(keeper);
		r = keeper_loop(keeper, &err);
	}
	if (r != -EPIPE)
		log_error("event=keeper_end error=\"%s\"", err.text);
	return r == -EPIPE ? 0 : 1;
}
