/* container_impl.h: the parts of a factory of containers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_CONTAINER_IMPL_H
#define ROOMS_CONTAINER_IMPL_H

#include "base/err.h"
#include "rooms/container_ask.h"
#include "rooms/container_plan.h"
#include "rooms/factory.h"

/* A client's, whose container's first process was killed. */
#define EXIT_KILLED 137

/* The profile and the probe, embedded; ended by NUL. */
extern const uint8_t container_seccomp[];
extern const uint8_t container_probe[];

/* ---- container_setup.c ---- */

/* Makes the plan: finds engine and image, takes a name, and tries a container,
 * with another runtime where the engine's choice does not work. Removes what
 * factories that are no more left behind. 0; -errno with what is missing. */
int container_setup(const struct factory_start *start,
    struct container_plan *plan, struct err *err);

/* Who this process is, as containers are labelled. */
int container_owner(pid_t pid, struct container_owner *ret_owner);

/* ---- container_groups.c ---- */

/* Moves this process out of the groups of the room that this keeper made. 0 or
 * -errno. */
int container_leave_groups(pid_t keeper, struct err *err);

/* ---- container_remove.c ---- */

/* Ends containers by their names, the words of names, and all that is left of
 * them. 0 or -errno: the engine could not. */
int container_remove(const struct container_plan *plan,
    const struct args *names, int null_fd, struct err *err);

/* The same for what the engine has forgotten, but somebody watches: by a name
 * (whole), or what names begin with. */
void container_remove_forgotten(const char *name, bool whole, int null_fd);

/* The same for all that the engine has forgotten, and whose client is gone. */
void container_sweep_forgotten(const struct container_plan *plan, int null_fd);

/* True if a process's command has that part of a name. */
bool container_is_named(const char *part);

/* ---- container_sweep.c ---- */

/* Removes the containers whose owner is dead, or is the given one (all: of this
 * plan). 0 or -errno: they could not be listed. */
int container_sweep(
    const struct container_plan *plan, bool own, int null_fd, struct err *err);

/* Forks a process that outlives this one: it waits for its end and then removes
 * what it left. 0 or -errno. */
int container_sweeper(
    const struct container_plan *plan, int null_fd, struct err *err);

/* ---- container_trial.c ---- */

/* Runs a probe in a container as a worker would be, and looks at it from
 * outside. 0; -errno: it did not run, or is not what was planned and conf does
 * not allow it. */
int container_trial(const struct container_plan *plan,
    const struct factory_start *start, struct err *err);

/* ---- container_life.c ---- */

/* Makes containers as they are asked for, and ends them, until nobody can ask
 * any more. */
void container_serve(
    const struct container_plan *plan, const struct factory_start *start);

#endif
