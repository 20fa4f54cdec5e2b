/* cgroup_slots.c: making the slots of a room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "walls/cgroup_room.h"

#include "base/fd.h"
#include "conf/limits.h"
#include "walls/cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that not every kernel or setting has. */
static int
optional(int r)
{
	return r == -ENOENT || r == -EOPNOTSUPP ? 0 : r;
}

/* What the slots take over from the room's group. */
static int
room_prepare(const struct cgroup *cgroup, wall_set served, bool cpus)
{
	int room = cgroup->memory_fd;
	int r;

	if (cgroup->memory_version == 1) {
		r = optional(cgroup_write_number(room, "memory.swappiness", 0));
		/* Else a child beyond its limit would hang, not die. */
		return r < 0
			   ? r
			   : cgroup_write_number(room, "memory.oom_control", 0);
	}
	r = cgroup_write(room, "cgroup.subtree_control", "+memory");
	if (r == 0 && (served & WALL_BIT(WALL_CGROUP_CPU)) && cpus)
		r = cgroup_write(room, "cgroup.subtree_control", "+cpu");
	if (r == 0 && (served & WALL_BIT(WALL_CGROUP_PIDS)))
		r = cgroup_write(room, "cgroup.subtree_control", "+pids");
	return r;
}

static int
slot_write(int room, uint32_t i, const char *file, uint64_t value)
{
	char name[2 * CGROUP_NAME_MAX];

	(void)snprintf(name, sizeof(name), "%" PRIu32 "/%s", i, file);
	return cgroup_write_number(room, name, value);
}

/* What is not memory's; of the walls that this tree serves. */
static int
slot_limit_others(int room, uint32_t i, bool old,
    const struct cgroup_limits *limits, wall_set served)
{
	/* In a period, which is 100 ms. */
	uint64_t quota = limits->slot_cpus_milli * (uint64_t)100;
	int r = 0;

	if (served & WALL_BIT(WALL_CGROUP_PIDS))
		r = optional(
		    slot_write(room, i, "pids.max", limits->slot_processes));
	if (r == 0 && served & WALL_BIT(WALL_CGROUP_CPU) && quota > 0)
		r = slot_write(
		    room, i, old ? "cpu.cfs_quota_us" : "cpu.max", quota);
	return r;
}

static int
slot_limit(const struct cgroup *cgroup, uint32_t i,
    const struct cgroup_limits *limits, wall_set served)
{
	const uint64_t bytes = limits->slot_memory_bytes;
	int room = cgroup->memory_fd;
	int r;

	if (cgroup->memory_version == 1) {
		r = slot_write(room, i, "memory.limit_in_bytes", bytes);
		/* Memory and swap together: in this order. */
		if (r == 0)
			r = optional(slot_write(
			    room, i, "memory.memsw.limit_in_bytes", bytes));
		return r < 0 || limits->slot_cpus_milli == 0
			   ? r
			   : slot_limit_others(room, i, true, limits, served);
	}
	r = slot_write(room, i, "memory.max", bytes);
	if (r == 0)
		r = optional(slot_write(room, i, "memory.swap.max", 0));
	if (r == 0)
		r = optional(slot_write(room, i, "memory.oom.group", 1));
	return r < 0 ? r : slot_limit_others(room, i, false, limits, served);
}

static int
slot_file(int room, uint32_t i, const char *file, int flags)
{
	char name[2 * CGROUP_NAME_MAX];

	(void)snprintf(name, sizeof(name), "%" PRIu32 "/%s", i, file);
	return openat(room, name, flags | O_NOFOLLOW | O_CLOEXEC);
}

static int
slot_files(const struct cgroup *cgroup, uint32_t i, struct cgroup_slot *slot)
{
	bool old = cgroup->memory_version == 1;

	/* Version 1 shows a list up to a second old to who has read it before,
	 * so that there it is opened anew to be read. */
	slot->procs_fd = slot_file(cgroup->memory_fd, i,
	    cgroup_join_file(cgroup->memory_version), old ? O_WRONLY : O_RDWR);
	if (slot->procs_fd < 0)
		return -errno;
	slot->oom_fd = slot_file(cgroup->memory_fd, i,
	    old ? "memory.oom_control" : "memory.events", O_RDONLY);
	if (slot->oom_fd < 0)
		return -errno;
	if (!old)
		slot->kill_fd =
		    slot_file(cgroup->memory_fd, i, "cgroup.kill", O_WRONLY);
	return 0;
}

static int
slot_open(struct cgroup *cgroup, uint32_t i, const struct cgroup_limits *limits,
    wall_set served)
{
	struct cgroup_slot *slot = &cgroup->slot[i];
	char name[CGROUP_NAME_MAX];
	int r;

	slot->procs_fd = slot->oom_fd = slot->kill_fd = -1;
	cgroup->n_slots = i + 1;
	(void)snprintf(name, sizeof(name), "%" PRIu32, i);
	if (mkdirat(cgroup->memory_fd, name, 0755) < 0)
		return -errno;
	r = slot_limit(cgroup, i, limits, served);
	return r < 0 ? r : slot_files(cgroup, i, slot);
}

int
cgroup_slots_open(
    struct cgroup *cgroup, const struct cgroup_limits *limits, wall_set served)
{
	int r = room_prepare(cgroup, served, limits->slot_cpus_milli > 0);

	for (uint32_t i = 0; r == 0 && i < cgroup->slots_max; i++)
		r = slot_open(cgroup, i, limits, served);
	if (r < 0)
		cgroup_slots_close(cgroup);
	return r;
}

int
cgroup_slots_open_other(struct cgroup *cgroup, int room,
    const struct cgroup_limits *limits, wall_set served)
{
	unsigned tree = cgroup->others;
	int r = tree < CGROUP_OTHERS_MAX ? 0 : -E2BIG;

	for (uint32_t i = 0; r == 0 && i < cgroup->slots_max; i++) {
		char name[CGROUP_NAME_MAX];
		int *file = &cgroup->slot[i].other_fd[tree];

		(void)snprintf(name, sizeof(name), "%" PRIu32, i);
		r = mkdirat(room, name, 0755) < 0
			? -errno
			: slot_limit_others(room, i, true, limits, served);
		if (r < 0)
			break;
		*file = slot_file(room, i, cgroup_join_file(1), O_WRONLY);
		r = *file < 0 ? -errno : 0;
	}
	if (r == 0)
		cgroup->others++;
	return r;
}

void
cgroup_others_close(struct cgroup *cgroup)
{
	if (!cgroup)
		return;
	for (uint32_t i = 0; i < cgroup->slots_max; i++)
		for (unsigned j = 0; j < CGROUP_OTHERS_MAX; j++) {
			fd_close(cgroup->slot[i].other_fd[j]);
			cgroup->slot[i].other_fd[j] = -1;
		}
	cgroup->others = 0;
}

void
cgroup_slots_close(struct cgroup *cgroup)
{
	for (uint32_t i = 0; i < cgroup->n_slots; i++) {
		fd_close(cgroup->slot[i].procs_fd);
		fd_close(cgroup->slot[i].oom_fd);
		fd_close(cgroup->slot[i].kill_fd);
	}
	cgroup->n_slots = 0;
	cgroup->memory_fd = -1;
}
