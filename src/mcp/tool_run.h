/* tool_run.h: the tool run_python: how it describes itself, and how its
 * arguments become a call. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_TOOL_RUN_H
#define MCP_TOOL_RUN_H

#include "base/buf.h"
#include "base/err.h"
#include "call/call.h"
#include "conf/conf.h"
#include "mcp/revision.h"

#include <jansson.h>

#define TOOL_RUN_NAME "run_python"

/* Writes the description, under TOOL_TEXT_MAX bytes, from the text of
 * about.json ({"python": version, "packages": {name: version, ...}, "int64": "on"
 * where numpy's default integer has 64 bits}) and the limits in conf. about may be empty: then it names no versions. 0; -EINVAL:
 * about is not what it should be. text is initialised. */
int tool_run_text(struct span about, const struct conf *conf, struct buf *text,
    struct err *err);

/* A new tool object for tools/list. */
json_t *tool_run_describe(
    const char *text, const struct conf *conf, const struct revision *revision);

/* Makes a call of the tool's arguments (an object; NULL is an empty one). The
 * call is the caller's. -EINVAL: err says to the tool's user what is wrong
 * with them; -ENOMEM. */
int tool_run_call(const json_t *arguments, const struct conf *conf,
    struct call **ret_call, struct err *err);

/* True if they ask for small text files in the answer itself. */
bool tool_run_inline_files(const json_t *arguments);

#endif
