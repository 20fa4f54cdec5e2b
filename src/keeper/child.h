/* child.h: the process that runs one call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_CHILD_H
#define KEEPER_CHILD_H

#include "call/wire.h"
#include "rooms/kind.h"

#include <stdbool.h>
#include <sys/types.h>

struct child_start {
	const struct room_kind *kind;
	void *state; /* of the kind, from warm */
	const struct wire_conf *conf;
	pid_t zygote;  /* the parent */
	int socket_fd; /* to the keeper; blocking */
	int region_fd; /* the output region */
};

/* Turns a freshly forked process into a child: raises its walls, prepares,
 * says READY, runs one JOB, says DONE and waits to be killed. */
_Noreturn void child_main(const struct child_start *start);

#endif
