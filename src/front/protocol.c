/* protocol.c: a whole request to the protocol: which peer is given its message.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/endpoint_impl.h"

#include "base/clock.h"
#include "base/own.h"

#include <time.h>

static void
receive(struct route *route, struct peer *peer, struct span text,
    const struct http_head *head)
{
	struct param_span params[PARAM_HEADERS_MAX];
	const struct peer_headers headers = {
		.version = head->headers[HEADER_MCP_VERSION],
		.method = head->headers[HEADER_MCP_METHOD],
		.name = head->headers[HEADER_MCP_NAME],
		.params = params,
		.params_n = head->params_n,
	};

	for (unsigned i = 0; i < head->params_n; i++) {
		params[i].name = head->params[i].name;
		params[i].value = head->params[i].value;
	}
	route_ask(route);
	if (peer_receive(peer, route, text, &headers) == RECEIVED_NOTHING &&
	    !route->spent)
		route_answer(route, 202, NULL, NULL, NULL);
}

/* A message outside of any session: a client of its own. */
static void
serve_alone(struct endpoint *endpoint, struct route *route, struct span text,
    const struct http_head *head)
{
	const struct peer_conf conf = { .kind = PEER_STATELESS,
		.principal = route->principal,
		.send = route_send };

	route->peer = peer_new(endpoint->mcp, &conf);
	if (!route->peer)
		endpoint_refuse_route(route, 503, "memory", "no memory");
	else
		receive(route, route->peer, text, head);
}

static void
serve_handshake(struct endpoint *endpoint, struct route *route,
    struct span text, const struct http_head *head)
{
	struct session *session;

	if (sessions_begin(endpoint->sessions, route->principal, clock_us(),
		&session) < 0) {
		endpoint_refuse_route(
		    route, 503, "sessions", "too many sessions");
		return;
	}
	route->session_new = true;
	route_join(route, session);
	receive(route, session->peer, text, head);
	if (session->listed)
		return;
	routes_end_session(session);
	session_end(session, (int64_t)time(NULL));
}

static void
serve_post(struct endpoint *endpoint, struct route *route)
{
	struct exchange *exchange = route->exchange;
	const struct http_head *head = exchange_head(exchange);
	struct buf *body = exchange_body(exchange);
	/* The answer may come at once, and the exchange ends with it. */
	own_buf struct buf text = *body;

	buf_init(body, body->max);
	if (route->session)
		receive(route, route->session->peer, buf_span(&text), head);
	else if (endpoint->sessions &&
		 !mcp_is_modern(head->headers[HEADER_MCP_VERSION]) &&
		 mcp_is_initialize(buf_span(&text)))
		serve_handshake(endpoint, route, buf_span(&text), head);
	else
		serve_alone(endpoint, route, buf_span(&text), head);
}

static void
serve_delete(struct route *route)
{
	struct session *session = route->session;

	route_answer(route, 204, NULL, NULL, NULL);
	routes_end_session(session);
	session_end(session, (int64_t)time(NULL));
}

void
protocol_request(struct endpoint *endpoint, struct route *route)
{
	const struct http_head *head = exchange_head(route->exchange);

	if (endpoint->ended)
		endpoint_refuse_route(
		    route, 503, "ending", "the server is ending");
	else if (route->session_lost)
		endpoint_refuse_route(
		    route, 404, "session", "the session was ended");
	else if (head->method == HTTP_GET)
		route_listen(route, head->headers[HEADER_LAST_EVENT_ID]);
	else if (head->method == HTTP_DELETE)
		serve_delete(route);
	else
		serve_post(endpoint, route);
}
