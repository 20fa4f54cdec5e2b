/* worker_kind.h: what all kinds of room have in common whose programs run in a
 * worker: a child that is its proxy.
 *
 * Hostile input: a worker's frames; see worker.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_WORKER_KIND_H
#define ROOMS_WORKER_KIND_H

#include "rooms/kind.h"

/* What a proxy is given at its birth, by number. */
#define PROXY_FACTORY_FD 6 /* the socket at which workers are asked for */
#define PROXY_PROCS_FD   7 /* of its control group; closed: it has none */

/* Members of struct room_kind. */
int worker_kind_warm(const struct wire_conf *conf,
    const struct granted *granted, void **ret_state, struct err *err);
void worker_kind_stay(void *state);
int worker_kind_watch(void *state);
int worker_kind_prepare(void *state, struct output *output,
    bool (*hurry)(void *arg), void *arg, struct err *err);
int worker_kind_worker(void *state);
void worker_kind_run(void *state, struct output *output,
    const struct room_job *job, struct wire_done *ret_done);
void worker_kind_interrupt(void *state);

/* What a worker is told first, as JSON. 0 or -ENOBUFS. */
int worker_settings(const struct wire_conf *conf, struct buf *into);

/* The floor of a proxy, whatever its worker is. */
#define WALLS_OF_PROXIES                                        \
	(WALL_BIT(WALL_SECCOMP) | WALL_BIT(WALL_NO_NEW_PRIVS) | \
	    WALL_BIT(WALL_CAPS) | WALL_BIT(WALL_FDS) |          \
	    WALL_BIT(WALL_RLIMITS) | WALL_BIT(WALL_PARENT) |    \
	    WALL_BIT(WALL_PROOF))
/* And of a worker that is a native program of the machine's: it is as near to
 * the kernel as any, so none of these is to be missing unless it is allowed by
 * name. */
#define WALLS_OF_NATIVE                                   \
	(WALL_BIT(WALL_USERNS) | WALL_BIT(WALL_MOUNTNS) | \
	    WALL_BIT(WALL_NETNS) | WALL_BIT(WALL_IPCNS) | \
	    WALL_BIT(WALL_PIDNS) | WALL_BIT(WALL_LANDLOCK))

/* Of the walls that can be had, those that the first process of a room can
 * raise: its own namespaces take a user namespace of its own. */
static inline wall_set
worker_walls(wall_set raised)
{
	return raised & WALL_BIT(WALL_USERNS) ? raised : raised & ~WALLS_SPACES;
}

#define WORKER_KIND                                                 \
	.warm = worker_kind_warm, .stay = worker_kind_stay,         \
	.watch = worker_kind_watch, .prepare = worker_kind_prepare, \
	.worker = worker_kind_worker, .run = worker_kind_run,       \
	.interrupt = worker_kind_interrupt

#endif
