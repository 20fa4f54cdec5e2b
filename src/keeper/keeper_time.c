/* keeper_time.c: what the keeper does when its time has come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>

static unsigned
children_in(const struct keeper *keeper, enum child_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < keeper->children_n; i++)
		n += keeper->children[i]->state == state;
	return n;
}

/* Removes those that are gone; here alone, so that a child's address holds for
 * a whole turn of the loop. */
static void
children_sweep(struct keeper *keeper)
{
	unsigned n = 0;

	for (unsigned i = 0; i < keeper->children_n; i++)
		if (keeper->children[i]->state == CHILD_FREE)
			free(keeper->children[i]);
		else
			keeper->children[n++] = keeper->children[i];
	keeper->children_n = n;
}

static unsigned
children_idle(const struct keeper *keeper)
{
	unsigned n = 0;

	for (unsigned i = 0; i < keeper->children_n; i++)
		n += keeper_child_idle(keeper->children[i]);
	return n;
}

static unsigned
children_running(const struct keeper *keeper)
{
	unsigned n = 0;

	for (unsigned i = 0; i < keeper->children_n; i++)
		n += keeper->children[i]->has_call;
	return n;
}

uint64_t
time_earlier(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return a + b;
	return a < b ? a : b;
}

/* When something is to be done about the child; 0: never. */
static uint64_t
child_due(const struct child *child, bool crowded)
{
	switch (child->state) {
	case CHILD_FREE:
		return 0;
	case CHILD_FORKING:
	case CHILD_WARMING:
		return child->since_us + child->start_max_us;
	case CHILD_SPARE:
		return child->has_call ? time_earlier(child->interrupt_us,
					     child->deadline_us)
				       : 0;
	case CHILD_HELD:
		return 0;
	case CHILD_SPENT:
		return crowded ? 1 : child->release_us;
	case CHILD_DYING:
		return child->has_call ? child->release_us : 0;
	}
	return 0;
}

/* Does it. A negative value: the server, or the zygote, is gone. */
static int
child_tick(struct keeper *keeper, struct child *child, uint64_t now)
{
	if (child->state == CHILD_FORKING && child->branch)
		return keeper_branch_stuck(keeper, child);
	if (child->state == CHILD_FORKING) {
		log_error("event=zygote_stuck room=%s", keeper_room(keeper));
		return nursery_lost(keeper, child->nursery);
	}
	if (child->state == CHILD_DYING) /* not reaped: answer all the same */
		return keeper_child_answer(keeper, child, -1, 0);
	if (child->state == CHILD_SPENT)
		child_kill(child, END_NONE);
	else if (child->state == CHILD_SPARE && now < child->deadline_us)
		child_interrupt(child, now);
	else if (child->state == CHILD_SPARE)
		child_kill(child, END_DEADLINE);
	else
		child_kill(child, END_FAILED); /* stuck while it prepared */
	return 0;
}

static int
children_tick(struct keeper *keeper, uint64_t now, uint64_t *ret_next_us)
{
	bool crowded = children_in(keeper, CHILD_SPENT) > SPENT_MAX / 2;
	int r = 0;

	*ret_next_us = 0;
	for (unsigned i = 0; i < keeper->children_n && r == 0; i++) {
		struct child *child = keeper->children[i];
		uint64_t due = child_due(child, crowded);

		if (due && due <= now) {
			r = child_tick(keeper, child, now);
			due = child_due(child, false);
		}
		*ret_next_us = time_earlier(*ret_next_us, due);
	}
	return r;
}

/* While calls run, only in their long pauses. */
static uint32_t
spare_delay_us(const struct keeper *keeper)
{
	if (!children_running(keeper))
		return 0;
	if (!(keeper->kind->flags & ROOM_WORKER))
		return SPARE_DELAY_US;
	return children_idle(keeper) > 0 ? SPARE_DELAY_SECOND_US
					 : SPARE_DELAY_WORKER_US;
}

/* Makes a spare if the room is idle; returns when it should be tried again. */
static uint64_t
spares_tick(struct keeper *keeper, uint64_t now)
{
	struct nursery *nursery = nursery_current(keeper);
	struct err err = { 0 };
	uint64_t due = keeper->busy_us + spare_delay_us(keeper);

	if (keeper->spare_retry_us > due)
		due = keeper->spare_retry_us;
	if (!nursery || children_idle(keeper) >= keeper->conf.ready)
		return 0;
	/* One after the other: the second waits until the first is ready. */
	if (children_in(keeper, CHILD_FORKING) ||
	    children_in(keeper, CHILD_WARMING))
		return 0;
	if (now < due)
		return due;
	if (keeper_child_new(keeper, nursery, ROLE_CALL, &err))
		return 0;
	log_error(
	    "event=spare room=%s error=\"%s\"", keeper_room(keeper), err.text);
	keeper->spare_retry_us = now + 1000u * RESTART_MS_MAX;
	return keeper->spare_retry_us;
}

int
keeper_tick(struct keeper *keeper, uint64_t *ret_next_us)
{
	uint64_t now = clock_us();
	uint64_t children, zygote = 0;
	int r;

	children_sweep(keeper);
	r = children_tick(keeper, now, &children);
	if (r == 0)
		r = nursery_tick(keeper, now, &zygote);
	*ret_next_us = time_earlier(
	    time_earlier(children, zygote), spares_tick(keeper, now));
	return r;
}
