/* era.h: which revision a message is served by, and whether what HTTP says
 * beside it agrees with it. Within mcp/ only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_ERA_H
#define MCP_ERA_H

#include "mcp/method.h"
#include "mcp/request.h"

/* True if the message has to be served without a handshake. headers may be
 * NULL; method is the one it names, or NULL. */
bool era_is_modern(const struct peer_headers *headers,
    const struct message *message, const struct method *method);

/* True if the header itself names a modern revision, known or not. */
bool era_header_is_modern(const struct peer_headers *headers);

/* What a legacy peer's message is served by; NULL: its header names a revision
 * that we do not speak, or not the one of its session. */
const struct revision *era_legacy(
    const struct peer *peer, const struct peer_headers *headers);

/* Checks the metadata and headers of a modern request, and gives it its
 * revision. False: it was refused. */
bool era_check(struct request *request, const struct message *message,
    const struct method *method);

/* Refuses a request for its revision: asked is the name. */
void era_refuse(struct request *request, json_t *asked);

/* The header's value as a JSON string: what is not visible ASCII is "?". */
json_t *era_shown(struct span header);

#endif
