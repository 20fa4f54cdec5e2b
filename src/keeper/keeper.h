/* keeper.h: the processes of a room, each a function that ends its process.
 *
 * Theory of operation. The server speaks to the keeper over one channel. The
 * keeper's nurse, a process that never sees a call, forks the zygote, which loads the room (for wasm: the compiled guest
 * and its snapshot) and then forks one child for every call, when the keeper
 * asks. The keeper makes each child's socket and output region and hands the
 * far ends to the zygote with the request; the zygote answers with the child's
 * pidfd. From then on keeper and child speak alone: READY, JOB, DONE. The
 * keeper owns the clock and the kill; the zygote reaps and reports.
 *
 *   server ══calls, results══ keeper ══fork, exit══ zygote
 *                               ║                     │ fork
 *                               ╚══job, done══ child ◀┘
 *
 * Each process dies with its parent (PR_SET_PDEATHSIG), and the launcher with
 * the server: killing any of them leaves none of its descendants behind. The
 * keeper never runs guest code and never maps the guest's memory; the zygote
 * never runs a client's code; a child runs one call and is never used again.
 * None of them has a thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include "base/err.h"
#include "call/wire.h"
#include "keeper/house.h"
#include "rooms/kind.h"

/* The keeper of a room, on its channel to the server. kind: NULL: the one that
 * the server wants; tests have one of their own. walls_off: walls that are not raised; for tests, which have a program
 * of their own for it. Returns the exit status of the process once the server
 * has gone. */
int keeper_main(
    int channel_fd, const struct room_kind *kind, wall_set walls_off);

struct zygote_start {
	const struct wire_conf *conf;
	const struct room_kind *kind;
	struct house *house;
	const struct granted *granted;
	int factory_fd; /* where children ask for workers; -1: nowhere */
};

/* Forks a zygote, whose channel to the keeper is channel_fd. The pid or
 * -errno. */
pid_t zygote_start(
    const struct zygote_start *start, int channel_fd, struct err *err);

#endif
