/* nursery.c: the keeper's zygotes: their start, their twins, their
 * successors, their loss.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/process.h"
#include "base/sys.h"
#include "keeper/nurse.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#define FROM_ZYGOTE                                                  \
	(1u << FRAME_WARM | 1u << FRAME_FAILED | 1u << FRAME_CHILD | \
	    1u << FRAME_EXIT)

static struct nursery *
nursery_in(struct keeper *keeper, enum nursery_state state)
{
	for (unsigned i = 0; i < NURSERIES; i++)
		if (keeper->nurseries[i].state == state)
			return &keeper->nurseries[i];
	return NULL;
}

struct nursery *
nursery_current(struct keeper *keeper)
{
	return nursery_in(keeper, NURSERY_WARM);
}

static bool
nursery_comes(struct keeper *keeper)
{
	return nursery_in(keeper, NURSERY_WARMING) ||
	       nursery_in(keeper, NURSERY_TWIN);
}

/* ---- the start ---- */

/* Not now: another try later; the zygote that works goes on. */
static int
nursery_failed(struct keeper *keeper, struct err *err)
{
	log_error("event=zygote_start room=%s error=\"%s\"",
	    keeper_room(keeper), err->text);
	if (err->code == ENXIO) /* a keeper without a nurse is of no use */
		return -ENXIO;
	keeper->restart_us = clock_us() + 1000u * RESTART_MS_MAX;
	if (nursery_current(keeper))
		return 0;
	err->code = err->code == EAGAIN ? EIO : err->code; /* final */
	return channel_say(&keeper->server, FRAME_FAILED, err, sizeof(*err));
}

static int
nursery_start(struct keeper *keeper, struct nursery *nursery)
{
	struct err err = { 0 };
	int fd = -1, pidfd = -1;

	keeper->restart_us = 0;
	if (nurse_ask(keeper->nurse, &fd, &pidfd, &err) < 0)
		return nursery_failed(keeper, &err);
	*nursery = (struct nursery){
		.state = NURSERY_WARMING, .pidfd = pidfd, .since_us = clock_us()
	};
	channel_init(&nursery->channel, fd, FROM_ZYGOTE, FRAME_MAX, FRAME_MAX);
	return 0;
}

/* It forks from now on; the one before it does no more. */
static int
nursery_promote(struct keeper *keeper, struct nursery *nursery)
{
	struct nursery *old = nursery_current(keeper);

	nursery->state = NURSERY_WARM;
	nursery->since_us = clock_us();
	if (!old)
		return channel_say(&keeper->server, FRAME_WARM, NULL, 0);
	log_info("event=zygote_replaced room=%s forks=%u", keeper_room(keeper),
	    old->forks);
	old->state = NURSERY_OLD;
	for (unsigned i = 0; i < keeper->children_n; i++)
		if (keeper->children[i]->nursery == old &&
		    keeper_child_idle(keeper->children[i]))
			child_kill(keeper->children[i], END_NONE);
	return 0;
}

int
nursery_warm(struct keeper *keeper, struct nursery *nursery)
{
	struct err err = { 0 };

	if (nursery->state != NURSERY_WARMING)
		return -EPROTO;
	/* Without the filter there is nothing that it could die of. */
	if (!house_has(&keeper->house, WALL_SECCOMP))
		return nursery_promote(keeper, nursery);
	nursery->state = NURSERY_TWIN;
	if (keeper_child_new(keeper, nursery, ROLE_TWIN, &err))
		return 0;
	log_error(
	    "event=twin room=%s error=\"%s\"", keeper_room(keeper), err.text);
	return nursery_lost(keeper, nursery);
}

int
nursery_twin_gone(
    struct keeper *keeper, struct nursery *nursery, bool proved, int status)
{
	if (nursery->state != NURSERY_TWIN)
		return 0;
	if (proved && process_ended_by(status, SIGSYS))
		return nursery_promote(keeper, nursery);
	log_error("event=twin room=%s error=\"%s\" status=%#x",
	    keeper_room(keeper),
	    proved ? "a forbidden call did not end it"
		   : "it did not come so far",
	    (unsigned)status);
	return nursery_lost(keeper, nursery);
}

/* ---- the end ---- */

static int
children_lost(struct keeper *keeper, const struct nursery *nursery)
{
	int r = 0;

	for (unsigned i = 0; i < keeper->children_n; i++) {
		struct child *child = keeper->children[i];

		if (child->state == CHILD_FREE || child->nursery != nursery)
			continue;
		if (child->end == END_NONE)
			child->end = END_LOST;
		child_kill(child, child->end);
		if (r == 0)
			r = keeper_child_gone(keeper, child, -1, 0);
		else
			keeper_child_clear(keeper, child);
	}
	return r;
}

