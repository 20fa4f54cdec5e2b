/* container_groups.c: out of the keeper's control groups. Those bound a room's
 * own processes, and end with it all that is in them; an engine's client needs
 * more threads than that, what stays with a container must outlive it, and
 * containers have groups by their engine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_impl.h"

#include "base/own.h"
#include "walls/cgroup_file.h"
#include "walls/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Into the group above, or into the server's where (version 2) none may be in
 * one that has others below it. */
static int
leave_tree(char *base, size_t above, struct err *err)
{
	static const char *const places[] = { "/" CGROUP_SERVER, "" };
	int r = -ENOENT;

	for (unsigned i = 0; r < 0 && i < 2; i++) {
		char path[PATH_MAX];
		own_fd int dir = -1;

		if (snprintf(path, sizeof(path), "%.*s%s", (int)above, base,
			places[i]) >= PATH_MAX)
			continue;
		dir = cgroup_open_dir(AT_FDCWD, path);
		r = dir < 0 ? -errno : cgroup_write(dir, "cgroup.procs", "0");
	}
	return r < 0 ? fail(err, -r, "leave the control group %s: %s",
			   cgroup_path_end(base), strerror(-r))
		     : 0;
}

int
container_leave_groups(pid_t keeper, struct err *err)
{
	char name[CGROUP_NAME_MAX], part[CGROUP_NAME_MAX + 1];
	struct cgroup_trees trees;
	struct err why[WALLS];
	int r = 0;

	cgroup_room_name(keeper, name);
	(void)snprintf(part, sizeof(part), "/%s", name);
	(void)cgroup_find("/proc/self", WALLS_CGROUP, &trees, why);
	for (unsigned i = 0; r == 0 && i < trees.n; i++) {
		char *base = trees.tree[i].base;
		char *at = strstr(base, part);

		if (at)
			r = leave_tree(base, (size_t)(at - base), err);
	}
	return r;
}
