/* cell.h: the walls of one native worker, for the Python that raises them: a
 * shared object, loaded by the zygote of a room of kind jail. All functions
 * return 0, or -errno with a sentence in why (of CELL_WHY bytes).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CELL_CELL_H
#define CELL_CELL_H

#include <stdint.h>

#define CELL_WHY    256
#define CELL_SPACES 7u
#define CELL_API    __attribute__((visibility("default")))

/* What the namespaces of the calling process are. */
CELL_API int cell_look(uint64_t ret_spaces[CELL_SPACES], char why[CELL_WHY]);

/* Of the walls those that are to be raised: see conf/wall.h. */

/* In a process of one task: into new user, mount, network, ipc, uts and cgroup
 * namespaces; its next child is the first process of a new one for process
 * numbers, and in a new one for clocks. */
CELL_API int cell_enter(uint32_t walls, char why[CELL_WHY]);

struct cell_terms {
	uint64_t before[CELL_SPACES]; /* what cell_look said of its parent */
	uint64_t workspace_bytes, tmp_bytes;
	uint64_t data_bytes; /* of private memory; 0: the group's limit */
	uint32_t processes, walls;
	/* Without a mount namespace: the directory of both, which is there. */
	const char *scratch;
};

/* In that child, which must be in no namespace of before: a /workspace and a
 * /tmp of so many bytes, and a /proc of its own; no capability; Landlock;
 * resource limits; the filter of native programs. */
CELL_API int cell_close(const struct cell_terms *terms, char why[CELL_WHY]);

/* In the program's process: no other process can be started from now on. */
CELL_API int cell_alone(uint32_t walls, char why[CELL_WHY]);

#endif
