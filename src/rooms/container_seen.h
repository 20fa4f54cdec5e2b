/* container_seen.h: what an engine really applied to a container: asked of the
 * kernel about its first process, beside what a program within says. An engine
 * that cannot set a limit may leave it off without an error.
 *
 * Hostile input: none but an image's Python, whose word counts only for what
 * cannot be seen from outside.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_CONTAINER_SEEN_H
#define ROOMS_CONTAINER_SEEN_H

#include "base/err.h"
#include "conf/wall.h"
#include "rooms/container_plan.h"

#include <sys/types.h>

#define SEEN_NONE UINT64_MAX /* no limit; not known */

/* From outside. */
struct container_seen {
	uint64_t uid, caps, no_new_privs, seccomp; /* SEEN_NONE: not known */
	uint64_t memory_bytes, swap_bytes, pids;   /* of its control groups */
	uint64_t cpus_milli;
	uint64_t files_open, core_bytes;
	wall_set own; /* namespaces that are not this process's */
};

/* Looks at a process that is this machine's. 0; -ESRCH: it is none (an engine
 * elsewhere); -errno. */
int seen_look(pid_t pid, struct container_seen *ret_seen, struct err *err);

/* The parts of it. Pure. */
void seen_status(const char *status, struct container_seen *seen);
void seen_limits(const char *limits, struct container_seen *seen);

/* A number in the text of a probe, "Name: VALUE"; SEEN_NONE: none is there. */
uint64_t told_number(const char *told, const char *name, int base);
bool told_gvisor(const char *told);

/* The walls that the container does not have as planned, with why of each. Pure.
 * told: what the probe within said. */
wall_set container_lacks(const struct container_plan *plan,
    const struct container_seen *seen, const char *told, struct err why[WALLS]);

#endif
