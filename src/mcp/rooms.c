/* rooms.c: choosing the room of a call.
 * Hostile input: the arguments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcp/rooms.h"

#include "mcp/tool_room.h"

#include <errno.h>

bool
mcp_rooms_add(struct mcp_rooms *rooms, uv_loop_t *loop, struct room *room,
    const struct conf *conf)
{
	struct mcp_room *one = &rooms->list[rooms->n];

	if (rooms->n == ROOMS)
		BUG("more rooms than there are kinds");
	*one = (struct mcp_room){ room, conf,
		room_sessions_new(loop, room, conf) };
	if (one->sessions)
		rooms->n++;
	return one->sessions != NULL;
}

void
mcp_rooms_close(struct mcp_rooms *rooms)
{
	for (unsigned i = 0; i < rooms->n; i++)
		room_sessions_close(rooms->list[i].sessions);
}

struct mcp_room *
mcp_rooms_find(struct mcp_rooms *rooms, enum room_id id)
{
	for (unsigned i = 0; i < rooms->n; i++)
		if (rooms->list[i].conf->room == id)
			return &rooms->list[i];
	return &rooms->list[0];
}

/* The room that has, or had, the session which the arguments refer to; NULL:
 * none has. */
static const struct mcp_room *
room_of_session(const struct mcp_rooms *rooms, const json_t *arguments,
    const struct principal *principal)
{
	static const char *const names[] = { "session", "fork_of" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *id =
		    json_string_value(json_object_get(arguments, names[i]));

		for (unsigned j = 0; id && j < rooms->n; j++)
			if (room_sessions_know(
				rooms->list[j].sessions, id, principal))
				return &rooms->list[j];
	}
	return NULL;
}

int
mcp_rooms_choose(const struct mcp_rooms *rooms, const struct conf *conf,
    const json_t *arguments, const struct principal *principal,
    enum room_id *ret_room, struct err *err)
{
	enum room_id room = conf->room;
	const struct mcp_room *owner;
	bool named;
	int r = tool_room_take(arguments, conf, &named, &room, err);

	if (r < 0)
		return r;
	owner =
	    rooms->n > 1 ? room_of_session(rooms, arguments, principal) : NULL;
	if (owner && named && owner->conf->room != room)
		return fail(err, EINVAL,
		    "that session is in room %s, not %s: leave room out",
		    room_id_name(owner->conf->room), room_id_name(room));
	*ret_room = owner ? owner->conf->room : room;
	return 0;
}
