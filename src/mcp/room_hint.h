/* room_hint.h: which other room of a server could have done what failed. Pure.
 * Hostile input: a program's messages.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ROOM_HINT_H
#define MCP_ROOM_HINT_H

#include "call/call.h"
#include "conf/conf.h"

#include <stdbool.h>

/* Writes the hint for a result of the room whose configuration conf is. False:
 * there is none. */
bool room_hint(const struct result *result, const struct conf *conf,
    char ret_line[HINT_SHOWN_MAX + 1]);

#endif
