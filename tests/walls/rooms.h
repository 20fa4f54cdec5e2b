/* rooms.h: keepers in processes of their own, with the control groups of a
 * room, and what runs in these.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WALLS_ROOMS_H
#define TESTS_WALLS_ROOMS_H

#include "apart.h"

#include "walls/cgroup.h"
#include "walls/cgroup_find.h"

#include <errno.h>
#include <stdio.h>

#define SLOT_BYTES ((uint64_t)64 << 20)
#define BEYOND     ((size_t)128 << 20) /* what a slot cannot hold */
#define PROCESSES  12u
#define SLOTS      3u

#define MEMORY WALL_BIT(WALL_CGROUP_MEMORY)
#define PIDS   WALL_BIT(WALL_CGROUP_PIDS)
#define CPU    WALL_BIT(WALL_CGROUP_CPU)
#define KILL   WALL_BIT(WALL_CGROUP_KILL)

#define ROOMS_PATH_MAX (PATH_MAX + 64)

/* For a deed: ends it with 1, and says which. */
#define MUST(condition)                                                   \
	do {                                                              \
		if (!(condition)) {                                       \
			(void)fprintf(stderr, "# %s:%d: %s (errno %d)\n", \
			    __FILE__, __LINE__, #condition, errno);       \
			return 1;                                         \
		}                                                         \
	} while (0)

extern struct cgroup_trees trees; /* those of this machine */

/* Of the keeper that this process plays. */
extern struct cgroup *room;
extern wall_set missing;
extern struct err why[WALLS];

/* Finds the trees and runs tests in groups of their own there; its result, or
 * 77, after saying SKIP, if not all walls can be had. */
int rooms_run(int (*tests)(void));

/* cgroup_open, with the numbers above. */
struct cgroup *rooms_open(wall_set wanted);
int rooms_open_all(void); /* a deed */

/* The directory of keeper's group in the tree that serves the wall, and a file
 * there. False: no tree serves it. */
bool rooms_path(pid_t keeper, enum wall wall, const char *file,
    char ret_path[ROOMS_PATH_MAX]);

/* True if a group of the keeper's is left anywhere. */
bool rooms_exists(pid_t keeper);

/* Removes the room of a keeper that has ended, as a launcher does: until it is
 * gone, for a second at most. */
void rooms_remove(pid_t keeper);

/* Runs keeper in a process, removes its room as a launcher does, and asserts
 * that it went well and that nothing is left. */
void rooms_with(deed_fn *keeper);

/* A process that does deed in the slot (-1: in none). */
pid_t rooms_fork(int slot, deed_fn *deed);

/* Waits for it (-1: for any child): its status, or -SIGNAL. */
int rooms_end_of(pid_t pid);

/* Deeds: to need BEYOND bytes, as memory or as a file in memory. */
int rooms_allocate(void);
int rooms_fill(void);

/* A deed: ten processes, each with a session of its own, whose parents are
 * gone. */
int rooms_scatter(void);

/* Does so in the slot; a descriptor for rooms_all_gone. */
int rooms_scatter_in(int slot);

/* True once nobody holds the other end, within two seconds. */
bool rooms_all_gone(int fd);

/* cgroup_take, once a slot is empty: killed processes leave it a moment later
 * than their descriptors. */
int rooms_take(void);

#endif
