/* wall.h: the names of walls. walls/ raises them; a set of them travels in
 * configurations, grades and results.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_WALL_H
#define CONF_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wall {
#define WALL(id, name, what, remedy) WALL_##id,
#include "conf/wall.def"
#undef WALL
	WALLS /* their number, not a wall */
};

typedef uint32_t wall_set; /* of WALL_BIT */

#define WALL_BIT(wall) ((wall_set)1 << (wall))
#define WALLS_CGROUP                                                 \
	(WALL_BIT(WALL_CGROUP_MEMORY) | WALL_BIT(WALL_CGROUP_PIDS) | \
	    WALL_BIT(WALL_CGROUP_CPU) | WALL_BIT(WALL_CGROUP_KILL))
#define WALLS_SPACES                                      \
	(WALL_BIT(WALL_MOUNTNS) | WALL_BIT(WALL_NETNS) |  \
	    WALL_BIT(WALL_IPCNS) | WALL_BIT(WALL_UTSNS) | \
	    WALL_BIT(WALL_CGROUPNS) | WALL_BIT(WALL_PIDNS))
#define WALLS_ALL      (WALL_BIT(WALLS) - 1u)
#define WALL_NAMES_MAX 256u /* bytes of a list of all names */

const char *wall_name(enum wall wall);
const char *wall_what(enum wall wall);
const char *wall_remedy(enum wall wall);

/* The wall with this name. False: there is none. */
bool wall_find(const char *name, enum wall *ret_wall);

/* The names in the set, with commas between them; empty for an empty set. */
void wall_names(wall_set set, char ret_names[WALL_NAMES_MAX]);

#endif
