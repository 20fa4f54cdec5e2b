/* keeper_sessions.c: children that stay.
 * Hostile input: what they say, by way of children.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

struct child *
keeper_session(struct keeper *keeper, uint32_t session)
{
	for (unsigned i = 0; i < keeper->children_n; i++) {
		struct child *child = keeper->children[i];

		if (child->state == CHILD_HELD && child->session == session)
			return child;
	}
	return NULL;
}

static const char *
end_reason(const struct child *child)
{
	if (child->out_of_memory)
		return "it was out of memory";
	return child->end == END_LOST     ? "the room was restarted"
	       : child->end == END_BREACH ? "it broke the rules of its room"
					  : "its process ended";
}

int
keeper_session_ended(struct keeper *keeper, const struct child *child)
{
	struct wire_session record = { .session = child->session };

	(void)snprintf(record.why, sizeof(record.why), "%s", end_reason(child));
	return channel_say(
	    &keeper->server, FRAME_ENDED, &record, sizeof(record));
}

int
keeper_on_drop(
    struct keeper *keeper, const struct frame *frame, struct err *err)
{
	struct wire_session record;
	struct child *child;
	int r = wire_take(frame, &record, sizeof(record), NULL, err);

	if (r < 0)
		return r;
	child = keeper_session(keeper, record.session);
	if (!child)
		return 0;   /* it has ended by itself */
	child->session = 0; /* the server knows */
	child_kill(child, END_CANCEL);
	return 0;
}

/* The kernel wrote who sent READY. That it is one of ours is proved before it
 * gets anything; should it be dead already, its channel says so. */
void
keeper_branch_born(struct child *child)
{
	if (child->state != CHILD_FORKING && child->state != CHILD_DYING)
		return;
	child->pidfd = sys_pidfd_open(child->channel.peer);
	if (child->pidfd < 0)
		log_error("event=branch error=\"no descriptor of it\"");
	else if (child->state == CHILD_FORKING)
		child->state = CHILD_WARMING;
	else /* it was to die before it was born */
		(void)sys_pidfd_kill(child->pidfd, SIGKILL);
}

/* Which of its copies it was is not said: the one that waits longest. */
static int
unborn_one(struct keeper *keeper, const struct child *origin)
{
	for (unsigned i = 0; i < keeper->children_n; i++) {
		struct child *child = keeper->children[i];

		if (child->branch && child->state == CHILD_FORKING &&
		    child->origin == origin->session)
			return keeper_child_lost(keeper, child, END_FAILED);
	}
	return 0;
}

int
keeper_unborn(struct keeper *keeper, struct child *origin)
{
	int r = 0;

	for (; origin->unborn > 0 && r == 0; origin->unborn--) {
		origin->copies--;
		r = unborn_one(keeper, origin);
	}
	return r;
}

int
keeper_branch_stuck(struct keeper *keeper, struct child *child)
{
	struct child *origin = keeper_session(keeper, child->origin);

	if (origin)
		child_kill(origin, END_BREACH);
	return keeper_child_lost(keeper, child, END_FAILED);
}
