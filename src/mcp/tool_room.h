/* tool_room.h: the argument room of run_python, on a server with several rooms:
 * where a call runs. Pure.
 * Hostile input: the argument.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_TOOL_ROOM_H
#define MCP_TOOL_ROOM_H

#include "base/buf.h"
#include "base/err.h"
#include "conf/conf.h"

#include <jansson.h>
#include <stdbool.h>

/* True if there is a choice: else there is no such argument. */
bool tool_room_is_choice(const struct conf *conf);

/* Adds it to the properties of the tool's schema, where there is a choice. */
void tool_room_schema(json_t *properties, const struct conf *conf);

/* Adds what a model is told about rooms, as a paragraph; likewise. */
void tool_room_text(struct buf *text, const struct conf *conf);

/* A new array of the names of conf's rooms. */
json_t *tool_room_names(const struct conf *conf);

/* Reads it from all arguments (NULL: none). *ret_named: it is there, and *ret_room
 * is what it names. 0; -EINVAL: err says to the tool's user what is wrong. */
int tool_room_take(const json_t *arguments, const struct conf *conf,
    bool *ret_named, enum room_id *ret_room, struct err *err);

#endif
