/* cgroup_room.c: making the groups of a room, and moving into them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_room.h"

#include "base/own.h"
#include "conf/limits.h"
#include "walls/cgroup_delegate.h"
#include "walls/cgroup_end.h"
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new group, locked: its directory, or -1 and errno. */
static int
room_make(int base, const char *name)
{
	own_fd int room = -1;

	if (mkdirat(base, name, 0755) < 0) {
		/* Of an earlier process with this number, or is it ours? */
		if (errno != EEXIST)
			return -1;
		room = cgroup_open_dir(base, name);
		if (room < 0)
			return -1;
		if (flock(room, LOCK_EX | LOCK_NB) < 0) {
			errno = EEXIST;
			return -1;
		}
		(void)cgroup_room_end(base, name);
		if (mkdirat(base, name, 0755) < 0)
			return -1;
		fd_close(give_fd(&room));
	}
	room = cgroup_open_dir(base, name);
	if (room < 0 || flock(room, LOCK_EX | LOCK_NB) < 0)
		return -1;
	return give_fd(&room);
}

/* The wall, if r says that it could be served. */
static wall_set
served_if(int r, enum wall wall, const struct cgroup_tree *tree,
    const char *file, struct err why[WALLS])
{
	if (r == 0)
		return WALL_BIT(wall);
	errno = -r;
	(void)cgroup_why(WALL_BIT(wall), why, tree->base, file);
	return 0;
}

/* Memory: the slots, and "self" for those that are in none. */
static int
memory_open(struct cgroup *cgroup, const struct cgroup_tree *tree, int room,
    const struct cgroup_limits *limits, wall_set served)
{
	char name[CGROUP_NAME_MAX];

	cgroup_room_name(getpid(), name);
	if (snprintf(cgroup->group, sizeof(cgroup->group), "%s/%s",
		strcmp(tree->group, "/") == 0 ? "" : tree->group,
		name) >= PATH_MAX)
		return -ENAMETOOLONG;
	cgroup->keeper_fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	if (cgroup->keeper_fd < 0 || mkdirat(room, CGROUP_SELF, 0755) < 0)
		return -errno;
	cgroup->memory_version = tree->version;
	cgroup->memory_fd = room;
	return cgroup_slots_open(cgroup, limits, served);
}

/* Pids and cpu of version 1: slots as in memory's tree. What is served. */
static wall_set
others_open(struct cgroup *cgroup, const struct cgroup_tree *tree, int room,
    const struct cgroup_limits *limits, wall_set served, struct err why[WALLS])
{
	int r =
	    served & (WALL_BIT(WALL_CGROUP_PIDS) | WALL_BIT(WALL_CGROUP_CPU))
		? cgroup_slots_open_other(cgroup, room, limits, served)
		: 0;

	if (r == 0)
		return served;
	errno = -r;
	(void)cgroup_why(served, why, tree->base, "(slots)");
	return 0;
}

/* As heavy as one ordinary process on each processor. */
static int
cpu_weigh(int room, bool old)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (cpus < 1)
		cpus = 1;
	if (cpus > (long)CGROUP_CPUS_MAX)
		cpus = CGROUP_CPUS_MAX;
	return old ? cgroup_write_number(
			 room, "cpu.shares", CGROUP_CPU_SHARES * (uint64_t)cpus)
		   : cgroup_write_number(room, "cpu.weight",
			 CGROUP_CPU_WEIGHT * (uint64_t)cpus);
}

/* Sets what the room's group in this tree is for; the set that is served. */
static wall_set
room_limits(struct cgroup *cgroup, const struct cgroup_tree *tree, int room,
    const struct cgroup_limits *limits, wall_set wanted, struct err why[WALLS])
{
	bool old = tree->version == 1;
	wall_set served = 0;

	if (wanted & WALL_BIT(WALL_CGROUP_KILL))
		served |= served_if(
		    faccessat(room, "cgroup.kill", W_OK, 0) < 0 ? -errno : 0,
		    WALL_CGROUP_KILL, tree, "cgroup.kill", why);
	if (wanted & WALL_BIT(WALL_CGROUP_PIDS))
		served |= served_if(
		    cgroup_write_number(room, "pids.max", limits->processes),
		    WALL_CGROUP_PIDS, tree, "pids.max", why);
	if (wanted & WALL_BIT(WALL_CGROUP_CPU))
		served |= served_if(cpu_weigh(room, old), WALL_CGROUP_CPU, tree,
		    old ? "cpu.shares" : "cpu.weight", why);
	if (wanted & WALL_BIT(WALL_CGROUP_MEMORY))
		served |=
		    served_if(memory_open(cgroup, tree, room, limits, served),
			WALL_CGROUP_MEMORY, tree, "(slots)", why);
	else if (old && limits->slot_cpus_milli > 0)
		served = others_open(cgroup, tree, room, limits, served, why);
	return served;
}

