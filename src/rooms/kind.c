/* kind.c: the table of kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/kind.h"

#include <stddef.h>

static const struct room_kind *const kinds[] = {
#define ROOM(kind) &room_##kind,
#include "rooms/rooms.def"
#undef ROOM
};

const struct room_kind *
room_kind_of(enum room_id id)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i]->id == id)
			return kinds[i];
	return NULL;
}

bool
room_never_hurry(void *arg)
{
	(void)arg;
	return false;
}
