/* web.h: a server over HTTP: its listeners, files, keys and front, beside the
 * room and the core that it is given.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_WEB_H
#define SERVER_WEB_H

#include "base/err.h"
#include "conf/conf.h"
#include "mcp/mcp.h"
#include "mcp/store.h"
#include "room/room.h"

#include <uv.h>

struct web;

/* Does what has to be done while files may still be opened: reads keys and
 * tokens, and binds the addresses. Before the loop. Borrows conf. 0 or
 * -errno. */
int web_prepare(const struct conf *conf, struct web **ret_web, struct err *err);

/* What is served; borrowed. */
struct web_parts {
	uv_loop_t *loop;
	struct mcp *mcp;
	struct room *room;
	struct store *store; /* what calls leave behind */
};

/* Serves from the loop's next turn on. ended is called once, from the loop,
 * after web_end, when no connection is left and all that the web had on the
 * loop is closing. 0 or -errno: then ended is not called, and web_free is. */
int web_open(struct web *web, const struct web_parts *parts,
    void (*ended)(void *arg), void *arg, struct err *err);

/* Accepts nothing more, and ends when the answers under way are written or a
 * short time has passed. A second call waits for nothing. */
void web_end(struct web *web);

/* After the loop has run. NULL is fine. */
void web_free(struct web *web);

#endif
