/* turns.c: requests that wait until the loop comes by again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/turns.h"

#include "base/own.h"

void
turns_leave(struct route *route)
{
	struct turns *turns = give_ptr(&route->turns);

	if (turns)
		TAILQ_REMOVE(&turns->waiting, route, of_turns);
}

static void
serve(struct turns *turns, struct route *route)
{
	route->principal->turn = turns->now;
	turns->serve(turns->arg, route);
}

/* The loop does not sleep. */
static void
on_idle(uv_idle_t *idle)
{
	(void)idle;
}

/* The loop came by: a turn for each principal. Serving one route never ends
 * another that waits: that is left to its connection. */
static void
on_check(uv_check_t *check)
{
	struct turns *turns = check->data;
	struct route *route, *next;

	turns->now++;
	for (route = TAILQ_FIRST(&turns->waiting); route; route = next) {
		next = TAILQ_NEXT(route, of_turns);
		if (route->principal->turn == turns->now)
			continue;
		turns_leave(route);
		serve(turns, route);
	}
	if (TAILQ_EMPTY(&turns->waiting))
		(void)uv_idle_stop(&turns->idle);
}

void
turns_init(struct turns *turns, uv_loop_t *loop,
    void (*serve_fn)(void *arg, struct route *route), void *arg)
{
	*turns = (struct turns){ .now = 1, .serve = serve_fn, .arg = arg };
	TAILQ_INIT(&turns->waiting);
	(void)uv_check_init(loop, &turns->check);
	(void)uv_idle_init(loop, &turns->idle);
	turns->check.data = turns;
	(void)uv_check_start(&turns->check, on_check);
}

void
turns_take(struct turns *turns, struct route *route)
{
	if (route->principal->turn != turns->now) {
		serve(turns, route);
		return;
	}
	route->turns = turns;
	TAILQ_INSERT_TAIL(&turns->waiting, route, of_turns);
	(void)uv_idle_start(&turns->idle, on_idle);
}
