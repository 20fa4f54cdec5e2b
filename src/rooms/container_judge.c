/* container_judge.c: a container as it is against what was planned.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/container_seen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB_BYTES        (1024ull * 1024)
#define SECCOMP_FILTERED 2u

struct judgement {
	wall_set lacks;
	struct err *why;
};

/* Notes a wall once, with the first thing that is not as it must be. */
static void
expect(struct judgement *all, enum wall wall, bool holds, const char *what,
    uint64_t is)
{
	char number[24];

	if (holds || all->lacks & WALL_BIT(wall))
		return;
	(void)snprintf(number, sizeof(number), "%" PRIu64, is);
	all->lacks |= WALL_BIT(wall);
	(void)fail(&all->why[wall], EPERM, "%s is %s", what,
	    is == SEEN_NONE ? "not set" : number);
}

static void
judge_groups(struct judgement *all, const struct container_plan *plan,
    const struct container_seen *seen)
{
	expect(all, WALL_CGROUP_MEMORY,
	    seen->memory_bytes <= plan->memory_bytes, "the memory limit",
	    seen->memory_bytes);
	expect(all, WALL_CGROUP_MEMORY, seen->swap_bytes == 0,
	    "the limit of swap", seen->swap_bytes);
	expect(all, WALL_CGROUP_PIDS, seen->pids <= plan_pids(plan),
	    "the limit of processes", seen->pids);
	expect(all, WALL_CGROUP_CPU, seen->cpus_milli <= plan->cpus_milli,
	    "the share of a processor, in thousandths,", seen->cpus_milli);
}

/* What one process has, of the host's kernel or of gVisor's. */
static void
judge_process(struct judgement *all, const struct container_seen *process)
{
	expect(all, WALL_IDS, process->uid == CONTAINER_USER, "the user",
	    process->uid);
	expect(all, WALL_CAPS, process->caps == 0, "a set of capabilities",
	    process->caps);
	expect(all, WALL_NO_NEW_PRIVS, process->no_new_privs == 1,
	    "no_new_privs", process->no_new_privs);
}

/* gVisor is a kernel of its own, whose process numbers, queues and names are no
 * other's; what it must not see of the host are files and networks. */
static void
judge_namespaces(
    struct judgement *all, bool gvisor, const struct container_seen *seen)
{
	static const enum wall walls[] = { WALL_MOUNTNS, WALL_NETNS, WALL_PIDNS,
		WALL_IPCNS, WALL_UTSNS, WALL_CGROUPNS };
	const size_t n = gvisor ? 2 : sizeof(walls) / sizeof(walls[0]);

	for (size_t i = 0; i < n; i++)
		expect(all, walls[i], seen->own & WALL_BIT(walls[i]),
		    "a namespace of its own", SEEN_NONE);
}

/* True if the probe got an error when it tried that. */
static bool
is_refused(const char *told, const char *name)
{
	uint64_t error = told_number(told, name, 10);

	return error != 0 && error != SEEN_NONE;
}

/* Its files, of which no more is seen from outside than that they are its own;
 * the sizes are those of tmpfs, rounded up to pages. */
static void
judge_files(
    struct judgement *all, const struct container_plan *plan, const char *told)
{
	static const char *const closed[] = { "Root/", "Root/run",
		"Root/var/tmp" };
	uint64_t workspace = told_number(told, "/workspace", 10);
	uint64_t tmp = told_number(told, "/tmp", 10);

	expect(all, WALL_MOUNTNS, workspace == plan->workspace_bytes,
	    "the size of /workspace", workspace);
	expect(all, WALL_MOUNTNS, tmp == CONTAINER_TMP_MIB * MIB_BYTES,
	    "the size of /tmp", tmp);
	expect(all, WALL_MOUNTNS, told_number(told, "/workspace/", 10) == 0,
	    "writing to /workspace (its mode in the image must be 1777): the "
	    "error",
	    told_number(told, "/workspace/", 10));
	/* Not that the place is another user's. gVisor tells that first. */
	expect(all, WALL_MOUNTNS,
	    plan->gvisor || told_number(told, closed[0], 10) == EROFS,
	    "the error of a write to a root that is to be read-only",
	    told_number(told, closed[0], 10));
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		expect(all, WALL_MOUNTNS, is_refused(told, closed[i]),
		    "the error of a write elsewhere",
		    told_number(told, closed[i], 10));
}

bool
told_gvisor(const char *told)
{
	const char *line = strstr(told, "Release: ");
	size_t n;

	if (!line)
		return false;
	line += strlen("Release: ");
	n = strcspn(line, "\n");
	return (n == 5 && memcmp(line, "4.4.0", 5) == 0) ||
	       (n >= 6 && memcmp(line + n - 6, "gvisor", 6) == 0);
}

wall_set
container_lacks(const struct container_plan *plan,
    const struct container_seen *seen, const char *told, struct err why[WALLS])
{
	struct judgement all = { 0, why };
	struct container_seen inside = { 0 };

	seen_status(told, &inside);
	/* It has no such flag: no file that is executed raises a privilege. */
	if (plan->gvisor && inside.no_new_privs == SEEN_NONE)
		inside.no_new_privs = 1;
	judge_groups(&all, plan, seen);
	judge_process(&all, &inside);
	judge_files(&all, plan, told);
	judge_namespaces(&all, plan->gvisor, seen);
	expect(&all, WALL_NETNS, strstr(told, "Networks: \n"),
	    "the number of networks", SEEN_NONE);
	/* The process outside is gVisor's kernel, the host's filter is its
	 * own; within it the room's. */
	if (!plan->gvisor) {
		judge_process(&all, seen);
		expect(&all, WALL_SECCOMP, seen->seccomp == SECCOMP_FILTERED,
		    "the mode of seccomp", seen->seccomp);
		expect(&all, WALL_SECCOMP, is_refused(told, "Internet"),
		    "the error of a socket of the internet",
		    told_number(told, "Internet", 10));
		expect(&all, WALL_RLIMITS,
		    seen->files_open <= CONTAINER_FILES_OPEN &&
			seen->core_bytes == 0,
		    "the limit of files", seen->files_open);
	}
	return all.lacks;
}
