/* endpoint.h: what the connections serve: the protocol at /mcp, and the pages
 * for operators.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_ENDPOINT_H
#define FRONT_ENDPOINT_H

#include "base/err.h"
#include "conf/conf.h"
#include "front/auth.h"
#include "front/exchange.h"
#include "mcp/mcp.h"
#include "mcp/store.h"
#include "room/room.h"

#include <uv.h>

struct endpoint;
struct http;

/* What it is made of; borrowed, but for name and key. */
struct endpoint_parts {
	uv_loop_t *loop;
	const struct conf *conf;
	struct mcp *mcp;
	struct room *room; /* that of calls which name none; NULL: nothing
			    * has to get warm */
	struct auth *auth;
	struct store *store; /* which grows old here; NULL: nothing is kept */
	/* Of the listeners ("127.0.0.1:8080" or "unix:/path"): from it follow
	 * the values of Host that are ours. */
	const char *name;
	const uint8_t *key; /* that ids of sessions are signed with, 32 bytes */
};

/* 0; -errno. */
int endpoint_new(const struct endpoint_parts *parts,
    struct endpoint **ret_endpoint, struct err *err);

/* For http_open. */
const struct exchange_app *endpoint_app(const struct endpoint *endpoint);

/* For the metrics. */
void endpoint_set_http(struct endpoint *endpoint, const struct http *http);

/* The server is about to end: subscriptions are answered, streams ended. */
void endpoint_end(struct endpoint *endpoint);

/* After the front has ended and before mcp_close. */
void endpoint_close(struct endpoint *endpoint);

#endif
