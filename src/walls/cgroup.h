/* cgroup.h: the control groups of a room, on version 2, version 1 or the two
 * side by side.
 *
 *   <own group>/breakroom.<keeper's pid>/        limits of the room; locked
 *                (flock) by its keeper as long as that lives
 *                    self/                       keeper and zygote
 *                    0/ 1/ 2/ ...                slots: a child each, reused
 *
 * On version 1 slots exist in the memory tree alone; in the others (pids, cpu,
 * and a version 2 tree without controllers, for cgroup.kill) the room's group
 * holds all of its processes. Slots are made once and reused: what a call did
 * is the difference of a counter.
 *
 * Version 2 gives controllers only to groups below one without processes. Where
 * those in the own group are the server and what it started, and no others,
 * they move into <own group>/breakroom.server; else memory, pids and cpu are
 * missing there.
 *
 * Every file is opened here, while the process may; afterwards descriptors
 * suffice, whoever the process has become.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WALLS_CGROUP_H
#define WALLS_CGROUP_H

#include "base/err.h"
#include "conf/wall.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;

struct cgroup_limits {
	uint64_t slot_memory_bytes; /* of one child; swap: none */
	uint32_t processes;         /* of the room */
	uint32_t slot_processes;    /* of one child, where it can be had */
	/* Of one child, in thousandths of a processor; 0: as the room. If
	 * not, slots are in the trees of pids and cpu too: see
	 * cgroup_join_others. */
	uint32_t slot_cpus_milli;
	uint32_t slots;
};

/* Makes the groups of this process's room, moves this process (of one task)
 * into them, and removes groups of keepers that are dead. What could not be had
 * is in *ret_missing (of WALL_CGROUP_*), its reason in why[wall]; *ret_cgroup
 * may then lack it, and is NULL if all is missing. wanted: those to try. Holds
 * CGROUP_FDS_NEEDED(limits->slots) descriptors at most, and with a limit of
 * processors two more a slot until cgroup_others_close. */
void cgroup_open(const struct cgroup_limits *limits, wall_set wanted,
    struct cgroup **ret_cgroup, wall_set *ret_missing, struct err why[WALLS]);

/* A free slot, now taken: its number. -EAGAIN: none; -ENOSYS: no memory groups
 * here, children go without. */
int cgroup_take(struct cgroup *cgroup);

/* A file of the slot: a process of one task that writes "0" to it moves into
 * the slot. Borrowed; -1: no such slot. On version 1 that takes microseconds;
 * on version 2, some milliseconds if nobody has moved for a while. */
int cgroup_procs_fd(const struct cgroup *cgroup, int slot);

/* Moves the calling process into the slot of procs_fd. */
int cgroup_join(int procs_fd, struct err *err);

/* Where version 1 has a tree for each of pids and cpu: the files of the slot
 * there, as cgroup_procs_fd in that of memory. Borrowed; their number. */
#define CGROUP_OTHERS_MAX 2u
unsigned cgroup_others(
    const struct cgroup *cgroup, int slot, int ret_fds[CGROUP_OTHERS_MAX]);

/* Moves the calling process into these of the slot whose file procs_fd is. */
int cgroup_join_others(
    const struct cgroup *cgroup, int procs_fd, struct err *err);

/* Closes all of these: others hold them who need them. */
void cgroup_others_close(struct cgroup *cgroup);

/* Moves process pid, of one task, into the slot. */
int cgroup_move(
    const struct cgroup *cgroup, int slot, pid_t pid, struct err *err);

/* True if process pid is in the slot, by /proc/PID/cgroup in proc_fd
 * (a descriptor of /proc). */
bool cgroup_holds(
    const struct cgroup *cgroup, int slot, int proc_fd, pid_t pid);

/* Processes of the slot that the kernel killed for want of memory since it was
 * taken. */
uint64_t cgroup_oom_kills(const struct cgroup *cgroup, int slot);

/* Gives the slot back. What still runs in it is killed, and then the slot is
 * not taken again before it is empty; nothing waits for that. */
void cgroup_release(struct cgroup *cgroup, int slot);

/* The same for a slot whose memory others use still, which leaves less of it:
 * it is taken again only when no other one is free. */
void cgroup_release_later(struct cgroup *cgroup, int slot);

/* Kills what is left in the groups of the room whose keeper was pid, which must
 * have been reaped: a number in use is left alone. Then removes the groups, if
 * they are empty. 0: none is left; -errno: one is, and another try may do
 * better: what was killed takes a moment. */
int cgroup_remove(pid_t pid, struct err *err);

/* The directory whose lists a keeper behind Landlock must be let read, so that
 * cgroup_release can see whether a slot is empty. Borrowed; -1: none is. */
int cgroup_lists_fd(const struct cgroup *cgroup);

/* Closes what it holds; the groups stay for cgroup_remove. */
void cgroup_close(struct cgroup *cgroup);

#endif
