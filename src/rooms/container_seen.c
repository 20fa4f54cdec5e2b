/* container_seen.c: a container's process, from outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_seen.h"

#include "base/named_field.h"
#include "base/own.h"
#include "rooms/container_plan.h"
#include "walls/cgroup_file.h"
#include "walls/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct namespace
{
	const char *name;
	enum wall wall;
}
namespaces[] = {
	{ "mnt", WALL_MOUNTNS },
	{ "net", WALL_NETNS },
	{ "pid", WALL_PIDNS },
	{ "ipc", WALL_IPCNS },
	{ "uts", WALL_UTSNS },
	{ "cgroup", WALL_CGROUPNS },
};

#define NAMESPACES (sizeof(namespaces) / sizeof(namespaces[0]))

uint64_t
told_number(const char *told, const char *name, int base)
{
	const char *value = named_field(told, name);
	uint64_t number;
	char *end;

	if (!value)
		return SEEN_NONE;
	errno = 0;
	number = strtoull(value, &end, base);
	return errno || end == value ? SEEN_NONE : number;
}

void
seen_status(const char *status, struct container_seen *seen)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff",
		"CapBnd", "CapAmb" };

	seen->uid = told_number(status, "Uid", 10);
	seen->no_new_privs = told_number(status, "NoNewPrivs", 10);
	seen->seccomp = told_number(status, "Seccomp", 10);
	seen->caps = 0;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		seen->caps |= told_number(status, sets[i], 16);
}

/* Its hard limit: the third column of a line. */
static uint64_t
limit_of(const char *limits, const char *name)
{
	const char *line = strstr(limits, name);
	uint64_t limit[2]; /* soft, hard */

	return line && numbers_read(line + strlen(name), ' ', limit, 2)
		   ? limit[1]
		   : SEEN_NONE;
}

void
seen_limits(const char *limits, struct container_seen *seen)
{
	seen->files_open = limit_of(limits, "Max open files");
	seen->core_bytes = limit_of(limits, "Max core file size");
}

/* ---- control groups ---- */

/* The smallest number in files of this name, from the group up to where the
 * tree is mounted: what bounds it. "max", or no file, is no bound. */
static uint64_t
least(const char *point, const char *group, const char *name)
{
	char path[PATH_MAX];
	uint64_t found = SEEN_NONE;
	size_t root = strlen(point);
	int n = snprintf(path, sizeof(path), "%s%s", point, group);

	if (n < 0 || (size_t)n >= sizeof(path))
		return SEEN_NONE;
	for (;;) {
		char text[CGROUP_TEXT_MAX];
		own_fd int dir = cgroup_open_dir(AT_FDCWD, path);
		char *slash = strrchr(path, '/');

		if (dir >= 0 && cgroup_read(dir, name, text) > 0 &&
		    text[0] >= '0' && text[0] <= '9') {
			uint64_t value = strtoull(text, NULL, 10);

			found = value < found ? value : found;
		}
		if (!slash || slash < path + root)
			return found;
		*slash = '\0';
	}
}

/* Thousandths of a processor: a quota in a period. */
static uint64_t
cpu_of(const char *point, const char *group, int version)
{
	char path[PATH_MAX], text[CGROUP_TEXT_MAX];
	own_fd int dir = -1;
	uint64_t share[2]; /* quota, period */

	if (version == 1) {
		uint64_t quota = least(point, group, "cpu.cfs_quota_us");
		uint64_t period = least(point, group, "cpu.cfs_period_us");

		return quota == SEEN_NONE || period == SEEN_NONE || !period
			   ? SEEN_NONE
			   : quota * 1000 / period;
	}
	for (int n = snprintf(path, sizeof(path), "%s%s", point, group);
	     n > 0 && (size_t)n < sizeof(path) && strlen(path) > strlen(point);
	     *strrchr(path, '/') = '\0') {
		fd_close(give_fd(&dir));
		dir = cgroup_open_dir(AT_FDCWD, path);
		if (dir >= 0 && cgroup_read(dir, "cpu.max", text) > 0 &&
		    numbers_read(text, ' ', share, 2) && share[1])
			return share[0] * 1000 / share[1];
	}
	return SEEN_NONE;
}

/* Whether this machine can swap at all: a line below the heading. */
static bool
has_swap(void)
{
	char text[CGROUP_TEXT_MAX];
	own_fd int fd = open("/proc/swaps", O_RDONLY | O_CLOEXEC);
	const char *second;

	if (fd < 0 || cgroup_read_fd(fd, text) <= 0)
		return true;
	second = strchr(text, '\n');
	return !second || second[1] != '\0';
}

