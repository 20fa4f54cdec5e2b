/* tool_options.h: what a call asks of the room's Python, as the JSON object
 * that it reads: {"echo": false, "deny": [...], "allow": [...]}, each where it
 * is not the default; a room adds "session" to that of a session's call. The operator's lists and the caller's are
 * one there: a caller can narrow what an operator allows, and never widen it.
 * Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_TOOL_OPTIONS_H
#define MCP_TOOL_OPTIONS_H

#include "base/buf.h"
#include "conf/conf.h"

#include <jansson.h>
#include <stdbool.h>

/* A caller's wishes; the lists are arrays of strings, borrowed, or NULL. */
struct tool_options {
	bool silent; /* no value of the last expression */
	const json_t *deny, *allow;
};

/* Why an argument that names modules is refused, as the end of a sentence;
 * NULL: it is a list of names of modules, of at most CONF_LIST_MAX. */
const char *tool_options_judge(const json_t *names);

/* Writes the object into options, which is empty, or nothing where all is as
 * by default: then a room does not read it at all. 0; -ENOBUFS, -ENOMEM. */
int tool_options_write(const struct conf *conf,
    const struct tool_options *asked, struct buf *options);

#endif
