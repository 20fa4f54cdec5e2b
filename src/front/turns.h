/* turns.h: whose request is served next. The loop serves one request of a
 * principal each time that it comes by: what it takes to read a large message,
 * or to write one, is waited for by whoever sends many.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_TURNS_H
#define FRONT_TURNS_H

#include "front/route.h"

#include <uv.h>

struct turns {
	struct route_list waiting; /* of a principal, the oldest first */
	uint64_t now;              /* the turn, counted from 1 */
	void (*serve)(void *arg, struct route *route);
	void *arg;
	uv_check_t check;
	uv_idle_t idle; /* the loop does not sleep while some wait */
};

/* Borrows loop; serve is called with arg for each route in its turn. The two
 * handles are closed by the caller. */
void turns_init(struct turns *turns, uv_loop_t *loop,
    void (*serve)(void *arg, struct route *route), void *arg);

/* The whole request of route is there: serves it now, or when it is its
 * principal's turn. */
void turns_take(struct turns *turns, struct route *route);

/* The route waits no more; it need not wait. */
void turns_leave(struct route *route);

#endif