/* Kills the zygote and waits for its death, which is that of its children where
 * it is the first of its namespace: their groups are free then. */
static void
zygote_kill(const struct nursery *nursery)
{
	struct pollfd death = { .fd = nursery->pidfd, .events = POLLIN };

	(void)sys_pidfd_kill(nursery->pidfd, SIGKILL);
	while (poll(&death, 1, ZYGOTE_END_MS) < 0 && errno == EINTR)
		;
}

static int
nursery_end(struct keeper *keeper, struct nursery *nursery)
{
	if (nursery->state != NURSERY_OLD)
		log_warn("event=zygote_lost room=%s forks=%u",
		    keeper_room(keeper), nursery->forks);
	zygote_kill(nursery);
	fd_close(nursery->pidfd);
	channel_done(&nursery->channel);
	nursery->channel.fd = -1;
	nursery->state = NURSERY_NONE;
	return children_lost(keeper, nursery);
}

/* A zygote that was of use, or lived for a while, begins the back-off anew. */
static void
back_off(struct keeper *keeper, const struct nursery *nursery)
{
	uint64_t now = clock_us();

	if (nursery->served || (nursery->state == NURSERY_WARM &&
				   now - nursery->since_us > STEADY_US))
		keeper->restart_ms = RESTART_MS_MIN;
	keeper->restart_us = now + 1000u * keeper->restart_ms;
	keeper->restart_ms = RESTART_MS_AFTER(keeper->restart_ms);
}

int
nursery_lost(struct keeper *keeper, struct nursery *nursery)
{
	static const struct err again = { EAGAIN, "the room starts again" };
	bool mattered =
	    nursery->state == NURSERY_WARM || !nursery_current(keeper);
	int r = 0;

	if (nursery->state == NURSERY_OLD)
		return nursery_end(keeper, nursery);
	back_off(keeper, nursery);
	/* Before the results: calls wait at the server from here on. */
	if (mattered)
		r = channel_say(
		    &keeper->server, FRAME_FAILED, &again, sizeof(again));
	return r < 0 ? r : nursery_end(keeper, nursery);
}

/* ---- time ---- */

static bool
has_calls(const struct keeper *keeper, const struct nursery *nursery)
{
	for (unsigned i = 0; i < keeper->children_n; i++)
		if (keeper->children[i]->nursery == nursery &&
		    (keeper->children[i]->has_call ||
			keeper->children[i]->session))
			return true;
	return false;
}

/* When it is to be given up or replaced; 0: not by itself. */
static uint64_t
nursery_due(const struct keeper *keeper, const struct nursery *nursery)
{
	switch (nursery->state) {
	case NURSERY_NONE:
		return 0;
	case NURSERY_WARMING:
	case NURSERY_TWIN:
		return nursery->since_us + 1000u * ROOM_START_MS;
	case NURSERY_WARM:
		return nursery->forks >= ZYGOTE_FORKS_MAX
			   ? 1
			   : nursery->since_us + ZYGOTE_AGE_US;
	case NURSERY_OLD:
		return has_calls(keeper, nursery) ? 0 : 1;
	}
	return 0;
}

static int
nursery_do(struct keeper *keeper, struct nursery *nursery)
{
	struct nursery *place = nursery_in(keeper, NURSERY_NONE);

	if (nursery->state == NURSERY_OLD)
		return nursery_end(keeper, nursery);
	if (nursery->state == NURSERY_WARM) {
		if (place && keeper->restart_us == 0)
			keeper->restart_us = 1; /* due: in this turn */
		return 0;
	}
	log_error("event=zygote_stuck room=%s", keeper_room(keeper));
	return nursery_lost(keeper, nursery);
}

int
nursery_tick(struct keeper *keeper, uint64_t now, uint64_t *ret_next_us)
{
	struct nursery *place;
	int r = 0;

	*ret_next_us = 0;
	for (unsigned i = 0; i < NURSERIES && r == 0; i++) {
		struct nursery *nursery = &keeper->nurseries[i];
		uint64_t due = nursery_due(keeper, nursery);

		if (due && due <= now) {
			r = nursery_do(keeper, nursery);
			continue;
		}
		*ret_next_us = time_earlier(*ret_next_us, due);
	}
	place = nursery_in(keeper, NURSERY_NONE);
	if (r < 0 || keeper->restart_us == 0 || !place)
		return r;
	if (keeper->restart_us > now) {
		*ret_next_us = time_earlier(*ret_next_us, keeper->restart_us);
	} else if (nursery_comes(keeper)) {
		keeper->restart_us = 0;
	} else {
		r = nursery_start(keeper, place);
		/* Its patience begins, or the wait for another try. */
		*ret_next_us = now;
	}
	return r;
}
