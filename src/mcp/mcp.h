/* mcp.h: the protocol, whoever carries it. struct mcp is the server's one
 * set of methods over one room; struct peer is one client's side of it: the
 * revision it agreed on and its requests in flight. A front feeds messages in
 * and is given messages to send; it knows nothing of their content.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "base/buf.h"
#include "conf/conf.h"
#include "room/room.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct mcp;
struct peer;

/* A server of run_python calls in room. Borrows everything; text is the
 * tool's description. NULL without memory. */
struct mcp *mcp_new(uv_loop_t *loop, struct room *room, const struct conf *conf,
    const char *text);

/* After every peer is closed, and before the room is: results may still come
 * for calls that nobody waits for. Memory goes when the last has come and the
 * loop has run. */
void mcp_close(struct mcp *mcp);

/* A new client. send is given each message for it, without a line end; it
 * takes the bytes out of the buf, and must not call back into the peer. NULL
 * without memory. */
struct peer *peer_new(
    struct mcp *mcp, void (*send)(void *arg, struct buf *message), void *arg);

/* One message, or batch, as it came; whatever is in it, it is dealt with. */
void peer_receive(struct peer *peer, struct span text);

/* A message came that was longer than LINE_MAX_BYTES. */
void peer_receive_too_long(struct peer *peer);

/* Requests whose answers are outstanding; open subscriptions do not count. */
unsigned peer_busy(const struct peer *peer);

/* Ends the subscriptions, each with its answer. */
void peer_end_subscriptions(struct peer *peer);

/* Cancels what is in flight and frees the peer; send is not called again. */
void peer_close(struct peer *peer);

/* Sends the progress notifications that are due, and has itself called again
 * when the next ones are. The core's own timer calls it. */
void mcp_progress(struct mcp *mcp, uint64_t now_us);

#endif
