/* param_headers.h: headers that repeat a tool's arguments: a property of the
 * input schema names one by "x-mcp-header", so that what stands between client
 * and server can route by it. What it says must be what the body says. Pure.
 * Hostile input: a client's headers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_PARAM_HEADERS_H
#define MCP_PARAM_HEADERS_H

#include "mcp/mcp.h"

#include <jansson.h>
#include <stdbool.h>

#define PARAM_HEADER_NAME_MAX 64u

/* What is wrong with a parameter's header. */
struct param_header_fault {
	char name[PARAM_HEADER_NAME_MAX + 1]; /* behind Mcp-Param- */
	const char *why;
};

/* True if every header that schema names agrees with arguments (may be NULL):
 * present where there is a value, absent where there is none, and given once.
 * Headers that schema does not name say nothing. */
bool param_headers_agree(const struct peer_headers *headers,
    const json_t *schema, const json_t *arguments,
    struct param_header_fault *ret_fault);

#endif