static void
look_memory(const char *point, const char *group, int version,
    struct container_seen *seen)
{
	uint64_t both;

	if (version == 2) {
		seen->memory_bytes = least(point, group, "memory.max");
		seen->swap_bytes = least(point, group, "memory.swap.max");
	} else {
		seen->memory_bytes =
		    least(point, group, "memory.limit_in_bytes");
		both = least(point, group, "memory.memsw.limit_in_bytes");
		if (both != SEEN_NONE && both >= seen->memory_bytes)
			seen->swap_bytes = both - seen->memory_bytes;
	}
	if (seen->swap_bytes == SEEN_NONE && !has_swap())
		seen->swap_bytes = 0;
}

/* Where the tree is mounted: the way to this process's own group, less that
 * group's name. */
static bool
tree_point(const struct cgroup_tree *tree, char ret_point[PATH_MAX])
{
	size_t n = strlen(tree->base);
	size_t less = strcmp(tree->group, "/") == 0 ? 0 : strlen(tree->group);

	if (less > n ||
	    strcmp(tree->base + n - less, less ? tree->group : "") != 0)
		return false;
	memcpy(ret_point, tree->base, n - less);
	ret_point[n - less] = '\0';
	return true;
}

static void
look_groups(const char *groups, struct container_seen *seen)
{
	const wall_set wanted = WALL_BIT(WALL_CGROUP_MEMORY) |
				WALL_BIT(WALL_CGROUP_PIDS) |
				WALL_BIT(WALL_CGROUP_CPU);
	struct cgroup_trees trees;
	struct err why[WALLS];

	(void)cgroup_find("/proc/self", wanted, &trees, why);
	for (unsigned i = 0; i < trees.n; i++) {
		const struct cgroup_tree *tree = &trees.tree[i];
		char point[PATH_MAX], group[PATH_MAX];
		enum wall wall = tree->walls & WALL_BIT(WALL_CGROUP_MEMORY)
				     ? WALL_CGROUP_MEMORY
				 : tree->walls & WALL_BIT(WALL_CGROUP_PIDS)
				     ? WALL_CGROUP_PIDS
				     : WALL_CGROUP_CPU;

		if (!tree_point(tree, point) ||
		    !cgroup_line(groups,
			tree->version == 2 ? NULL : cgroup_controller(wall),
			group))
			continue;
		if (tree->walls & WALL_BIT(WALL_CGROUP_MEMORY))
			look_memory(point, group, tree->version, seen);
		if (tree->walls & WALL_BIT(WALL_CGROUP_PIDS))
			seen->pids = least(point, group, "pids.max");
		if (tree->walls & WALL_BIT(WALL_CGROUP_CPU))
			seen->cpus_milli = cpu_of(point, group, tree->version);
	}
}

/* ---- all of it ---- */

static void
look_namespaces(int proc, struct container_seen *seen)
{
	for (size_t i = 0; i < NAMESPACES; i++) {
		char name[32], theirs[64], ours[64];
		ssize_t n, m;

		(void)snprintf(name, sizeof(name), "ns/%s", namespaces[i].name);
		n = readlinkat(proc, name, theirs, sizeof(theirs));
		(void)snprintf(
		    name, sizeof(name), "/proc/self/ns/%s", namespaces[i].name);
		m = readlink(name, ours, sizeof(ours));
		if (n > 0 && m > 0 &&
		    (n != m || memcmp(theirs, ours, (size_t)n) != 0))
			seen->own |= WALL_BIT(namespaces[i].wall);
	}
}

int
seen_look(pid_t pid, struct container_seen *ret_seen, struct err *err)
{
	char path[32], text[CGROUP_TEXT_MAX];
	own_fd int proc = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (pid <= 0 || proc < 0 || cgroup_read(proc, "status", text) <= 0)
		return fail(err, ESRCH,
		    "process %d, a container's first, is not of this machine",
		    pid);
	*ret_seen = (struct container_seen){ .memory_bytes = SEEN_NONE,
		.swap_bytes = SEEN_NONE,
		.pids = SEEN_NONE,
		.cpus_milli = SEEN_NONE };
	seen_status(text, ret_seen);
	if (cgroup_read(proc, "limits", text) <= 0)
		text[0] = '\0';
	seen_limits(text, ret_seen);
	if (cgroup_read(proc, "cgroup", text) > 0)
		look_groups(text, ret_seen);
	look_namespaces(proc, ret_seen);
	return 0;
}
