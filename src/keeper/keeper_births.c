/* keeper_births.c: what a child is made of, and its end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "keeper/keeper_impl.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/own.h"
#include "call/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FROM_CHILD                                                   \
	(1u << FRAME_READY | 1u << FRAME_DONE | 1u << FRAME_FAILED | \
	    1u << FRAME_UNBORN)
#define FROM_PROXY (FROM_CHILD | 1u << FRAME_WORKER)

bool
keeper_child_idle(const struct child *child)
{
	return !child->has_call && !child->twin &&
	       (child->state == CHILD_FORKING ||
		   child->state == CHILD_WARMING ||
		   child->state == CHILD_SPARE);
}

static struct child *
child_place(struct keeper *keeper)
{
	struct child *child;

	if (keeper->children_n == CHILDREN_MAX)
		return NULL;
	child = malloc(sizeof(*child));
	if (child) {
		child_init(child);
		keeper->children[keeper->children_n++] = child;
	}
	return child;
}

/* The child's memory group, if there are such groups. */
static int
child_slot(const struct keeper *keeper, struct child *child, struct err *err)
{
	if (!house_has(&keeper->house, WALL_CGROUP_MEMORY))
		return 0;
	child->slot = cgroup_take(keeper->house.cgroup);
	return child->slot < 0 ? fail(err, EAGAIN, "no memory group is free")
			       : 0;
}

/* Its cgroup.procs, or a descriptor in place of it, is the third that goes to
 * the zygote, which is trusted with it: it moves any process. */
static int
child_group(const struct keeper *keeper, const struct child *child,
    struct cargo *cargo, struct err *err)
{
	int fd = child->slot < 0
		     ? child->region_fd
		     : cgroup_procs_fd(keeper->house.cgroup, child->slot);

	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return fail_errno(err, "share a memory group");
	cargo->fds[cargo->fds_n++] = fd;
	return 0;
}

/* Fills child with its near ends, and cargo with the far ones. */
static int
child_ends(const struct keeper *keeper, struct child *child,
    struct cargo *cargo, struct err *err)
{
	own_fd int region = output_create(keeper->conf.output_chars, err);
	own_fd int far_region = -1;
	int ends[2];
	int r;

	if (region < 0)
		return region;
	far_region = fcntl(region, F_DUPFD_CLOEXEC, 0);
	if (far_region < 0)
		return fail_errno(err, "share an output region");
	child->region_fd = give_fd(&region);
	r = child_slot(keeper, child, err);
	if (r < 0)
		return r;
	r = fd_pair(ends);
	if (r < 0)
		return fail(err, -r, "socketpair: %s", strerror(-r));
	channel_init(&child->channel, ends[0],
	    keeper->house.worker ? FROM_PROXY : FROM_CHILD, CHILD_FRAME_MAX,
	    FRAME_MAX);
	cargo->fds[0] = ends[1];
	cargo->fds[1] = give_fd(&far_region);
	cargo->fds_n = 2;
	r = channel_name_peer(&child->channel);
	return r < 0 ? fail(err, -r, "SO_PASSCRED: %s", strerror(-r)) : 0;
}

static void
cargo_close(const struct cargo *cargo)
{
	for (unsigned i = 0; i < cargo->fds_n; i++)
		fd_close(cargo->fds[i]);
}

/* A child that is to be forked; its far ends in *ret_cargo. */
static struct child *
child_expected(struct keeper *keeper, struct nursery *nursery,
    struct cargo *ret_cargo, struct err *err)
{
	struct child *child = child_place(keeper);

	*ret_cargo = (struct cargo){ 0 };
	if (!child) {
		(void)fail(err, EAGAIN, "no place for another child");
		return NULL;
	}
	if (child_ends(keeper, child, ret_cargo, err) < 0) {
		cargo_close(ret_cargo);
		keeper_child_clear(keeper, child);
		return NULL;
	}
	child->state = CHILD_FORKING;
	child->since_us = clock_us();
	child->start_max_us = keeper->house.worker
				  ? 1000u * (WORKER_TURN_MS + WORKER_START_MS)
				  : CHILD_START_MAX_US;
	child->number = ++keeper->next_number;
	child->nursery = nursery;
	nursery->forks++;
	return child;
}

struct child *
keeper_child_new(struct keeper *keeper, struct nursery *nursery,
    enum child_role role, struct err *err)
{
	struct cargo cargo;
	struct child *child = child_expected(keeper, nursery, &cargo, err);
	struct wire_fork record = { .twin = role == ROLE_TWIN,
		.session = role == ROLE_SESSION };

	if (!child)
		return NULL;
	child->twin = record.twin;
	record.child = child->number;
	record.grouped = child->slot >= 0;
	if (child_group(keeper, child, &cargo, err) < 0) {
		cargo_close(&cargo);
		keeper_child_clear(keeper, child);
		return NULL;
	}
	if (channel_put(&nursery->channel, FRAME_FORK, &record, sizeof(record),
		&cargo) < 0) {
		(void)fail(err, EPIPE, "the zygote is gone");
		keeper_child_clear(keeper, child);
		return NULL;
	}
	return child;
}

struct child *
keeper_child_branch(
    struct keeper *keeper, struct child *origin, struct err *err)
{
	struct cargo cargo;
	struct child *child =
	    child_expected(keeper, origin->nursery, &cargo, err);

	if (!child)
		return NULL;
	child->branch = true;
	child->origin = origin->session;
	origin->copies++;
	if (channel_put(&origin->channel, FRAME_BRANCH, NULL, 0, &cargo) < 0) {
		(void)fail(err, ESRCH, "the session is gone");
		keeper_child_clear(keeper, child);
		return NULL;
	}
	return child;
}

int
keeper_child_lost(
    struct keeper *keeper, struct child *child, enum child_end end)
{
	/* Its number is not known yet: it ends with its channel, and nobody
	 * will tell. */
	if (child->branch && child->pidfd < 0 && child->state != CHILD_FREE) {
		child->end = end;
		return keeper_child_gone(keeper, child, -1, 0);
	}
	child_kill(child, end);
	return 0;
}

int
keeper_child_region(struct keeper *keeper, struct child *child, struct err *err)
{
	own_fd int region = output_create(keeper->conf.output_chars, err);
	struct cargo cargo = { .fds_n = 1 };

	if (region < 0)
		return region;
	cargo.fds[0] = fcntl(region, F_DUPFD_CLOEXEC, 0);
	if (cargo.fds[0] < 0)
		return fail_errno(err, "share an output region");
	fd_close(child->region_fd);
	child->region_fd = give_fd(&region);
	if (channel_put(&child->channel, FRAME_REGION, NULL, 0, &cargo) < 0)
		return fail(err, ESRCH, "the session is gone");
	return 0;
}

void
keeper_child_clear(struct keeper *keeper, struct child *child)
{
	/* What its copies have in common with it stays charged to its group. */
	if (child->slot >= 0 && child->copies > 0)
		cgroup_release_later(keeper->house.cgroup, child->slot);
	else if (child->slot >= 0)
		cgroup_release(keeper->house.cgroup, child->slot);
	child_clear(child);
}
