/* endpoint_impl.h: what endpoint.c and pages.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_ENDPOINT_IMPL_H
#define FRONT_ENDPOINT_IMPL_H

#include "front/endpoint.h"
#include "front/guard.h"
#include "front/refusal.h"
#include "front/route.h"
#include "front/turns.h"

struct endpoint {
	const struct conf *conf;
	struct mcp *mcp;
	struct room *room;
	struct auth *auth;
	struct store *store;
	const struct http *http; /* NULL until it is told */
	struct exchange_app app;
	struct guard guard, admin_guard;
	char name[256]; /* of the listener, which the guard refers to */
	struct refusals refusals;
	struct routes routes;
	struct turns turns;
	struct sessions *sessions; /* NULL without --sessions */
	uv_timer_t tick;
	unsigned handles; /* not closed yet */
	uint64_t requests, bytes_in, bytes_out;
	bool ended; /* the server ends: nothing new is served */
};

/* Answers the exchange with an error; the exchange must not be used after
 * it. */
void endpoint_refuse(struct endpoint *endpoint, struct exchange *exchange,
    unsigned status, const char *reason, const char *text);

/* The same for a route, which ends. */
void endpoint_refuse_route(
    struct route *route, unsigned status, const char *reason, const char *text);

/* ---- protocol_head.c, protocol.c ---- */

/* The head of a request to the protocol came: it is refused, or becomes a
 * route. */
void protocol_head(struct endpoint *endpoint, struct exchange *exchange);

/* The rest of it came. */
void protocol_request(struct endpoint *endpoint, struct route *route);

/* ---- pages.c ---- */

/* Who sends the request: the caller's hold. NULL: it was refused. */
struct principal *endpoint_principal(
    struct endpoint *endpoint, struct exchange *exchange);

/* A page for whoever may see it, by its path. */
struct page {
	const char *path; /* NULL: several */
	bool (*shown)(const struct endpoint *endpoint, bool admin);
	/* Asks for a token at the endpoint's own address. */
	bool guarded;
	/* Any page of any site may read it. */
	bool open;
	void (*answer)(struct endpoint *endpoint, struct exchange *exchange);
};

/* The page at that path, or NULL. */
const struct page *page_find(
    const struct endpoint *endpoint, struct span path, bool admin);

/* The head of a request for page came. */
void page_head(struct endpoint *endpoint, struct exchange *exchange,
    const struct page *page);

#endif
