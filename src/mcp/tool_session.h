/* tool_session.h: the arguments session and fork_of of run_python: which
 * interpreter a call runs in. Pure.
 * Hostile input: both arguments.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_TOOL_SESSION_H
#define MCP_TOOL_SESSION_H

#include "base/buf.h"
#include "base/err.h"
#include "call/call.h"
#include "conf/conf.h"

#include <jansson.h>
#include <stdbool.h>

/* True for the name of one of them, whether or not there are sessions. */
bool tool_session_is_argument(const char *name);

/* Adds them to the properties of the tool's schema; nothing on a server
 * without sessions. */
void tool_session_schema(json_t *properties, const struct conf *conf);

/* Adds what a model is told about sessions, as a paragraph; likewise. */
void tool_session_text(struct buf *text, const struct conf *conf);

/* Reads them from all arguments (NULL: none) into call->use and
 * call->session_id. 0; -EINVAL: err says to the tool's user what is wrong. */
int tool_session_take(const json_t *arguments, const struct conf *conf,
    struct call *call, struct err *err);

#endif
