/* run_json.h: a result as "breakroom run --json" prints it. Pure.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_RUN_JSON_H
#define SERVER_RUN_JSON_H

#include "call/call.h"
#include "mcp/answer_hints.h"

/* A new text of one line, to be freed; NULL without memory. */
char *run_json(
    const struct result *result, const struct hints *hints, enum room_id room);

#endif
