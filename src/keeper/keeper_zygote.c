/* keeper_zygote.c: a zygote's word of births and deaths, and of itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static struct child *
child_find(
    struct keeper *keeper, const struct nursery *nursery, uint32_t number)
{
	for (unsigned i = 0; i < keeper->children_n; i++) {
		struct child *child = keeper->children[i];

		if (child->state != CHILD_FREE && child->nursery == nursery &&
		    child->number == number)
			return child;
	}
	return NULL;
}

/* A child is no more, or never was. */
static int
child_over(struct keeper *keeper, struct nursery *nursery, struct child *child,
    int status, uint64_t cpu_us)
{
	bool proved = child->proved;

	if (!child->twin)
		return keeper_child_gone(keeper, child, status, cpu_us);
	keeper_child_clear(keeper, child);
	return nursery_twin_gone(keeper, nursery, proved, status);
}

static int
on_child_born(struct keeper *keeper, struct nursery *nursery,
    const struct frame *frame, int *fd, struct err *err)
{
	struct wire_child record;
	struct child *child;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	if (r < 0)
		return r;
	child = child_find(keeper, nursery, record.child);
	if (!child) { /* given up meanwhile */
		if (*fd >= 0)
			(void)sys_pidfd_kill(*fd, SIGKILL);
		return 0;
	}
	if (child->pidfd >= 0)
		return fail(err, EPROTO, "a child is born twice");
	/* Without its descriptor nobody could end it, and its number means
	 * nothing outside the zygote's namespace: it ends with its channel,
	 * before it has a job. */
	if (record.pid > 0 && *fd < 0) {
		fd_close(child->channel.fd);
		child->channel.fd = -1;
		child_kill(child, END_FAILED);
		return 0;
	}
	if (record.pid <= 0) {
		if (child->end == END_NONE)
			child->end = END_FAILED;
		return child_over(keeper, nursery, child, -1, 0);
	}
	child->pidfd = *fd;
	*fd = -1;
	if (child->state == CHILD_SPENT)
		return 0; /* even its result has come before */
	if (child->state == CHILD_FORKING) {
		child->state = CHILD_WARMING;
		keeper_child_settle(keeper, child);
	} else { /* it was to die before it was born */
		(void)sys_pidfd_kill(child->pidfd, SIGKILL);
	}
	return 0;
}

static int
on_child_exit(struct keeper *keeper, struct nursery *nursery,
    const struct frame *frame, struct err *err)
{
	struct wire_exit record;
	struct child *child;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	if (r < 0)
		return r;
	child = child_find(keeper, nursery, record.child);
	return child ? child_over(
			   keeper, nursery, child, record.status, record.cpu_us)
		     : 0;
}

static int
on_zygote_frame(struct keeper *keeper, struct nursery *nursery,
    const struct frame *frame, int *fd, struct err *err)
{
	struct err said;

	if (frame->type == FRAME_CHILD)
		return on_child_born(keeper, nursery, frame, fd, err);
	if (frame->type == FRAME_EXIT)
		return on_child_exit(keeper, nursery, frame, err);
	if (frame->type == FRAME_WARM)
		return nursery_warm(keeper, nursery);
	if (wire_take(frame, &said, sizeof(said), NULL, err) < 0)
		return -EPROTO;
	said.text[sizeof(said.text) - 1] = '\0';
	log_error("event=zygote_failed room=%s error=\"%s\"",
	    keeper_room(keeper), said.text);
	return nursery_current(keeper) ? 0
				       : channel_say(&keeper->server,
					     FRAME_FAILED, &said, sizeof(said));
}

static int
zygote_read(struct keeper *keeper, struct nursery *nursery, struct err *err)
{
	struct frame frame;
	int fds[WIRE_FDS_MAX];
	int end = channel_read(&nursery->channel, err);
	int r;

	while ((r = channel_next(&nursery->channel, &frame, fds, err)) > 0) {
		r = on_zygote_frame(keeper, nursery, &frame, &fds[0], err);
		for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
			fd_close(fds[i]);
		/* What it said may have been its end. */
		if (nursery->state == NURSERY_NONE)
			return r;
		channel_pop(&nursery->channel, &frame);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : end;
}

int
keeper_on_zygote(struct keeper *keeper, struct nursery *nursery)
{
	struct err err = { 0 };
	int r = zygote_read(keeper, nursery, &err);

	if (r == 0 || nursery->state == NURSERY_NONE)
		return r;
	if (r != -EPIPE)
		log_error("event=zygote room=%s error=\"%s\"",
		    keeper_room(keeper), err.text);
	return nursery_lost(keeper, nursery);
}
