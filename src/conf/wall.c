/* wall.c: the table of walls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/wall.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *what, *remedy;
} table[WALLS] = {
#define WALL(id, name, what, remedy) [WALL_##id] = { name, what, remedy },
#include "conf/wall.def"
#undef WALL
};

const char *
wall_name(enum wall wall)
{
	return table[wall].name;
}

const char *
wall_what(enum wall wall)
{
	return table[wall].what;
}

const char *
wall_remedy(enum wall wall)
{
	return table[wall].remedy;
}

bool
wall_find(const char *name, enum wall *ret_wall)
{
	for (unsigned i = 0; i < WALLS; i++)
		if (strcmp(table[i].name, name) == 0) {
			*ret_wall = (enum wall)i;
			return true;
		}
	return false;
}

void
wall_names(wall_set set, char ret_names[WALL_NAMES_MAX])
{
	size_t n = 0;

	ret_names[0] = '\0';
	for (unsigned i = 0; i < WALLS; i++)
		if (set & WALL_BIT(i))
			n += (size_t)snprintf(ret_names + n, WALL_NAMES_MAX - n,
			    "%s%s", n ? "," : "", table[i].name);
}
