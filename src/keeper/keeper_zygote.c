/* keeper_zygote.c: the zygote's word of births and deaths, and its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define FROM_ZYGOTE                                                  \
	(1u << FRAME_WARM | 1u << FRAME_FAILED | 1u << FRAME_CHILD | \
	    1u << FRAME_EXIT)

static struct child *
child_find(struct keeper *keeper, uint32_t number)
{
	for (unsigned i = 0; i < keeper->children_n; i++)
		if (keeper->children[i]->state != CHILD_FREE &&
		    keeper->children[i]->number == number)
			return keeper->children[i];
	return NULL;
}

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
	if (!child) { /* given up meanwhile */
		if (*fd >= 0)
			(void)sys_pidfd_kill(*fd, SIGKILL);
		return 0;
	}
	if (child->pidfd >= 0)
		return fail(err, EPROTO, "a child is born twice");
	/* Without its descriptor nobody could end it: another try, now that
	 * the message has been read. */
	if (record.pid > 0 && *fd < 0)
		*fd = sys_pidfd_open(record.pid);
	if (record.pid > 0 && *fd < 0)
		return fail_errno(err, "pidfd of a child");
	if (record.pid <= 0) {
		child->end = END_FAILED;
		return keeper_child_gone(keeper, child, -1, 0);
	}
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
	return child ? keeper_child_gone(
			   keeper, child, record.status, record.cpu_us)
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
		keeper->zygote_since_us = clock_us();
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

void
keeper_zygote_start(struct keeper *keeper)
{
	struct err err = { 0 };
	int fd;
	int pid = zygote_start(&keeper->conf, &fd, &err);

	keeper->zygote_since_us = clock_us();
	keeper->zygote_restart_us = 0;
	if (pid < 0) {
		log_error("event=zygote_start error=\"%s\"", err.text);
		keeper->zygote_restart_us = clock_us() + 1000u * RESTART_MS_MAX;
		err.code = err.code == EAGAIN ? EIO : err.code; /* final */
		(void)channel_say(
		    &keeper->server, FRAME_FAILED, &err, sizeof(err));
		return;
	}
	keeper->zygote_pid = pid;
	channel_init(&keeper->zygote, fd, FROM_ZYGOTE, FRAME_MAX, FRAME_MAX);
}

static int
children_lost(struct keeper *keeper)
{
	int r = 0;

	for (unsigned i = 0; i < keeper->children_n; i++) {
		struct child *child = keeper->children[i];

		if (child->state == CHILD_FREE)
			continue;
		if (child->end == END_NONE)
			child->end = END_LOST;
		child_kill(child, child->end);
		if (r == 0)
			r = keeper_child_gone(keeper, child, -1, 0);
		else
			child_clear(child);
	}
	return r;
}

/* A zygote that lived for a while begins the back-off anew. */
static void
back_off(struct keeper *keeper)
{
	uint64_t now = clock_us();

	if (keeper->warm && now - keeper->zygote_since_us > STEADY_US)
		keeper->restart_ms = RESTART_MS_MIN;
	keeper->zygote_restart_us = now + 1000u * keeper->restart_ms;
	keeper->restart_ms = RESTART_MS_AFTER(keeper->restart_ms);
}

int
keeper_zygote_lost(struct keeper *keeper)
{
	static const struct err again = { EAGAIN, "the room starts again" };
	int status = 0;
	int r;

	(void)kill(keeper->zygote_pid, SIGKILL);
	(void)waitpid(keeper->zygote_pid, &status, 0);
	log_warn("event=zygote_lost status=%d", status);
	channel_done(&keeper->zygote);
	back_off(keeper);
	keeper->warm = false;
	/* Before the results: calls wait at the server from here on. */
	r = channel_say(&keeper->server, FRAME_FAILED, &again, sizeof(again));
	return r < 0 ? r : children_lost(keeper);
}

int
keeper_on_zygote(struct keeper *keeper)
{
	struct err err = { 0 };
	int r = zygote_read(keeper, &err);

	if (r == 0)
		return 0;
	if (r != -EPIPE)
		log_error("event=zygote error=\"%s\"", err.text);
	return keeper_zygote_lost(keeper);
}
