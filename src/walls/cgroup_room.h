/* cgroup_room.h: the groups of one room, as cgroup_room.c makes them and
 * cgroup_slot.c uses them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_CGROUP_ROOM_H
#define WALLS_CGROUP_ROOM_H

#include "walls/cgroup.h"

#include "walls/cgroup_find.h"

enum slot_state {
	SLOT_FREE,
	SLOT_TAKEN,
	SLOT_ASIDE /* given back, and not yet empty, or not of its memory */
};

struct cgroup_slot {
	enum slot_state state;
	int procs_fd;
	int oom_fd;  /* the file with the counter oom_kill */
	int kill_fd; /* cgroup.kill; -1 on version 1 */
	int other_fd[CGROUP_OTHERS_MAX];
	uint64_t oom_seen; /* the counter when the slot was given back */
};

struct cgroup {
	unsigned rooms;                /* trees in which the room has a group */
	int room_fd[CGROUP_TREES_MAX]; /* those groups; locked */
	int keeper_fd;                 /* /proc/PID/cgroup of the keeper */
	unsigned others;               /* trees beside memory's with slots */
	int memory_version;
	int memory_fd;        /* one of room_fd; -1: no slots */
	char group[PATH_MAX]; /* the room's in the memory tree */
	uint32_t slots_max;   /* those there is place for */
	uint32_t n_slots;
	struct cgroup_slot slot[];
};

/* The file of a group to which a process writes "0" to move there. */
const char *cgroup_join_file(int version);

/* Makes the slots below the room's group memory_fd and opens their files.
 * served: walls of the room in this tree. 0 or -errno; then there is none. */
int cgroup_slots_open(
    struct cgroup *cgroup, const struct cgroup_limits *limits, wall_set served);

/* The same below its group in another tree of version 1. */
int cgroup_slots_open_other(struct cgroup *cgroup, int room,
    const struct cgroup_limits *limits, wall_set served);

/* Closes their files; there are no slots any more. */
void cgroup_slots_close(struct cgroup *cgroup);

#endif
