/* kind.c: the table of kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/kind.h"

#include <stddef.h>
#include <string.h>

static const struct room_kind *const kinds[] = {
#define ROOM(kind) &room_##kind,
#include "rooms/rooms.def"
#undef ROOM
};

const struct room_kind *
room_kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

bool
room_never_hurry(void *arg)
{
	(void)arg;
	return false;
}
