/* child.h: the process that runs one call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_CHILD_H
#define KEEPER_CHILD_H

#include "call/wire.h"
#include "keeper/house.h"
#include "rooms/kind.h"

#include <signal.h>
#include <stdbool.h>

struct child_start {
	const struct room_kind *kind;
	void *state; /* of the kind, from warm */
	const struct wire_conf *conf;
	struct house *house; /* with its child set */
	int socket_fd;       /* to the keeper; blocking */
	int region_fd;       /* the output region */
	bool twin;           /* it is to die at a forbidden call */
};

/* A child that gets this signal, and was busy, lets others go first from then
 * on. */
#define CHILD_YIELD_SIGNAL SIGUSR1

/* At this one, its program is to come to an end: its time is nearly up. */
#define CHILD_INTERRUPT_SIGNAL SIGUSR2

/* Turns a freshly forked process into a child: raises its walls, prepares,
 * says READY, runs one JOB, says DONE and waits to be killed; a session's child
 * runs another JOB, or makes a copy of itself, where it is told to. A twin does
 * not prepare, and instead of running a job does what a child must not. */
_Noreturn void child_main(const struct child_start *start);

#endif
