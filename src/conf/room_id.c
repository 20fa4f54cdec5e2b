/* room_id.c: the table of kinds of room.
 * SPDX-License-Identifier: Apache-2.0 */
#include "conf/room_id.h"

#include <string.h>

static const struct {
	const char *name, *good_for;
	unsigned traits;
} known[ROOMS] = {
#define ROOM_KNOWN(id, name, good_for, traits) { name, good_for, traits },
#include "conf/rooms_known.def"
#undef ROOM_KNOWN
};

const char *
room_id_name(enum room_id id)
{
	return known[id].name;
}

const char *
room_id_good_for(enum room_id id)
{
	return known[id].good_for;
}

const char *
room_id_all(void)
{
#define ROOM_KNOWN(id, name, good_for, traits) ", " name
	static const char names[] =
#include "conf/rooms_known.def"
	    " are known";
#undef ROOM_KNOWN

	return names + 2; /* behind the first comma */
}

bool
room_id_has(enum room_id id, enum room_trait trait)
{
	return known[id].traits & trait;
}

bool
room_id_find(const char *name, enum room_id *ret_id)
{
	for (unsigned i = 0; i < ROOMS; i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		*ret_id = (enum room_id)i;
		return true;
	}
	return false;
}
