/* keeper_time.c: what the keeper does when its time has come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/log.h"

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
		n += keeper_child_idle(&keeper->children[i]);
	return n;
}

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
	if (!keeper_child_new(keeper, &err))
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

uint64_t
keeper_tick(struct keeper *keeper)
{
	uint64_t now = clock_us();
	uint64_t next = children_tick(keeper, now);

	next = earlier(next, spares_tick(keeper, now));
	if (keeper->zygote_restart_us && keeper->zygote_restart_us <= now)
		keeper_zygote_start(keeper);
	return earlier(next, keeper->zygote_restart_us);
}
