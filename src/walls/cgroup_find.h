/* cgroup_find.h: where this process's own control groups are, and which tree
 * serves which wall.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_CGROUP_FIND_H
#define WALLS_CGROUP_FIND_H

#include "base/err.h"
#include "conf/wall.h"

#include <limits.h>
#include <stdbool.h>

#define CGROUP_TREES_MAX 4u /* memory, pids and cpu of version 1; version 2 */

struct cgroup_tree {
	int version; /* 1 or 2 */
	bool read_only;
	wall_set walls;       /* those that it serves */
	char base[PATH_MAX];  /* the directory of this process's own group */
	char group[PATH_MAX]; /* that group, as /proc/PID/cgroup names it */
};

struct cgroup_trees {
	unsigned n;
	struct cgroup_tree tree[CGROUP_TREES_MAX]; /* version 2 first */
};

/* Finds the trees for the wanted walls by the files mountinfo and cgroup of
 * the directory proc_self ("/proc/self"). Gives the set of walls that have a
 * tree; of the others the reason is in why[wall]. */
wall_set cgroup_find(const char *proc_self, wall_set wanted,
    struct cgroup_trees *ret_trees, struct err why[WALLS]);

/* The controller of a wall as the kernel names it; NULL for kill. */
const char *cgroup_controller(enum wall wall);

/* The group in the text of a /proc/PID/cgroup, for a controller of version 1,
 * or (NULL) for version 2. False: no such line. */
bool cgroup_line(
    const char *text, const char *controller, char ret_group[PATH_MAX]);

/* Fills why for each wall of the set, and gives that set. Uses errno. */
wall_set cgroup_why(
    wall_set set, struct err why[WALLS], const char *base, const char *name);

#endif