const char *
cgroup_join_file(int version)
{
	/* The write of "0" moves the writer. To move a process, the kernel
	 * waits until no other one forks: ten milliseconds, where it has not
	 * done so for a while. To move a task, it waits for nothing. */
	return version == 1 ? "tasks" : "cgroup.procs";
}

/* Moves this process into the room: into "self" where that is. */
static int
room_join(int room, int version)
{
	char name[2 * CGROUP_NAME_MAX];
	const char *file = cgroup_join_file(version);
	int r;

	(void)snprintf(name, sizeof(name), CGROUP_SELF "/%s", file);
	r = cgroup_write(room, name, "0");
	return r == -ENOENT ? cgroup_write(room, file, "0") : r;
}

/* Makes the room's group in the tree; its directory, or -1 and errno. */
static int
room_open(const struct cgroup_tree *tree, int base)
{
	char name[CGROUP_NAME_MAX];

	if (tree->read_only) {
		errno = EROFS;
		return -1;
	}
	cgroup_sweep(base);
	cgroup_room_name(getpid(), name);
	return room_make(base, name);
}

static void
room_undo(struct cgroup *cgroup, int base, int room)
{
	char name[CGROUP_NAME_MAX];

	if (cgroup->memory_fd == room)
		cgroup_slots_close(cgroup);
	cgroup_room_name(getpid(), name);
	(void)cgroup_room_end(base, name);
}

/* The room's group in one tree; the set that is served. */
static wall_set
tree_open(struct cgroup *cgroup, const struct cgroup_tree *tree,
    const struct cgroup_limits *limits, struct err why[WALLS])
{
	own_fd int base = open(tree->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	own_fd int room = base < 0 ? -1 : room_open(tree, base);
	wall_set served = tree->walls;
	int r;

	if (room < 0) {
		(void)cgroup_why(served, why, tree->base, "");
		return 0;
	}
	if (tree->version == 2)
		served = cgroup_delegate(base, tree, why);
	served = room_limits(cgroup, tree, room, limits, served, why);
	r = served ? room_join(room, tree->version) : 0;
	if (r < 0) {
		errno = -r;
		(void)cgroup_why(
		    served, why, tree->base, cgroup_join_file(tree->version));
		served = 0;
	}
	if (served)
		cgroup->room_fd[cgroup->rooms++] = give_fd(&room);
	else
		room_undo(cgroup, base, room);
	return served;
}

static struct cgroup *
cgroup_new(const struct cgroup_limits *limits)
{
	uint32_t n =
	    limits->slots < CGROUP_SLOTS_MAX ? limits->slots : CGROUP_SLOTS_MAX;
	struct cgroup *cgroup =
	    calloc(1, sizeof(*cgroup) + n * sizeof(cgroup->slot[0]));

	if (!cgroup)
		return NULL;
	cgroup->memory_fd = -1;
	cgroup->keeper_fd = -1;
	cgroup->slots_max = n;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned j = 0; j < CGROUP_OTHERS_MAX; j++)
			cgroup->slot[i].other_fd[j] = -1;
	return cgroup;
}

static wall_set
trees_open(struct cgroup *cgroup, const struct cgroup_trees *trees,
    const struct cgroup_limits *limits, struct err why[WALLS])
{
	/* A keeper that has become somebody else must be able to pass through
	 * the directories. */
	mode_t mask = umask(S_IWGRP | S_IWOTH);
	wall_set served = 0;

	for (unsigned i = 0; i < trees->n; i++)
		served |= tree_open(cgroup, &trees->tree[i], limits, why);
	(void)umask(mask);
	return served;
}

void
cgroup_open(const struct cgroup_limits *limits, wall_set wanted,
    struct cgroup **ret_cgroup, wall_set *ret_missing, struct err why[WALLS])
{
	own_mem struct cgroup_trees *trees = malloc(sizeof(*trees));
	struct cgroup *cgroup = cgroup_new(limits);
	wall_set served = 0;

	wanted &= WALLS_CGROUP;
	errno = ENOMEM;
	if (!trees || !cgroup) {
		(void)cgroup_why(wanted, why, "control groups", "");
	} else {
		(void)cgroup_find("/proc/self", wanted, trees, why);
		served = trees_open(cgroup, trees, limits, why);
	}
	*ret_missing = wanted & ~served;
	*ret_cgroup = served ? cgroup : NULL;
	if (!served)
		cgroup_close(cgroup);
}

void
cgroup_close(struct cgroup *cgroup)
{
	if (!cgroup)
		return;
	cgroup_slots_close(cgroup);
	cgroup_others_close(cgroup);
	for (unsigned i = 0; i < cgroup->rooms; i++)
		fd_close(cgroup->room_fd[i]);
	fd_close(cgroup->keeper_fd);
	free(cgroup);
}
