/* cgroup_delegate.h: version 2 gives the controllers of a group to the groups
 * below it only on demand, and only if no process is in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_CGROUP_DELEGATE_H
#define WALLS_CGROUP_DELEGATE_H

#include "base/err.h"
#include "conf/wall.h"

#include "walls/cgroup_find.h"

/* Gives the groups below the directory base of the tree the controllers of its
 * walls. Where processes are in the way and all are the server's and its
 * children's, they move into a leaf. Gives the set of walls that are served
 * now; of the others the reason is in why[wall]. */
wall_set cgroup_delegate(
    int base, const struct cgroup_tree *tree, struct err why[WALLS]);

/* Enables one controller for the groups below dir. 0 or -errno. */
int cgroup_enable(int dir, const char *controller);

/* Moves the processes in the group base into its leaf for the server; fails
 * if one of them is not of ours. */
int cgroup_vacate(int base, const char *base_name, struct err *err);

#endif
