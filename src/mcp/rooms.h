/* rooms.h: the rooms of a server, and which of them a call is for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ROOMS_H
#define MCP_ROOMS_H

#include "base/err.h"
#include "call/principal.h"
#include "conf/conf.h"
#include "room/sessions.h"

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

/* A room, and what is used through: its sessions. All but them borrowed. */
struct mcp_room {
	struct room *room; /* NULL: a server without any */
	const struct conf *conf;
	struct room_sessions *sessions;
};

struct mcp_rooms {
	unsigned n; /* at least 1, the first being mcp_new's */
	struct mcp_room list[ROOMS];
	uint32_t last_call; /* ids of calls, where there are several rooms */
};

/* Adds one; conf->room says which. False without memory. */
bool mcp_rooms_add(struct mcp_rooms *rooms, uv_loop_t *loop, struct room *room,
    const struct conf *conf);
void mcp_rooms_close(struct mcp_rooms *rooms);

/* The room of that kind; the first where there is none. */
struct mcp_room *mcp_rooms_find(struct mcp_rooms *rooms, enum room_id id);

/* Which room the call of these arguments (NULL: none) is for: that of the
 * session which they go on with or copy; else the one that they name; else
 * conf's. 0; -EINVAL: err says to the tool's user what is wrong. */
int mcp_rooms_choose(const struct mcp_rooms *rooms, const struct conf *conf,
    const json_t *arguments, const struct principal *principal,
    enum room_id *ret_room, struct err *err);

#endif
